#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "widthwise/sim/tables.hpp"

namespace widthwise::mpfr {
namespace {

constexpr Flags past_the_end = overflow | inexact;
constexpr Exponent least_place = -1074, largest_place = 1023;  // of binary64's digits

// A value as its table was given it. Places and facts that are worked out for lib are not looked
// at.
struct Listed {
  double value;
  std::uint64_t code;
};

// In ascending order; of the table that was asked for last.
const std::vector<Listed>& sorted(const Format& f) {
  thread_local const Table* whose = nullptr;
  thread_local std::vector<Listed> all;
  if (whose == f.table) return all;
  all.clear();
  const auto given = table_values(f);
  for (std::size_t code = 0; code < given.size(); ++code)
    if (given[code] == given[code]) all.push_back({given[code], code});
  // Of two zeros the one that is -0 stands for nothing that is rounded.
  const auto is_zero = [](const Listed& v) { return v.value == 0; };
  if (std::ranges::count_if(all, is_zero) == 2)
    std::erase_if(all, [&](const Listed& v) { return is_zero(v) && std::signbit(v.value); });
  std::ranges::sort(all, {}, &Listed::value);
  whose = f.table;
  return all;
}

// In units of 2^lsb, which is not above any digit of binary64.
mpz_class in_units(const Listed& v, Exponent lsb) {
  int exp = 0;
  const mpz_class n = static_cast<long>(std::ldexp(std::frexp(v.value, &exp), 53));
  const Exponent up = exp - 53 - lsb;
  const auto by = static_cast<mp_bitcnt_t>(up < 0 ? -up : up);
  return up < 0 ? mpz_class(n >> by) : mpz_class(n << by);
}

// A magnitude in these units and a rest below one of them, with a sign.
struct Point {
  mpz_class magnitude;
  bool negative, rest;

  // -1, 0 or 1.
  int against(const mpz_class& value) const {
    const int c = cmp(negative ? mpz_class(-magnitude) : magnitude, value);
    return c != 0 || !rest ? (c > 0) - (c < 0) : negative ? -1 : 1;
  }
};

// Of a tie: whether a is taken rather than b.
bool is_preferred(RoundingMode mode, const Listed& a, const Listed& b, Exponent lsb) {
  const mpz_class x = in_units(a, lsb), y = in_units(b, lsb);
  const bool odd = a.code & 1, differ = odd != (b.code & 1);
  const int size = mpz_cmpabs(x.get_mpz_t(), y.get_mpz_t());
  switch (mode) {
    case RoundingMode::rnp: return x > y;
    case RoundingMode::rnm: return x < y;
    case RoundingMode::rna: return size != 0 ? size > 0 : x > y;
    case RoundingMode::rne:
      if (differ) return !odd;
      break;
    case RoundingMode::rno:
      if (differ) return odd;
      break;
    default: break;
  }
  return size != 0 ? size < 0 : x > y;
}

bool rounds_to_nearest(RoundingMode mode) {
  using enum RoundingMode;
  return mode == rne || mode == rno || mode == rna || mode == rnz || mode == rnp || mode == rnm;
}

bool goes_far(const Target& to, const Point& x, const Listed& near, const Listed& far,
              Exponent lsb) {
  const mpz_class from = in_units(near, lsb);
  const mpz_class passed =
      x.negative ? mpz_class(from + x.magnitude) : mpz_class(x.magnitude - from);
  const mpz_class gap = abs(mpz_class(in_units(far, lsb) - from));
  const RoundingMode mode = to.round.rm.mode;
  if (!rounds_to_nearest(mode))
    return moves_away(to.round.rm, x.negative, false, {0, passed, gap, x.rest}, to.random);
  const int c = cmp(2 * passed, gap);
  return c != 0 || x.rest ? c >= 0 : is_preferred(mode, far, near, lsb);
}

}  // namespace

Decoded decode_listed(const Format& f, const mpz_class& code) {
  const auto given = table_values(f);
  Decoded x;
  x.code = code;
  if (code >= given.size() || std::isnan(given[code.get_ui()])) {
    mpfr_set_nan(x.value.x);
    return x;
  }
  x.value = {Real(53), 0};
  mpfr_set_d(x.value.x, given[code.get_ui()], MPFR_RNDZ);
  x.field_exponent = mpfr_zero_p(x.value.x) ? least_place : mpfr_get_exp(x.value.x) - 1;
  if (!mpfr_zero_p(x.value.x)) x.value = normalised(std::move(x.value));
  return x;
}

Delivered listed_nan(const Format& f) {
  const auto given = table_values(f);
  const auto nan = std::ranges::find_if(given, [](double v) { return std::isnan(v); });
  if (nan != given.end()) return {mpz_class(std::distance(given.begin(), nan)), {}};
  return {deliver_listed({.round = {.fmt = f}, .random = 0}, {}).code, invalid};
}

Delivered listed_infinity(const Format& f, bool negative) {
  const Listed& end = negative ? sorted(f).front() : sorted(f).back();
  return {mpz_class(end.code), past_the_end};
}

Delivered deliver_listed(const Target& to, const Cut& x) {
  const std::vector<Listed>& values = sorted(to.round.fmt);
  if (x.sig != 0 && leading(x) > largest_place + 1)
    return listed_infinity(to.round.fmt, x.negative);
  const Exponent lsb = least_place - to.round.rm.random_bits - 4;
  const Split s = x.sig == 0 ? Split{0, 0, 1} : split(x, lsb);
  const Point point{s.kept, x.negative && x.sig != 0, s.inexact()};
  const auto above = std::partition_point(values.begin(), values.end(), [&](const Listed& v) {
    return point.against(in_units(v, lsb)) >= 0;
  });
  if (above == values.begin()) return {mpz_class(values.front().code), past_the_end};
  const Listed& low = *(above - 1);
  if (point.against(in_units(low, lsb)) == 0) return {mpz_class(low.code), Flags{}};
  if (above == values.end()) return {mpz_class(low.code), past_the_end};
  const Listed &near = point.negative ? *above : low, &far = point.negative ? low : *above;
  return {mpz_class((goes_far(to, point, near, far, lsb) ? far : near).code), inexact};
}

mpfr_prec_t listed_digits() { return largest_place - least_place + 8; }

}  // namespace widthwise::mpfr
