#include "block_scale.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "widthwise/significand.hpp"
#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::containers {
namespace {

constexpr std::uint64_t one = hidden_one, two = one << 1;  // significands of 53 digits

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

ScaleSteps::Kind kind_of(const BlockFormat& f, const BlockHow& how) {
  using enum ScaleSteps::Kind;
  if (f.power_of_two()) return power;
  if (f.scale == binary32) return wide;
  return how.steps == BlockSteps::single ? stepwise : small_float;
}

}  // namespace

BlockScaler::BlockScaler(const BlockFormat& f, const BlockHow& how)
    : steps_{.kind = kind_of(f, how),
             .flush = f.flush,
             .pow2 = f.rule == ScaleRule::pow2,
             .bytes = item_bytes(f.scale.width()),
             .top = f.power_of_two() ? f.scale.bias : 0,
             .max = largest_number(f.element),
             .tensor_scale = how.tensor_scale},
      min_(least_number(f)) {
  const auto [exponent, significand] = split(steps_.max);
  const Turns at = turns_of(f.rule, significand, fraction_digits(f.element));
  steps_.emax = exponent;
  steps_.up = at.up;
  steps_.down = at.down;
  if (!f.takes_tensor_scale()) return;
  small_.emplace(Operation::convert, small_scales, Env{}, std::span(&binary32, 1), false, 1 << 12);
  for (std::uint32_t code = 0; code < divisor_.size(); ++code) {
    divisor_[code] = code == 0 ? 1 : steps_.value(code);
    reciprocal_[code] = static_cast<float>(
        steps_.kind == ScaleSteps::Kind::stepwise ? steps_.small(code, 1).by : 1 / divisor_[code]);
  }
}

// Codes of E4M3 for numbers that are rounded to odd, or to binary32 as torchao has them.
void BlockScaler::small_codes(const float* wanted, std::size_t count, std::uint8_t* codes) const {
  const void* operand = wanted;
  small_->run({&operand, 1}, count, codes, nullptr);
}

void BlockScaler::find_small(std::span<const double> amax, BlockScale* found) const {
  std::vector<float> wanted(amax.size());
  if (steps_.kind == ScaleSteps::Kind::stepwise) {
    std::ranges::transform(amax, wanted.begin(), [&](double x) { return steps_.stepwise(x); });
  } else {
    const double by = steps_.divisor();
    std::vector<double> exact(amax.size());
    divide_to_odd(amax.data(), &by, amax.size(), amax.size(), exact.data());
    narrow_to_odd(exact.data(), amax.size(), wanted.data());
  }
  std::vector<std::uint8_t> codes(amax.size());
  small_codes(wanted.data(), amax.size(), codes.data());
  std::ranges::transform(codes, amax, found,
                         [&](std::uint8_t code, double x) { return steps_.small(code, x); });
}

// Divisors of up to 28 digits, whose reciprocals are normal floats, or divisions of floats.
bool BlockScaler::has_few_steps() const {
  constexpr int short_digits = 4;
  const auto digits = 53 - std::countr_zero(split(steps_.max).significand);
  const bool near_one = steps_.tensor_scale >= 0x1p-100F && steps_.tensor_scale <= 0x1p100F;
  if (steps_.kind == ScaleSteps::Kind::stepwise) return near_one;
  if (steps_.kind == ScaleSteps::Kind::small_float)
    return digits <= short_digits && steps_.max >= 0x1p-20 && steps_.max <= 0x1p20 && near_one;
  return steps_.kind == ScaleSteps::Kind::wide && digits <= 24;
}

bool BlockScaler::small_divisors(float* most, std::size_t count, std::uint8_t* codes) const {
  // E4M3's, the least of which is 2^-10.
  constexpr Borders borders{.beyond = (1U << (23 - 4)) - 1, .least = 127 - 10};
  constexpr float largest = 448;
  constexpr std::uint8_t only = 0;
  const double by = steps_.divisor();
  const auto reciprocal = static_cast<float>(1 / by);
  float wanted[most_groups];
  const std::size_t whole = (count + most_lanes - 1) / most_lanes * most_lanes;
  std::fill(most + count, most + whole, 0.0F);
  divide_counted_to_odd(most, {&by, &reciprocal, &only}, whole, whole, borders, largest, wanted);
  const bool finite = hold_above(most, count, 0x1p-9F, wanted);
  small_codes(wanted, count, codes);
  return finite;
}

bool BlockScaler::single_factors(const float* most, std::size_t count, std::uint8_t* codes,
                                 float* by) const {
  const TwoDivisors steps{static_cast<float>(steps_.max), steps_.tensor_scale,
                          ScaleSteps::stepwise_least, ScaleSteps::stepwise_most};
  const bool finite = divide_twice(most, count, steps, by);
  small_codes(by, count, codes);
  std::transform(codes, codes + count, by, [&](std::uint8_t code) { return reciprocal_[code]; });
  return finite;
}

// The quotient of floats is rounded once by the machine.
bool BlockScaler::wide_divisors(const float* most, std::size_t count, float* scales) const {
  const auto max = static_cast<float>(steps_.max);
  bool finite = true;
  for (std::size_t g = 0; g < count; ++g) {
    finite &= most[g] <= std::numeric_limits<float>::max();
    const float s = most[g] / max;
    scales[g] = s == 0 ? 1 : s;
  }
  if (steps_.pow2) std::transform(scales, scales + count, scales, power_above<float>);
  return finite;
}

void BlockScaler::find(std::span<const double> amax, BlockScale* found) const {
  switch (steps_.kind) {
    case ScaleSteps::Kind::small_float:
    case ScaleSteps::Kind::stepwise: return find_small(amax, found);
    case ScaleSteps::Kind::power:
      for (const double x : amax) *found++ = steps_.power(x);
      return;
    case ScaleSteps::Kind::wide:
      for (const double x : amax) *found++ = steps_.wide(x);
      return;
  }
}

// A significand of 24 digits is one of 53 whose others are 0.
PowerTurns BlockScaler::turns() const {
  constexpr int others = 53 - 24;
  const auto short_of = [](std::uint64_t at) {
    return static_cast<std::uint32_t>((at + (std::uint64_t{1} << others) - 1) >> others);
  };
  return {static_cast<std::int32_t>(steps_.emax), static_cast<std::int32_t>(steps_.top),
          short_of(steps_.up), short_of(steps_.down)};
}

}  // namespace widthwise::containers
