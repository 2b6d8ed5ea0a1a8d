#include "convolution.hpp"

#include "kernels/pad_image.hpp"
#include "product.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

std::size_t padded(const ConvolutionAxis& axis) { return axis.input + 2 * axis.padding; }

std::size_t plane(const Convolution& c) { return padded(c.height) * padded(c.width); }

// Of elements in order of channel, kernel row, kernel column, before any step of the window.
std::vector<std::size_t> places_in_window(const Convolution& c) {
  std::vector<std::size_t> places;
  for (std::size_t channel = 0; channel < c.group_channels(); ++channel)
    for (std::size_t row = 0; row < c.height.kernel; ++row)
      for (std::size_t column = 0; column < c.width.kernel; ++column)
        places.push_back(channel * plane(c) + row * c.height.dilation * padded(c.width) +
                         column * c.width.dilation);
  return places;
}

// Of the first elements of all windows of a channel.
std::vector<std::size_t> places_of_windows(const Convolution& c) {
  std::vector<std::size_t> places;
  for (std::size_t y = 0; y < c.height.output(); ++y)
    for (std::size_t x = 0; x < c.width.output(); ++x)
      places.push_back(y * c.height.stride * padded(c.width) + x * c.width.stride);
  return places;
}

Buffer places_there(Device& device, const std::vector<std::size_t>& places) {
  return copied_in(device, std::span<const std::size_t>(places));
}

const std::byte* moved(const void* data, std::ptrdiff_t elements, const Format& f) {
  return static_cast<const std::byte*>(data) + elements * item_bytes(f.width());
}

std::ptrdiff_t signed_of(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

}  // namespace

DeviceConvolution::DeviceConvolution(Device& device, const Unit& unit,
                                     const Convolution& convolution, bool flags,
                                     Multiplier multiplier)
    : device_(device), unit_(exchanged(unit)), convolution_(convolution) {
  check(unit);
  check(convolution);
  check(unit, convolution);
  const ProductTask task{unit_, convolution.length(), flags, exchanged(std::move(multiplier))};
  way_ = best_way_by_index(task, device);
  rows_ = places_in_window(convolution);
  rows_there_ = places_there(device, rows_);
  columns_there_ = places_there(device, places_of_windows(convolution));
}

// The channels of a group.
Buffer DeviceConvolution::padded(const CodeImages& x, std::size_t image, std::size_t group) const {
  const Convolution& c = convolution_;
  const Format& f = unit_.b.fmt;
  const std::ptrdiff_t first =
      signed_of(image) * x.image + signed_of(group * c.group_channels()) * x.channel;
  PadImage pad{.from = moved(x.data, first, f),
               .to = nullptr,
               .bytes = item_bytes(f.width()),
               .channels = c.group_channels(),
               .channel = x.channel,
               .height = {c.height.input, c.height.padding, x.row},
               .width = {c.width.input, c.width.padding, x.column}};
  Buffer z(device_, pad.count() * static_cast<std::size_t>(pad.bytes));
  pad.to = z.at<std::byte>();
  launch_each(device_, {"values", "pad_image"}, pad.count(), &pad);
  return z;
}

// But for the windows.
MatrixProduct DeviceConvolution::product(const ConvolutionOperands& x, std::size_t image,
                                         std::size_t group) const {
  const std::size_t filter = group * convolution_.group_filters();
  const std::size_t index = (image * convolution_.filters + filter) * convolution_.pixels();
  const Format& to = result_round(unit_).fmt;
  MatrixProduct p;
  p.m = convolution_.group_filters();
  p.n = convolution_.pixels();
  p.k = convolution_.length();
  p.a = {moved(x.weights.data, signed_of(filter) * x.weights.row, unit_.a.fmt), x.weights.row,
         x.weights.column};
  if (x.c.data)
    p.c = {
        moved(x.c.data, signed_of(image) * x.c.image + signed_of(filter) * x.c.filter, unit_.c.fmt),
        x.c.filter, x.c.pixel};
  p.result = const_cast<std::byte*>(moved(x.result, signed_of(index), to));
  p.flags = x.flags ? x.flags + index : nullptr;
  p.seed = x.seed;
  p.first_index = index;
  return p;
}

void DeviceConvolution::run_group(const ConvolutionOperands& x, std::size_t image,
                                  std::size_t group) const {
  const Buffer elements = padded(x.input, image, group);
  MatrixProduct p = product(x, image, group);
  p.b = {elements.at(), 1, 1};
  const Windows windows{
      convolution_.group_channels() * plane(convolution_),
      rows_,
      {rows_there_.at<const std::size_t>(), columns_there_.at<const std::size_t>()}};
  run_in_regions(device_, unit_, *way_, {p, Memory::device, windows}, 0, p.m);
}

void DeviceConvolution::run(const ConvolutionOperands& x) const {
  for (std::size_t image = 0; image < convolution_.images; ++image)
    for (std::size_t group = 0; group < convolution_.groups; ++group) run_group(x, image, group);
}

}  // namespace widthwise::cuda
