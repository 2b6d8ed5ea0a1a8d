#pragma once
#include <algorithm>
#include <climits>
#include <span>

#include "widthwise/datapath/magnitude.hpp"
#include "widthwise/op/fma.hpp"
#include "widthwise/unit.hpp"

// What travels inside a unit. H carries codes and significands of operands and results, M the
// magnitudes between them: an unsigned integer wide enough for the unit's sums, or a row of them.
namespace widthwise {

// What one number is. In a carrier, where it may be many, two masks say it: an infinity is endless,
// a NaN that and zero, as if it were their product.
enum class Kind : std::uint8_t { zero, finite, infinite, nan };
constexpr Kind kind_of(bool zero, bool endless) {
  if (endless) return zero ? Kind::nan : Kind::infinite;
  return zero ? Kind::zero : Kind::finite;
}

template <class Truth>
constexpr Truth no(const Truth& x) {
  return Truth(x == Truth{});
}
// Of a factor or a term.
template <class T>
constexpr auto is_nan(const T& x) {
  return decltype(x.zero)(x.endless & x.zero);
}
template <class T>
constexpr auto is_zero(const T& x) {
  return decltype(x.zero)(x.zero & no(x.endless));
}

// An operand or a scale, conditioned: (-1)^negative * m * 2^q.
template <class H>
struct Factor {
  Mask<H> negative, zero, endless;
  H m;
  Int<H> q;
  Int<H> e;  // field exponent: that of the least normal number for a subnormal

  constexpr Kind kind() const { return kind_of(zero, endless); }
};

// What fills up blocks, and stands where there is no C.
template <class H>
constexpr Factor<H> no_factor() {
  return {{}, Mask<H>(true), {}, {}, {}, {}};
}

// A lane's position along k. It has a constructor to copy it, which makes that of a term go member
// by member: 16 bytes that are read right after flags and words were written there one by one wait
// until the last of these is in the cache, a seventh of all the time of a chain.
struct Position {
  std::int64_t value = 0;

  constexpr Position(std::int64_t x = 0) : value(x) {}
  constexpr Position(const Position& x) : value(x.value) {}
  constexpr Position& operator=(const Position& x) {
    value = x.value;
    return *this;
  }
  constexpr operator std::int64_t() const { return value; }
};

// A summand or a sum. An exact zero has no digits and no vote on the alignment; a sum that
// cancelled is finite with m = 0, and votes.
template <class M>
struct Term {
  Mask<M> negative, zero, endless;
  Mask<M> mixed;  // a zero sum of addends of both signs
  bool is_c = false;
  int length = unknown;  // digits of m, at most
  M m;
  Int<M> q;
  Int<M> e;
  Position lane{};  // of its first lane: the step of its random bits

  static constexpr int unknown = INT_MAX;
  constexpr Kind kind() const { return kind_of(zero, endless); }
};

template <class H>
constexpr Factor<H> factor(const Layout<H>& f, const H& code) {
  const Number<H> x = unpack(f, code);
  return {x.negative, Mask<H>(x.zero | x.nan),   Mask<H>(x.infinite | x.nan), x.sig,
          x.exp,      x.exp + f.format.frac_bits};
}

// The same of a plain code: its fields as they stand.
template <class H>
constexpr Factor<H> plain_factor(const Layout<H>& f, const H& code) {
  const H magnitude = code & f.magnitude_mask;
  const Int<H> e = static_cast<Int<H>>(magnitude >> f.format.frac_bits) - f.format.bias;
  return {(code & f.sign) != H{}, {}, {}, (magnitude & f.fraction_mask) | f.hidden,
          e - f.format.frac_bits, e};
}

// +0 as registers of a format start with it, also one that has no code for it.
template <class H>
constexpr Factor<H> cleared(const Format& f) {
  return {{}, Mask<H>(true), {}, {}, Int<H>{f.least_digit()}, Int<H>{f.emin()}};
}

// A number that has no place in a block.
template <class M>
constexpr Term<M> finite_term(const Mask<M>& negative, const M& m, const Int<M>& q) {
  return {negative, {}, {}, {}, false, Term<M>::unknown, m, q, {}, {}};
}

// A factor of at most so many digits as a term, member by member, for rows are long.
template <class M, class H>
constexpr void put_term(const Factor<H>& x, std::int64_t lane, bool is_c, int length, Term<M>& to) {
  to.negative = x.negative, to.zero = x.zero, to.endless = x.endless, to.mixed = {};
  to.is_c = is_c, to.length = length;
  to.m = widen<M>(x.m), to.q = x.q, to.e = x.e;
  to.lane = lane;
}
template <class M, class H>
constexpr Term<M> term(const Factor<H>& x, std::int64_t lane, bool is_c = false,
                       int length = Term<M>::unknown) {
  Term<M> z;
  put_term(x, lane, is_c, length, z);
  return z;
}

// Of terms of one lane, neither of them C.
template <class M>
constexpr Term<M> select_term(const Mask<M>& c, const Term<M>& x, const Term<M>& y) {
  return {select(c, x.negative, y.negative),
          select(c, x.zero, y.zero),
          select(c, x.endless, y.endless),
          select(c, x.mixed, y.mixed),
          false,
          std::max(x.length, y.length),
          select(c, x.m, y.m),
          select(c, x.q, y.q),
          select(c, x.e, y.e),
          x.lane};
}

}  // namespace widthwise
