#include "tables.hpp"

#include <algorithm>
#include <span>

namespace widthwise::mpfr {
namespace {

constexpr Flags past_the_end = overflow | inexact;

std::span<const TableValue> values_of(const Table& t) {
  return {t.values, static_cast<std::size_t>(t.count)};
}

// In units of 2^lsb, which is not above any digit of the table.
mpz_class in_units(const TableValue& v, Exponent lsb) {
  const mpz_class n = mpz_class(v.sig) << static_cast<mp_bitcnt_t>(v.sig ? v.exp - lsb : 0);
  return v.negative ? mpz_class(-n) : n;
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
bool is_preferred(RoundingMode mode, const TableValue& a, const TableValue& b, Exponent lsb) {
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

bool goes_far(const Target& to, const Point& x, const TableValue& near, const TableValue& far,
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
  const Table& t = *f.table;
  const std::int32_t place = t.places[code.get_ui()];
  Decoded x;
  x.code = code;
  if (place == Table::unlisted) {
    mpfr_set_nan(x.value.x);
    return x;
  }
  const TableValue v =
      place == Table::minus_zero ? TableValue{0, t.least_digit, 0, true} : t.values[place];
  x.field_exponent = Exponent{v.exp} + f.frac_bits;
  mpfr_set_zero(x.value.x, v.negative ? -1 : 1);
  if (v.sig == 0) return x;
  x.value = {Real(64), v.exp};
  mpfr_set_z(x.value.x, mpz_class(v.sig).get_mpz_t(), MPFR_RNDZ);
  mpfr_setsign(x.value.x, x.value.x, v.negative, MPFR_RNDZ);
  x.value = normalised(std::move(x.value));
  return x;
}

Delivered listed_nan(const Format& f) {
  return {mpz_class(f.table->nan), f.table->has_nan ? Flags{} : invalid};
}

Delivered listed_infinity(const Format& f, bool negative) {
  const TableValue& end = negative ? f.table->least() : f.table->largest();
  return {mpz_class(end.code), past_the_end};
}

Delivered deliver_listed(const Target& to, const Cut& x) {
  const Table& t = *to.round.fmt.table;
  if (x.sig != 0 && leading(x) > Exponent{t.top} + 1)
    return listed_infinity(to.round.fmt, x.negative);
  const Exponent lsb = Exponent{t.least_digit} - to.round.rm.random_bits - 4;
  const Split s = x.sig == 0 ? Split{0, 0, 1} : split(x, lsb);
  const Point point{s.kept, x.negative && x.sig != 0, s.inexact()};
  const auto values = values_of(t);
  const auto above = std::partition_point(values.begin(), values.end(), [&](const TableValue& v) {
    return point.against(in_units(v, lsb)) >= 0;
  });
  if (above == values.begin()) return {mpz_class(t.least().code), past_the_end};
  const TableValue& low = *(above - 1);
  if (point.against(in_units(low, lsb)) == 0) return {mpz_class(low.code), Flags{}};
  if (above == values.end()) return {mpz_class(low.code), past_the_end};
  const TableValue &near = point.negative ? *above : low, &far = point.negative ? low : *above;
  return {mpz_class((goes_far(to, point, near, far, lsb) ? far : near).code), inexact};
}

mpfr_prec_t listed_digits(const Format& f) {
  return static_cast<mpfr_prec_t>(f.table->top - f.table->least_digit + 8);
}

}  // namespace widthwise::mpfr
