#pragma once
#include "lane.hpp"
#include "sim/lanes/kernels.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/sim/codes.hpp"
#ifndef __CUDA_ARCH__
#include "widthwise/arithmetic.hpp"
#endif

// Lanes that are two numbers of 16 bits in one register: the GPU's own arithmetic on binary16 and
// bfloat16, subnormals, infinities and NaN as IEEE 754 has them (PTX: f16x2 and bf16x2, `rn`, which
// nothing contracts). On a CPU lib computes the same.
namespace widthwise::cuda {

template <bool brain>
struct Pair {
  static constexpr Format format = brain ? bfloat16 : binary16;
  std::uint32_t bits;  // the second number in the upper half
};
using HalfPair = Pair<false>;
using BrainPair = Pair<true>;

namespace hn {

#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE HalfPair Mul(HalfPair a, HalfPair b) {
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(a.bits) : "r"(a.bits), "r"(b.bits));
  return a;
}
WIDTHWISE_BOTH_INLINE HalfPair Add(HalfPair a, HalfPair b) {
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(a.bits) : "r"(a.bits), "r"(b.bits));
  return a;
}
WIDTHWISE_BOTH_INLINE HalfPair MulAdd(HalfPair a, HalfPair b, HalfPair c) {
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(c.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return c;
}
// The one that sm_80 has. Products and sums are of it: a b + -0, and 1 a + b, are those.
WIDTHWISE_BOTH_INLINE BrainPair MulAdd(BrainPair a, BrainPair b, BrainPair c) {
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(c.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return c;
}
WIDTHWISE_BOTH_INLINE BrainPair Mul(BrainPair a, BrainPair b) {
  return MulAdd(a, b, BrainPair{0x80008000});
}
WIDTHWISE_BOTH_INLINE BrainPair Add(BrainPair a, BrainPair b) {
  return MulAdd(a, BrainPair{0x3f803f80}, b);
}
#else
// op on the lower numbers and on the upper ones.
template <class P, class Op, class... Others>
P of_both(const Op& op, P a, Others... others) {
  const std::uint32_t low = op(a.bits & 0xffff, (others.bits & 0xffff)...);
  return {low | op(a.bits >> 16, (others.bits >> 16)...) << 16};
}
template <class P>
inline constexpr Arithmetic<std::uint32_t> arithmetic_of{P::format};

template <bool brain>
Pair<brain> Mul(Pair<brain> a, Pair<brain> b) {
  return of_both([](auto x, auto y) { return arithmetic_of<Pair<brain>>.multiply(x, y).code; }, a,
                 b);
}
template <bool brain>
Pair<brain> Add(Pair<brain> a, Pair<brain> b) {
  return of_both([](auto x, auto y) { return arithmetic_of<Pair<brain>>.add(x, y).code; }, a, b);
}
template <bool brain>
Pair<brain> MulAdd(Pair<brain> a, Pair<brain> b, Pair<brain> c) {
  return of_both(
      [](auto x, auto y, auto z) { return arithmetic_of<Pair<brain>>.fma(x, y, z).code; }, a, b, c);
}
#endif

}  // namespace hn

// One more product into a sum, each rounded, or both once.
template <class P, bool fused>
struct PairStep {
  static constexpr bool watched = false;

  WIDTHWISE_BOTH_INLINE explicit PairStep(const lanes::Constants<P>&) {}
  WIDTHWISE_BOTH_INLINE P scale_up(P a) const { return a; }
  WIDTHWISE_BOTH_INLINE P operator()(P a, P, P b, P sum) const {
    return fused ? hn::MulAdd(a, b, sum) : hn::Add(sum, hn::Mul(a, b));
  }
};

// Codes as pairs: the same number twice, as rows of A stand, or neighbours of a row, as B and C do,
// the last one perhaps beside a zero.
struct PackPairs {
  Layout<std::uint64_t> from;
  Rounder<std::uint64_t> to;  // binary16 or bfloat16, which has every number of `from`
  const std::byte* codes;
  std::size_t rows, columns;
  int bytes;
  bool twice;
  std::uint32_t* pairs;

  WIDTHWISE_BOTH std::size_t pairs_of_row() const { return twice ? columns : (columns + 1) / 2; }

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t width = pairs_of_row(), count = rows * width;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::size_t row = i / width, at = i % width;
      const std::size_t low = twice ? at : 2 * at, high = twice ? at : 2 * at + 1;
      pairs[i] = code(row, low) | code(row, high) << 16;
    }
  }

 private:
  WIDTHWISE_BOTH std::uint32_t code(std::size_t row, std::size_t column) const {
    if (column >= columns) return 0;
    const std::byte* at = codes + (row * columns + column) * static_cast<std::size_t>(bytes);
    const std::uint64_t x = load_code<std::uint64_t>(at, bytes);
    return static_cast<std::uint32_t>(convert(to, from, x).code);
  }
};

// Pairs to rows of codes; NaN becomes the canonical one.
struct UnpackPairs {
  Layout<std::uint64_t> from;
  Rounder<std::uint64_t> to;  // the same format
  const std::uint32_t* pairs;
  std::size_t rows, columns;
  std::byte* result;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t width = (columns + 1) / 2, count = rows * columns;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::size_t row = i / columns, column = i % columns;
      const std::uint32_t pair = pairs[row * width + column / 2];
      const std::uint64_t x = column % 2 ? pair >> 16 : pair & 0xffff;
      store_code(result + i * 2, 2, convert(to, from, x).code);
    }
  }
};

}  // namespace widthwise::cuda
