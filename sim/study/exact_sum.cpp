#include "widthwise/sim/exact_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../values/rational.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A signed number of any size: significand * 2^exponent.
struct Dyadic {
  Big significand;
  std::int64_t exponent = 0;
};

Dyadic dyadic(const Value& v) {
  Big x = big(v.significand);
  return {v.negative ? Big(-x) : x, v.exponent};
}

// Both over the lesser of their exponents.
void align(Dyadic& x, Dyadic& y) {
  Dyadic& high = x.exponent > y.exponent ? x : y;
  const std::int64_t low = std::min(x.exponent, y.exponent);
  const std::int64_t up = high.exponent - low;
  if (high.significand == 0) return void(high.exponent = low);
  if (up > 2 * max_register_bits)
    throw std::invalid_argument(
        fmt::format("exact sum: terms lie 2^{} apart, and at most 2^{} are "
                    "held exactly; take operands of a narrower range",
                    up, 2 * max_register_bits));
  high.significand <<= static_cast<std::size_t>(up);
  high.exponent = low;
}

// A magnitude as a double and a power of two, so that ratios of huge numbers stay finite.
struct Scaled {
  double mantissa;
  std::int64_t exponent;
};

Scaled scaled(const Dyadic& x) {
  const Big magnitude = abs(x.significand);
  const std::int64_t drop = std::max<std::int64_t>(0, length(magnitude) - 64);
  return {Big(magnitude >> static_cast<std::size_t>(drop)).convert_to<double>(), x.exponent + drop};
}

double ratio(const Scaled& x, const Scaled& y) {
  const std::int64_t most = 10000;  // past a double's range
  return std::ldexp(x.mantissa / y.mantissa,
                    static_cast<int>(std::clamp(x.exponent - y.exponent, -most, most)));
}

// The weight of the last place of f at x.
std::int64_t last_place(const Format& f, const Dyadic& x) {
  const std::int64_t bits = length(abs(x.significand));
  const std::int64_t e = bits == 0 ? f.emin() : x.exponent + bits - 1;
  return std::clamp(e, f.emin(), f.emax()) - f.frac_bits;
}

}  // namespace

struct ExactSum::Impl {
  Unit unit;
  Dyadic sum;
  bool nan = false, plus_infinity = false, minus_infinity = false;

  void add_special(Kind kind, bool negative) {
    nan |= kind == Kind::nan;
    if (kind == Kind::infinite) (negative ? minus_infinity : plus_infinity) = true;
  }
  void add_finite(Dyadic x) {
    align(sum, x);
    sum.significand += x.significand;
  }
  Kind kind() const {
    if (nan || (plus_infinity && minus_infinity)) return Kind::nan;
    return plus_infinity || minus_infinity ? Kind::infinite : Kind::finite;
  }
};

ExactSum::ExactSum(const Unit& unit) : impl_(new Impl{.unit = unit, .sum = {}}) {}
ExactSum::~ExactSum() = default;

void ExactSum::start(const void* c) {
  *impl_ = Impl{.unit = impl_->unit, .sum = {}};
  if (!c) return;
  const Value v = value_of(impl_->unit.c.fmt, c);
  impl_->add_special(v.kind, v.negative);
  if (v.kind == Kind::finite) impl_->add_finite(dyadic(v));
}

void ExactSum::add(const void* a, const void* b, const void* scale_a, const void* scale_b) {
  const Unit& u = impl_->unit;
  Dyadic product{1, 0};
  bool negative = false, zero = false, infinity = false, nan = false;
  const auto times = [&](const Format& f, const void* code) {
    const Value v = value_of(f, code);
    negative ^= v.negative;
    zero |= v.kind == Kind::zero;
    infinity |= v.kind == Kind::infinite;
    nan |= v.kind == Kind::nan;
    if (v.kind != Kind::finite) return;
    const Dyadic x = dyadic(v);
    product = {Big(product.significand * x.significand), product.exponent + x.exponent};
  };
  times(u.a.fmt, a), times(u.b.fmt, b);
  if (scale_a) times(u.scale->fmt, scale_a), times(u.scale->fmt, scale_b);
  if (nan || (zero && infinity)) return impl_->add_special(Kind::nan, false);
  if (infinity) return impl_->add_special(Kind::infinite, negative);
  if (!zero) impl_->add_finite(product);
}

Deviation ExactSum::deviation(const void* result) const {
  const Format& f = result_round(impl_->unit).fmt;
  const Value v = value_of(f, result);
  const Kind kind = impl_->kind(), got = v.kind == Kind::zero ? Kind::finite : v.kind;
  if (kind != Kind::finite || got != Kind::finite) {
    const bool same = kind == got && (kind == Kind::nan || v.negative == impl_->minus_infinity);
    return same ? Deviation{0, 0} : Deviation{infinite, infinite};
  }
  Dyadic computed = v.kind == Kind::zero ? Dyadic{} : dyadic(v), exact = impl_->sum;
  align(computed, exact);
  const Dyadic error{computed.significand - exact.significand, exact.exponent};
  if (error.significand == 0) return {0, 0};
  const double ulps = ratio(scaled(error), {1, last_place(f, exact)});
  return {ulps, exact.significand == 0 ? infinite : ratio(scaled(error), scaled(exact))};
}

namespace {

// Codes of a product, where they lie.
class Operands {
 public:
  Operands(const Unit& u, const MatrixProduct& p) : unit_(u), p_(p) {}

  const void* c(std::size_t i, std::size_t j) const { return at(p_.c, unit_.c.fmt, i, j); }
  void add_to(ExactSum& sum, std::size_t i, std::size_t j, std::size_t k) const {
    const std::size_t block = unit_.scale ? k / static_cast<std::size_t>(unit_.scale->block) : 0;
    const Format& scale = unit_.scale ? unit_.scale->fmt : unit_.a.fmt;
    sum.add(at(p_.a, unit_.a.fmt, i, k), at(p_.b, unit_.b.fmt, k, j),
            at(p_.scale_a, scale, i, block), at(p_.scale_b, scale, block, j));
  }

 private:
  static const void* at(const CodeMatrix& x, const Format& f, std::size_t i, std::size_t j) {
    if (!x.data) return nullptr;
    const std::ptrdiff_t element =
        static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column;
    return static_cast<const std::byte*>(x.data) + element * item_bytes(f.width());
  }

  const Unit& unit_;
  const MatrixProduct& p_;
};

}  // namespace

void deviations(const Unit& unit, const MatrixProduct& p, std::size_t first, std::size_t last,
                Deviation* result) {
  const Operands operands(unit, p);
  const auto bytes = static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width()));
  ExactSum sum(unit);
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = 0; j < p.n; ++j) {
      sum.start(operands.c(i, j));
      for (std::size_t k = 0; k < p.k; ++k) operands.add_to(sum, i, j, k);
      *result++ = sum.deviation(static_cast<const std::byte*>(p.result) + (i * p.n + j) * bytes);
    }
}

ErrorGrowth::ErrorGrowth(const Unit& unit, std::span<const std::size_t> lengths)
    : unit_(unit), lengths_(lengths.begin(), lengths.end()) {
  for (const std::size_t length : lengths_) units_.push_back(make_reference(unit, length));
}

void ErrorGrowth::run(const MatrixProduct& p, Deviation* result) const {
  const Operands operands(unit_, p);
  std::vector<std::byte> code(
      static_cast<std::size_t>(item_bytes(result_round(unit_).fmt.width())));
  MatrixProduct prefix = p;
  prefix.result = code.data();
  prefix.flags = nullptr;
  ExactSum sum(unit_);
  sum.start(operands.c(0, 0));
  std::size_t k = 0;
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    for (; k < lengths_[i]; ++k) operands.add_to(sum, 0, 0, k);
    prefix.k = lengths_[i];
    units_[i]->run(prefix, 0, 1);
    result[i] = sum.deviation(code.data());
  }
}

}  // namespace widthwise
