#pragma once
#include "widthwise/apart.hpp"
#include "widthwise/numbers.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/trace.hpp"
#include "widthwise/unpack.hpp"

// The path's last steps: denormalise, round, pack. Nothing else in Widthwise rounds to a format.
namespace widthwise {

template <class U>
constexpr Int<U> raised(Mask<U> when, Flags flags) {
  return select(when, Int<U>{flags}, Int<U>{});
}

// Where a significand lies in a format: shifted into the subnormal range if it has to be.
//
//   aligned :  | 1 x x x x x | g s s s s s s |      kept and what is dropped,
//              <- precision -> <--- drop --->       digits = precision + drop
//
template <class U>
struct Placed {
  Mask<U> subnormal;  // below the format's least exponent, by short_by binades
  Int<U> short_by;
  U aligned;
};

template <class U>
constexpr Placed<U> denormalise(const Rounder<U>& to, Int<U> exp, const U& sig) {
  const Int<U> short_by = to.layout.emin - (exp + (digits<U> - 1));
  const Mask<U> subnormal = short_by > Int<U>{};
  if (!any(subnormal)) return {subnormal, short_by, sig};
  return {subnormal, short_by, shift_right_jam<U>(sig, select(subnormal, short_by, Int<U>{}))};
}

// A magnitude on its way to a code, and what became of the value.
template <class U>
struct Rounded {
  U magnitude;
  Mask<U> lossy, tiny, over;
};

// Whether a subnormal stays below the least normal number when rounded as if the exponent had no
// lower end (IEEE 754-2019, 7.5, tininess after rounding).
template <class U>
constexpr Mask<U> stays_tiny(const Rounder<U>& to, Mask<U> negative, const Placed<U>& at,
                             const U& sig, const U& random) {
  const Mask<U> odd = Mask<U>{} == Mask<U>{};  // all ones are
  const Mask<U> carries = ((sig >> to.drop) == ones<U>(to.precision)) &
                          rounds_away<U>(to.rule, negative, odd, U(sig << to.precision), random);
  return (at.short_by != Int<U>{1}) | (carries == Mask<U>{});
}

// The same for a value in the gap below `least` of a format without subnormals: least is the power
// of two 2^emin, or the next number above it.
template <class U>
constexpr Mask<U> stays_in_gap(const Rounder<U>& to, Mask<U> negative, const Placed<U>& at,
                               const U& sig, const U& random) {
  if (!to.layout.format.zero) return stays_tiny(to, negative, at, sig, random);
  const Mask<U> odd = (Mask<U>{} == Mask<U>{}) & (to.precision == 1);  // 2^emin itself
  const Mask<U> reaches = rounds_away<U>(to.rule, negative, odd, U(sig << to.precision), random);
  return (at.short_by != Int<U>{}) | (reaches == Mask<U>{});
}

// Formats without subnormals: between 0 and their least number, which is hidden + 1 where code 0
// is zero, lies one gap. A value there takes one of its two ends (docs/semantics.md, R5).
template <class U>
constexpr Rounded<U> round_in_gap(const Rounder<U>& to, Mask<U> negative, const Placed<U>& at,
                                  const U& sig, const U& random, Rounded<U> r) {
  const U least = to.least_number << (to.drop - 1);  // in units of 2^(emin - digits + 2)
  const U value = shift_right_jam<U>(at.aligned, 1);
  const Mask<U> below = (at.short_by >= Int<U>{}) & (value < least);
  if (!any(below)) return r;

  Mask<U> up = below;  // 0 counts as even, and where it has no code no value goes there
  if (to.layout.format.zero)
    up = rounds_away<U>(to.rule, negative, Mask<U>{}, fraction_of<U>(value, least), random);
  Mask<U> tiny = below;
  if (to.env.tininess == Tininess::after_rounding)
    tiny = below & stays_in_gap(to, negative, at, sig, random);
  if (to.env.tininess == Tininess::as_delivered) tiny = below & (up == Mask<U>{});
  const U least_magnitude = (to.least_number << to.spare) - to.layout.hidden;
  r.magnitude = select(below, select(up, least_magnitude, U{}), r.magnitude);
  r.lossy = r.lossy | below;
  r.tiny = select(below, tiny, r.tiny);
  return r;
}

// What is added to a fraction before its dropped digits are cut off.
template <class How, class U>
constexpr U increment(const Rounder<U>& to, Mask<U> negative, Mask<U> odd, const U& random) {
  return How::pick(to.increment, negative, odd) + ((random & to.random_mask) << to.random_shift) -
         (random & to.random_tie);
}

// Rounds a fraction to the format's magnitudes and beyond. Its hidden one is not in it, so that a
// carry has somewhere to go; floor is the exponent field in its place, and takes that carry.
template <class How, class U>
constexpr U rounded_magnitude(const Rounder<U>& to, Mask<U> negative, const U& floor,
                              const U& fraction, Mask<U> odd, const U& random) {
  const U up = increment<How>(to, negative, odd, random);
  return floor + shift_right(U(U(fraction + up) & to.kept), to.layout.up);
}

// The same with all that may come of it.
template <class U, class Trace>
constexpr Rounded<U> round(const Rounder<U>& to, Mask<U> negative, Int<U> exp, const U& sig,
                           const U& random, Trace&& trace) {
  const Placed<U> at = denormalise(to, exp, sig);
  trace(Stage::denormalise, negative, exp + select(at.subnormal, at.short_by, Int<U>{}),
        at.aligned);

  const Int<U> field =
      select(at.subnormal, Int<U>{}, exp + (digits<U> - 1) + to.layout.format.bias);
  const Mask<U> far = field > to.layout.top_field;
  const U floor = U(select(far, Int<U>{}, field)) << to.layout.format.frac_bits;
  const U hidden = select(at.subnormal, U{}, bit<U>(digits<U> - 1));
  const U fraction = at.aligned ^ hidden;
  Mask<U> odd = (at.aligned & to.last_digit) != U{};
  if (to.even_code) odd = (floor & U(1)) != U{};  // of one digit
  Rounded<U> r{};
  r.magnitude = rounded_magnitude<Natural<U>>(to, negative, floor, fraction, odd, random);
  trace(Stage::round, negative, exp + select(at.subnormal, at.short_by, Int<U>{}) + to.drop,
        U(U(r.magnitude - floor) >> to.spare) + (hidden >> to.drop));
  r.lossy = (at.aligned & to.dropped) != U{};
  r.tiny = at.subnormal;
  if (any(at.subnormal) && to.env.tininess == Tininess::after_rounding)
    r.tiny = at.subnormal & stays_tiny(to, negative, at, sig, random);
  if (to.env.tininess == Tininess::as_delivered)
    r.tiny = at.subnormal & (r.magnitude < to.layout.hidden);
  if (to.layout.all_normal) r = round_in_gap(to, negative, at, sig, random, r);
  r.over = far | (r.magnitude > to.layout.max_finite);
  return r;
}

// What a rounded magnitude is as a code of its format: signs and zeros it lacks, flushing, and
// what lies past the largest number.
template <class U>
constexpr Result<U> pack(const Rounder<U>& to, Mask<U> negative, const Rounded<U>& r) {
  Int<U> flags = raised<U>(r.lossy, inexact) | raised<U>(r.lossy & r.tiny, underflow);
  U magnitude = r.magnitude;
  Mask<U> signed_zero = negative;
  if (to.flush != Flush::keep && !to.layout.all_normal) {
    const Mask<U> flushed = r.tiny & (magnitude != U{});
    magnitude = select(flushed, U{}, magnitude);
    flags = flags | raised<U>(flushed, underflow | inexact);
    if (to.flush == Flush::flush_pos_zero) signed_zero = negative & (flushed == Mask<U>{});
  }
  signed_zero = delivered_sign(to, Mask<U>(magnitude == U{}), signed_zero);
  U code = magnitude | select(signed_zero, to.layout.sign, U{});
  if (any(r.over)) {
    code = select(r.over, overflowed(to, negative), code);
    flags = select(r.over, Int<U>{overflow | inexact}, flags);
  }
  if (!to.layout.format.is_signed()) {  // a number below zero has no code here
    const Mask<U> lost = negative & ((magnitude != U{}) | r.over | !to.layout.format.zero);
    code = select(lost, to.nan_code, code);
    flags = select(lost, Int<U>{invalid}, flags);
  }
  return {code, flags};
}

// A result that is right wherever it is sure.
template <class U>
struct Quick {
  U code;
  Int<U> flags;
  Mask<U> sure;
};

// A number whose exponent lies well inside its format stays a normal one whatever the rounding, and
// none of the questions above arise, if it is a usual one to begin with. Nothing here is a jump.
template <class How, class U>
constexpr Quick<U> deliver_quick(const Rounder<U>& to, const Number<U>& x, Mask<U> usual,
                                 const U& random) {
  const U floor = shift_left(U(wrapped_sum(x.exp, to.field_offset)), to.layout.format.frac_bits);
  const U fraction = x.sig ^ bit<U>(digits<U> - 1);
  const Mask<U> odd = (x.sig & to.last_digit) != U{};
  const U magnitude = rounded_magnitude<How>(to, x.negative, floor, fraction, odd, random);
  return {magnitude | select(x.negative, to.layout.sign, U{}),
          raised<U>((x.sig & to.dropped) != U{}, inexact),
          Mask<U>((x.exp >= to.first_inside) & (x.exp <= to.last_inside) & usual)};
}

// The same, and its code read again without making one: a carry goes into the exponent
// (docs/exactness.md, 12).
template <class U>
struct InPlace {
  Number<U> number;
  Int<U> flags;
  Mask<U> sure;
};
template <class How, class U>
constexpr InPlace<U> round_in_place(const Rounder<U>& to, const Number<U>& x, Mask<U> usual,
                                    const U& random) {
  const U one = bit<U>(digits<U> - 1);
  const Mask<U> odd = (x.sig & to.last_digit) != U{};
  const U fraction = U(x.sig ^ one) + increment<How>(to, x.negative, odd, random);
  const Int<U> exp = x.exp + static_cast<Int<U>>(U(fraction >> (digits<U> - 1)));
  return {{x.negative, {}, {}, {}, {}, exp, U(fraction & to.kept) | one},
          raised<U>((x.sig & to.dropped) != U{}, inexact),
          Mask<U>((x.exp >= to.first_inside) & (x.exp <= to.last_inside) & usual)};
}
// The code of a normal number, as it is.
template <class U>
constexpr U code_in_place(const Layout<U>& f, const Number<U>& x) {
  const U fraction = shift_right(U(x.sig ^ bit<U>(digits<U> - 1)), f.up);
  return (U(x.exp + f.plain_offset) << f.format.frac_bits) + fraction +
         select(x.negative, f.sign, U{});
}

template <class U>
constexpr Result<U> deliver_in_system(const Rounder<U>& to, const Number<U>& x, const U& random) {
  const Format& f = to.layout.format;
  if constexpr (looks_up<U>)
    if (f.is_table()) return deliver_listed(to, x, random);
  return f.is_fixed() ? deliver_fixed(to, x, random) : deliver_tapered(to, x, random);
}

// What every other system than floats has in place of denormalise, round and pack: its pattern is
// cut and rounded. The trace gets the number that the code stands for.
template <class U, class Trace>
constexpr Result<U> deliver_pattern(const Rounder<U>& to, const Number<U>& x, const U& random,
                                    Trace&& trace) {
  const Result<U> z = deliver_in_system(to, x, random);
  if constexpr (traced<Trace>) {
    const Number<U> rounded = unpack(to.layout, z.code);
    trace(Stage::round, rounded.negative, rounded.exp, rounded.sig);
  }
  return z;
}

template <class U, class Trace>
constexpr Result<U> deliver_any(const Rounder<U>& to, const Number<U>& x, const U& random,
                                Trace&& trace) {
  if (!to.layout.format.is_float()) return deliver_pattern(to, x, random, trace);
  Result<U> z = pack(to, x.negative, round(to, x.negative, x.exp, x.sig, random, trace));
  if (any(special(x))) {
    const Result<U> zero = delivered_zero(to, x.negative);
    const Result<U> infinite = delivered_infinity(to, x.negative);
    z.code = select(x.zero, zero.code, z.code);
    z.code = select(x.infinite, infinite.code, z.code);
    z.code = select(x.nan, delivered_nan(to, x), z.code);
    z.flags = select(x.zero, zero.flags, z.flags);
    z.flags = select(x.infinite, infinite.flags, z.flags);
    z.flags = select(x.nan, Int<U>{to.layout.format.has_nan() ? 0 : invalid}, z.flags);
  }
  return z;
}

// The code of an exact result and its flags, added to those its operation raised. x.sig is
// normalised; digits lost before this point are jammed into bit 0, at least two below the last
// kept one (k + 2 for k random bits).
template <class U, class Trace = NoTrace>
WIDTHWISE_APART constexpr Result<U> deliver(const Rounder<U>& to, const Number<U>& x,
                                            Int<U> flags = {}, const U& random = {},
                                            Trace&& trace = {}) {
  if constexpr (!traced<Trace>) {
    const Quick<U> z = deliver_quick<Natural<U>>(to, x, special(x) == Mask<U>{}, random);
    if (!any(z.sure == Mask<U>{})) [[likely]]
      return {z.code, z.flags | flags};
  } else if (special(x)) {  // zero, infinity and NaN have no digits to show on the way
    const Result<U> z = deliver(to, x, flags, random);
    trace(Stage::pack, x.negative, Int<U>{}, z.code);
    return z;
  }
  trace(Stage::normalise, x.negative, x.exp, x.sig);
  Result<U> z = deliver_any(to, x, random, trace);
  z.flags = z.flags | flags;
  trace(Stage::pack, x.negative, Int<U>{}, z.code);
  return z;
}

}  // namespace widthwise
