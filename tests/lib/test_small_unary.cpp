#include <array>
#include <limits>

#include "small.hpp"
#include "widthwise/sim/text.hpp"

// Operations on one operand in formats of up to eight bits, conversions between all of them, and
// conversions to and from integers.
namespace {

using namespace tests;

constexpr std::array integer_types{IntegerType{32, true}, IntegerType{32, false},
                                   IntegerType{64, true}, IntegerType{64, false}};

const std::vector<Codes>& small_codes() {
  static const std::vector<Codes> all(small_formats().begin(), small_formats().end());
  return all;
}

std::uint64_t codes_in_all() {
  std::uint64_t sum = 0;
  for (const Codes& f : small_codes()) sum += f.size();
  return sum;
}

// From every format to every format.
void every_code_and_target(Operation op, const std::vector<Env>& environments) {
  Judge judge;
  for (const Format& to : small_formats()) {
    const Target target(to, environments);
    for (const Codes& from : small_codes()) judge.all_codes(op, target, from);
  }
  judge.expect(codes_in_all() * small_formats().size() * environments.size());
}

// The definition's integers need 64 digits.
struct IntegerSource {
  const oracle::Values& values;
  Layout<std::uint64_t> layout;
  explicit IntegerSource(const Format& f) : values(oracle::values(f)), layout(f) {}
};

// Powers of two and what is next to them, of either sign, and anything at all.
std::vector<std::uint64_t> integers(Random& random) {
  std::vector<std::uint64_t> all;
  for (int n = 0; n < 64; ++n)
    for (int d = -2; d <= 2; ++d) {
      const std::uint64_t x = (std::uint64_t{1} << n) + static_cast<std::uint64_t>(d);
      all.push_back(x);
      all.push_back(0 - x);
    }
  for (int i = 0; i < 360; ++i) all.push_back(random() >> random() % 64);
  return all;
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("convert: every code of every format to every format, every mode, flags") {
    every_code_and_target(Operation::convert, half_of(all_environments()));
  }
  TEST_CASE("sqrt: every code of every format to every format, every mode, flags") {
    every_code_and_target(Operation::sqrt, half_of(all_environments()));
  }
}

TEST_CASE("logb: every code of every format to every format") {
  every_code_and_target(Operation::logb, {{.rounding = RoundingMode::rne},
                                          {.rounding = RoundingMode::rup},
                                          {.rounding = RoundingMode::rdn},
                                          {.rounding = RoundingMode::odd}});
}

TEST_CASE("round to integral, silent and telling: every code, every mode, flags") {
  Judge judge;
  for (const Codes& f : small_codes()) {
    const Target target(f.format(), all_environments());
    judge.all_codes(Operation::round_to_integral, target, f);
    judge.all_codes(Operation::round_to_integral_exact, target, f);
  }
  judge.expect(2 * codes_in_all() * all_environments().size());
}

TEST_CASE("round to integral in another format rounds twice where that is too narrow") {
  const std::vector<Env> environments = half_of(all_environments());
  Judge judge;
  for (const Codes& f : small_codes())
    for (const Format& to : main_formats())
      judge.all_codes(Operation::round_to_integral_exact, Target(to, environments), f);
  judge.expect(codes_in_all() * main_formats().size() * environments.size());
}

TEST_CASE("scaleb: every code times 2^-40 to 2^40, and times powers past every range") {
  std::vector<std::int64_t> powers{
      std::numeric_limits<std::int64_t>::min(), -1'000'000, -700, 700, 1'000'000,
      std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t n = -40; n <= 40; ++n) powers.push_back(n);
  const std::vector<Env> environments = all_environments();
  Judge judge;
  for (const Codes& f : small_codes()) {
    const Target target(f.format(), environments);
    for (std::uint64_t a = 0; a < f.size(); ++a)
      for (std::size_t i = 0; i < powers.size(); ++i) {
        // Not every mode for every power; each power meets a different one at the next code.
        const Rounder<Small>& to = target.rounders()[(a + i) % target.size()];
        const std::uint64_t r = random_bits(to.env, judge.random());
        const oracle::Outcome exact = oracle::scaleb(target.values(), {*f.values, a}, powers[i]);
        const auto got = widthwise::scaleb<Small>(to, f.layout, static_cast<Small>(a), powers[i],
                                                  static_cast<Small>(r));
        judge.compare("scaleb " + std::to_string(powers[i]), to, r, got,
                      oracle::deliver(exact, to.env, r));
      }
  }
  judge.expect(codes_in_all() * powers.size());
}

TEST_CASE("to integers of 32 and 64 bits: every code, every mode, flags") {
  const std::vector<Env> environments = all_environments();
  Tally tally;
  Random random(7);
  for (const Format& f : small_formats()) {
    const IntegerSource from(f);
    for (IntegerType type : integer_types)
      for (const Env& env : environments)
        for (std::uint64_t a = 0; a < from.values.size(); ++a) {
          const std::uint64_t r = random_bits(env, random);
          const RoundingRule rule(env.rounding);
          const IntegerResult got =
              to_integer<std::uint64_t>(type.width, type.is_signed, rule, from.layout, a, r);
          const oracle::Answer want = oracle::to_integer(type, env.rounding, {from.values, a}, r);
          const std::uint64_t mask = ~std::uint64_t{0} >> (64 - type.width);
          tally.check((got.value & mask) == (want.code & mask) && got.flags == want.flags, [&] {
            return Description{"to integer of " + std::to_string(type.width) +
                                   (type.is_signed ? " bits " : " unsigned bits ") +
                                   coded_text(f, {a}),
                               f,
                               env,
                               r,
                               {got.value},
                               {want.code},
                               got.flags,
                               want.flags}
                .text();
          });
        }
  }
  tally.expect(codes_in_all() * integer_types.size() * environments.size());
}

TEST_CASE(
    "from integers of 32 and 64 bits: powers of two, their neighbours and others, every mode") {
  const std::vector<Env> environments = all_environments();
  Tally tally;
  Random random(8);
  const std::vector<std::uint64_t> values = integers(random);
  for (const Format& f : small_formats()) {
    std::vector<Rounder<std::uint64_t>> rounders;
    for (const Env& env : environments) rounders.emplace_back(f, env);
    for (IntegerType type : integer_types)
      for (std::uint64_t value : values) {
        const std::uint64_t code = value & ~std::uint64_t{0} >> (64 - type.width);
        const oracle::Outcome exact = oracle::from_integer(oracle::values(f), type, code);
        const bool negative = type.is_signed && (code >> (type.width - 1) & 1) != 0;
        const std::uint64_t sign_extended =
            type.width == 32 && negative ? code | ~0ull << 32 : code;
        for (const auto& to : rounders) {
          const std::uint64_t r = random_bits(to.env, random);
          const auto got = widthwise::from_integer<std::uint64_t>(
              to, negative, negative ? 0 - sign_extended : code, r);
          const oracle::Answer want = oracle::deliver(exact, to.env, r);
          tally.check(got.code == want.code && got.flags == want.flags, [&] {
            return Description{
                "from integer " + hex({code}), f,         to.env, r, {got.code}, {want.code},
                static_cast<Flags>(got.flags), want.flags}
                .text();
          });
        }
      }
  }
  tally.expect(small_formats().size() * integer_types.size() * values.size() * environments.size());
}
