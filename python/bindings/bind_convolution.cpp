#include <array>
#include <thread>

#include "images.hpp"
#include "multiplier.hpp"
#include "slices.hpp"
#include "supplied.hpp"
#include "widthwise/sim/multipliers.hpp"

using namespace widthwise;

namespace {

using Axis = std::array<std::size_t, 5>;  // input, kernel, stride, padding, dilation

ConvolutionAxis axis(const Axis& x) { return {x[0], x[1], x[2], x[3], x[4]}; }

// Height and width of the result, where all fits together.
py::tuple shape(const Convolution& c) {
  check(c);
  return py::make_tuple(c.height.output(), c.width.output());
}

void convolve(const Unit& u, const Convolution& convolution, const py::array& x,
              const py::array& weights, const py::object& c, py::array result, py::object flags,
              std::uint64_t seed, const py::object& product, int threads,
              const std::string& engine) {
  const ConvolutionEngine work(u, convolution, !flags.is_none(), multiplier(product), engine);
  const ConvolutionOperands operands =
      convolution_operands(u, convolution, x, weights, c, result, flags, seed);
  in_parallel(work.pieces(), crew_of(product, threads),
              [&](std::size_t piece) { work.run(operands, piece); });
}

// By the caller's random bits, of each of the unit's random slots for every output.
void convolve_supplied(const Unit& u, const Convolution& convolution, const py::array& x,
                       const py::array& weights, const py::object& c, py::array result,
                       py::object flags, const std::vector<py::array>& words,
                       const py::object& product, int threads) {
  const ConvolutionEngine work(u, convolution, !flags.is_none(), multiplier(product), "reference");
  const auto reference =
      make_reference(exchanged(u), convolution.length(), exchanged(multiplier(product)));
  const ConvolutionOperands operands =
      convolution_operands(u, convolution, x, weights, c, result, flags, 0);
  const std::size_t outputs = convolution.images * convolution.filters * convolution.pixels();
  const std::vector<SuppliedWords> random = supplied_words(u, convolution.length(), words, outputs);
  in_parallel(work.pieces(), crew_of(product, threads),
              [&](std::size_t piece) { work.run_supplied(operands, piece, *reference, random); });
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
  m.def("convolve_supplied", &convolve_supplied);
}
