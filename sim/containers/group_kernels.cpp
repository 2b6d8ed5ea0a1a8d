#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "block_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/group_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/containers/cut-inl.hpp"
#include "sim/engine/for_lanes-inl.hpp"

// Blocks of floats that are whole vectors, or single numbers of each row: their scales, and what
// their elements are rounded from, in few passes.
HWY_BEFORE_NAMESPACE();
namespace widthwise::containers::HWY_NAMESPACE {

using widthwise::HWY_NAMESPACE::for_lanes;

using Floats = hn::CappedTag<float, 16>;
using Words = BitsTag<Floats>;

template <class D>
HWY_INLINE hn::Vec<BitsTag<D>> magnitudes(D d, const float* x) {
  return hn::BitCast(BitsTag<D>(), hn::Abs(hn::LoadU(d, x)));
}

HWY_INLINE hn::Vec<Words> folded(const float* x, std::size_t group) {
  const Floats d;
  auto most = magnitudes(d, x);
  for (std::size_t i = hn::Lanes(d); i < group; i += hn::Lanes(d))
    most = hn::Max(most, magnitudes(d, x + i));
  return most;
}

// most = the larger of it and m.
template <class D>
HWY_INLINE void raise(D d, hn::Vec<BitsTag<D>> m, float* most) {
  const BitsTag<D> du;
  hn::StoreU(hn::BitCast(d, hn::Max(m, hn::BitCast(du, hn::LoadU(d, most)))), d, most);
}

#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
// What four lanes side by side have of each of two vectors, turn about.
HWY_INLINE hn::Vec<Words> paired(hn::Vec<Words> a, hn::Vec<Words> b) {
  const Words d;
  return hn::Max(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}

template <class V>
HWY_INLINE auto folded_to_four(V v) {
  using D = hn::DFromV<V>;
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return folded_to_four(hn::Max(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

bool whole_vectors(std::size_t group) { return group >= 4 && group % hn::Lanes(Floats()) == 0; }

// Four groups at a time, as far as vectors have four lanes or more.
HWY_INLINE void raise_groups(const float* x, std::size_t n, std::size_t group, float* most) {
  const Words d;
  const std::size_t count = n / group;
  std::size_t g = 0;
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> four;
  for (; g + 4 <= count; g += 4, x += 4 * group) {
    const auto even = paired(folded(x, group), folded(x + 2 * group, group));
    const auto odd = paired(folded(x + group, group), folded(x + 3 * group, group));
    raise(four, folded_to_four(paired(even, odd)), most + g);
  }
#endif
  const hn::CappedTag<float, 1> single;
  const BitsTag<decltype(single)> bits;
  for (; g < count; ++g, x += group)
    raise(single, hn::Set(bits, hn::GetLane(hn::MaxOfLanes(d, folded(x, group)))), most + g);
}

// Four rows at a time.
HWY_INLINE void raise_columns(const float* x, std::size_t rows, std::size_t stride, std::size_t n,
                              float* most) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride)
    for_lanes(Floats(), n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto lower = hn::Max(magnitudes(d, x + i), magnitudes(d, x + i + stride));
      const float* const upper = x + i + 2 * stride;
      raise(d, hn::Max(lower, hn::Max(magnitudes(d, upper), magnitudes(d, upper + stride))),
            most + i);
    });
  for (; r < rows; ++r, x += stride)
    for_lanes(Floats(), n,
              [&](auto d, std::size_t i) HWY_ATTR { raise(d, magnitudes(d, x + i), most + i); });
}

void group_maxima(const float* x, std::size_t rows, std::size_t stride, std::size_t n,
                  std::size_t group, float* most) {
  std::fill_n(most, n / group, 0.0F);
  if (group == 1) return raise_columns(x, rows, stride, n, most);
  for (std::size_t r = 0; r < rows; ++r) raise_groups(x + r * stride, n, group, most);
}

bool power_factors(const float* most, std::size_t count, const PowerTurns& turns,
                   std::uint8_t* codes, float* by) {
  constexpr std::uint32_t digits = 23, one = std::uint32_t{1} << digits, infinity = 0x7f800000;
  constexpr std::int32_t bias = 127;
  bool whole = true;
  for_lanes(Floats(), count, [&](auto d, std::size_t g) {
    const BitsTag<decltype(d)> du;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const auto amax = hn::BitCast(du, hn::LoadU(d, most + g)), zero = hn::Zero(du);
    const auto significand = hn::Or(hn::And(amax, hn::Set(du, one - 1)), hn::Set(du, one));
    const auto up = hn::VecFromMask(du, hn::Gt(significand, hn::Set(du, turns.up - 1)));
    const auto down = hn::VecFromMask(du, hn::Lt(significand, hn::Set(du, turns.down)));
    const auto turned = hn::Add(
        hn::BitCast(di, hn::Sub(down, up)),
        hn::Sub(hn::BitCast(di, hn::ShiftRight<digits>(amax)), hn::Set(di, bias + turns.emax)));
    const auto none = hn::Eq(amax, zero);
    const auto least = hn::Set(di, -turns.top), top = hn::Set(di, turns.top);
    const auto e =
        hn::IfThenElse(hn::RebindMask(di, none), least, hn::Min(hn::Max(turned, least), top));
    const auto code = hn::BitCast(du, hn::Add(e, top));
    hn::StoreU(hn::TruncateTo(bytes, code), bytes, codes + g);
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<digits>(hn::Sub(hn::Set(di, bias), e))), d, by + g);
    const auto other = hn::Or(hn::Gt(amax, hn::Set(du, infinity - 1)),
                              hn::AndNot(none, hn::Lt(amax, hn::Set(du, one))));
    whole &= hn::AllFalse(du, other) && hn::AllFalse(di, hn::Gt(e, hn::Set(di, bias - 1)));
  });
  return whole;
}

// f(d, i, what is the group's) for the vectors of whole groups, or of single numbers.
template <class F>
HWY_INLINE void for_groups(const float* by, std::size_t n, std::size_t group, const F& f) {
  const Floats d;
  if (group == 1)
    return for_lanes(
        d, n, [&](auto part, std::size_t i) HWY_ATTR { f(part, i, hn::LoadU(part, by + i)); });
  for (std::size_t first = 0; first < n; first += group, ++by)
    for (std::size_t i = first; i < first + group; i += hn::Lanes(d)) f(d, i, hn::Set(d, *by));
}

// Numbers held at the elements' ends, which is where they round to, and how many lay beyond.
class Ends {
 public:
  explicit Ends(float limit) : limit_(limit), beyond_(hn::Zero(Words())), single_(0) {}

  template <class D>
  HWY_INLINE hn::Vec<D> hold(D d, hn::Vec<D> v) {
    const auto held = no_larger(d, v, hn::Set(d, limit_));
    count(d, hn::Ne(held, v), 1);
    return held;
  }
  template <class D>
  HWY_INLINE void take_back(D d, hn::Vec<D> v) {
    count(d, hn::Gt(hn::Abs(v), hn::Set(d, limit_)), ~std::uint32_t{0});
  }
  HWY_INLINE std::size_t beyond() const {
    return single_ + hn::GetLane(hn::SumOfLanes(Words(), beyond_));
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> no_larger(D, hn::Vec<D> v, hn::Vec<D> most) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    if constexpr (std::is_same_v<D, Floats>)
      return hn::Vec<D>{_mm512_range_ps(v.raw, most.raw, 0b00'10)};
#endif
    return hn::Max(hn::Min(v, most), hn::Neg(most));
  }
  template <class D, class M>
  HWY_INLINE void count(D d, M past, std::uint32_t each) {
    if constexpr (std::is_same_v<D, Floats>) {
      const auto one_more = hn::Add(beyond_, hn::Set(Words(), each));
      beyond_ = hn::IfThenElse(hn::RebindMask(Words(), past), one_more, beyond_);
    } else {
      single_ += each * static_cast<std::uint32_t>(hn::CountTrue(d, past));
    }
  }

  float limit_;
  hn::Vec<Words> beyond_;
  std::uint32_t single_;
};

// v = step(d, x, by).
template <class Step>
HWY_INLINE std::size_t scaled(const float* x, const float* by, std::size_t n, std::size_t group,
                              float limit, float* v, const Step& step) {
  Ends ends(limit);
  for_groups(by, n, group, [&](auto d, std::size_t i, auto factor) HWY_ATTR {
    hn::StoreU(ends.hold(d, step(d, hn::LoadU(d, x + i), factor)), d, v + i);
  });
  return ends.beyond();
}

std::size_t multiply_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                             bool small_is_zero, float limit, float* v) {
  if (small_is_zero)
    return scaled(x, by, n, group, limit, v,
                  [](auto, auto a, auto power) HWY_ATTR { return hn::Mul(a, power); });
  return scaled(x, by, n, group, limit, v,
                [](auto d, auto a, auto power) HWY_ATTR { return normal_product(d, a, power); });
}

std::size_t divide_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                           float limit, float* v) {
  return scaled(x, by, n, group, limit, v,
                [](auto, auto a, auto divisor) HWY_ATTR { return hn::Div(a, divisor); });
}

// A vector's quotients, where only the division itself will do; own(d, i) are the divisors of its
// lanes from i on.
template <class D, class Own>
HWY_INLINE hn::Vec<D> quotient(D d, const float* x, const Own& own) {
  const hn::CappedTag<double, (hn::MaxLanes(D()) + 1) / 2> wide;
  const hn::Rebind<float, decltype(wide)> half;
  alignas(64) float v[most_lanes];
  for (std::size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(wide))
    hn::StoreU(quotient_to_odd(wide, x + i, own(wide, i)), half, v + i);
  return hn::Load(d, v);
}

// A product with a reciprocal is off by less than two of its last digits: only where one of those
// borders that a rounding turns at lies so near is there a division.
class Nearness {
 public:
  // What is added moves the exponents of borders to fields below 128, and to 0 that of the least.
  explicit Nearness(const Borders& b)
      : up_(near - (b.least << digits)),
        mask_((b.beyond & ~(2 * near - 1)) | (b.least > 0 ? high_fields : 0)) {}

  // 0 where a border is near.
  template <class D>
  HWY_INLINE hn::Vec<BitsTag<D>> distance(D, hn::Vec<D> q) const {
    const BitsTag<D> du;
    return hn::And(hn::Add(hn::BitCast(du, q), hn::Set(du, up_)), hn::Set(du, mask_));
  }
  template <class D>
  HWY_INLINE auto is_doubtful(D d, hn::Vec<D> a, hn::Vec<D> q) const {
    const auto at_border = hn::Eq(distance(d, q), hn::Zero(BitsTag<D>()));
    return hn::And(hn::RebindMask(d, at_border), hn::Ne(a, hn::Zero(d)));
  }

 private:
  static constexpr std::uint32_t near = 4, digits = 23, high_fields = 0x40000000;

  std::uint32_t up_, mask_;
};

// Of vectors that share divisors: the kth one has that of index[k >> shift].
struct Shared {
  Divisors by;
  const std::uint8_t* index;
  int shift;

  template <class D>
  HWY_INLINE hn::Vec<D> reciprocals(D d, std::size_t k) const {
    return hn::Set(d, by.reciprocal[index[k >> shift]]);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> divisors(D d, std::size_t k, std::size_t) const {
    return hn::Set(d, by.divisor[index[k >> shift]]);
  }
};

// Of numbers that have a divisor each, side by side.
struct Single {
  Divisors by;
  std::size_t first, lanes;

  template <class D>
  HWY_INLINE hn::Vec<D> reciprocals(D d, std::size_t k) const {
    return hn::LoadU(d, by.reciprocal + first + k * lanes);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> divisors(D d, std::size_t k, std::size_t i) const {
    alignas(64) double own[most_lanes];
    for (std::size_t j = 0; j < hn::Lanes(d); ++j)
      own[j] = by.divisor[by.index[first + k * lanes + i + j]];
    return hn::Load(d, own);
  }
};

// Vectors go several at a time.
inline constexpr std::size_t together = 8;

template <std::size_t vectors, class D, class Own>
HWY_INLINE void quotients_of(D d, const float* x, const Own& own, const Nearness& borders,
                             Ends& ends, float* v) {
  const BitsTag<D> du;
  const std::size_t lanes = hn::Lanes(d);
  auto least = hn::Set(du, ~std::uint32_t{0});
  for (std::size_t k = 0; k < vectors; ++k) {
    const auto q = hn::Mul(hn::LoadU(d, x + k * lanes), own.reciprocals(d, k));
    least = hn::Min(least, borders.distance(d, q));
    hn::StoreU(ends.hold(d, q), d, v + k * lanes);
  }
  if (HWY_LIKELY(hn::AllFalse(du, hn::Eq(least, hn::Zero(du))))) return;
  for (std::size_t k = 0; k < vectors; ++k) {
    const auto a = hn::LoadU(d, x + k * lanes), q = hn::Mul(a, own.reciprocals(d, k));
    if (hn::AllFalse(d, borders.is_doubtful(d, a, q))) continue;
    ends.take_back(d, q);
    const auto divisors = [&](auto part, std::size_t i)
                              HWY_ATTR { return own.divisors(part, k, i); };
    hn::StoreU(ends.hold(d, quotient(d, x + k * lanes, divisors)), d, v + k * lanes);
  }
}

HWY_INLINE std::size_t quotients_of_groups(const float* x, const Divisors& by, std::size_t n,
                                           std::size_t group, const Nearness& borders, float limit,
                                           float* v) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), each = group / lanes;
  constexpr int all = std::countr_zero(together);
  Ends ends(limit);
  std::size_t i = 0;
  if (each < together && std::has_single_bit(each))
    for (const std::uint8_t* index = by.index; i + together * lanes <= n;
         i += together * lanes, index += together / each)
      quotients_of<together>(d, x + i, Shared{by, index, std::countr_zero(each)}, borders, ends,
                             v + i);
  while (i < n) {
    const Shared own{by, by.index + i / group, all};
    const std::size_t end = i + group;
    for (; i + together * lanes <= end; i += together * lanes)
      quotients_of<together>(d, x + i, own, borders, ends, v + i);
    for (; i < end; i += lanes) quotients_of<1>(d, x + i, own, borders, ends, v + i);
  }
  return ends.beyond();
}

HWY_INLINE std::size_t quotients_of_numbers(const float* x, const Divisors& by, std::size_t n,
                                            const Nearness& borders, float limit, float* v) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Ends ends(limit);
  std::size_t i = 0;
  for (; i + together * lanes <= n; i += together * lanes)
    quotients_of<together>(d, x + i, Single{by, i, lanes}, borders, ends, v + i);
  for_lanes(d, n - i, [&](auto part, std::size_t j) HWY_ATTR {
    quotients_of<1>(part, x + i + j, Single{by, i + j, lanes}, borders, ends, v + i + j);
  });
  return ends.beyond();
}

std::size_t divide_counted_to_odd(const float* x, const Divisors& by, std::size_t n,
                                  std::size_t group, const Borders& borders, float limit,
                                  float* v) {
  const Nearness near(borders);
  return group == 1 ? quotients_of_numbers(x, by, n, near, limit, v)
                    : quotients_of_groups(x, by, n, group, near, limit, v);
}

template <class D>
HWY_INLINE bool all_finite(D d, hn::Vec<D> magnitudes) {
  return hn::AllTrue(d, hn::Lt(magnitudes, hn::Set(d, std::numeric_limits<float>::infinity())));
}

bool hold_above(const float* x, std::size_t n, float least, float* v) {
  bool finite = true;
  for_lanes(Floats(), n, [&](auto d, std::size_t i) {
    const auto a = hn::LoadU(d, x + i), held = hn::Max(hn::LoadU(d, v + i), hn::Set(d, least));
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), held), d, v + i);
    finite &= all_finite(d, a);
  });
  return finite;
}

bool divide_twice(const float* x, std::size_t n, const TwoDivisors& by, float* v) {
  bool finite = true;
  for_lanes(Floats(), n, [&](auto d, std::size_t i) {
    const auto a = hn::LoadU(d, x + i),
               q = hn::Div(hn::Div(a, hn::Set(d, by.first)), hn::Set(d, by.second));
    hn::StoreU(hn::Min(hn::Max(q, hn::Set(d, by.least)), hn::Set(d, by.most)), d, v + i);
    finite &= all_finite(d, a);
  });
  return finite;
}

}  // namespace widthwise::containers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::containers {

HWY_EXPORT(whole_vectors);
HWY_EXPORT(group_maxima);
HWY_EXPORT(power_factors);
HWY_EXPORT(multiply_counted);
HWY_EXPORT(hold_above);
HWY_EXPORT(divide_twice);
HWY_EXPORT(divide_counted);
HWY_EXPORT(divide_counted_to_odd);

bool whole_vectors(std::size_t group) { return HWY_DYNAMIC_DISPATCH(whole_vectors)(group); }
void group_maxima(const float* x, std::size_t rows, std::size_t stride, std::size_t n,
                  std::size_t group, float* most) {
  HWY_DYNAMIC_DISPATCH(group_maxima)(x, rows, stride, n, group, most);
}
bool power_factors(const float* most, std::size_t count, const PowerTurns& turns,
                   std::uint8_t* codes, float* by) {
  return HWY_DYNAMIC_DISPATCH(power_factors)(most, count, turns, codes, by);
}
std::size_t multiply_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                             bool small_is_zero, float limit, float* v) {
  return HWY_DYNAMIC_DISPATCH(multiply_counted)(x, by, n, group, small_is_zero, limit, v);
}
bool hold_above(const float* x, std::size_t n, float least, float* v) {
  return HWY_DYNAMIC_DISPATCH(hold_above)(x, n, least, v);
}
bool divide_twice(const float* x, std::size_t n, const TwoDivisors& by, float* v) {
  return HWY_DYNAMIC_DISPATCH(divide_twice)(x, n, by, v);
}
std::size_t divide_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                           float limit, float* v) {
  return HWY_DYNAMIC_DISPATCH(divide_counted)(x, by, n, group, limit, v);
}
std::size_t divide_counted_to_odd(const float* x, const Divisors& by, std::size_t n,
                                  std::size_t group, const Borders& borders, float limit,
                                  float* v) {
  return HWY_DYNAMIC_DISPATCH(divide_counted_to_odd)(x, by, n, group, borders, limit, v);
}

}  // namespace widthwise::containers
#endif
