#include "windows.hpp"

#include <algorithm>
#include <cstring>

namespace widthwise {
namespace {

using Signed = std::ptrdiff_t;

// Of the windows' positions along an axis, those whose element t lies inside the input.
struct Inside {
  std::size_t first, end;
};
Inside inside(const ConvolutionAxis& axis, std::size_t t) {
  const std::size_t at = t * axis.dilation, outputs = axis.output();
  const auto reached = [&](std::size_t place) {  // the first window whose element is there or past
    return place <= at ? 0 : std::min(outputs, (place - at + axis.stride - 1) / axis.stride);
  };
  return {reached(axis.padding), reached(axis.padding + axis.input)};
}

// Where element t of a window lies. Only for one that is inside.
Signed position(const ConvolutionAxis& axis, std::size_t window, std::size_t t) {
  return static_cast<Signed>(window * axis.stride + t * axis.dilation - axis.padding);
}

// Copies n items that lie `step` items apart. A constant size becomes a plain loop of moves.
template <std::size_t Bytes>
void copy_apart(std::byte* to, const std::byte* from, Signed step, std::size_t n,
                std::size_t bytes) {
  if constexpr (Bytes != 0) bytes = Bytes;
  for (std::size_t i = 0; i < n; ++i)
    std::memcpy(to + i * bytes, from + static_cast<Signed>(i) * step * static_cast<Signed>(bytes),
                bytes);
}

void copy(std::byte* to, const std::byte* from, Signed step, std::size_t n, std::size_t bytes) {
  if (step == 1) {
    std::memcpy(to, from, n * bytes);
    return;
  }
  switch (bytes) {
    case 1: return copy_apart<1>(to, from, step, n, bytes);
    case 2: return copy_apart<2>(to, from, step, n, bytes);
    case 4: return copy_apart<4>(to, from, step, n, bytes);
    case 8: return copy_apart<8>(to, from, step, n, bytes);
    default: return copy_apart<0>(to, from, step, n, bytes);
  }
}

// One row of the matrix: the same element of every window.
class ElementRow {
 public:
  ElementRow(const Convolution& c, const CodeImages& input, const std::byte* channel,
             std::size_t bytes, std::size_t row, std::size_t column)
      : c_(c),
        input_(input),
        channel_(channel),
        bytes_(bytes),
        row_(row),
        column_(column),
        rows_(inside(c.height, row)),
        columns_(inside(c.width, column)) {}

  void gather(std::size_t first, std::size_t count, std::byte* to) const {
    const std::size_t width = c_.width.output();
    while (count > 0) {  // a part of one row of pixels after the other
      const std::size_t y = first / width, x = first % width, n = std::min(count, width - x);
      gather_part(y, x, n, to);
      first += n, count -= n, to += n * bytes_;
    }
  }

 private:
  void gather_part(std::size_t y, std::size_t x, std::size_t n, std::byte* to) const {
    const bool empty = y < rows_.first || y >= rows_.end;
    const std::size_t from = std::clamp(columns_.first, x, x + n) - x,
                      end = empty ? from : std::clamp(columns_.end, x + from, x + n) - x;
    std::memset(to, 0, from * bytes_);
    std::memset(to + end * bytes_, 0, (n - end) * bytes_);
    if (end <= from) return;
    const Signed at = position(c_.height, y, row_) * input_.row +
                      position(c_.width, x + from, column_) * input_.column;
    copy(to + from * bytes_, channel_ + at * static_cast<Signed>(bytes_),
         static_cast<Signed>(c_.width.stride) * input_.column, end - from, bytes_);
  }

  const Convolution& c_;
  const CodeImages& input_;
  const std::byte* channel_;
  std::size_t bytes_, row_, column_;
  Inside rows_, columns_;
};

}  // namespace

void gather_windows(const Convolution& c, const Format& f, const CodeImages& input,
                    const WindowRange& range, std::vector<std::byte>& windows) {
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  windows.resize(c.length() * range.count * bytes);
  std::byte* to = windows.data();
  for (std::size_t t = 0; t < c.group_channels(); ++t) {
    const std::size_t channel = range.group * c.group_channels() + t;
    const std::byte* at = static_cast<const std::byte*>(input.data) +
                          (static_cast<Signed>(range.image) * input.image +
                           static_cast<Signed>(channel) * input.channel) *
                              static_cast<Signed>(bytes);
    for (std::size_t row = 0; row < c.height.kernel; ++row)
      for (std::size_t column = 0; column < c.width.kernel; ++column) {
        ElementRow(c, input, at, bytes, row, column).gather(range.first, range.count, to);
        to += range.count * bytes;
      }
  }
}

}  // namespace widthwise
