#include "rational.hpp"

#include <algorithm>

#include "../elementwise/apply.hpp"
#include "widthwise/round.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/tables.hpp"

namespace widthwise {
namespace {

// Past every format's range on either side, and safe to add a bias to.
constexpr std::int64_t far = max_exponent_magnitude / 2 + (1 << 20);

template <class U>
U carried(const Big& x) {
  std::vector<std::uint64_t> limbs;
  export_bits(x, std::back_inserter(limbs), 64, false);
  limbs.resize(digits<U> <= 64 ? 1 : digits<U> / 64);
  return load_code<U>(reinterpret_cast<const std::byte*>(limbs.data()),
                      8 * static_cast<int>(limbs.size()));
}

// The leading digits of a quotient, the rest jammed into the last. Digits beyond those are not
// worked out: of two long numbers they would cost the product of their lengths.
template <class U>
Number<U> leading_digits(const Rational& x) {
  const std::int64_t wanted = digits<U> + 1;
  const std::int64_t up = wanted + length(x.denominator) - length(x.numerator);
  const auto raised = [](const Big& n, std::int64_t by) {
    return by > 0 ? Big(n << static_cast<std::size_t>(by)) : n;
  };
  Big rest, quotient;
  divide_qr(raised(x.numerator, up), raised(x.denominator, -up), quotient, rest);
  const std::int64_t drop = length(quotient) - digits<U>;
  const Big kept = quotient >> static_cast<std::size_t>(drop);
  const bool lost = rest != 0 || Big(kept << static_cast<std::size_t>(drop)) != quotient;

  Number<U> z{};
  z.negative = x.negative;
  z.sig = carried<U>(kept) | U(lost ? 1 : 0);
  std::int64_t exp = drop - up;
  if (__builtin_add_overflow(exp, x.exponent, &exp)) exp = x.exponent < 0 ? -far : far;
  z.exp = std::clamp(exp, -far, far);
  return z;
}

}  // namespace

Big big(std::span<const std::uint64_t> limbs) {
  Big x;
  if (!limbs.empty()) import_bits(x, limbs.begin(), limbs.end(), 64, false);
  return x;
}

std::int64_t length(const Big& x) { return x == 0 ? 0 : static_cast<std::int64_t>(msb(x)) + 1; }

Big power_of_five(std::uint64_t n) { return pow(Big(5), static_cast<unsigned>(n)); }

RationalRounder::RationalRounder(const Format& to, const Env& env) : to_(to), env_(env) {
  check_rounding(to, env.rounding);
}

template <class U>
Flags RationalRounder::round_in(const Rational& x, std::uint64_t random, std::byte* code) const {
  const Rounder<U> to(to_, env_);
  Number<U> z{};
  z.negative = x.negative;
  z.nan = x.kind == Kind::nan;
  z.infinite = x.kind == Kind::infinite;
  z.zero = x.kind == Kind::zero;
  if (x.kind == Kind::finite) z = leading_digits<U>(x);
  const Result<U> r = deliver(to, z, {}, U(random));
  store_code(code, item_bytes(to_.width()), r.code);
  return static_cast<Flags>(r.flags);
}

// Where an overflow delivers the low digits these count, however far above the others begin: a
// number that leaves the same remainder, and overflows too, stands for x.
Rational RationalRounder::in_reach(const Rational& x) const {
  if (x.kind != Kind::finite || !to_.wraps()) return x;
  const std::int64_t step = to_.least_digit() + to_.width() + 2;  // x modulo 2^step
  if (length(x.numerator) - length(x.denominator) + x.exponent < step + 1) return x;
  Rational z = x;
  z.exponent = std::min(step, x.exponent);
  Big modulus = x.denominator;
  if (x.exponent > step)
    z.numerator = x.numerator * powm(Big(2), Big(x.exponent - step), modulus);
  else
    modulus <<= static_cast<std::size_t>(step - x.exponent);
  z.numerator = z.numerator % modulus + modulus;
  return z;
}

Flags RationalRounder::round(const Rational& given, std::uint64_t random, std::byte* code) const {
  const Rational x = in_reach(given);
  return digits_needed(to_, env_.rounding) <= 128 ? round_in<uint128>(x, random, code)
                                                  : round_in<Wide<65>>(x, random, code);
}

void from_literals(const Format& to, const Env& env, std::span<const std::string> texts,
                   void* result, std::uint8_t* flags, RandomSource random) {
  const RationalRounder rounder(to, env);
  const int bytes = item_bytes(to.width());
  auto* at = static_cast<std::byte*>(result);
  for (std::size_t i = 0; i < texts.size(); ++i, at += bytes) {
    const std::uint64_t index = random.first_index + i;
    const bool several = texts.size() > 1 || index > 0;
    const std::string where = several ? "x[" + std::to_string(index) + "]" : "x";
    const auto bits = draw<std::uint64_t>(env.rounding, random, i);
    const Flags raised = rounder.round(parse_literal(where, texts[i]), bits, at);
    if (flags) flags[i] = static_cast<std::uint8_t>(raised);
  }
}

}  // namespace widthwise
