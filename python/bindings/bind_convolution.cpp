#include <array>
#include <thread>

#include "codes.hpp"
#include "multiplier.hpp"
#include "slices.hpp"
#include "widthwise/sim/convolution.hpp"

using namespace widthwise;

namespace {

using Axis = std::array<std::size_t, 5>;  // input, kernel, stride, padding, dilation

ConvolutionAxis axis(const Axis& x) { return {x[0], x[1], x[2], x[3], x[4]}; }

// Height and width of the result, where all fits together.
py::tuple shape(const Convolution& c) {
  check(c);
  return py::make_tuple(c.height.output(), c.width.output());
}

// Strides of the leading axes of an array, in codes.
std::vector<std::ptrdiff_t> strides(const Format& f, const py::array& x, py::ssize_t axes) {
  const int bytes = item_bytes(f.width());
  if (x.ndim() != axes + (limbs(f) > 1) || x.itemsize() * limbs(f) != bytes ||
      (limbs(f) > 1 && x.strides(axes) != x.itemsize()))
    throw std::logic_error("codes have to be an array of " + to_string(f) + "'s items");
  std::vector<std::ptrdiff_t> all;
  for (py::ssize_t i = 0; i < axes; ++i) {
    if (x.strides(i) % bytes != 0) throw std::logic_error("codes have to lie at whole items");
    all.push_back(x.strides(i) / bytes);
  }
  return all;
}

// x (images, channels, height, width), weights (filters, length), c (images, filters, pixels) or
// None.
void convolve(const Unit& u, const Convolution& convolution, const py::array& x,
              const py::array& weights, const py::object& c, py::array result, py::object flags,
              std::uint64_t seed, int threads, const std::string& engine,
              const py::object& product) {
  const ConvolutionEngine work(u, convolution, !flags.is_none(), multiplier(product), engine);
  const std::size_t outputs = convolution.images * convolution.filters * convolution.pixels();
  ConvolutionOperands operands;
  const auto along = strides(u.a.fmt, x, 4);
  operands.input = {x.data(), along[0], along[1], along[2], along[3]};
  operands.weights = code_matrix(u.b.fmt, weights);
  if (!c.is_none()) {
    const auto addend = py::cast<py::array>(c);
    const auto apart = strides(u.c.fmt, addend, 3);
    operands.c = {addend.data(), apart[0], apart[1], apart[2]};
  }
  operands.result = place(result_round(u).fmt, result, outputs);
  operands.flags = flags_place(flags, outputs);
  operands.seed = seed;
  in_parallel(work.pieces(), crew_of(product, threads),
              [&](std::size_t piece) { work.run(operands, piece); });
}

}  // namespace

void bind_convolution(py::module_& m) {
  py::class_<Convolution>(m, "Convolution")
      .def(py::init([](std::size_t images, std::size_t channels, std::size_t filters,
                       std::size_t groups, const Axis& height, const Axis& width) {
        return Convolution{images, channels, filters, groups, axis(height), axis(width)};
      }))
      .def_property_readonly("shape", &shape);
  m.def("convolve", &convolve);
}
