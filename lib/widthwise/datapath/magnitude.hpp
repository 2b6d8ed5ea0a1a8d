#pragma once
#include "widthwise/decide.hpp"
#include "widthwise/significand.hpp"

// Magnitudes between operands and result, in a carrier M: an unsigned integer, in which sums grow
// in two's complement. One without a width of its own says in its Significand what it does
// otherwise.
namespace widthwise {

// The same magnitude in a wider carrier.
template <class M, class H>
constexpr M widen(const H& x) {
  if constexpr (requires { Significand<M>::from(x); })
    return Significand<M>::from(x);
  else
    return M(x);
}

// A magnitude that fits, in the carrier of codes.
template <class H, class M>
constexpr H narrow(const M& x) {
  if constexpr (requires { Significand<M>::template to<H>(x); })
    return Significand<M>::template to<H>(x);
  else
    return static_cast<H>(x);
}

template <class M>
constexpr M multiplied(const M& a, const M& b) {
  if constexpr (requires { a* b; })
    return a * b;
  else
    return multiply_exact(a, b).low;
}

// The same of factors of so many digits, by whatever shorter way a carrier knows.
template <class M, class H>
constexpr M multiplied_by(const M& m, [[maybe_unused]] int length, const H& x,
                          [[maybe_unused]] int digits) {
  if constexpr (requires { Significand<M>::multiplied(m, length, x, digits); })
    return Significand<M>::multiplied(m, length, x, digits);
  else
    return multiplied(m, widen<M>(x));
}

// Digits of a magnitude; 0 has one in carriers that need not ask.
template <class M>
constexpr Int<M> length_of(const M& m) {
  if constexpr (std::is_same_v<Mask<M>, bool>)
    return bit_length(m);
  else
    return Int<M>{digits<M>} - Significand<M>::leading_zeros(m);
}

// a - b, kept inside 64 bits, and so that it has an opposite: terms of 62-bit exponents may lie
// 2^63 apart.
constexpr std::int64_t distance(std::int64_t a, std::int64_t b) {
  const auto wrapped = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  const auto d = static_cast<std::int64_t>(wrapped);
  const bool passes = ((a ^ b) & (a ^ d)) < 0;
  if (!passes) return greater(d, -INT64_MAX);
  return a < b ? -INT64_MAX : INT64_MAX;
}

template <class M>
inline constexpr bool has_width = requires {
  Significand<M>::digits;
};

// n, as far as a magnitude below 2^(digits - 1) can be shifted right and anything be left.
template <class M>
constexpr Int<M> down_by(const M& m, Int<M> n) {
  if constexpr (has_width<M>)
    return lesser(greater(n, Int<M>{}), Int<M>{digits<M> - 1});
  else
    return lesser(greater(n, 0), bit_length(m) + 1);
}
// n, if any, as far as a carrier can be shifted left; zero may be told to go anywhere.
template <class M>
constexpr M moved_up(const M& m, Int<M> n) {
  if constexpr (has_width<M>)
    return shift_left(m, lesser(greater(n, Int<M>{}), Int<M>{digits<M> - 1}));
  else
    return n <= 0 || m == 0 ? m : M(m << n);
}

// Drops n low digits of a magnitude below 2^(digits - 1), n <= 0: none. To drop more than one digit
// above the leading one is all the same. Not for stochastic rounding.
template <class M>
constexpr M cut(RoundingMode mode, Mask<M> negative, const M& m, Int<M> n) {
  const Int<M> drop = down_by(m, n);
  const M kept = shift_right(m, drop);
  if (mode == RoundingMode::rtz) return kept;
  const Mask<M> odd = (kept & M(1)) != M{};
  const Lost<M> lost = lost_digits(m, drop);
  return kept + select(goes_away(mode, negative, odd, lost.first, lost.more), M(1), M{});
}

// The same; n < 0 appends zeros.
template <class M>
constexpr M round_magnitude(RoundingMode mode, Mask<M> negative, const M& m, Int<M> n) {
  if (!any(n > Int<M>{})) return moved_up(m, Int<M>{} - n);
  return moved_up(cut(mode, negative, m, n), Int<M>{} - n);
}

// A value in two's complement, or its opposite.
template <class M>
constexpr M opposite_if(Mask<M> c, const M& x) {
  if constexpr (is_word<M> || !std::is_same_v<Mask<M>, bool>)
    return negate_if(c, x);
  else
    return c ? M(M{} - x) : x;
}

// The leading digits of a magnitude that is not zero in the carrier of codes, its leading one at
// the top, the rest jammed; and the weight of the last of them.
template <class H>
struct Leading {
  H sig;
  Int<H> weight;
};
template <class H, class M>
constexpr Leading<H> leading_digits(const M& m) {
  if constexpr (!has_width<M>) {
    const std::int64_t surplus = bit_length(m) - digits<H>;
    if (surplus <= 0) return {narrow<H>(m) << -surplus, surplus};
    return {narrow<H>(M(m >> surplus)) | H(any_low_bits<M>(m, surplus) ? 1 : 0), surplus};
  } else {
    constexpr int surplus = digits<M> - digits<H>;
    const Int<M> zeros = Significand<M>::leading_zeros(m);
    const M top = shift_left(m, zeros);
    const Int<M> weight = Int<M>{surplus} - zeros;
    if constexpr (surplus <= 0)
      return {narrow<H>(top) << -surplus, weight};
    else
      return {narrow<H>(M(top >> surplus)) | select(has_low_bits<surplus>(top), H(1), H{}), weight};
  }
}

}  // namespace widthwise
