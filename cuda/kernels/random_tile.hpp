#pragma once
#include "product_tile.hpp"

// Stochastic sums (docs/exactness.md, 6).
namespace widthwise::cuda {

// `special`: infinities and NaN may come out of the operands.
template <lanes::Multiply multiply, bool special>
struct RandomStep {
  static constexpr bool watched = true;
  float product_up, product_least;
  int down;  // of a field of 32 random bits, its first one the highest: to the digits that go
  std::uint32_t drawn, kept;

  WIDTHWISE_BOTH_INLINE explicit RandomStep(const lanes::Constants<float>& k)
      : product_up(k.product_up),
        product_least(k.product_least),
        down(32 - k.sum_cut),
        drawn(((1u << k.random_bits) - 1) << (k.sum_cut - k.random_bits)),
        kept(~0u << k.sum_cut) {}

  WIDTHWISE_BOTH_INLINE float scale_up(float a) const { return hn::Mul(hn::Abs(a), product_up); }

  WIDTHWISE_BOTH_INLINE float operator()(float a, float a_up, float b, float before,
                                         std::uint32_t field) const {
    const float x = added(a, a_up, b, before);
    const std::uint32_t carried = bits_of(x) + (field >> down & drawn);
    const auto sum_kept = std::bit_cast<float>(carried & kept);
    // A GPU's NaN has all digits set, of which a carry makes a zero: it comes in again.
    return special ? hn::MulAdd(x, 0.0f, sum_kept) : sum_kept;
  }

 private:
  // The carrier toward zero, whose lost digits the random ones would not have met either.
  WIDTHWISE_BOTH_INLINE float added(float a, float a_up, float b, float sum) const {
    if constexpr (multiply == lanes::Multiply::exact) return toward_zero(a, b, sum);
    return toward_zero(sum, rounded_product(a, a_up, b, hn::Abs(b), product_least));
  }
};

// One call of the generator serves eight steps of an output: 4 x 4 of them a thread, whose words
// stay in registers.
template <lanes::Multiply multiply, bool special>
class RandomTile : public ProductTile<float, RandomStep<multiply, special>, 64, 64, 16, 4, 4> {
  using Base = ProductTile<float, RandomStep<multiply, special>, 64, 64, 16, 4, 4>;
  using typename Base::Pack;
  static constexpr int side = 4;
  static constexpr int steps_a_call = static_cast<int>(lanes::random_steps);
  static_assert(16 % steps_a_call == 0, "calls begin with the steps that shared memory holds");

 public:
  using typename Base::Shared;
  struct Registers : Base::Registers {
    int block_x, block_y;
  };

  using Base::Base;

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    r.block_x = block_x, r.block_y = block_y;
    Base::begin(block_x, block_y, thread, r);
  }

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int first = step * 16, left = this->g_.k - first, steps = left < 16 ? left : 16;
    WIDTHWISE_NOT_UNROLLED
    for (int k = 0; k < steps; k += steps_a_call) {
      this->look(r);
      Draws draws;
      draw(first + k, thread, r, draws);
      WIDTHWISE_UNROLLED
      for (int t = 0; t < steps_a_call; ++t)
        if (k + t < steps)
          multiply_add(s.a[k + t][thread / Base::across], s.b[k + t][thread % Base::across], draws,
                       t, r);
    }
  }

 private:
  struct Draws {
    std::uint32_t words[side][side][4];

    // Of step t, at the top of a word.
    WIDTHWISE_BOTH_INLINE std::uint32_t field(int i, int j, int t) const {
      const std::uint32_t word = words[i][j][t / 2];
      return t % 2 ? word : word << 16;
    }
  };

  WIDTHWISE_BOTH_INLINE void draw(int step, int thread, const Registers& r, Draws& draws) const {
    const RandomField field(this->g_.constants.random_bits);
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      const int row = r.block_y * 64 + this->place(i, thread / Base::across, Base::down);
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j) {
        const int column = r.block_x * 64 + this->place(j, thread % Base::across, Base::across);
        const std::uint64_t index = this->g_.first + row * this->g_.row_outputs + column;
        const auto words = random_words(field, this->g_.keys, static_cast<std::uint32_t>(index),
                                        static_cast<std::uint32_t>(index >> 32), Slot::out,
                                        static_cast<std::uint64_t>(step));
        WIDTHWISE_UNROLLED
        for (std::size_t w = 0; w < 4; ++w) draws.words[i][j][w] = words[w];
      }
    }
  }

  WIDTHWISE_BOTH_INLINE void multiply_add(const Pack& a, const Pack& b, const Draws& draws, int t,
                                          Registers& r) const {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      const float up = this->multiply_add_.scale_up(a.x[i]);
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j)
        r.sum[i][j] = this->multiply_add_(a.x[i], up, b.x[j], r.sum[i][j], draws.field(i, j, t));
    }
  }
};

}  // namespace widthwise::cuda
