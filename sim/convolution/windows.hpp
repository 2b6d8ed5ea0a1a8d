#pragma once
#include <vector>

#include "widthwise/sim/convolution.hpp"

namespace widthwise {

// Pixels first … first + count - 1 of one image, of one group.
struct WindowRange {
  std::size_t image, group, first, count;
};

// Their windows as the columns of a matrix (length, count), row by row in one piece; zeros where
// they pass the edge.
void gather_windows(const Convolution& c, const Format& f, const CodeImages& input,
                    const WindowRange& range, std::vector<std::byte>& windows);

}  // namespace widthwise
