#pragma once
#include "side.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {

// Items of a matrix from where they lie to where they belong, by strides in items.
struct MoveItems {
  const std::byte* from;
  std::byte* to;
  std::ptrdiff_t from_row, from_column, to_row, to_column;
  std::size_t rows, columns;
  int bytes;  // of an item: 1, 2, 4, or whole words of 8

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
    for (std::size_t at = thread; at < rows * columns; at += threads) {
      const auto i = static_cast<std::ptrdiff_t>(at / columns),
                 j = static_cast<std::ptrdiff_t>(at % columns);
      const auto* x = reinterpret_cast<const Word*>(from) + (i * from_row + j * from_column) * words;
      auto* z = reinterpret_cast<Word*>(to) + (i * to_row + j * to_column) * words;
      for (std::ptrdiff_t w = 0; w < words; ++w) z[w] = x[w];
    }
  }
};

}  // namespace widthwise::cuda
