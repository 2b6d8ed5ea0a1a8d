#pragma once
#include "row.hpp"

// Rows of words of 32 bits, as the generator of random bits takes them.
namespace widthwise {

// Words of 32 bits, each in a place of 64.
template <int N>
struct SpacedWords {
  Row<std::uint64_t, N> row;

  SpacedWords() = default;
  explicit SpacedWords(std::uint64_t x) : row(x) {}
  explicit SpacedWords(const Row<std::uint64_t, N>& x) : row(x) {}
  explicit operator Row<std::uint64_t, N>() const { return row; }
  friend SpacedWords operator^(const SpacedWords& a, const SpacedWords& b) {
    return SpacedWords(a.row ^ b.row);
  }
  friend SpacedWords operator&(const SpacedWords& a, const SpacedWords& b) {
    return SpacedWords(a.row & b.row);
  }
  friend SpacedWords operator>>(const SpacedWords& x, int n) { return SpacedWords(x.row >> n); }
};
// Told to, for GCC counts it too large, and out of line it has the plain instruction set.
template <int N>
[[gnu::always_inline]] inline Halves<SpacedWords<N>> multiply_exact(const SpacedWords<N>& a,
                                                                    const SpacedWords<N>& b) {
  const Row<std::uint64_t, N> z = a.row * b.row;
  return {SpacedWords<N>(z >> 32), SpacedWords<N>(z) & SpacedWords<N>(0xffffffff)};
}

// What the generator of random bits takes for a row of outputs.
template <class U>
struct WordsOf {
  using type = U;
};
template <int N>
struct WordsOf<Row<std::uint64_t, N>> {
  using type = SpacedWords<N>;
};

}  // namespace widthwise
