#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/unit.hpp"

// Tiles of outputs, a row of them at a time: each width's kernel is compiled once for every
// instruction set, and one is picked when the program runs.
namespace widthwise::rows {

// Columns of a panel, at most and at least: whole rows on every machine.
inline constexpr std::size_t most_columns = 64, least_columns = 8;

// What a conditioned number is, beside its digits: an infinity is endless, a NaN that and zero, as
// if it were their product; neither has digits.
enum Mark : unsigned { negative = 1, zero = 2, endless = 4 };

// How many words lib's carrier of codes has, and that of the magnitudes.
struct Widths {
  int code_words, magnitude_words;
};
// 2 or 4 where codes have two, also 1 where one. Longer sums are rare and a fallback's.
inline constexpr int most_magnitude_words = 4;

// Digits of magnitudes that two terms which are added with one jammed digit have at most, and that
// the rounding of their sum looks at: docs/exactness.md, 55.
constexpr int most_jammed(int magnitude_words) { return 64 * magnitude_words - 4; }

// Numbers in memory, word by word: those of the significand, then q, e (as lib's Factor has them)
// and marks. A panel has each for all of its columns before the next one.
inline constexpr int words_beside = 3;
constexpr int number_words(const Widths& w) { return w.code_words + words_beside; }

// What a chain holds between two parts of k: registers, each its code and the number read from it.
inline constexpr int registers = 3;
constexpr int chain_words(const Widths& w) { return registers * (w.code_words + number_words(w)); }

// A part of k, of whole blocks, of some rows and columns.
struct Tile {
  const std::uint64_t *a, *scale_a;  // numbers, row after row
  const std::uint64_t *b, *scale_b;  // panels, element after element
  const std::uint64_t* c;            // panels, row after row
  const std::size_t* scale_of;       // of every lane; null where the unit has no scales
  std::size_t rows, columns;
  std::size_t panel;            // columns of a panel, whether they are outputs or not
  std::size_t lanes, scales;    // numbers of a row of a and scale_a
  std::size_t first, total;     // where the lanes begin along k, and how many that has
  std::uint64_t* chains;        // panels, row after row; null where this part is all of k
  std::uint64_t* code;          // panels of words, row after row, once k ends
  std::uint64_t *flags, *lost;  // panels; `lost` is not 0 where there was no room
  std::uint64_t seed, index;    // of the output in the corner
  std::size_t next_row;         // from one row's index to the next one's
  bool codes_only;              // nobody asks which flags

  bool begins() const { return first == 0; }
  bool ends() const { return first + lanes == total; }
};

using Kernel = void (*)(const Unit&, const Tile&);

// Those of an instruction set, by the words of codes and of magnitudes.
#define WIDTHWISE_ROWS_KERNELS(path) \
  namespace path {                   \
  Kernel kernel_1_1();               \
  Kernel kernel_1_2();               \
  Kernel kernel_1_4();               \
  Kernel kernel_2_2();               \
  Kernel kernel_2_4();               \
  }
WIDTHWISE_ROWS_KERNELS(baseline)
WIDTHWISE_ROWS_KERNELS(avx2)
WIDTHWISE_ROWS_KERNELS(avx512)
#undef WIDTHWISE_ROWS_KERNELS

// Those which this machine runs fastest.
Kernel kernel(const Widths& w);

// The name of the instruction set that the kernels use here, and how many outputs a row has there.
const char* target_name();
std::size_t lanes_here();

}  // namespace widthwise::rows
