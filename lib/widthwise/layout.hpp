#pragma once
#include "widthwise/format.hpp"
#include "widthwise/significand.hpp"

namespace widthwise {

// A format's codes as integers of a carrier: everything that unpacking and packing compare with,
// worked out once for a whole array. Needs digits > magnitude_bits and digits >= width.
//
//   magnitudes:  0 | min … subnormals … hidden … max_finite | infinity | first_nan …
//
template <class U>
struct Layout {
  Format format;
  U magnitude_mask, fraction_mask, hidden, sign;
  U first_nan;     // magnitudes from here on are NaN; past the last one where there are none
  U infinity;      // likewise past the last one where the format has none
  U max_finite;    // largest magnitude that is a finite number
  U nan_code;      // canonical: quiet, positive (docs/semantics.md, N1); 0 where there is no NaN
  U quiet_bit;     // the fraction bit that a signalling NaN lacks; 0 where no NaN signals
  U plain_span;    // how many magnitudes from `hidden` on are normal numbers: of floats alone
  U signed_zeros;  // how many magnitudes are zeros of either sign: 1 or 0
  bool all_normal;
  int up;                     // puts a normal significand's leading one at the top digit
  std::int64_t plain_offset;  // exponent field - this = weight of bit 0 after that
  std::int64_t emin, top_field;

  explicit constexpr Layout(const Format& f)
      : format(f),
        magnitude_mask(ones<U>(f.magnitude_bits())),
        fraction_mask(f.is_table() ? U{} : ones<U>(f.frac_bits)),
        hidden(f.is_table() ? beyond(f) : bit<U>(f.frac_bits)),
        sign(f.is_signed() ? bit<U>(f.magnitude_bits()) : U{}),
        first_nan(lowest_nan(f)),
        infinity(infinite_magnitude(f)),
        max_finite(select(infinity < first_nan, infinity, first_nan) - U(1)),
        nan_code(canonical_nan(f)),
        quiet_bit(f.has_nan() && f.nan == NanCodes::ieee && f.frac_bits > 0
                      ? bit<U>(f.frac_bits - 1)
                      : U{}),
        plain_span(select(max_finite < hidden, U{}, U(max_finite - hidden + U(1)))),
        signed_zeros(f.zero && f.sign == Sign::magnitude && f.nan != NanCodes::sign_alone ? U(1)
                                                                                          : U{}),
        all_normal(f.all_normal()),
        up(digits<U> - f.precision()),
        plain_offset(f.bias + f.frac_bits + up),
        emin(f.emin()),
        top_field(f.top_field()) {}

 private:
  static constexpr U beyond(const Format& f) { return bit<U>(f.magnitude_bits()); }
  static constexpr U top(const Format& f) { return ones<U>(f.exp_bits) << f.frac_bits; }

  static constexpr U lowest_nan(const Format& f) {
    if (!f.has_nan()) return beyond(f);
    if (f.nan == NanCodes::ieee) return f.has_inf() ? top(f) + U(1) : top(f);
    return f.nan == NanCodes::all_ones ? ones<U>(f.magnitude_bits()) : beyond(f);
  }
  static constexpr U infinite_magnitude(const Format& f) {
    return f.has_inf() ? lowest_nan(f) - U(1) : beyond(f);
  }
  static constexpr U canonical_nan(const Format& f) {
    if (!f.has_nan()) return U{};
    if (f.is_table()) return U(f.table->nan);
    if (f.nan == NanCodes::sign_alone) return bit<U>(f.magnitude_bits());
    if (f.nan == NanCodes::all_ones) return ones<U>(f.magnitude_bits());
    return f.frac_bits > 0 ? top(f) | bit<U>(f.frac_bits - 1) : top(f);
  }
};

}  // namespace widthwise
