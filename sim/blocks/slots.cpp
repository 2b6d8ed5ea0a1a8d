#include "slots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::blocks {
namespace {

constexpr std::int64_t most_digits = 51;  // of a result: sums are rounded to odd before

// What a code of the slot's format reads as.
double number(const Format& f, std::uint64_t code) {
  const Factor<std::uint64_t> x = factor(Layout<std::uint64_t>(f), code);
  const double magnitude = x.kind() == Kind::infinite ? HUGE_VAL
                           : x.kind() == Kind::nan
                               ? NAN
                               : std::ldexp(static_cast<double>(x.m), static_cast<int>(x.q));
  return x.negative ? -magnitude : magnitude;
}

}  // namespace

Range range(const char* where, const Format& f) {
  const auto small = [](std::int64_t e) { return -most_exponent <= e && e <= most_exponent; };
  if (f.width() > 64 || f.precision() > double_digits || !small(f.least_digit()) ||
      !small(f.top_field() - f.bias))
    refuse_range("{} = {} has digits or exponents that a double has not to spare", where,
                 to_string(f));
  return {f.least_digit(), f.top_field() - f.bias + 1};
}
Range range(const char* where, const Operand& x) {
  Range r = range(where, x.fmt);
  if (x.keep_frac) r.high += 1;  // where rounding carries
  return r;
}

Range within_reach(const char* where, const Range& x) {
  constexpr std::int64_t most = watched_reach;
  const Range r{std::max(x.low, -most), std::min(x.high, most)};
  if (r.low >= r.high)
    refuse("{}: numbers from 2^{} to 2^{}, out of a double's reach", where, x.low, x.high);
  return r;
}
Range watched_range(const char* where, const Operand& x) {
  const Format& f = x.fmt;
  return within_reach(where,
                      are_doubles(x) ? Range{f.least_digit(), f.emax() + 1} : range(where, x));
}

bool are_doubles(const Operand& x) {
  const Format& f = x.fmt;
  return !x.keep_frac && f.width() <= 64 && f.precision() <= double_digits &&
         f.emin() >= binary64.emin() && f.least_digit() >= binary64.least_digit() &&
         f.emax() <= binary64.emax();
}

bool is_own(const Round& r) {
  Round own{.fmt = binary64};
  own.rm = r.rm;
  return r == own;
}
bool is_made(const Round& r) { return is_own(r) && r.rm.random_bits <= most_random_bits; }
Slot own_slot(widthwise::Slot place, const Rounding& rm, RoundingMode machine) {
  return {.place = place,
          .mode = rm.mode,
          .random_bits = rm.random_bits,
          .variant = rm.variant,
          .own = true,
          .by_hand = rm != machine,
          .largest = std::numeric_limits<double>::max(),
          .specials_stay = true};
}

namespace {

bool asks_for_parity(const Rounding& rm) {
  using enum RoundingMode;
  return rm.mode == rne || rm.mode == rno || rm.mode == odd;
}

bool lies_near(const Format& f) {
  const auto within = [](std::int64_t e) { return -watched_reach <= e && e <= watched_reach; };
  return within(f.least_digit()) && within(f.emax() + 1);
}

void check_range(const char* where, const Format& f, Room room) {
  if (room == Room::near && are_doubles({.fmt = f}) &&
      (lies_near(f) || (f.emin() <= 0 && f.emax() >= 0)))
    return;
  range(where, f);
  // The least double is not to become 0 before it is rounded at the format's last digit.
  if (room == Room::near || (room == Room::far && f.emin() > f.frac_bits))
    refuse_range("{} = {} is too far from numbers that doubles have", where, to_string(f));
}

// What comes of numbers near one is near one: infinities stay, and nothing is lifted to a least
// number.
void check_results(const char* where, const Slot& s, const Format& f, Room room) {
  const bool plain = s.specials_stay && s.is_signed && s.has_zero;
  if (room == Room::near && !lies_near(f) && !plain)
    refuse_range("{} = {} has codes out of a double's reach", where, to_string(f));
}

// What a format's codes are does not depend on how many random bits round to it, for which a word
// may have no room.
Round by_one_bit(Round r) {
  if (r.rm.stochastic()) r.rm.random_bits = 1;
  return r;
}

// What comes last is delivered, and not read again.
Format as_read(widthwise::Slot place, Format f) {
  f.daz &= place != widthwise::Slot::final && !f.all_normal();
  return f;
}
bool has_codes_of(const Format& of, Format f) {
  f.daz = f.ftz = false;
  return f == of;
}

[[noreturn]] void refuse_bits(const char* where, std::int64_t digits, int bits) {
  refuse("{} rounds {} digits by {} random bits", where, digits, bits);
}

[[noreturn]] void refuse_format(const char* where, const Format& f, const char* why) {
  refuse("{} = {} {}", where, to_string(f), why);
}

// Whether so many random bits decide that doubles to odd do not show them all.
bool is_fine(const Format& f, const Rounding& rm) {
  return rm.random_bits > 0 && rm.random_bits + f.precision() > most_digits;
}

void require_digits(const char* where, const Format& f, const Round& r) {
  if (r.post_norm_rm.stochastic()) refuse("{} cuts by random bits", where);
  if (r.rm.random_bits > most_random_bits || (is_fine(f, r.rm) && r.post_norm_frac))
    refuse_bits(where, f.precision(), r.rm.random_bits);
  if (f.all_normal() && r.rm.stochastic())
    refuse_format(where, f, "has no subnormals, and rounds by random bits");
  if (f.precision() > most_digits || r.post_norm_frac.value_or(0) >= most_digits)
    refuse_format(where, f, "keeps too many digits");
}

Slot slot_of_fields(widthwise::Slot place, const Format& f, const Round& r,
                    const Rounder<std::uint64_t>& to) {
  return {.place = place,
          .mode = r.rm.mode,
          .random_bits = r.rm.random_bits,
          .variant = r.rm.variant,
          .fine = is_fine(f, r.rm),
          .frac_bits = r.keep_frac.value_or(f.frac_bits),
          .first_frac_bits = r.post_norm_frac.value_or(-1),
          .first_mode = r.post_norm_rm.mode,
          .least_normal = std::ldexp(1.0, static_cast<int>(f.emin())),
          .largest = number(f, to.layout.max_finite),
          .gap = f.all_normal(),
          .even_code = to.even_code && asks_for_parity(r.rm),
          .bias = static_cast<int>(f.bias),
          .nan = number(f, to.nan_code),
          .nan_flags = f.has_nan() ? 0 : invalid,
          .zero_flags = static_cast<int>(delivered_zero(to, false).flags),
          .tininess = r.tininess,
          .flush = f.all_normal() ? Flush::keep : to.flush,
          .plus_zero = r.zero_sign != ZeroSign::ieee,
          .signed_zero = to.keeps_zero_sign,
          .has_zero = f.zero,
          .is_signed = f.is_signed()};
}

// What lies below the least normal number.
void set_least(Slot& s, const char* where, const Format& f, const Rounder<std::uint64_t>& to) {
  if (f.daz && s.flush == Flush::keep) {
    if (!f.is_signed() || !s.signed_zero || !f.zero)
      refuse_format(where, f, "reads subnormals as zero");
    s.flush = Flush::flush_signed_zero, s.daz = true;
  }
  if (s.largest == 0) refuse_format(where, f, "reads its largest number as zero");
  s.tiny_below = s.gap ? std::ldexp(static_cast<double>(to.least_number),
                                    static_cast<int>(f.emin()) - to.precision + 1)
                       : s.least_normal;
  for (double* x : {&s.least_normal, &s.tiny_below})
    *x = std::max(*x, std::ldexp(1.0, -static_cast<int>(most_exponent)));
}

// What zeros, infinities and numbers past the largest become.
void set_ends(Slot& s, const Format& f, const Rounder<std::uint64_t>& to) {
  for (const bool negative : {false, true}) {
    const Result<std::uint64_t> infinite = delivered_infinity(to, negative);
    s.past[negative] = number(f, overflowed(to, negative));
    s.infinite[negative] = number(f, infinite.code);
    s.infinite_flags[negative] = static_cast<int>(infinite.flags);
    s.zero[negative] = number(f, delivered_zero(to, negative).code);
  }
  s.specials_stay = std::isinf(s.infinite[0]) && std::isinf(s.infinite[1]) && std::isnan(s.nan);
}

}  // namespace

Slot slot(widthwise::Slot place, const char* where, const Round& r, Room room) {
  const Format f = as_read(place, r.fmt);
  check_range(where, f, room);
  require_digits(where, f, r);
  const Rounder<std::uint64_t> to(by_one_bit(r));
  Slot s = slot_of_fields(place, f, r, to);
  set_least(s, where, f, to);
  set_ends(s, f, to);
  check_results(where, s, f, room);
  s.machine = has_codes_of(binary32, f) && s.mode == RoundingMode::rne &&
              s.frac_bits == f.frac_bits && std::isinf(s.past[0]) && s.specials_stay;
  return s;
}
std::optional<Slot> slot(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         Room room) {
  return r ? std::optional<Slot>(slot(place, where, *r, room)) : std::nullopt;
}
void refuse_fine(const char* where, const Slot& s) {
  if (s.fine) refuse_bits(where, s.frac_bits + 1, s.random_bits);
}
std::optional<Slot> node(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         bool of_two, Room room) {
  std::optional<Slot> s = slot(place, where, r, room);
  if (s && of_two && !s->specials_stay) refuse_fine(where, *s);
  if (s) s->infinite_flags[0] = s->infinite_flags[1] = s->nan_flags = 0;
  return s;
}

}  // namespace widthwise::blocks
