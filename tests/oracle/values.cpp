#include "values.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace oracle {
namespace {

using widthwise::InfCodes;
using widthwise::NanCodes;

struct Fields {
  bool negative;
  std::uint64_t exponent, fraction, magnitude;
  std::uint64_t all_exponent, all_fraction, all_magnitude;
};

std::uint64_t ones(int n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

Fields split(const Format& f, std::uint64_t code) {
  const int magnitude_bits = f.exp_bits + f.frac_bits;
  Fields x{};
  x.all_fraction = ones(f.frac_bits);
  x.all_exponent = ones(f.exp_bits);
  x.all_magnitude = ones(magnitude_bits);
  x.fraction = code & x.all_fraction;
  x.exponent = code >> f.frac_bits & x.all_exponent;
  x.magnitude = code & x.all_magnitude;
  x.negative = f.is_signed() && (code >> magnitude_bits & 1) != 0;
  return x;
}

bool is_nan(const Format& f, const Fields& x) {
  switch (f.nan) {
    case NanCodes::ieee:
      return x.exponent == x.all_exponent && (x.fraction != 0 || f.inf == InfCodes::none);
    case NanCodes::all_ones: return x.magnitude == x.all_magnitude;
    case NanCodes::sign_alone: return x.negative && x.magnitude == 0;
    case NanCodes::none:
    case NanCodes::listed: return false;  // of tables, which are not walked here
  }
  throw std::logic_error("no such NanCodes");
}

bool is_infinite(const Format& f, const Fields& x) {
  switch (f.inf) {
    case InfCodes::none: return false;
    case InfCodes::ieee: return x.exponent == x.all_exponent && x.fraction == 0;
    case InfCodes::top: break;
  }
  // The highest code of a sign that is not NaN: the next one up is NaN, or there is none.
  if (is_nan(f, x)) return false;
  if (x.magnitude == x.all_magnitude) return true;
  return is_nan(f, split(f, x.magnitude + 1));
}

// P3109 alone lets a tie between two numbers of one digit go to the even code (R4).
bool ties_by_code(const Format& f) {
  const NanCodes nan = f.is_signed() ? NanCodes::sign_alone : NanCodes::all_ones;
  return f.frac_bits == 0 && f.bias == std::int64_t{1} << (f.exp_bits - 1) && f.nan == nan &&
         f.inf != InfCodes::ieee && f.subnormals && f.zero;
}

}  // namespace

Number decode(const Format& f, std::uint64_t code) {
  const Fields x = split(f, code);
  Number n;
  n.code = code;
  n.negative = x.negative;
  if (is_nan(f, x)) {
    n.kind = Kind::nan;
    const bool top_fraction_bit = f.frac_bits > 0 && (x.fraction >> (f.frac_bits - 1) & 1) != 0;
    n.signalling = f.nan == NanCodes::ieee && f.frac_bits > 0 && !top_fraction_bit;
    return n;
  }
  if (is_infinite(f, x)) {
    n.kind = Kind::infinite;
    return n;
  }
  if (x.magnitude == 0 && f.zero) return n;
  n.kind = Kind::finite;
  if (x.exponent == 0 && f.subnormals && f.zero) {
    n.subnormal = true;
    n.sig = x.fraction;
    n.exp = 1 - f.bias - f.frac_bits;
  } else {
    n.sig = (std::uint64_t{1} << f.frac_bits) + x.fraction;
    n.exp = static_cast<std::int64_t>(x.exponent) - f.bias - f.frac_bits;
  }
  return n;
}

Values::Values(const Format& f) : format_(f) {
  const int width = f.exp_bits + f.frac_bits + (f.is_signed() ? 1 : 0);
  if (width > 16) throw std::invalid_argument("values(format): more than 16 bits to list");
  sign_ = std::uint64_t{1} << (width - 1);
  for (std::uint64_t code = 0; code < std::uint64_t{1} << width; ++code)
    numbers_.push_back(decode(f, code));
  sort_points();
  find_specials();
}

void Values::sort_points() {
  const bool code_parity = ties_by_code(format_);
  for (const Number& n : numbers_) {
    if (n.negative || (n.kind != Kind::zero && n.kind != Kind::finite)) continue;
    const bool odd = code_parity ? n.code % 2 == 1 : n.sig % 2 == 1;
    points_.push_back({{n.sig, n.exp}, n.code, odd, n.subnormal});
  }
  std::sort(points_.begin(), points_.end(), [](const Point& x, const Point& y) {
    if (x.value.sig == 0) return y.value.sig != 0;
    return compare(Exact{.num = Big(x.value.sig), .exp = x.value.exp}, y.value) < 0;
  });
  const auto normal = std::find_if(points_.begin(), points_.end(),
                                   [](const Point& p) { return p.value.sig != 0 && !p.subnormal; });
  least_normal_ = normal != points_.end()  // e1m3 has subnormals alone
                      ? normal->value
                      : Dyadic{Wide{1} << format_.frac_bits, 1 - format_.bias - format_.frac_bits};
}

void Values::find_specials() {
  for (const Number& n : numbers_) {
    if (n.kind == Kind::infinite && !n.negative) {
      has_infinity_ = true;
      infinity_ = n.code;
    }
    // Canonical: the first quiet one, positive where there is a choice. All-ones NaNs have no
    // choice.
    if (n.kind == Kind::nan && !n.signalling && !has_nan_) {
      has_nan_ = true;
      nan_ = n.code;
    }
  }
}

Gap Values::gap(std::size_t i) const {
  const Dyadic lo = points_[i].value;
  const bool odd = points_[i].odd;
  if (lo.sig == 0 && i + 1 < points_.size())
    return {0, points_[i + 1].value.sig, points_[i + 1].value.exp, odd};
  return {lo.sig, lo.sig + 1, lo.exp, odd};
}

// 1.00…0 is preceded by 1.11…1 half as large; 1.00…01 by 1.00…0. A lone digit is odd.
Gap Values::gap_under_normal() const {
  const Dyadic least = least_normal_;
  const Wide hidden = Wide{1} << format_.frac_bits;
  if (least.sig != hidden) return {least.sig - 1, least.sig, least.exp, (least.sig - 1) % 2 == 1};
  return {2 * least.sig - 1, 2 * least.sig, least.exp - 1, true};
}

const Values& values(const Format& f) {
  static std::vector<std::unique_ptr<Values>> tables;
  for (const auto& t : tables)
    if (t->format() == f) return *t;
  return *tables.emplace_back(std::make_unique<Values>(f));
}

}  // namespace oracle
