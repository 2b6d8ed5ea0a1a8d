#include "block_scale.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "to_odd.hpp"
#include "widthwise/significand.hpp"
#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::containers {
namespace {

constexpr std::uint64_t one = std::uint64_t{1} << 52, two = one << 1;  // significands of 53 digits
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Split {
  std::int64_t exponent;
  std::uint64_t significand;
};

// Of a positive number.
Split split(double x) {
  if (x < std::numeric_limits<double>::min()) {
    const auto [exponent, significand] = split(x * 0x1p64);
    return {exponent - 64, significand};
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return {static_cast<std::int64_t>(bits >> 52) - 1023, (bits & (one - 1)) | one};
}

double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double largest_number(const Format& f) {
  const auto code = find_code(f, NamedCode::max_finite);
  const Value v = value_of(f, code->data());
  return std::ldexp(static_cast<double>(v.significand.front()), static_cast<int>(v.exponent));
}

// What elements are held at below.
double least_number(const BlockFormat& f) {
  const Format& e = f.element;
  const double most = largest_number(e);
  if (e.is_table()) {
    double least = most;
    for (const double x : table_values(e)) least = x < least ? x : least;  // NaN is no number
    return least;
  }
  if (!e.is_signed()) return 0;
  const double step = std::ldexp(1.0, static_cast<int>(e.least_digit()));
  return f.full_range ? -most - step : -most;
}

// Digits behind the first of an element's largest numbers.
int fraction_digits(const Format& f) { return f.digits() - 1 - (f.is_fixed() && f.is_signed()); }

// The least significand s with 2 s^2 > g^2 k, found by halving: its square has 106 bits.
template <class Above>
std::uint64_t least(const Above& above) {
  std::uint64_t low = 0, high = two;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (above(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

struct Turns {
  std::uint64_t up = two, down = 0;
};

// `top`: the significand of the element's largest number.
Turns turns_of(ScaleRule rule, std::uint64_t top, int fraction) {
  switch (rule) {
    case ScaleRule::ceil: return {.up = one + 1};
    case ScaleRule::rceil: return {.up = top + 1};
    case ScaleRule::even: return {.up = fraction < 52 ? two - (one >> fraction >> 1) : two};
    case ScaleRule::midmax: return {.up = (top + two) / 2 + 1};
    case ScaleRule::nearest:
      return {
          .up = least([&](std::uint64_t s) { return uint128{s} * s > 2 * uint128{top} * top; }),
          .down = least([&](std::uint64_t s) { return 2 * uint128{s} * s > uint128{top} * top; })};
    default: return {};
  }
}

float power_above(float s) {
  int exponent;
  const float fraction = std::frexp(s, &exponent);
  return std::ldexp(1.0F, exponent - (fraction == 0.5F));
}

double small_value(std::uint32_t code) {
  const std::int64_t field = code >> 3;
  const double digits = static_cast<double>((code & 7) + (field ? 8 : 0));
  return code >= 0x7f ? nan : digits * power_of_two((field ? field : 1) - 10);
}

// x / y, rounded to odd.
double quotient(double x, double y) {
  const double q = x / y;
  return to_odd(q, std::fma(-q, y, x));
}

}  // namespace

BlockScaler::BlockScaler(const BlockFormat& f, const BlockHow& how)
    : kind_(f.power_of_two()                  ? Kind::power
            : f.scale == binary32             ? Kind::wide
            : how.steps == BlockSteps::single ? Kind::stepwise
                                              : Kind::small_float),
      flush_(f.flush),
      pow2_(f.rule == ScaleRule::pow2),
      scale_bytes_(item_bytes(f.scale.width())),
      top_(f.power_of_two() ? f.scale.bias : 0),
      max_(largest_number(f.element)),
      min_(least_number(f)),
      tensor_scale_(how.tensor_scale) {
  const auto [exponent, significand] = split(max_);
  emax_ = exponent;
  const Turns at = turns_of(f.rule, significand, fraction_digits(f.element));
  up_ = at.up;
  down_ = at.down;
  if (!f.takes_tensor_scale()) return;
  Format saturating = e4m3fn;  // whose codes above zero are the same
  saturating.overflow = Overflow::max;
  small_.emplace(Operation::convert, saturating, Env{}, std::span(&binary32, 1), false, 1 << 12);
  for (std::uint32_t code = 0; code < value_.size(); ++code) {
    value_[code] = small_value(code) * static_cast<double>(tensor_scale_);
    divisor_[code] = code == 0 ? 1 : value_[code];
    reciprocal_[code] = static_cast<float>(1 / divisor_[code]);
  }
}

inline BlockScale BlockScaler::of_exponent(std::int64_t exponent) const {
  return {static_cast<std::uint32_t>(exponent + top_), power_of_two(-exponent)};
}

inline BlockScale BlockScaler::power(double amax) const {
  constexpr double least_normal = 0x1p-126;
  if (!(amax <= std::numeric_limits<double>::max())) return {nan(), 0};
  if (amax == 0) return of_exponent(-top_);
  if (flush_ && amax < least_normal) return {0, 0};
  const auto [exponent, significand] = split(amax);
  const std::int64_t e = exponent - emax_ + (significand >= up_) - (significand < down_);
  return of_exponent(std::clamp(e, -top_, top_));
}

inline BlockScale BlockScaler::wide(double amax) const {
  auto s = static_cast<float>(quotient(amax, max_));
  if (s == 0) s = 1;
  if (pow2_) s = power_above(s);
  return {std::bit_cast<std::uint32_t>(s), static_cast<double>(s)};
}

// Codes of E4M3 for numbers that are rounded to odd, or to binary32 as torchao has them.
void BlockScaler::small_codes(const float* wanted, std::size_t count, std::uint8_t* codes) const {
  const void* operand = wanted;
  small_->run({&operand, 1}, count, codes, nullptr);
}

// b = amax / (max S), at least the least code: no element of such a block is divided by 0.
void BlockScaler::find_small(std::span<const double> amax, BlockScale* found) const {
  const double by = max_ * static_cast<double>(tensor_scale_);
  std::vector<double> exact(amax.size());
  std::vector<float> wanted(amax.size());
  divide_to_odd(amax.data(), &by, amax.size(), amax.size(), exact.data());
  narrow_to_odd(exact.data(), amax.size(), wanted.data());
  std::vector<std::uint8_t> codes(amax.size());
  small_codes(wanted.data(), amax.size(), codes.data());
  for (const std::uint8_t code : codes) {
    const bool zeros = *amax.data() == 0;
    amax = amax.subspan(1);
    const std::uint32_t b = zeros ? 0 : std::max<std::uint32_t>(code, 1);
    *found++ = {b, zeros ? 1 : value_[b]};
  }
}

// torchao's steps: each in binary32, block scales of 2^-6 and more, and the reciprocal multiplied.
void BlockScaler::find_stepwise(std::span<const double> amax, BlockScale* found) const {
  std::vector<float> wanted(amax.size());
  std::ranges::transform(amax, wanted.begin(), [&](double x) {
    const float t = static_cast<float>(x) / static_cast<float>(max_) / tensor_scale_;
    return std::clamp(t, 0x1p-6F, 448.0F);
  });
  std::vector<std::uint8_t> codes(amax.size());
  small_codes(wanted.data(), amax.size(), codes.data());
  for (const std::uint8_t code : codes) {
    const auto b = static_cast<float>(small_value(code));
    *found++ = {code, static_cast<double>(1.0F / tensor_scale_ / b)};
  }
}

// Divisors of up to 28 digits, whose reciprocals are normal floats, or divisions of floats.
bool BlockScaler::has_few_steps() const {
  constexpr int short_digits = 4;
  const auto digits = 53 - std::countr_zero(split(max_).significand);
  if (kind_ == Kind::small_float)
    return digits <= short_digits && max_ >= 0x1p-20 && max_ <= 0x1p20 &&
           tensor_scale_ >= 0x1p-100F && tensor_scale_ <= 0x1p100F;
  return kind_ == Kind::wide && digits <= 24;
}

bool BlockScaler::small_divisors(float* most, std::size_t count, std::uint8_t* codes) const {
  constexpr std::uint32_t beyond = (1U << (23 - 4)) - 1;  // of E4M3's borders
  const double by = max_ * static_cast<double>(tensor_scale_);
  const auto reciprocal = static_cast<float>(1 / by);
  float wanted[most_groups];
  const std::size_t whole = (count + most_lanes - 1) / most_lanes * most_lanes;
  std::fill(most + count, most + whole, 0.0F);
  divide_counted_to_odd(most, {&by, &reciprocal}, whole, whole, beyond,
                        std::numeric_limits<float>::infinity(), wanted);
  const bool finite = hold_above(most, count, 0x1p-9F, wanted);
  small_codes(wanted, count, codes);
  return finite;
}

// The quotient of floats is rounded once by the machine.
bool BlockScaler::wide_divisors(const float* most, std::size_t count, float* scales) const {
  const auto max = static_cast<float>(max_);
  bool finite = true;
  for (std::size_t g = 0; g < count; ++g) {
    finite &= most[g] <= std::numeric_limits<float>::max();
    const float s = most[g] / max;
    scales[g] = s == 0 ? 1 : s;
  }
  if (pow2_) std::transform(scales, scales + count, scales, power_above);
  return finite;
}

void BlockScaler::find(std::span<const double> amax, BlockScale* found) const {
  switch (kind_) {
    case Kind::small_float: return find_small(amax, found);
    case Kind::stepwise: return find_stepwise(amax, found);
    case Kind::power:
      for (const double x : amax) *found++ = power(x);
      return;
    case Kind::wide:
      for (const double x : amax) *found++ = wide(x);
      return;
  }
}

bool BlockScaler::raise(BlockScale& s) const {
  if (static_cast<std::int64_t>(s.code) >= 2 * top_) return false;
  s = of_exponent(static_cast<std::int64_t>(s.code) + 1 - top_);
  return true;
}

// A significand of 24 digits is one of 53 whose others are 0.
PowerTurns BlockScaler::turns() const {
  constexpr int others = 53 - 24;
  const auto short_of = [](std::uint64_t at) {
    return static_cast<std::uint32_t>((at + (std::uint64_t{1} << others) - 1) >> others);
  };
  return {static_cast<std::int32_t>(emax_), static_cast<std::int32_t>(top_), short_of(up_),
          short_of(down_)};
}

double BlockScaler::value(std::uint32_t code) const {
  if (top_ > 0) {
    const bool none = code == static_cast<std::uint32_t>(2 * top_ + 1);
    return none ? containers::nan : power_of_two(static_cast<std::int64_t>(code) - top_);
  }
  if (scale_bytes_ == 4) return static_cast<double>(std::bit_cast<float>(code));
  return value_[code & 0x7f];
}

}  // namespace widthwise::containers
