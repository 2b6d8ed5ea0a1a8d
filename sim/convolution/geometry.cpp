#include <fmt/format.h>

#include <stdexcept>

#include "widthwise/sim/convolution.hpp"

namespace widthwise {
namespace {

constexpr std::size_t longest_step = (std::size_t{1} << 31) - 1, most = std::size_t{1} << 60;

void need(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument(what);
}

// a * b * …, or more than `most` where that passes it.
std::size_t times(std::initializer_list<std::size_t> sizes) {
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(product, size, &product) || product > most) product = most + 1;
  }
  return product;
}

void check_step(std::string_view name, std::string_view axis, std::size_t x, std::size_t least) {
  need(least <= x && x <= longest_step,
       fmt::format("{} = {} along the {}: it may be {} to 2^31 - 1", name, x, axis, least));
}

void check_axis(std::string_view name, const ConvolutionAxis& axis) {
  check_step("stride", name, axis.stride, 1);
  check_step("padding", name, axis.padding, 0);
  check_step("dilation", name, axis.dilation, 1);
  need(axis.input <= most, fmt::format("x has a {} of {}; 2^60 is the most", name, axis.input));
  need(axis.kernel >= 1, fmt::format("w has a {} of 0; a kernel has one element at least", name));
  const std::size_t last = times({axis.kernel - 1, axis.dilation});
  const std::size_t padded = axis.input + 2 * axis.padding;
  need(last < padded,
       fmt::format("w has a {0} of {1}, which reaches {2} with dilation = {3}; x has a {0} of "
                   "{4}, {5} with padding = {6}: pad more, or take a smaller kernel or dilation",
                   name, axis.kernel, last > most ? "past 2^60" : fmt::format("over {}", last + 1),
                   axis.dilation, axis.input, padded, axis.padding));
}

}  // namespace

void check(const Convolution& c) {
  need(c.groups >= 1 && c.channels % c.groups == 0 && c.filters % c.groups == 0,
       fmt::format("groups = {}: it has to divide x's {} channels and w's {} filters", c.groups,
                   c.channels, c.filters));
  check_axis("height", c.height);
  check_axis("width", c.width);
  const std::size_t h = c.height.output(), w = c.width.output();
  need(times({c.images, c.filters, h, w}) <= most,
       fmt::format("the result would have {} x {} x {} x {} codes; 2^60 are the most", c.images,
                   c.filters, h, w));
  need(times({c.group_channels(), c.height.kernel, c.width.kernel}) <= most,
       fmt::format("w has {} x {} x {} weights a filter; 2^60 are the most", c.group_channels(),
                   c.height.kernel, c.width.kernel));
}

}  // namespace widthwise
