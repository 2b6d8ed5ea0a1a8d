#include <algorithm>

#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "careful-inl.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "sim/engine/philox-inl.hpp"
#include "steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA

template <class T>
using Numbers = hn::ScalableTag<T>;
template <class T>
using Words = hn::RebindToUnsigned<Numbers<T>>;
template <class T>
using V = hn::Vec<Numbers<T>>;
template <class T>
using W = hn::Vec<Words<T>>;
using widthwise::HWY_NAMESPACE::Philox;
using Counters = Philox::Lanes;

// Of a tile at a time: rows, and vectors of their columns, which share factors. Where sums wait for
// products that went before them, enough chains of sums to hide an addition's latency.
inline constexpr std::size_t rows = HWY_MAX_BYTES == 64 ? 2 : 4, across = 2;
inline constexpr std::size_t chains = rows * across;  // those of a row side by side
inline constexpr std::size_t drawn = 2;               // of those at a time, as registers allow

// Puts the random bits of half a word, the first ones of it, next below the last kept digit. The
// word is the lane, or its lower half. `whole`: the bits are as many as the digits that are cut
// off.
template <class T, bool whole>
class Place {
 public:
  HWY_INLINE explicit Place(const Constants<T>& k)
      : down_(lane_bits - k.sum_cut),
        mask_(hn::Set(dw, ((Lane{1} << k.random_bits) - 1) << (k.sum_cut - k.random_bits))) {}

  HWY_INLINE W<T> lower(W<T> word) const { return placed(hn::ShiftLeft<lane_bits - 16>(word)); }
  HWY_INLINE W<T> upper(W<T> word) const { return placed(hn::ShiftLeft<lane_bits - 32>(word)); }

 private:
  using Lane = hn::TFromD<Words<T>>;
  static constexpr Words<T> dw{};
  static constexpr int lane_bits = 8 * sizeof(T);

  HWY_INLINE W<T> placed(W<T> at_the_top) const {
    const W<T> bits = hn::ShiftRightSame(at_the_top, down_);
    return whole ? bits : hn::And(bits, mask_);
  }

  int down_;
  W<T> mask_;
};

// Random words for the sums of some rows' chains.
template <class T>
class Draws {
 public:
  HWY_INLINE Draws(const Philox& philox, const Where& first, std::size_t row_outputs)
      : philox_(philox), index_(first.index) {
    constexpr std::size_t of_row = across * counters;
    for (std::size_t i = 0; i < counters * chains; ++i)
      outputs_[i] = philox.outputs(hn::Iota(Counters(), first.index + i / of_row * row_outputs +
                                                            i % of_row * hn::Lanes(Counters())),
                                   Slot::out);
  }

  // For random_steps steps, the first a multiple of that many, two from each word.
  HWY_INLINE void operator()(std::size_t step, W<T> (&to)[random_steps / 2][chains]) const {
    const Philox::Call call = philox_.call(index_, step / random_steps);
    for (std::size_t chain = 0; chain < chains; chain += drawn) {
      hn::Vec<Counters> c[counters * drawn][4];
      for (std::size_t i = 0; i < counters * drawn; ++i)
        Philox::count(outputs_[counters * chain + i], call, c[i]);
      philox_(c, 2, counters - 1);
      for (std::size_t r = 0; r < drawn; ++r) {
        W<T> words[4];
        if constexpr (counters == 2)
          philox_.finish(c[2 * r], c[2 * r + 1], words);
        else
          std::copy(c[r], c[r] + 4, words);
        for (std::size_t i = 0; i < 4; ++i) to[i][chain + r] = words[i];
      }
    }
  }

 private:
  // Vectors of a chain's counters.
  static constexpr std::size_t counters = sizeof(std::uint64_t) / sizeof(T);

  const Philox& philox_;
  std::uint64_t index_;
  Philox::Outputs outputs_[counters * chains];
};

template <class T, Multiply multiply, bool careful>
struct RandomStep {
  const Numbers<T> d{};
  V<T> product_least;
  CarefulRounding<T> careful_product;
  End<T> end;
  W<T> kept;

  HWY_INLINE RandomStep(const Constants<T>& k, const Ends& e)
      : product_least(hn::Set(d, k.product_least)),
        careful_product(k.product_up, k.product_least, e.product_most, e.product_infinity),
        end(e.sum_most, e.sum_infinity),
        kept(hn::Set(Words<T>(), ~hn::TFromD<Words<T>>{} << k.sum_cut)) {}

  HWY_INLINE V<T> product(V<T> a, V<T> a_up, V<T> b) const {
    if constexpr (multiply == Multiply::native) return careful_product.whole(a, b);
    if constexpr (careful) return careful_product(a, b);
    return rounded_product(a, a_up, b, product_least);
  }
  // x: a sum toward zero, whose lost digits the random ones would not have met either.
  HWY_INLINE V<T> rounded(V<T> x, W<T> draw) const {
    const V<T> r = hn::BitCast(d, hn::And(hn::Add(hn::BitCast(Words<T>(), x), draw), kept));
    if constexpr (!careful) return r;
    return end.template by<RoundingMode::rne>(r, x);
  }
};

// Some rows of a tile by one vector of its columns.
template <class T, Multiply multiply, bool careful, bool whole>
class Strip {
 public:
  HWY_INLINE Strip(const Tile<T>& t, const Constants<T>& k, const Ends& e, const Draws<T>& draws,
                   std::size_t row, std::size_t column)
      : step_(k, e),
        place_(k),
        draws_(draws),
        limit_(hn::Set(d, t.limit)),
        a_(t.a + row * t.a_stride),
        a_up_(t.a_up + (multiply == Multiply::rounded ? row * t.a_stride : 0)),
        b_(t.b + column),
        out_(t.sum + row * width + column),
        a_stride_(t.a_stride),
        k_(t.k),
        first_step_(t.step) {}

  // Where operations have no modes of their own the products, which are to nearest, go before the
  // sums, which are toward zero, as many as stay in the nearest cache.
  HWY_INLINE bool run() const {
    if constexpr (own_modes) return sums(*this, 0, k_, nullptr);
    HWY_ALIGN T rounded[depth * chains * HWY_MAX_BYTES / sizeof(T)];
    for (std::size_t i = 0; i < k_; i += depth) {
      const std::size_t end = std::min(i + depth, k_);
      const T* from = nullptr;
      if constexpr (multiply != Multiply::exact) products(*this, i, end, rounded), from = rounded;
      const LanesTowardZero meanwhile;
      if (!sums(*this, i, end, from)) return false;
    }
    return true;
  }

 private:
  static constexpr Numbers<T> d{};
  static constexpr std::size_t width = tile_columns<T>, depth = 256 / sizeof(T);

  // Not inlined, for what is computed in one mode is not to be moved into another; and with a copy,
  // which no store can change.
  static HWY_NOINLINE void products(const Strip& of, std::size_t first, std::size_t end, T* to) {
    const Strip strip = of;
    for (std::size_t i = first; i < end; ++i) {
      V<T> product[chains];  // all before a store, which might change their factors
      for (std::size_t c = 0; c < chains; ++c) product[c] = strip.product(c, i);
      for (std::size_t c = 0; c < chains; ++c, to += hn::Lanes(d)) hn::Store(product[c], d, to);
    }
  }
  static HWY_NOINLINE bool sums(const Strip& of, std::size_t first, std::size_t end,
                                const T* products) {
    const Strip strip = of;
    V<T> sum[chains];
    for (std::size_t c = 0; c < chains; ++c)
      sum[c] = hn::LoadU(d, strip.out_ + c / across * width + column(c));
    std::size_t at = 0;  // of the products
    for (std::size_t i = first; i < end; i += random_steps) {
      if (!careful && strip.pass_limit(sum)) return false;
      W<T> words[random_steps / 2][chains];
      strip.draws_(strip.first_step_ + i, words);
      const auto step = [&](std::size_t s, const auto& draw) HWY_ATTR {
        for (std::size_t c = 0; c < chains; ++c, at += hn::Lanes(d)) {
          const V<T> x = strip.added(sum[c], c, i + s, products, at);
          sum[c] = strip.step_.rounded(x, draw(words[s / 2][c]));
        }
      };
      const auto lower = [&](W<T> word) HWY_ATTR { return strip.place_.lower(word); };
      const auto upper = [&](W<T> word) HWY_ATTR { return strip.place_.upper(word); };
      const std::size_t steps = std::min(random_steps, end - i);
      for (std::size_t s = 0; s < steps; s += 2) {
        step(s, lower);
        if (s + 1 < steps) step(s + 1, upper);
      }
    }
    for (std::size_t c = 0; c < chains; ++c)
      hn::StoreU(sum[c], d, strip.out_ + c / across * width + column(c));
    return true;
  }

  HWY_INLINE bool pass_limit(const V<T> (&sum)[chains]) const {
    V<T> most = hn::Zero(d);
    for (const V<T> x : sum) most = hn::Max(most, hn::Abs(x));
    return !hn::AllTrue(d, hn::Le(most, limit_));
  }

  // Of a chain, from the strip's first one on: its column, its row of A, and what meets at step i.
  static HWY_INLINE std::size_t column(std::size_t chain) { return chain % across * hn::Lanes(d); }
  HWY_INLINE std::size_t row(std::size_t chain) const { return chain / across * a_stride_; }
  HWY_INLINE V<T> a(std::size_t chain, std::size_t i) const {
    return hn::Set(d, a_[row(chain) + i]);
  }
  HWY_INLINE V<T> b(std::size_t chain, std::size_t i) const {
    return hn::LoadU(d, b_ + i * width + column(chain));
  }
  HWY_INLINE V<T> product(std::size_t chain, std::size_t i) const {
    const T up = multiply == Multiply::rounded ? a_up_[row(chain) + i] : 0;
    return step_.product(a(chain, i), hn::Set(d, up), b(chain, i));
  }
  // The sum with one product more, toward zero.
  HWY_INLINE V<T> added(V<T> sum, std::size_t chain, std::size_t i, const T* products,
                        std::size_t at) const {
    if constexpr (multiply == Multiply::exact)
      return fused_toward_zero(a(chain, i), b(chain, i), sum);
    if constexpr (own_modes) return sum_toward_zero(sum, product(chain, i));
    return sum_toward_zero(sum, hn::Load(d, products + at));
  }

  RandomStep<T, multiply, careful> step_;
  Place<T, whole> place_;
  const Draws<T>& draws_;
  V<T> limit_;
  const T *a_, *a_up_, *b_;
  T* out_;
  std::size_t a_stride_, k_, first_step_;
};

template <class T, Multiply multiply, bool careful, bool whole>
HWY_INLINE bool strips(const Tile<T>& t, const Constants<T>& k, const Ends& e) {
  const Philox philox(t.first.seed);
  for (std::size_t row = 0; row < tile_rows; row += rows)
    for (std::size_t column = 0; column < t.columns; column += across * hn::Lanes(Numbers<T>())) {
      const Draws<T> draws(philox, {t.first.seed, t.first.index + row * t.row_outputs + column},
                           t.row_outputs);
      if (!Strip<T, multiply, careful, whole>(t, k, e, draws, row, column).run()) return false;
    }
  return true;
}

template <class T, Multiply multiply, bool careful>
bool random_tile(const Tile<T>& t, const Constants<T>& k, const Ends& e) {
  const bool whole = k.random_bits == k.sum_cut;
  return whole ? strips<T, multiply, careful, true>(t, k, e)
               : strips<T, multiply, careful, false>(t, k, e);
}

template <class T, Multiply multiply>
RandomKernel<T> random_of(bool careful) {
  return careful ? &random_tile<T, multiply, true> : &random_tile<T, multiply, false>;
}
template <class T>
RandomKernel<T> choose_random(Multiply multiply, bool careful) {
  if (multiply == Multiply::native) return &random_tile<T, Multiply::native, true>;
  return multiply == Multiply::exact ? random_of<T, Multiply::exact>(careful)
                                     : random_of<T, Multiply::rounded>(careful);
}

#else

template <class T>
RandomKernel<T> choose_random(Multiply, bool) {
  return nullptr;
}

#endif

RandomKernel<float> random_float(Multiply multiply, bool careful) {
  return choose_random<float>(multiply, careful);
}
RandomKernel<double> random_double(Multiply multiply, bool careful) {
  return choose_random<double>(multiply, careful);
}

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::lanes {

HWY_EXPORT(random_float);
HWY_EXPORT(random_double);

template <>
RandomKernel<float> random_kernel<float>(Multiply multiply, bool careful) {
  return HWY_DYNAMIC_DISPATCH(random_float)(multiply, careful);
}
template <>
RandomKernel<double> random_kernel<double>(Multiply multiply, bool careful) {
  return HWY_DYNAMIC_DISPATCH(random_double)(multiply, careful);
}

}  // namespace widthwise::lanes
#endif
