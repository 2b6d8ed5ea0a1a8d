#pragma once
#include "codes.hpp"
#include "widthwise/sim/convolution.hpp"

// What convolutions work on, wherever it lies.
namespace widthwise {

// Strides of the leading axes of an array, in codes.
inline std::vector<std::ptrdiff_t> strides(const Format& f, const py::array& x, py::ssize_t axes) {
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
inline ConvolutionOperands convolution_operands(const Unit& u, const Convolution& convolution,
                                                const py::array& x, const py::array& weights,
                                                const py::object& c, py::array& result,
                                                py::object& flags, std::uint64_t seed) {
  const std::size_t outputs = convolution.images * convolution.filters * convolution.pixels();
  ConvolutionOperands operands;
  const std::vector<std::ptrdiff_t> along = strides(u.a.fmt, x, 4);
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
  return operands;
}

}  // namespace widthwise
