#include <ostream>
#include <string>
#include <vector>

#include "tally.hpp"
#include "trial.hpp"
#include "widthwise/sim/carrier.hpp"
#ifdef WIDTHWISE_MPFR
#include "widthwise/sim/mpfr_oracle.hpp"
#endif
#include "widthwise/sim/text.hpp"

// Inputs on which some published simulator goes wrong, one case a row of docs/pitfalls.md. Each is
// computed in every carrier that can, and by MPFR where it is there. Rows about sums of several
// terms (22) stand with the datapath.
namespace {

using namespace tests;

struct Value {
  const char* format;
  uint128 code;
};

struct Call {
  Operation op;
  std::vector<Value> operands;
  const char* to;
  Env env{};
  std::uint64_t random = 0;
};

struct Answer {
  uint128 code;
  Flags flags;
  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& x) {
  return out << hex(limbs(x.code)) << " flags " << x.flags;
}

template <class U>
Answer computed(const Call& call) {
  std::vector<Layout<U>> layouts;
  for (const Value& v : call.operands) layouts.emplace_back(parse_format(v.format));
  Coded<U> x[3];
  for (std::size_t i = 0; i < layouts.size(); ++i)
    x[i] = {&layouts[i], static_cast<U>(call.operands[i].code)};
  const Rounder<U> to(parse_format(call.to), call.env);
  const Result<U> z = apply(call.op, to, x, static_cast<U>(call.random));
  return {static_cast<uint128>(z.code), static_cast<Flags>(z.flags)};
}

int digits_of(const Call& call) {
  int most = digits_needed(parse_format(call.to), call.env.rounding);
  for (const Value& v : call.operands) most = std::max(most, digits_needed(parse_format(v.format)));
  return most;
}

#ifdef WIDTHWISE_MPFR
Answer by_mpfr(const Call& call) {
  std::vector<std::vector<std::uint64_t>> codes;
  for (const Value& v : call.operands) {
    codes.push_back(limbs(v.code));
    codes.back().resize(parse_format(v.format).width() > 64 ? 2 : 1);
  }
  std::vector<OracleOperand> operands;
  for (std::size_t i = 0; i < codes.size(); ++i)
    operands.push_back({parse_format(call.operands[i].format), codes[i]});
  OracleResult z = mpfr_compute(call.op, parse_format(call.to), call.env, operands, call.random);
  z.code.resize(2);
  return {uint128{z.code[1]} << 64 | z.code[0], z.flags};
}
#endif

// One answer, by whatever can compute it.
Answer answer(const Call& call) {
  const int needed = digits_of(call);
  const Answer z = computed<uint128>(call);
  if (needed <= 32) CHECK(computed<std::uint32_t>(call) == z);
  if (needed <= 64) CHECK(computed<std::uint64_t>(call) == z);
  CHECK(needed <= 128);
  CHECK(computed<Wide<4>>(call) == z);
#ifdef WIDTHWISE_MPFR
  CHECK(by_mpfr(call) == z);
#endif
  return z;
}

uint128 code(const Call& call) { return answer(call).code; }

Call convert(Value from, const char* to, Env env = {}, std::uint64_t random = 0) {
  return {Operation::convert, {from}, to, env, random};
}

constexpr Env towards(RoundingMode mode) { return {.rounding = mode}; }

const std::vector<RoundingMode>& all_modes() {
  static const std::vector<RoundingMode> all = [] {
    std::vector<RoundingMode> modes;
    for (int m = 0; m < deterministic_modes; ++m) modes.push_back(static_cast<RoundingMode>(m));
    return modes;
  }();
  return all;
}

// For how many of the 2^k random numbers a value comes out as `up`.
int times_up(Value x, const char* to, int k, StochasticVariant variant, uint128 up) {
  int times = 0;
  for (std::uint64_t r = 0; r < std::uint64_t{1} << k; ++r)
    times += code(convert(x, to, {.rounding = Rounding(k, variant)}, r)) == up;
  return times;
}

}  // namespace

// 3 * 683 + 2^-14: a binary32 FMA rounds to 2049 first, then ties.
TEST_CASE("pitfall 1: a binary16 fma rounds once") {
  const Call call{
      Operation::fma, {{"e5m10", 0x4200}, {"e5m10", 0x6156}, {"e5m10", 0x0400}}, "e5m10"};
  CHECK(answer(call) == Answer{0x6801, inexact});  // 2050
}

// 7 * 37 - 2^-60: the host's wider FMA loses the tail.
TEST_CASE("pitfall 2: a bfloat16 fma sees a tail far below the product") {
  const Call call{Operation::fma, {{"e8m7", 0x40e0}, {"e8m7", 0x4214}, {"e8m7", 0xa180}}, "e8m7"};
  CHECK(answer(call) == Answer{0x4381, inexact});  // 258
}

// 1 + 2^-60 towards +infinity.
TEST_CASE("pitfall 3: a directed rounding sees an addend far below the sum") {
  const Call call{
      Operation::add, {{"e5m10", 0x3c00}, {"e8m7", 0x2180}}, "e5m10", towards(RoundingMode::rup)};
  CHECK(answer(call) == Answer{0x3c01, inexact});
}

// 1 + (2^-16 + 2^-31): double rounding through binary32 ties to 1.
TEST_CASE("pitfall 4: e8m15 sums are not rounded to binary32 first") {
  const Call call{Operation::add, {{"e8m15", 0x3f8000}, {"e8m15", 0x378001}}, "e8m15"};
  CHECK(answer(call) == Answer{0x3f8001, inexact});
}

// 1.125 * 2^-6 * 1.125 * 2^-3 = 1.265625 * 2^-9.
TEST_CASE("pitfall 5: a product below the operands' range is exact in a longer significand") {
  const Call call{Operation::multiply, {{"e4m3", 0x09}, {"e4m3", 0x21}}, "e4m23"};
  CHECK(answer(call) == Answer{0x144000, 0});
}

TEST_CASE("pitfall 6: a product past the result's range overflows") {
  const std::vector<Value> squared{{"e5m10", 0x7800}, {"e5m10", 0x7800}};
  CHECK(answer({Operation::multiply, squared, "e5m23"}) == Answer{0xf800000, overflow | inexact});
  CHECK(answer({Operation::multiply, squared, "e5m23;overflow=max"}) ==
        Answer{0xf7fffff, overflow | inexact});
  CHECK(answer({Operation::multiply, squared, "e5m23", towards(RoundingMode::rtz)}) ==
        Answer{0xf7fffff, overflow | inexact});
}

TEST_CASE("pitfall 7: 2^-133, the least subnormal of bfloat16, converts to itself") {
  CHECK(answer(convert({"binary32", 0x00010000}, "e8m7")) == Answer{1, 0});
}

// 65519.999, 65520, 70000.
TEST_CASE("pitfall 8: binary16 overflows from the middle of the binade's last gap on") {
  CHECK(answer(convert({"binary64", 0x40effdfff7ced917}, "e5m10")) == Answer{0x7bff, inexact});
  CHECK(answer(convert({"binary64", 0x40effe0000000000}, "e5m10")) ==
        Answer{0x7c00, overflow | inexact});
  CHECK(answer(convert({"binary64", 0x40f1170000000000}, "e5m10")) ==
        Answer{0x7c00, overflow | inexact});
}

TEST_CASE("pitfall 9: 10^6 towards zero and towards -infinity is binary16's largest number") {
  for (RoundingMode mode : {RoundingMode::rtz, RoundingMode::rdn})
    CHECK(answer(convert({"binary64", 0x412e848000000000}, "e5m10", towards(mode))) ==
          Answer{0x7bff, overflow | inexact});
}

// 2^-25 * (1 + 2^-52).
TEST_CASE("pitfall 10: the sticky digit survives below the subnormal range") {
  CHECK(answer(convert({"binary64", 0x3e60000000000001}, "e5m10")) ==
        Answer{1, inexact | underflow});
}

// 2^-17 * (1 - 2^-24).
TEST_CASE("pitfall 11: just under half the least subnormal is zero") {
  CHECK(answer(convert({"binary32", 0x36ffffff}, "e5m2")) == Answer{0, inexact | underflow});
}

// 464, 464.5, 480: 448 is the largest number, not 480.
TEST_CASE("pitfall 12: e4m3fn goes to NaN past 464, or stays at 448 where overflow is max") {
  const Value v464{"binary32", 0x43e80000}, v464_5{"binary32", 0x43e84000},
      v480{"binary32", 0x43f00000};
  CHECK(answer(convert(v464, "e4m3fn")) == Answer{0x7e, inexact});
  for (const Value& v : {v464_5, v480})
    CHECK(answer(convert(v, "e4m3fn")) == Answer{0x7f, overflow | inexact});
  for (const Value& v : {v464, v464_5, v480})
    CHECK(code(convert(v, "e4m3fn;overflow=max")) == 0x7e);
}

TEST_CASE("pitfall 13: 1.5 converts to binary32 with nothing to drop") {
  CHECK(answer(convert({"binary16", 0x3e00}, "e8m23")) == Answer{0x3fc00000, 0});
  CHECK(answer(convert({"binary32", 0x3fc00000}, "e8m23")) == Answer{0x3fc00000, 0});
}

TEST_CASE("pitfall 14: rounding to odd leaves 1.0 alone") {
  CHECK(answer(convert({"binary32", 0x3f800000}, "e5m2", towards(RoundingMode::odd))) ==
        Answer{0x3c, 0});
}

// -1.125 to two fraction bits: -1.25, -1.
TEST_CASE("pitfall 15: ties away and ties towards zero mind magnitudes, not numbers") {
  const Value tie{"binary32", 0xbf900000};
  CHECK(answer(convert(tie, "e5m2", towards(RoundingMode::rna))) == Answer{0xbd, inexact});
  CHECK(answer(convert(tie, "e5m2", towards(RoundingMode::rnz))) == Answer{0xbc, inexact});
}

TEST_CASE("pitfall 16: zeros keep their sign, those that were rounded down to included") {
  CHECK(answer(convert({"binary64", 0xbbc79ca10c924223}, "e5m10", towards(RoundingMode::rup))) ==
        Answer{0x8000, inexact | underflow});  // -1e-20
  for (RoundingMode mode : all_modes())
    CHECK(answer(convert({"binary64", uint128{1} << 63}, "e5m10", towards(mode))) ==
          Answer{0x8000, 0});
}

TEST_CASE("pitfall 17: rounding never carries a NaN into an infinity or a zero") {
  for (RoundingMode mode : all_modes()) {
    CHECK(answer(convert({"binary32", 0x7f800001}, "e5m10", towards(mode))) ==
          Answer{0x7e00, invalid});  // it signals
    for (uint128 all_ones : {0x7fffffffu, 0xffffffffu}) {
      CHECK(answer(convert({"binary32", all_ones}, "e5m10", towards(mode))) == Answer{0x7e00, 0});
      CHECK(answer(convert({"binary32", all_ones}, "e4m3fn", towards(mode))) == Answer{0x7f, 0});
    }
  }
  const Env propagating{.nan = NanResult::propagate};
  CHECK(computed<std::uint32_t>(convert({"binary32", 0x7f800001}, "e5m10", propagating)) ==
        Answer{0x7e00, invalid});
  CHECK(computed<std::uint32_t>(convert({"binary32", 0xffffffff}, "e5m10", propagating)) ==
        Answer{0xffff, 0});
}

// 1 + ulp/2 and 1 + 3 ulp/4 in binary16.
TEST_CASE("pitfall 18: stochastic rounding goes up as often as the dropped part is large") {
  using enum StochasticVariant;
  for (StochasticVariant variant : {plain, half, even})
    for (int k : {2, 8}) {
      CHECK(times_up({"binary32", 0x3f801000}, "e5m10", k, variant, 0x3c01) == (1 << k) / 2);
      CHECK(times_up({"binary32", 0x3f801800}, "e5m10", k, variant, 0x3c01) == (1 << k) / 4 * 3);
    }
}

// 3/8 of 2^-24.
TEST_CASE("pitfall 19: stochastic rounding does not always flush what is tiny") {
  CHECK(times_up({"binary64", 0x3e58000000000000}, "e5m10", 8, StochasticVariant::plain, 1) == 96);
}

TEST_CASE("pitfall 20: a quotient of e4m3 and binary64 keeps its sticky digit") {
  const Call call{
      Operation::divide, {{"e4m3", 0x38}, {"binary64", 0x3ffe4c0b3cfafee9}}, "binary64"};
  CHECK(answer(call) == Answer{0x3fe0e63af3e26d69, inexact});
}

// Exponent field 12, fraction 31: the carry out of the fraction makes field 1, fraction 0.
TEST_CASE("pitfall 21: a rounding carry walks into the exponent field") {
  CHECK(answer(convert({"e5m5", 12 << 5 | 31}, "e3m4")) == Answer{1 << 4, inexact});
}

TEST_CASE("pitfall 24: the square root of 2 in binary128 is right to 113 bits") {
  const uint128 two = uint128{0x4000} << 112;
  const uint128 root = uint128{0x3fff6a09e667f3bc} << 64 | 0xc908b2fb1366ea95;
  CHECK(answer({Operation::sqrt, {{"e15m112", two}}, "e15m112"}) == Answer{root, inexact});
}

TEST_CASE("pitfall 25: 0x7c00 is infinite as e5m10 and a number where infinities sit elsewhere") {
  CHECK(classify<std::uint32_t>(Layout<std::uint32_t>(binary16), 0x7c00) ==
        NumberClass::positive_infinity);
  CHECK(answer(convert({"e5m10", 0x7c00}, "binary32")) == Answer{0x7f800000, 0});
  CHECK(answer(convert({"e5m10;inf=top;nan=none", 0x7c00}, "binary32")) == Answer{0x47800000, 0});
  CHECK(answer(convert({"e5m10;inf=top;nan=none", 0x7fff}, "binary32")) == Answer{0x7f800000, 0});
}

TEST_CASE("pitfall 26: 255.99998 towards zero is 240 in e4m3fn") {
  CHECK(answer(convert({"binary32", 0x437fffff}, "e4m3fn", towards(RoundingMode::rtz))) ==
        Answer{0x77, inexact});
}

// 0.49999997 * 2^-9.
TEST_CASE("pitfall 27: just under half of e4m3fn's least subnormal is zero") {
  CHECK(answer(convert({"binary32", 0x3a7fffff}, "e4m3fn")) == Answer{0, inexact | underflow});
}

TEST_CASE("pitfall 28: exponents of 20 bits are not held in a host float") {
  const auto power = [](std::int64_t n) {
    return Value{"e20m50", static_cast<uint128>(n + 524'287) << 50};
  };
  CHECK(answer({Operation::multiply, {power(400'000), power(-399'999)}, "e20m50"}) ==
        Answer{power(1).code, 0});
  CHECK(answer({Operation::multiply, {power(524'287), power(1)}, "e20m50"}) ==
        Answer{power(524'288).code, overflow | inexact});
}

// In units of the least normal number, 2^(2^62 - 3) modulo 3 and modulo 5.
TEST_CASE("a remainder of e62 operands 2^62 binades apart is exact") {
  const std::uint64_t top = (std::uint64_t{1} << 62) - 2;  // exponent field of the largest binade
  const auto e62 = [](std::uint64_t field, std::uint64_t fraction) {
    return Value{"e62m2", uint128{field} << 2 | fraction};
  };
  const Value huge = e62(top, 0), three = e62(2, 2);  // top - 1 is odd, so huge = 2 (mod 3): -1
  CHECK(answer({Operation::remainder, {huge, three}, "e62m2"}) ==
        Answer{uint128{1} << 64 | e62(1, 0).code, 0});
  const Value five = e62(3, 1);  // top - 1 = 1 (mod 4), so huge = 2 (mod 5)
  CHECK(answer({Operation::remainder, {huge, five}, "e62m2"}) == Answer{e62(2, 0).code, 0});
}
