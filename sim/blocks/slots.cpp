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
  const double magnitude = x.kind == Kind::infinite ? HUGE_VAL
                           : x.kind == Kind::nan
                               ? NAN
                               : std::ldexp(static_cast<double>(x.m), static_cast<int>(x.q));
  return x.negative ? -magnitude : magnitude;
}

}  // namespace

Range range(const char* where, const Format& f) {
  const auto small = [](std::int64_t e) { return -most_exponent <= e && e <= most_exponent; };
  if (f.width() > 64 || f.precision() > double_digits || !small(f.emin() - f.frac_bits) ||
      !small(f.top_field() - f.bias))
    throw Refusal{fmt::format("{} = {} has digits or exponents that a double has not to spare",
                              where, to_string(f)),
                  true};
  return {f.emin() - f.frac_bits, f.top_field() - f.bias + 1};
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
  return within_reach(
      where, are_doubles(x) ? Range{f.emin() - f.frac_bits, f.emax() + 1} : range(where, x));
}

bool are_doubles(const Operand& x) {
  const Format& f = x.fmt;
  return !x.keep_frac && f.width() <= 64 && f.precision() <= double_digits &&
         f.emin() - f.frac_bits >= binary64.emin() - binary64.frac_bits &&
         f.emax() <= binary64.emax();
}

bool is_own(const Round& r) {
  Round own{.fmt = binary64};
  own.rm = r.rm;
  return r == own;
}
Slot own_slot(widthwise::Slot place, const Rounding& rm) {
  return {.place = place,
          .mode = rm.mode,
          .random_bits = rm.random_bits,
          .variant = rm.variant,
          .own = true,
          .largest = std::numeric_limits<double>::max(),
          .specials_stay = true};
}

Slot slot(widthwise::Slot place, const char* where, const Round& r, bool watched) {
  const Format& f = r.fmt;
  const auto unfit = [&](const char* why) { refuse("{} = {} {}", where, to_string(f), why); };
  if (!watched || !are_doubles({.fmt = f})) range(where, f);
  if (r.post_norm_rm.stochastic()) refuse("{} cuts by random bits", where);
  const bool random = r.rm.random_bits > 0;
  if (r.rm.random_bits > most_random_bits ||
      (random && r.rm.random_bits + f.precision() > most_digits))
    refuse("{} rounds {} digits by {} random bits", where, f.precision(), r.rm.random_bits);
  if (f.all_normal() && r.rm.stochastic()) unfit("has no subnormals, and rounds by random bits");
  if (f.daz) unfit("reads subnormals as zero");
  if (f.is_p3109() && f.precision() == 1) unfit("ties to the even code");
  if (f.precision() > most_digits || r.post_norm_frac.value_or(0) >= most_digits)
    unfit("keeps too many digits");

  const Rounder<std::uint64_t> to(r);
  Slot s{.place = place,
         .mode = r.rm.mode,
         .random_bits = r.rm.random_bits,
         .variant = r.rm.variant,
         .frac_bits = r.keep_frac.value_or(f.frac_bits),
         .first_frac_bits = r.post_norm_frac.value_or(-1),
         .first_mode = r.post_norm_rm.mode,
         .least_normal = std::ldexp(1.0, static_cast<int>(f.emin())),
         .largest = number(f, to.layout.max_finite),
         .gap = f.all_normal(),
         .nan = number(f, to.nan_code),
         .nan_flags = f.has_nan() ? 0 : invalid,
         .zero_flags = static_cast<int>(delivered_zero(to, false).flags),
         .flush = f.all_normal() ? Flush::keep : to.flush,
         .plus_zero = r.zero_sign == ZeroSign::plus,
         .signed_zero = to.keeps_zero_sign,
         .has_zero = f.zero,
         .is_signed = f.is_signed};
  s.tiny_below = s.gap ? std::ldexp(static_cast<double>(to.least_number),
                                    static_cast<int>(f.emin()) - to.precision + 1)
                       : s.least_normal;
  for (double* x : {&s.least_normal, &s.tiny_below})
    *x = std::max(*x, std::ldexp(1.0, -static_cast<int>(most_exponent)));
  for (const bool negative : {false, true}) {
    const Result<std::uint64_t> infinite = delivered_infinity(to, negative);
    s.past[negative] = number(f, overflowed(to, negative));
    s.infinite[negative] = number(f, infinite.code);
    s.infinite_flags[negative] = static_cast<int>(infinite.flags);
    s.zero[negative] = number(f, delivered_zero(to, negative).code);
  }
  s.specials_stay = std::isinf(s.infinite[0]) && std::isinf(s.infinite[1]) && std::isnan(s.nan);
  s.machine = f == binary32 && s.mode == RoundingMode::rne && s.frac_bits == f.frac_bits &&
              std::isinf(s.past[0]) && s.specials_stay;
  return s;
}
std::optional<Slot> slot(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         bool watched) {
  return r ? std::optional<Slot>(slot(place, where, *r, watched)) : std::nullopt;
}
std::optional<Slot> node(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         bool watched) {
  std::optional<Slot> s = slot(place, where, r, watched);
  if (s) s->infinite_flags[0] = s->infinite_flags[1] = s->nan_flags = 0;
  return s;
}

}  // namespace widthwise::blocks
