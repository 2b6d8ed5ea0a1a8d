#pragma once
#include "product_tile.hpp"

// Blocks of a few products by the machine's own operations: trees of binary32, and sums that
// doubles hold whole.
namespace widthwise::cuda {

// Products and sums of neighbours, each binary32 to nearest, and C last. `flushed`: subnormal
// results are zeros of their sign.
template <int lanes, bool flushed>
struct TreeBlock {
  using Number = float;
  static constexpr int count = lanes;

  static WIDTHWISE_BOTH_INLINE float next(const float* a, const float* b, float c) {
    return kept(hn::Add(c, tree<lanes>(a, b)));
  }

 private:
  template <int n>
  static WIDTHWISE_BOTH_INLINE float tree(const float* a, const float* b) {
    if constexpr (n == 1)
      return kept(hn::Mul(a[0], b[0]));
    else
      return kept(hn::Add(tree<n / 2>(a, b), tree<n / 2>(a + n / 2, b + n / 2)));
  }
  static WIDTHWISE_BOTH_INLINE float kept(float x) {
    if constexpr (!flushed) return x;
    return hn::Abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
  }
};

// a b + c, and whether a double holds it; a b is one.
struct HeldSum {
  double sum;
  bool whole;
};
#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE HeldSum held_sum(double a, double b, double c) {
  const double down = fused_down(a, b, c), up = fused_up(a, b, c);
  return {up, down == up};
}
#else
inline HeldSum held_sum(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  return {sum, sum - c == product && sum - product == c};
}
#endif

// An exact sum with C in it, rounded once to binary32, to nearest; an exact zero is +0. NaN where a
// double does not hold the products' sum.
template <int lanes>
struct ExactBlock {
  using Number = double;
  static constexpr int count = lanes;

  static WIDTHWISE_BOTH_INLINE double next(const double* a, const double* b, double c) {
    double sum = -0.0;
    bool exact = true;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < lanes; ++i) {
      const HeldSum next = held_sum(a[i], b[i], sum);
      sum = next.sum;
      exact &= next.whole;
    }
    const double odd = hn::Add(fused_to_odd(1.0, sum, c), 0.0);
    return exact ? static_cast<double>(static_cast<float>(odd))
                 : std::numeric_limits<double>::quiet_NaN();
  }
};

// How a tile that goes block by block is made of the operands' constants: of none.
template <class T>
struct NoStep {
  static constexpr bool watched = true;
  WIDTHWISE_BOTH_INLINE explicit NoStep(const lanes::Constants<T>&) {}
};

// 4 x 4 outputs a thread. The products that fill up the last block are those of zeros.
template <class Block>
class BlockTile
    : public ProductTile<typename Block::Number, NoStep<typename Block::Number>, 64, 64, 16, 4, 4> {
  using T = typename Block::Number;
  using Base = ProductTile<T, NoStep<T>, 64, 64, 16, 4, 4>;
  using typename Base::Pack;
  static constexpr int side = 4, depth = 16;
  static_assert(depth % Block::count == 0, "whole blocks lie in shared memory");

 public:
  using Base::Base;
  using typename Base::Registers;
  using typename Base::Shared;

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int left = this->g_.k - step * depth, steps = left < depth ? left : depth;
    WIDTHWISE_NOT_UNROLLED
    for (int k = 0; k < steps; k += Block::count) add_block(s.a + k, s.b + k, thread, r);
  }

 private:
  template <int packs>
  using Line = Pack[packs];
  using Lines = T[side][Block::count];

  // A thread's lines of a block.
  template <int packs>
  static WIDTHWISE_BOTH_INLINE void gather(const Line<packs>* steps, int thread, int threads_along,
                                           Lines& lines) {
    WIDTHWISE_UNROLLED
    for (int t = 0; t < Block::count; ++t) {
      WIDTHWISE_UNROLLED
      for (int i = 0; i < side; ++i)
        lines[i][t] = steps[t][i / Base::wide * threads_along + thread].x[i % Base::wide];
    }
  }

  template <int a_packs, int b_packs>
  static WIDTHWISE_BOTH_INLINE void add_block(const Line<a_packs>* a_steps,
                                              const Line<b_packs>* b_steps, int thread,
                                              Registers& r) {
    Lines a, b;
    gather<a_packs>(a_steps, thread / Base::across, Base::down, a);
    gather<b_packs>(b_steps, thread % Base::across, Base::across, b);
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j) r.sum[i][j] = Block::next(a[i], b[j], r.sum[i][j]);
    }
  }
};

}  // namespace widthwise::cuda
