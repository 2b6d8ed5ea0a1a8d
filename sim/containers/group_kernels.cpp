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

// Blocks of floats that are whole vectors: their scales, and what their elements are rounded from,
// in few passes.
HWY_BEFORE_NAMESPACE();
namespace widthwise::containers::HWY_NAMESPACE {

using widthwise::HWY_NAMESPACE::for_lanes;

using Floats = hn::CappedTag<float, 16>;
using Words = BitsTag<Floats>;

HWY_INLINE hn::Vec<Words> magnitudes(const float* x) {
  const Floats d;
  return hn::BitCast(Words(), hn::Abs(hn::LoadU(d, x)));
}

HWY_INLINE hn::Vec<Words> folded(const float* x, std::size_t group) {
  const Floats d;
  auto most = magnitudes(x);
  for (std::size_t i = hn::Lanes(d); i < group; i += hn::Lanes(d))
    most = hn::Max(most, magnitudes(x + i));
  return most;
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
void group_maxima(const float* x, std::size_t n, std::size_t group, float* most) {
  const Words d;
  const std::size_t count = n / group;
  std::size_t g = 0;
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> four;
  for (; g + 4 <= count; g += 4, x += 4 * group) {
    const auto even = paired(folded(x, group), folded(x + 2 * group, group));
    const auto odd = paired(folded(x + group, group), folded(x + 3 * group, group));
    hn::StoreU(hn::BitCast(four, folded_to_four(paired(even, odd))), four, most + g);
  }
#endif
  for (; g < count; ++g, x += group)
    most[g] = hn::GetLane(hn::BitCast(Floats(), hn::MaxOfLanes(d, folded(x, group))));
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

// f(i, group) for the vectors of whole groups.
template <class F>
HWY_INLINE void for_groups(std::size_t n, std::size_t group, const F& f) {
  const std::size_t lanes = hn::Lanes(Floats());
  for (std::size_t first = 0, g = 0; first < n; first += group, ++g)
    for (std::size_t i = first; i < first + group; i += lanes) f(i, g);
}

template <bool small_counts>
HWY_INLINE std::size_t products(const float* x, const float* by, std::size_t n, std::size_t group,
                                float limit, float* v) {
  const Floats d;
  const auto end = hn::Set(d, limit);
  std::size_t above = 0;
  for_groups(n, group, [&](std::size_t i, std::size_t g) HWY_ATTR {
    const auto a = hn::LoadU(d, x + i), power = hn::Set(d, by[g]);
    const auto p = small_counts ? normal_product(d, a, power) : hn::Mul(a, power);
    above += hn::CountTrue(d, hn::Gt(hn::Abs(p), end));
    hn::StoreU(p, d, v + i);
  });
  return above;
}

std::size_t multiply_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                             bool small_is_zero, float limit, float* v) {
  return small_is_zero ? products<false>(x, by, n, group, limit, v)
                       : products<true>(x, by, n, group, limit, v);
}

// A vector's quotients, where only the division itself will do.
HWY_INLINE hn::Vec<Floats> quotient(const float* x, float by) {
  const Floats d;
  return hn::Div(hn::LoadU(d, x), hn::Set(d, by));
}
HWY_INLINE hn::Vec<Floats> quotient(const float* x, double by) {
  const hn::Rebind<double, hn::Half<Floats>> d;
  const hn::Rebind<float, decltype(d)> half;
  alignas(64) float v[most_lanes];
  for (std::size_t i = 0; i < hn::Lanes(Floats()); i += hn::Lanes(d))
    hn::StoreU(quotient_to_odd(d, x + i, hn::Set(d, by)), half, v + i);
  return hn::Load(Floats(), v);
}

// A product with a reciprocal is off by less than two of its last digits: only where one of those
// borders that a rounding turns at lies so near is there a division. Vectors go several at a time,
// each by its own divisor.
template <class By, std::size_t vectors>
HWY_INLINE std::size_t quotients_of(const float* x, const Divisors<By>& by,
                                    const std::size_t (&at)[vectors], std::uint32_t beyond,
                                    float limit, float* v) {
  constexpr std::uint32_t near = 4;
  const Floats d;
  const Words du;
  const std::size_t lanes = hn::Lanes(d);
  const auto end = hn::Set(d, limit), zero = hn::Zero(d);
  const auto digits = hn::Set(du, beyond & ~(2 * near - 1)), margin = hn::Set(du, near);
  const auto is_doubtful = [&](auto a, auto q) HWY_ATTR {
    const auto last = hn::And(hn::Add(hn::BitCast(du, q), margin), digits);
    return hn::And(hn::RebindMask(d, hn::Eq(last, hn::Zero(du))), hn::Ne(a, zero));
  };
  const auto past = [&](auto q) HWY_ATTR { return hn::CountTrue(d, hn::Gt(hn::Abs(q), end)); };
  unsigned doubtful = 0;
  std::size_t above = 0;
  for (std::size_t k = 0; k < vectors; ++k) {
    const auto a = hn::LoadU(d, x + k * lanes);
    const auto q = hn::Mul(a, hn::Set(d, by.reciprocal[at[k]]));
    doubtful |= static_cast<unsigned>(!hn::AllFalse(d, is_doubtful(a, q))) << k;
    hn::StoreU(q, d, v + k * lanes);
    above += past(q);
  }
  for (; doubtful != 0; doubtful &= doubtful - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(doubtful));
    const auto q = quotient(x + k * lanes, by.divisor[at[k]]);
    above += past(q) - past(hn::LoadU(d, v + k * lanes));
    hn::StoreU(q, d, v + k * lanes);
  }
  return above;
}

template <class By>
HWY_INLINE std::size_t quotients(const float* x, const Divisors<By>& by, std::size_t n,
                                 std::size_t group, std::uint32_t beyond, float limit, float* v) {
  const std::size_t lanes = hn::Lanes(Floats()), each = group / lanes;
  const auto at = [&](std::size_t g) { return by.index ? by.index[g] : g; };
  std::size_t above = 0, i = 0;
  if (each == 1)
    for (std::size_t g = 0; i + 4 * lanes <= n; i += 4 * lanes, g += 4)
      above +=
          quotients_of(x + i, by, {at(g), at(g + 1), at(g + 2), at(g + 3)}, beyond, limit, v + i);
  for (std::size_t g = i / group; i < n; ++g) {
    const std::size_t own = at(g), end = i + group;
    for (; i + 8 * lanes <= end; i += 8 * lanes)
      above +=
          quotients_of(x + i, by, {own, own, own, own, own, own, own, own}, beyond, limit, v + i);
    for (; i < end; i += lanes) above += quotients_of(x + i, by, {own}, beyond, limit, v + i);
  }
  return above;
}

bool hold_above(const float* x, std::size_t n, float least, float* v) {
  bool finite = true;
  for_lanes(Floats(), n, [&](auto d, std::size_t i) {
    const auto a = hn::LoadU(d, x + i), held = hn::Max(hn::LoadU(d, v + i), hn::Set(d, least));
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), held), d, v + i);
    finite &= hn::AllTrue(d, hn::Lt(a, hn::Set(d, std::numeric_limits<float>::infinity())));
  });
  return finite;
}

std::size_t divide_counted_once(const float* x, const Divisors<float>& by, std::size_t n,
                                std::size_t group, std::uint32_t beyond, float limit, float* v) {
  return quotients(x, by, n, group, beyond, limit, v);
}
std::size_t divide_counted_to_odd(const float* x, const Divisors<double>& by, std::size_t n,
                                  std::size_t group, std::uint32_t beyond, float limit, float* v) {
  return quotients(x, by, n, group, beyond, limit, v);
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
HWY_EXPORT(divide_counted_once);
HWY_EXPORT(divide_counted_to_odd);

bool whole_vectors(std::size_t group) { return HWY_DYNAMIC_DISPATCH(whole_vectors)(group); }
void group_maxima(const float* x, std::size_t n, std::size_t group, float* most) {
  HWY_DYNAMIC_DISPATCH(group_maxima)(x, n, group, most);
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
std::size_t divide_counted(const float* x, const Divisors<float>& by, std::size_t n,
                           std::size_t group, std::uint32_t beyond, float limit, float* v) {
  return HWY_DYNAMIC_DISPATCH(divide_counted_once)(x, by, n, group, beyond, limit, v);
}
std::size_t divide_counted(const float* x, const Divisors<double>& by, std::size_t n,
                           std::size_t group, std::uint32_t beyond, float limit, float* v) {
  return HWY_DYNAMIC_DISPATCH(divide_counted_to_odd)(x, by, n, group, beyond, limit, v);
}

}  // namespace widthwise::containers
#endif
