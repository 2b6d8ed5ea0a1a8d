#include "matrix.hpp"
#include "slices.hpp"
#include "widthwise/sim/exact_sum.hpp"
#include "widthwise/sim/operands.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t slice_products =
    20'000;  // exact sums of long formats take a microsecond each

std::size_t slice_of(std::size_t products) {
  return std::max<std::size_t>(1, slice_products / std::max<std::size_t>(1, products));
}

using Figures = py::array_t<double, py::array::c_style>;  // last axis: a record's

template <class Record>
Record* figures_place(Figures& result, std::size_t count) {
  constexpr std::size_t figures = sizeof(Record) / sizeof(double);
  if (static_cast<std::size_t>(result.size()) != figures * count)
    throw std::logic_error("there is no room for the errors");
  return reinterpret_cast<Record*>(result.mutable_data());
}

// Of a matrix product that has been computed.
void product_errors(const Unit& u, const Operands& x, const py::array& computed, Figures result) {
  MatrixProduct p = product_batch(u, x).first;
  code_count(result_round(u).fmt, computed);
  p.result = const_cast<void*>(computed.data());  // only read
  auto* at = figures_place<Deviation>(result, p.m * p.n);
  in_slices(p.m, slice_of(p.k * p.n), [&](std::size_t first, std::size_t count) {
    deviations(u, p, first, first + count, at + first * p.n);
  });
}

// The exact sums of a batch of dot products, which grow as products are added.
class ExactSums {
 public:
  // Starts at the operands' c.
  ExactSums(const Unit& unit, const Operands& x) : unit_(unit) {
    const ProductBatch batch = product_batch(unit_, x);
    for (std::size_t i = 0; i < batch.count(); ++i)
      sums_.emplace_back(unit_).start(batch.at(unit_, i).c.data);
  }

  // What is added from here on is in this unit's formats.
  void read(const Unit& unit) {
    unit_ = unit;
    for (ExactSum& sum : sums_) sum.read(unit_);
  }

  // These sums less others of as many, measured by those in places of the unit's result.
  void differences(const Unit& unit, const ExactSums& others, Figures result) const {
    auto* at = figures_place<Difference>(result, size_of(others));
    for (std::size_t i = 0; i < sums_.size(); ++i)
      *at++ = sums_[i].minus(others.sums_[i], result_round(unit).fmt);
  }

  // What a unit made of the same products less these sums, measured by others of as many.
  void errors(const Unit& unit, const py::array& computed, const ExactSums& measures,
              Figures result) const {
    auto* at = figures_place<Difference>(result, size_of(measures));
    each_result(unit, computed, [&](std::size_t i, const Format& f, const void* code) {
      *at++ = sums_[i].error(f, code, measures.sums_[i]);
    });
  }

  // All of the operands' products.
  void add(const Operands& x) {
    const ProductBatch batch = product_batch(unit_, x);
    if (batch.count() != sums_.size()) throw std::logic_error("there are as many sums as products");
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const MatrixProduct p = batch.at(unit_, i);
      in_slices(p.k, slice_products, [&](std::size_t first, std::size_t count) {
        add_products(sums_[i], unit_, p, first, first + count);
      });
    }
  }

  // Of codes that a unit made of the same products; its formats of operands are the sums' own.
  void deviations(const Unit& unit, const py::array& computed, Figures result) const {
    auto* at = figures_place<Deviation>(result, sums_.size());
    each_result(unit, computed, [&](std::size_t i, const Format& f, const void* code) {
      *at++ = sums_[i].deviation(f, code);
    });
  }

 private:
  std::size_t size_of(const ExactSums& others) const {
    if (others.sums_.size() != sums_.size())
      throw std::logic_error("there are as many sums as others");
    return sums_.size();
  }
  template <class Found>
  void each_result(const Unit& unit, const py::array& computed, const Found& found) const {
    const Format& f = result_round(unit).fmt;
    if (code_count(f, computed) != sums_.size())
      throw std::logic_error("there is one result for each sum");
    const auto* code = static_cast<const std::byte*>(computed.data());
    const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
    for (std::size_t i = 0; i < sums_.size(); ++i) found(i, f, code + i * bytes);
  }

  Unit unit_;
  std::vector<ExactSum> sums_;
};

// One dot product whose operands come in pieces: the reference's own state between two blocks.
class RunningSum {
 public:
  // Starts at the operands' c.
  RunningSum(const Unit& unit, const Operands& x, std::uint64_t seed)
      : unit_(unit), reference_(make_reference(unit, lanes())) {
    MatrixProduct p = product_batch(unit_, x).at(unit_, 0);
    p.seed = seed;
    sum_ = reference_->start(p);
  }

  // The whole blocks of them.
  void add(const Operands& x) {
    const MatrixProduct p = product_batch(unit_, x).at(unit_, 0);
    in_slices(p.k / lanes(), slice_of(lanes()),
              [&](std::size_t first, std::size_t count) { advance(p, first, first + count); });
  }

  // What the unit delivers if what is left of them, less than a block, is the last.
  void deliver(const Operands& x, py::array result) const {
    MatrixProduct p = product_batch(unit_, x).at(unit_, 0);
    p.result = place(result_round(unit_).fmt, result, 1);
    sum_->deliver(p, p.k - p.k % lanes());
  }

 private:
  std::size_t lanes() const { return static_cast<std::size_t>(unit_.lanes); }
  void advance(const MatrixProduct& p, std::size_t block, std::size_t end) {
    for (; block < end; ++block) sum_->advance(p, block * lanes());
  }

  Unit unit_;
  std::unique_ptr<ReferenceUnit> reference_;
  std::unique_ptr<RunningDot> sum_;
};

void fill(const Format& f, std::uint64_t seed, const std::vector<py::array>& operands) {
  std::vector<void*> at;
  std::size_t count = 0;
  for (py::array a : operands) {
    count = code_count(f, a);
    at.push_back(place(f, a, count));
  }
  random_operands(f, seed, 0, count, at);
}

void move_to_borders(const Format& f, const Format& to, std::uint64_t seed, py::array operands) {
  const std::size_t count = code_count(f, operands);
  operands_to_borders(f, to, seed, 0, count, place(f, operands, count));
}

}  // namespace

void bind_study(py::module_& m) {
  m.def("product_errors", &product_errors);
  py::class_<ExactSums>(m, "ExactSums")
      .def(py::init<const Unit&, const Operands&>())
      .def("read", &ExactSums::read)
      .def("add", &ExactSums::add)
      .def("differences", &ExactSums::differences)
      .def("errors", &ExactSums::errors)
      .def("deviations", &ExactSums::deviations);
  py::class_<RunningSum>(m, "RunningSum")
      .def(py::init<const Unit&, const Operands&, std::uint64_t>())
      .def("add", &RunningSum::add)
      .def("deliver", &RunningSum::deliver);
  m.def("random_operands", &fill);
  m.def("operands_to_borders", &move_to_borders);
}
