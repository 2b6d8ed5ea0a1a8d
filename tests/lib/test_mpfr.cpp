#include <array>
#include <string>

#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/text.hpp"

// Formats of every width against MPFR: named codes with named codes, and operands at the corners.
namespace {

using namespace tests;

constexpr std::array operations{Operation::add,
                                Operation::subtract,
                                Operation::multiply,
                                Operation::divide,
                                Operation::remainder,
                                Operation::sqrt,
                                Operation::fma,
                                Operation::convert,
                                Operation::round_to_integral,
                                Operation::round_to_integral_exact};
constexpr std::array integer_types{IntegerType{32, true}, IntegerType{32, false},
                                   IntegerType{64, true}, IntegerType{64, false}};

// Every mode under both tininess rules, and as many random bits as the carrier has room for.
template <class U>
std::vector<Env> environments(const Format& to) {
  std::vector<Env> all = deterministic_environments();
  const int most = std::min(64, digits<U> - to.precision() - 4);
  for (int k : {1, 7, 24, most})
    for (StochasticVariant variant :
         {StochasticVariant::plain, StochasticVariant::half, StochasticVariant::even})
      if (k <= most) all.push_back({.rounding = Rounding(k, variant)});
  return all;
}

template <class U>
std::vector<std::uint64_t> limbs_of(const U& code, const Format& f) {
  std::vector<std::uint64_t> all = limbs(code);
  all.resize(static_cast<std::size_t>(f.width() + 63) / 64);
  return all;
}

template <class U>
void judge(Operation op, const Rounder<U>& to, const Coded<U>* x, Random& random, Tally& tally) {
  std::vector<std::uint64_t> codes[3];
  std::vector<OracleOperand> operands;
  for (int i = 0; i < arity(op); ++i) {
    codes[i] = limbs_of(x[i].code, x[i].layout->format);
    operands.push_back({x[i].layout->format, codes[i]});
  }
  const std::uint64_t r = random_bits(to.env, random);
  const OracleResult want = mpfr_compute(op, to.layout.format, to.env, operands, r);
  const Result<U> got = apply(op, to, x, static_cast<U>(r));
  const std::vector<std::uint64_t> code = limbs_of(got.code, to.layout.format);
  tally.check(code == want.code && got.flags == want.flags, [&] {
    return Description{call_text(op, x),
                       to.layout.format,
                       to.env,
                       r,
                       code,
                       want.code,
                       static_cast<Flags>(got.flags),
                       want.flags}
        .text();
  });
}

// Named codes with named codes, a few environments each; all of them meet every operation.
template <class U>
std::uint64_t judge_named(const Operands<U>& f, const std::vector<Rounder<U>>& to, Random& random,
                          Tally& tally) {
  std::uint64_t count = 0;
  for (Operation op : {Operation::add, Operation::subtract, Operation::multiply, Operation::divide,
                       Operation::remainder})
    for (const U& a : f.named())
      for (const U& b : f.named()) {
        const Coded<U> x[3]{f.coded(a), f.coded(b), {}};
        for (std::uint64_t i = 0; i < samples(4); ++i, ++count)
          judge(op, to[(count * 5 + i) % to.size()], x, random, tally);
      }
  return count;
}

// Operands drawn for the operation, environments in turn.
template <class U>
std::uint64_t judge_drawn(const Operands<U>& f, const std::vector<Rounder<U>>& to,
                          std::uint64_t count, Random& random, Tally& tally) {
  for (Operation op : operations)
    for (std::uint64_t i = 0; i < count; ++i) {
      const Rounder<U>& rounder = to[i % to.size()];
      Coded<U> x[3];
      draw(op, f, rounder.layout.format, random, x);
      judge(op, rounder, x, random, tally);
    }
  return operations.size() * count;
}

template <class U>
std::vector<Rounder<U>> rounders(const Format& to) {
  std::vector<Rounder<U>> all;
  for (const Env& env : environments<U>(to)) all.emplace_back(to, env);
  return all;
}

template <class U>
void judge_format(std::string_view text, std::uint64_t count) {
  const Operands<U> f(parse_format(text));
  const std::vector<Rounder<U>> to = rounders<U>(f.layout().format);
  Tally tally;
  Random random(11);
  std::uint64_t expected = judge_named(f, to, random, tally);
  expected += judge_drawn(f, to, samples(count), random, tally);
  tally.expect(expected);
}

// Every conversion, and operations whose result is in another format, within one carrier.
template <class U>
void judge_between(const std::vector<std::string_view>& texts, std::uint64_t count) {
  Tally tally;
  Random random(12);
  std::uint64_t expected = 0;
  for (std::string_view from : texts) {
    const Operands<U> f(parse_format(from));
    for (std::string_view text : texts) {
      const std::vector<Rounder<U>> to = rounders<U>(parse_format(text));
      for (const U& a : f.named())
        for (const Rounder<U>& rounder : to) {
          const Coded<U> x[3]{f.coded(a), {}, {}};
          judge(Operation::convert, rounder, x, random, tally);
          ++expected;
        }
      expected += judge_drawn(f, to, samples(count), random, tally);
    }
  }
  tally.expect(expected);
}

template <class U>
void judge_to_integers(std::string_view text, std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  const Operands<U> f(parse_format(text));
  Tally tally;
  Random random(13);
  const std::vector<Env> all = environments<U>(f.layout().format);
  for (IntegerType type : integer_types)
    for (std::uint64_t i = 0; i < count; ++i) {
      const Env& env = all[i % all.size()];
      const U a = i % 2 ? f.any(random)
                        : f.with_exponent(static_cast<std::int64_t>(random() % 72) - 4, random);
      const std::uint64_t r = random_bits(env, random);
      const std::vector<std::uint64_t> code = limbs_of(a, f.layout().format);
      const OracleResult want = mpfr_to_integer(type, env.rounding, {f.layout().format, code}, r);
      const IntegerResult got = to_integer<U>(
          type.width, type.is_signed, RoundingRule(env.rounding), f.layout(), a, static_cast<U>(r));
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - type.width);
      tally.check(((got.value ^ want.code[0]) & mask) == 0 && got.flags == want.flags, [&] {
        return Description{"to integer of " + std::to_string(type.width) + " bits " +
                               coded_text(f.layout().format, code),
                           f.layout().format,
                           env,
                           r,
                           {got.value},
                           want.code,
                           got.flags,
                           want.flags}
            .text();
      });
    }
  tally.expect(integer_types.size() * count);
}

template <class U>
void judge_from_integers(std::string_view text, std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  Tally tally;
  Random random(14);
  const std::vector<Rounder<U>> all = rounders<U>(parse_format(text));
  for (IntegerType type : integer_types)
    for (std::uint64_t i = 0; i < count; ++i) {
      const Rounder<U>& to = all[i % all.size()];
      const std::uint64_t value =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(random()) >> random() % 64);
      const bool narrow = type.width == 32;
      const auto extended = static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
      const std::uint64_t integer = !narrow          ? value
                                    : type.is_signed ? extended
                                                     : value & 0xffffffff;
      const bool negative = type.is_signed && integer >> 63 != 0;
      const std::uint64_t r = random_bits(to.env, random);
      const OracleResult want = mpfr_from_integer(type, integer, to.layout.format, to.env, r);
      const Result<U> got =
          from_integer<U>(to, negative, negative ? 0 - integer : integer, static_cast<U>(r));
      const std::vector<std::uint64_t> code = limbs_of(got.code, to.layout.format);
      tally.check(code == want.code && got.flags == want.flags, [&] {
        return Description{
            "from integer " + hex({integer}), to.layout.format, to.env, r, code, want.code,
            static_cast<Flags>(got.flags),    want.flags}
            .text();
      });
    }
  tally.expect(integer_types.size() * count);
}

// eXmY that fits the carrier, at times with options.
template <class U>
std::string random_format(Random& random) {
  const int most_digits = digits<U> - 5;
  const int exp_bits = 2 + static_cast<int>(random() % 61);
  const int room = std::min(most_digits - 1, digits<U> - 1 - exp_bits);
  if (room < 1) return random_format<U>(random);
  const int frac_bits = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(room));
  static constexpr std::string_view options[] = {
      "",          "",     "",    ";sub=no", ";nan=all_ones", ";nan=negative_zero;inf=top",
      ";nan=none", ";ftz", ";daz"};
  return "e" + std::to_string(exp_bits) + "m" + std::to_string(frac_bits) +
         std::string(options[random() % std::size(options)]);
}

template <class U>
void judge_random_formats(int how_many, std::uint64_t count) {
  Random random(static_cast<std::uint64_t>(digits<U>));
  for (int i = 0; i < how_many; ++i) {
    const std::string text = random_format<U>(random);
    INFO(text);
    judge_format<U>(text, count);
  }
}

}  // namespace

TEST_CASE("binary16, bfloat16, tf32, binary32 agree with MPFR") {
  for (const char* text : {"binary16", "bfloat16", "tf32", "binary32", "e9m6"})
    judge_format<std::uint32_t>(text, 20'000);
}
TEST_CASE("binary64 and e62m1 agree with MPFR") {
  for (const char* text : {"binary64", "e62m1"}) judge_format<std::uint64_t>(text, 20'000);
}
TEST_CASE("binary128, e20m64 and e62m60 agree with MPFR") {
  for (const char* text : {"binary128", "e20m64", "e62m60"}) judge_format<uint128>(text, 10'000);
}
TEST_CASE("binary256 and e30m200 agree with MPFR") {
  for (const char* text : {"binary256", "e30m200"}) judge_format<Wide<4>>(text, 5'000);
}
TEST_CASE("e15m1000 agrees with MPFR") { judge_format<Wide<17>>("e15m1000", 1'000); }
TEST_CASE("e11m4095, the widest there is, agrees with MPFR") {
  judge_format<Wide<65>>("e11m4095", 100);
}

TEST_CASE("formats that leave a carrier its five spare digits and no more agree with MPFR") {
  judge_format<std::uint32_t>("e4m26", 20'000);
  judge_format<std::uint64_t>("e4m58", 20'000);
  judge_format<uint128>("e4m122", 10'000);
  judge_format<Wide<4>>("e4m250", 5'000);
}

TEST_CASE("random formats of up to 32, 64, 128, 256 digits agree with MPFR") {
  judge_random_formats<std::uint32_t>(10, 500);
  judge_random_formats<std::uint64_t>(10, 500);
  judge_random_formats<uint128>(10, 500);
  judge_random_formats<Wide<4>>(5, 500);
}

TEST_CASE("operands of one format, results in another agree with MPFR") {
  judge_between<std::uint32_t>({"binary16", "bfloat16", "binary32", "e9m6", "e4m3fn", "e8m0fnu",
                                "e5m2fnuz", "binary8p3se", "ue5m9", "e6m9;sub=no"},
                               300);
  judge_between<std::uint64_t>({"binary64", "binary32", "binary16", "e62m1", "e20m40"}, 500);
  judge_between<uint128>({"binary128", "binary64", "e62m60", "e20m64", "e5m2"}, 300);
  judge_between<Wide<4>>({"binary256", "binary128", "e62m100", "e4m3fn"}, 200);
}

TEST_CASE("conversions to and from integers agree with MPFR") {
  for (const char* text : {"binary16", "binary32", "binary64", "e62m1", "e4m3fn"}) {
    judge_to_integers<std::uint64_t>(text, 20'000);
    judge_from_integers<std::uint64_t>(text, 20'000);
  }
  for (const char* text : {"binary128", "e20m64", "e62m60"}) {
    judge_to_integers<uint128>(text, 10'000);
    judge_from_integers<uint128>(text, 10'000);
  }
  judge_to_integers<Wide<4>>("binary256", 5'000);
  judge_from_integers<Wide<4>>("binary256", 5'000);
}
