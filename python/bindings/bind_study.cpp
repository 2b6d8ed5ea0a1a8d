#include "matrix.hpp"
#include "slices.hpp"
#include "widthwise/sim/exact_sum.hpp"
#include "widthwise/sim/operands.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t slice_products = 20'000;  // exact sums take some tenths of a microsecond each

std::size_t slice_of(std::size_t products) {
  return std::max<std::size_t>(1, slice_products / std::max<std::size_t>(1, products));
}

using Errors = py::array_t<double, py::array::c_style>;  // last axis: ulps, relative

Deviation* errors_place(Errors& result, std::size_t count) {
  static_assert(sizeof(Deviation) == 2 * sizeof(double));
  if (static_cast<std::size_t>(result.size()) != 2 * count)
    throw std::logic_error("there is no room for the errors");
  return reinterpret_cast<Deviation*>(result.mutable_data());
}

// Of a matrix product that has been computed.
void product_errors(const Unit& u, const Operands& x, const py::array& computed, Errors result) {
  MatrixProduct p = product_batch(u, x).first;
  code_count(result_round(u).fmt, computed);
  p.result = const_cast<void*>(computed.data());  // only read
  Deviation* at = errors_place(result, p.m * p.n);
  in_slices(p.m, slice_of(p.k * p.n), [&](std::size_t first, std::size_t count) {
    deviations(u, p, first, first + count, at + first * p.n);
  });
}

// (outputs, lengths): along each dot product of a batch.
void growth(const Unit& u, const Operands& x, const std::vector<std::size_t>& lengths,
            Errors result) {
  const ProductBatch batch = product_batch(u, x);
  Deviation* at = errors_place(result, batch.count() * lengths.size());
  const ErrorGrowth errors(u, lengths);
  in_slices(batch.count(), 1, [&](std::size_t i, std::size_t) {
    errors.run(batch.at(u, i), at + i * lengths.size());
  });
}

void fill(const Format& f, std::uint64_t seed, const std::vector<py::array>& operands) {
  std::vector<void*> at;
  std::size_t count = 0;
  for (py::array a : operands) {
    count = code_count(f, a);
    at.push_back(place(f, a, count));
  }
  random_operands(f, seed, 0, count, at);
}

}  // namespace

void bind_study(py::module_& m) {
  m.def("product_errors", &product_errors);
  m.def("error_growth", &growth);
  m.def("random_operands", &fill);
}
