#pragma once
#include "side.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {

// The channels of an image side by side, zeros around each of them.
struct PadImage {
  struct Axis {
    std::size_t input, padding;
    std::ptrdiff_t stride;  // in items

    constexpr std::size_t padded() const { return input + 2 * padding; }
    constexpr bool holds(std::size_t at) const { return at >= padding && at - padding < input; }
    constexpr std::ptrdiff_t place(std::size_t at) const {
      return static_cast<std::ptrdiff_t>(at - padding) * stride;
    }
  };

  const std::byte* from;
  std::byte* to;
  int bytes;  // of an item
  std::size_t channels;
  std::ptrdiff_t channel;  // stride
  Axis height, width;

  constexpr std::size_t count() const { return channels * height.padded() * width.padded(); }

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count(); i += threads) item(i);
  }

 private:
  WIDTHWISE_BOTH_INLINE void item(std::size_t i) const {
    const std::size_t x = i % width.padded(), y = i / width.padded() % height.padded(),
                      plane = i / width.padded() / height.padded();
    const bool inside = height.holds(y) && width.holds(x);
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(plane) * channel + height.place(y) + width.place(x);
    for (int b = 0; b < bytes; ++b)
      to[i * static_cast<std::size_t>(bytes) + static_cast<std::size_t>(b)] =
          inside ? from[at * bytes + b] : std::byte{0};
  }
};

}  // namespace widthwise::cuda
