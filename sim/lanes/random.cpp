#include <algorithm>

#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "careful-inl.hpp"
#include "sim/engine/philox-inl.hpp"
#include "steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64

using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<std::uint32_t>;
using widthwise::HWY_NAMESPACE::Philox;
using Halves = Philox::Lanes;
using V = hn::Vec<Floats>;
using W = hn::Vec<Words>;

inline constexpr std::size_t rows = 2;  // at a time

// What is added to the bits of the sums of some rows: k random ones below the last kept digit.
class Draws {
 public:
  HWY_INLINE Draws(const Constants<float>& k, const Philox& philox, const Where& first,
                   std::size_t row_outputs)
      : philox_(philox),
        index_(first.index),
        whole_(k.random_bits == k.sum_cut),
        spare_(hn::Set(dh, static_cast<std::uint16_t>(16 - k.random_bits))),
        upper_(hn::Set(dw, static_cast<std::uint32_t>(k.sum_cut))),
        lower_(hn::Set(dw, static_cast<std::uint32_t>(k.sum_cut) + 16)),
        mask_(hn::Set(dw, ((1u << k.random_bits) - 1) << (k.sum_cut - k.random_bits))) {
    for (std::size_t i = 0; i < 2 * rows; ++i)
      outputs_[i] = philox.outputs(
          hn::Iota(Halves(), first.index + i / 2 * row_outputs + i % 2 * hn::Lanes(Halves())),
          Slot::out);
  }

  // For random_steps steps, the first a multiple of that many.
  HWY_INLINE void operator()(std::size_t step, W (&to)[random_steps][rows]) const {
    hn::Vec<Halves> c[2 * rows][4];
    const Philox::Call call = philox_.call(index_, step / random_steps);
    for (std::size_t i = 0; i < 2 * rows; ++i) Philox::count(outputs_[i], call, c[i]);
    philox_(c, 2, 1);
    for (std::size_t r = 0; r < rows; ++r) {
      W words[4];
      philox_.finish(c[2 * r], c[2 * r + 1], words);
      for (std::size_t i = 0; i < 4; ++i) part(words[i], to[2 * i][r], to[2 * i + 1][r]);
    }
  }

 private:
  static constexpr Words dw{};
  static constexpr hn::Repartition<std::uint16_t, Words> dh{};

  // The halves of a word, their first bits next below the last kept digit.
  HWY_INLINE void part(W word, W& lower, W& upper) const {
    if (whole_) {  // the last ones then lie at the end: to shift is to mask
      const W both = hn::BitCast(dw, hn::Shr(hn::BitCast(dh, word), spare_));
      lower = hn::And(both, hn::Set(dw, 0xffff));
      upper = hn::ShiftRight<16>(both);
    } else {
      lower = turned(word, lower_);
      upper = turned(word, upper_);
    }
  }
  // To the left, until the first bit of a half lies below the last kept digit.
  HWY_INLINE W turned(W word, W by) const {
    return hn::And(W{_mm512_rolv_epi32(word.raw, by.raw)}, mask_);
  }

  const Philox& philox_;
  std::uint64_t index_;
  bool whole_;  // all digits that are cut off
  hn::Vec<hn::Repartition<std::uint16_t, Words>> spare_;
  W upper_, lower_, mask_;
  Philox::Outputs outputs_[2 * rows];
};

template <Multiply multiply, bool careful>
struct RandomStep {
  const Floats d{};
  V product_least;
  CarefulRounding<float> product;
  End<float> end;
  W kept;

  HWY_INLINE RandomStep(const Constants<float>& k, const Ends& e)
      : product_least(hn::Set(d, k.product_least)),
        product(k.product_up, k.product_least, e.product_most, e.product_infinity),
        end(e.sum_most, e.sum_infinity),
        kept(hn::Set(Words(), ~0u << k.sum_cut)) {}

  // The carrier toward zero, whose lost digits the random ones would not have met either.
  HWY_INLINE V operator()(V a, V a_up, V b, V sum, W draw) const {
    constexpr int toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    V x;
    if constexpr (multiply == Multiply::exact)
      x = V{_mm512_fmadd_round_ps(a.raw, b.raw, sum.raw, toward_zero)};
    else
      x = V{_mm512_add_round_ps(sum.raw, rounded(a, a_up, b).raw, toward_zero)};
    const V r = hn::BitCast(d, hn::And(hn::Add(hn::BitCast(Words(), x), draw), kept));
    if constexpr (!careful) return r;
    return end.template by<RoundingMode::rne>(r, x);
  }

 private:
  HWY_INLINE V rounded(V a, V a_up, V b) const {
    if constexpr (multiply == Multiply::native) return product.whole(a, b);
    if constexpr (careful) return product(a, b);
    return rounded_product(a, a_up, b, hn::Abs(b), product_least);
  }
};

template <Multiply multiply, bool careful>
bool random_tile(const Tile<float>& t, const Constants<float>& k, const Ends& e) {
  constexpr std::size_t width = tile_columns<float>;
  const Floats d;
  const Philox philox(t.first.seed);
  const RandomStep<multiply, careful> step(k, e);
  const V limit = hn::Set(d, t.limit);
  for (std::size_t row = 0; row < tile_rows; row += rows)
    for (std::size_t column = 0; column < width; column += hn::Lanes(d)) {
      const Where first{t.first.seed, t.first.index + row * t.row_outputs + column};
      const Draws draws(k, philox, first, t.row_outputs);
      float* const out = t.sum + row * width + column;
      V sum[rows] = {hn::LoadU(d, out), hn::LoadU(d, out + width)};
      for (std::size_t i = 0; i < t.k; i += random_steps) {
        const V most = hn::Max(hn::Abs(sum[0]), hn::Abs(sum[1]));
        if (!careful && !hn::AllTrue(d, hn::Le(most, limit))) return false;
        W draw[random_steps][rows];
        draws(t.step + i, draw);
        const std::size_t steps = std::min(random_steps, t.k - i);
        for (std::size_t s = 0; s < steps; ++s) {
          const V b = hn::LoadU(d, t.b + (i + s) * width + column);
          for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t a = (row + r) * t.a_stride + i + s;
            const V up = hn::Set(d, multiply == Multiply::rounded ? t.a_up[a] : 0);
            sum[r] = step(hn::Set(d, t.a[a]), up, b, sum[r], draw[s][r]);
          }
        }
      }
      for (std::size_t r = 0; r < rows; ++r) hn::StoreU(sum[r], d, out + r * width);
    }
  return true;
}

template <Multiply multiply>
RandomKernel random_of(bool careful) {
  return careful ? &random_tile<multiply, true> : &random_tile<multiply, false>;
}
RandomKernel choose_random(Multiply multiply, bool careful) {
  if (multiply == Multiply::native) return &random_tile<Multiply::native, true>;
  return multiply == Multiply::exact ? random_of<Multiply::exact>(careful)
                                     : random_of<Multiply::rounded>(careful);
}

#else

RandomKernel choose_random(Multiply, bool) { return nullptr; }

#endif

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::lanes {

HWY_EXPORT(choose_random);

RandomKernel random_kernel(Multiply multiply, bool careful) {
  return HWY_DYNAMIC_DISPATCH(choose_random)(multiply, careful);
}

}  // namespace widthwise::lanes
#endif
