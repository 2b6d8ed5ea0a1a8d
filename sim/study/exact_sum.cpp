#include "widthwise/sim/exact_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "../values/rational.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/system/tapered.hpp"
#include "widthwise/unpack.hpp"

namespace widthwise {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 no_number = std::numeric_limits<double>::quiet_NaN();

// A signed number of any size: significand * 2^exponent.
struct Dyadic {
  Big significand;
  std::int64_t exponent = 0;
};

Dyadic magnitude_of(const Value& v) { return {big(v.significand), v.exponent}; }

// Both over the lesser of their exponents.
void align(Dyadic& x, Dyadic& y) {
  if (x.significand == 0) return void(x.exponent = y.exponent);
  if (y.significand == 0) return void(y.exponent = x.exponent);
  Dyadic& high = x.exponent > y.exponent ? x : y;
  const std::int64_t low = std::min(x.exponent, y.exponent);
  // Exponents of 62-bit fields lie up to 2^63 apart, and windows begin a little lower.
  const auto up = static_cast<std::uint64_t>(high.exponent) - static_cast<std::uint64_t>(low);
  if (up > 2 * static_cast<std::uint64_t>(max_register_bits))
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

double times_power(double x, std::int64_t exponent) {
  const std::int64_t most = 10000;  // past a double's range
  return std::ldexp(x, static_cast<int>(std::clamp(exponent, -most, most)));
}

double ratio(const Scaled& x, const Scaled& y) {
  return times_power(x.mantissa / y.mantissa, x.exponent - y.exponent);
}

double as_double(const Dyadic& x) {
  const Scaled magnitude = scaled(x);
  return times_power(x.significand < 0 ? -magnitude.mantissa : magnitude.mantissa,
                     magnitude.exponent);
}

// |x / y|; infinite where y alone is 0, and 0 where both are.
double relative(const Dyadic& x, const Dyadic& y) {
  if (x.significand == 0) return 0;
  return y.significand == 0 ? infinite : ratio(scaled(x), scaled(y));
}

Dyadic plus(Dyadic x, Dyadic y) {
  align(x, y);
  return {Big(x.significand + y.significand), x.exponent};
}

Dyadic minus(const Dyadic& x, const Dyadic& y) {
  return plus(x, {Big(-y.significand), y.exponent});
}

// The weight of the last place of f, a float or fixed point, at x.
Dyadic weight_of_last(const Format& f, const Dyadic& x) {
  const std::int64_t bits = length(abs(x.significand));
  const std::int64_t e = bits == 0 ? f.emin() : x.exponent + bits - 1;
  return {1, std::clamp(e, f.emin(), f.emax()) - f.frac_bits};
}

Dyadic number_of(const Format& f, std::uint64_t code) { return magnitude_of(value_of(f, &code)); }

// The distance of the posits or takums on either side of |x|, whose digits hang on its exponent.
Dyadic tapered_gap(const Format& f, const Dyadic& x) {
  const Big magnitude = abs(x.significand);
  const std::int64_t drop = length(magnitude) - 64;
  const Big leading = drop < 0 ? Big(magnitude << static_cast<std::size_t>(-drop))
                               : Big(magnitude >> static_cast<std::size_t>(drop));
  const auto n = finite<std::uint64_t>({}, x.exponent + drop, leading.convert_to<std::uint64_t>());
  const std::uint64_t most = Layout<std::uint64_t>(f).magnitude_mask;
  const auto pattern = f.is_posit() ? posit_pattern(f, n) : takum_pattern(f, n);
  const std::uint64_t below = n.zero ? 0 : std::min(pattern.kept, most - 1);
  return minus(number_of(f, below + 1), below == 0 ? Dyadic{} : number_of(f, below));
}

// The distance of a table's values on either side of x; past an end that of the last two.
Dyadic gap_in_table(const Table& t, const Dyadic& x) {
  const auto signed_value = [](const TableValue& v) {
    return Dyadic{v.negative ? Big(-Big(v.sig)) : Big(v.sig), v.exp};
  };
  const auto reached = [&](const TableValue& v) {
    return minus(signed_value(v), x).significand <= 0;
  };
  const TableValue* above = std::partition_point(t.values + 1, t.values + t.count - 1, reached);
  return minus(signed_value(*above), signed_value(above[-1]));
}

// What an error at x is counted in.
Dyadic last_place(const Format& f, const Dyadic& x) {
  if (f.is_table()) return gap_in_table(*f.table, x);
  return f.is_tapered() ? tapered_gap(f, x) : weight_of_last(f, x);
}

// How far apart two numbers are, by what is exact.
Difference measured(const Dyadic& error, const Format& f, const Dyadic& exact) {
  return {relative(error, last_place(f, exact)), relative(error, exact), as_double(error)};
}

Difference endless(double error) { return {infinite, infinite, error}; }

// Codes whose significands 64 bits hold.
class Reader {
 public:
  static bool holds(const Format& f) { return f.magnitude_bits() < 64; }
  explicit Reader(const Format& f) : layout_(f), bytes_(item_bytes(f.width())) {}

  Number<std::uint64_t> operator()(const void* code) const {
    return unpack(layout_, load_code<std::uint64_t>(static_cast<const std::byte*>(code), bytes_));
  }

 private:
  Layout<std::uint64_t> layout_;
  int bytes_;
};

// The product of some numbers, signs and kinds included.
template <class Significand>
struct ExactProduct {
  Significand significand = 1;
  std::int64_t exponent = 0;
  bool negative = false, zero = false, infinite = false, nan = false;

  void times(const Value& v) {
    take_kind(v.negative, v.kind == Kind::zero, v.kind == Kind::infinite, v.kind == Kind::nan);
    if (v.kind == Kind::finite) take_value(big(v.significand), v.exponent);
  }
  void times(const Number<std::uint64_t>& x) {
    take_kind(x.negative, x.zero, x.infinite, x.nan);
    if (!special(x)) take_value(x.sig, x.exp);
  }

 private:
  void take_kind(bool minus, bool is_zero, bool is_infinite, bool is_nan) {
    negative ^= minus, zero |= is_zero, infinite |= is_infinite, nan |= is_nan;
  }
  void take_value(const Significand& factor, std::int64_t weight) {
    significand = Significand(significand * factor);
    exponent += weight;
  }
};

// Magnitudes that lie near each other, added before they meet a number of any size.
class Window {
 public:
  // Whether x 2^exponent has been added; x has at most `most` bits.
  bool add(uint128 x, std::int64_t exponent) {
    if (exponent < exponent_ || exponent > exponent_ + most - bit_length(x) || sum_ >> most)
      return false;
    sum_ += x << static_cast<int>(exponent - exponent_);
    return true;
  }
  // Begins anew about x, with as much room above it as below.
  void begin(uint128 x, std::int64_t exponent) {
    const int room = (most - bit_length(x)) / 2;
    sum_ = x << room;
    exponent_ = exponent - room;
  }
  Dyadic take() {
    Dyadic held{Big(static_cast<std::uint64_t>(sum_ >> 64)), exponent_};
    held.significand = (held.significand << 64) + static_cast<std::uint64_t>(sum_);
    sum_ = 0;
    return held;
  }

  static constexpr int most = 127;

 private:
  uint128 sum_ = 0;  // below 2^most as often as add is called
  std::int64_t exponent_ = 0;
};

}  // namespace

struct ExactSum::Impl {
  explicit Impl(const Unit& u) { read(u); }
  void read(const Unit& u) {
    unit = u;
    readers.reset();
    const Format& s = u.scale ? u.scale->fmt : u.a.fmt;
    const int scales = u.scale ? 2 * s.precision() : 0;
    if (Reader::holds(u.a.fmt) && Reader::holds(u.b.fmt) && Reader::holds(s) &&
        u.a.fmt.precision() + u.b.fmt.precision() + scales <= Window::most)
      readers.emplace(Readers{Reader(u.a.fmt), Reader(u.b.fmt), Reader(s)});
  }

  struct Readers {
    Reader a, b, scale;
  };
  Unit unit;
  std::optional<Readers> readers;  // where products take at most 127 bits
  Dyadic sums[2] = {};             // of the terms above zero, and the magnitudes of those below
  Window windows[2] = {};          // what is to be added to them
  bool nan = false, plus_infinity = false, minus_infinity = false;

  void restart() {
    for (const bool negative : {false, true}) sums[negative] = {}, windows[negative] = {};
    nan = plus_infinity = minus_infinity = false;
  }
  template <class Significand>
  void add(const ExactProduct<Significand>& x) {
    if (x.nan || (x.zero && x.infinite)) return add_special(Kind::nan, false);
    if (x.infinite) return add_special(Kind::infinite, x.negative);
    if (!x.zero) add_finite(x.significand, x.exponent, x.negative);
  }
  void add_special(Kind kind, bool negative) {
    nan |= kind == Kind::nan;
    if (kind == Kind::infinite) (negative ? minus_infinity : plus_infinity) = true;
  }
  void add_finite(const uint128& significand, std::int64_t exponent, bool negative) {
    if (windows[negative].add(significand, exponent)) return;
    settle(negative);
    windows[negative].begin(significand, exponent);
  }
  void add_finite(const Big& significand, std::int64_t exponent, bool negative) {
    Dyadic x{significand, exponent};
    align(sums[negative], x);
    sums[negative].significand += x.significand;
  }
  void settle(bool negative) {
    Dyadic held = windows[negative].take();
    add_finite(held.significand, held.exponent, negative);
  }
  Kind kind() const {
    if (nan || (plus_infinity && minus_infinity)) return Kind::nan;
    return plus_infinity || minus_infinity ? Kind::infinite : Kind::finite;
  }
  Dyadic total() {
    for (const bool negative : {false, true}) settle(negative);
    return widthwise::minus(sums[false], sums[true]);
  }
  // As a double has it, where it is infinite or NaN.
  double without_number() const {
    return kind() == Kind::nan ? no_number : minus_infinity ? -infinite : infinite;
  }
};

ExactSum::ExactSum(const Unit& unit) : impl_(new Impl(unit)) {}
ExactSum::ExactSum(ExactSum&&) noexcept = default;
ExactSum::~ExactSum() = default;

void ExactSum::read(const Unit& unit) { impl_->read(unit); }

void ExactSum::start(const void* c) {
  impl_->restart();
  if (!c) return;
  ExactProduct<Big> addend;
  addend.times(value_of(impl_->unit.c.fmt, c));
  impl_->add(addend);
}

void ExactSum::add(const void* a, const void* b, const void* scale_a, const void* scale_b) {
  const auto sum_up = [&](auto product, const auto& read_a, const auto& read_b,
                          const auto& read_scale) {
    product.times(read_a(a)), product.times(read_b(b));
    if (scale_a) product.times(read_scale(scale_a)), product.times(read_scale(scale_b));
    impl_->add(product);
  };
  if (const auto& quick = impl_->readers)
    return sum_up(ExactProduct<uint128>(), quick->a, quick->b, quick->scale);
  const auto reader = [](const Format& f) {
    return [&f](const void* code) { return value_of(f, code); };
  };
  const Unit& u = impl_->unit;
  sum_up(ExactProduct<Big>(), reader(u.a.fmt), reader(u.b.fmt),
         reader(u.scale ? u.scale->fmt : u.a.fmt));
}

Difference ExactSum::minus(const ExactSum& other, const Format& f) const {
  const bool here = impl_->kind() == Kind::finite, there = other.impl_->kind() == Kind::finite;
  if (here && there) {
    const Dyadic exact = other.impl_->total();
    return measured(widthwise::minus(impl_->total(), exact), f, exact);
  }
  const double x = here ? 0 : impl_->without_number();
  const double y = there ? 0 : other.impl_->without_number();
  return x == y || (std::isnan(x) && std::isnan(y)) ? Difference{} : endless(x - y);
}

Difference ExactSum::error(const Format& f, const void* result, const ExactSum& measure) const {
  const Value v = value_of(f, result);
  if (impl_->kind() != Kind::finite) {
    const bool same =
        impl_->kind() == v.kind && (v.kind == Kind::nan || v.negative == impl_->minus_infinity);
    return same ? Difference{} : endless(no_number);
  }
  if (v.kind == Kind::nan) return endless(no_number);
  if (v.kind == Kind::infinite) return endless(v.negative ? -infinite : infinite);
  Dyadic computed = v.kind == Kind::zero ? Dyadic{} : magnitude_of(v);
  if (v.negative) computed.significand = -computed.significand;
  const Dyadic error = widthwise::minus(computed, impl_->total());
  if (measure.impl_->kind() == Kind::finite) return measured(error, f, measure.impl_->total());
  return error.significand == 0 ? Difference{} : endless(as_double(error));
}

Deviation ExactSum::deviation(const Format& f, const void* result) const {
  const Difference found = error(f, result, *this);
  if (impl_->kind() != Kind::finite) return {found, impl_->without_number(), infinite, no_number};
  const Dyadic exact = impl_->total(), magnitude = plus(impl_->sums[false], impl_->sums[true]);
  return {found, as_double(exact), as_double(magnitude), relative(magnitude, exact)};
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
  const Format& f = result_round(unit).fmt;
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  ExactSum sum(unit);
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = 0; j < p.n; ++j) {
      sum.start(operands.c(i, j));
      for (std::size_t k = 0; k < p.k; ++k) operands.add_to(sum, i, j, k);
      *result++ =
          sum.deviation(f, static_cast<const std::byte*>(p.result) + p.output(i, j) * bytes);
    }
}

void add_products(ExactSum& sum, const Unit& unit, const MatrixProduct& p, std::size_t first,
                  std::size_t last) {
  const Operands operands(unit, p);
  for (std::size_t k = first; k < last; ++k) operands.add_to(sum, 0, 0, k);
}

}  // namespace widthwise
