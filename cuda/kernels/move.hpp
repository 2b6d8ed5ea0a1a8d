#pragma once
#include "side.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {

// Items of an array from where they lie to where they belong.
struct MoveItems {
  static constexpr int most_axes = 8;
  struct Axis {
    std::size_t size;
    std::ptrdiff_t from, to;  // strides, in items
  };

  const std::byte* from;
  std::byte* to;
  int bytes;  // of an item: 1, 2, 4, or whole words of 8
  int axes_used;
  Axis axes[most_axes];

  constexpr std::size_t count() const {
    std::size_t n = 1;
    for (int i = 0; i < axes_used; ++i) n *= axes[i].size;
    return n;
  }

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    switch (bytes) {
      case 1: return move<std::uint8_t>(thread, threads);
      case 2: return move<std::uint16_t>(thread, threads);
      case 4: return move<std::uint32_t>(thread, threads);
      default: return move<std::uint64_t>(thread, threads);
    }
  }

 private:
  template <class Word>
  WIDTHWISE_BOTH void move(std::size_t thread, std::size_t threads) const {
    const auto words = static_cast<std::ptrdiff_t>(bytes / sizeof(Word));
    for (std::size_t at = thread; at < count(); at += threads) {
      std::ptrdiff_t source = 0, target = 0;
      std::size_t left = at;
      for (int i = axes_used; i-- > 0; left /= axes[i].size) {
        const auto place = static_cast<std::ptrdiff_t>(left % axes[i].size);
        source += place * axes[i].from, target += place * axes[i].to;
      }
      const auto* x = reinterpret_cast<const Word*>(from) + source * words;
      auto* z = reinterpret_cast<Word*>(to) + target * words;
      for (std::ptrdiff_t w = 0; w < words; ++w) z[w] = x[w];
    }
  }
};

}  // namespace widthwise::cuda
