#pragma once
#include "product_tile.hpp"

// Stochastic sums (docs/exactness.md, 6 and 38).
namespace widthwise::cuda {

// sum + the lower half of `halves` times byte 0 of `times` + its upper half times byte 1.
WIDTHWISE_BOTH_INLINE std::uint32_t add_halves(std::uint32_t halves, std::uint32_t times,
                                               std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_lo(halves, times, sum);
#else
  return sum + (halves & 0xffff) * (times & 0xff) + (halves >> 16) * (times >> 8 & 0xff);
#endif
}

// `special`: infinities and NaN may come out of the operands.
template <lanes::Multiply multiply, bool special>
struct RandomStep {
  static constexpr bool watched = true;
  // A GPU's NaN would not stay one beside random digits; the next product does not change this.
  static constexpr float past_limit = std::numeric_limits<float>::infinity();
  float product_up, product_least;

  WIDTHWISE_BOTH_INLINE explicit RandomStep(const lanes::Constants<float>& k)
      : product_up(k.product_up), product_least(k.product_least) {}

  WIDTHWISE_BOTH_INLINE float scale_up(float a) const { return hn::Mul(a, product_up); }

  WIDTHWISE_BOTH_INLINE float operator()(float a, float a_up, float b, float before,
                                         std::uint32_t fields, bool second,
                                         const RandomPlaces& places) const {
    const float x = added(a, a_up, b, before);
    const std::uint32_t carried = add_halves(fields, places.times[second], bits_of(x));
    const auto sum_kept = std::bit_cast<float>(carried & places.kept);
    // A GPU's NaN has all digits set, of which a carry makes a zero: it comes in again.
    return special ? hn::MulAdd(x, 0.0f, sum_kept) : sum_kept;
  }

 private:
  // The carrier toward zero, whose lost digits the random ones would not have met either.
  WIDTHWISE_BOTH_INLINE float added(float a, float a_up, float b, float sum) const {
    if constexpr (multiply == lanes::Multiply::exact) return toward_zero(a, b, sum);
    return toward_zero(sum, rounded_product(a, a_up, b, product_least));
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
    std::uint32_t index;  // the lower half of that of a thread's first output
  };

  using Base::Base;

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    static_assert(side == Base::wide, "a thread's outputs are neighbours");
    const int row = Base::first_row(block_y, thread);
    const int column = Base::first_column(block_x, thread);
    r.index = static_cast<std::uint32_t>(this->g_.first + row * this->g_.row_outputs + column);
    Base::begin(block_x, block_y, thread, r);
  }

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int first = step * 16, left = this->g_.k - first, steps = left < 16 ? left : 16;
    WIDTHWISE_NOT_UNROLLED
    for (int k = 0; k < steps; k += steps_a_call) {
      this->look(r);
      Draws draws;
      draw(first + k, r, draws);
      const Pack *a = s.a[k] + thread / Base::across, *b = s.b[k] + thread % Base::across;
      WIDTHWISE_UNROLLED
      for (int t = 0; t < steps_a_call; ++t)
        if (k + t < steps) multiply_add(a[t * Base::a_packs], b[t * Base::b_packs], draws, t, r);
    }
  }

 private:
  struct Draws {
    std::uint32_t words[side][side][4];
  };

  // The upper half of an output's index is that of all of them.
  WIDTHWISE_BOTH_INLINE void draw(int step, const Registers& r, Draws& draws) const {
    const RandomField field(this->g_.constants.random_bits);
    const auto upper = static_cast<std::uint32_t>(this->g_.first >> 32);
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      const std::uint32_t row = r.index + i * static_cast<std::uint32_t>(this->g_.row_outputs);
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j) {
        const auto words = random_words(field, this->g_.keys, row + j, upper, Slot::out,
                                        static_cast<std::uint64_t>(step));
        WIDTHWISE_UNROLLED
        for (std::size_t w = 0; w < 4; ++w) draws.words[i][j][w] = this->g_.places.placed(words[w]);
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
        r.sum[i][j] = this->multiply_add_(a.x[i], up, b.x[j], r.sum[i][j], draws.words[i][j][t / 2],
                                          t % 2, this->g_.places);
    }
  }
};

}  // namespace widthwise::cuda
