#include <ostream>
#include <string>
#include <vector>

#include "nan_cases.hpp"
#include "tally.hpp"
#include "tests/oracle/format_cover.hpp"
#include "tests/oracle/values.hpp"
#include "trial.hpp"
#include "widthwise/sim/text.hpp"

namespace test_nan {

// Which NaN an operation delivers, canonical or an operand's, and what it raises.
namespace {

using namespace tests;
using Small = std::uint32_t;

using namespace tests::nan_cases;
using tests::nan_cases::Operands;

const Layout<Small> single(binary32);

struct Answer {
  Small code;
  Flags flags;
  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& x) {
  return out << hex({x.code}) << " flags " << x.flags;
}

Answer answer(NanResult policy, Operation op, const Operands& codes) {
  const Coded<Small> x[3]{{&single, codes[0]}, {&single, codes[1]}, {&single, codes[2]}};
  const Result<Small> z = apply(op, Rounder<Small>(binary32, {.nan = policy}), x, Small{});
  return {z.code, static_cast<Flags>(z.flags)};
}

auto expecting(NanResult policy) {
  return [policy](Operation op, const Operands& codes, Small want, Flags flags) {
    CAPTURE(name(op));
    CHECK(answer(policy, op, codes) == Answer{want, flags});
  };
}

Answer converted(const char* from, Small code, const char* to) {
  const Layout<std::uint64_t> f(parse_format(from));
  const Rounder<std::uint64_t> rounder(parse_format(to), {.nan = NanResult::propagate});
  const auto z = convert<std::uint64_t>(rounder, f, code);
  return {static_cast<Small>(z.code), static_cast<Flags>(z.flags)};
}

}  // namespace

TEST_CASE("canonical NaNs are quiet, positive and without payload, whatever the operands") {
  for (Operation op : two_operands)
    for (Small nan : {quiet_a, loud_a, quiet_b, loud_b})
      for (const Operands& codes :
           {Operands{nan, one}, Operands{one, nan}, Operands{nan, quiet_b}}) {
        const bool loud = nan == loud_a || nan == loud_b;
        CHECK(answer(NanResult::canonical, op, codes) == Answer{canonical, loud ? invalid : 0});
      }
}

constexpr NanResult propagating[] = {NanResult::propagate, NanResult::x86};

TEST_CASE("a propagated NaN is the first operand that is one, with its sign") {
  for (const NanResult policy : propagating) first_wins(expecting(policy));
}
TEST_CASE("a signalling NaN is made quiet, keeps its payload and raises invalid") {
  for (const NanResult policy : propagating) signalling_is_quieted(expecting(policy));
}
TEST_CASE("minimumNumber and minNum: a quiet NaN loses, a signalling one is invalid") {
  for (const NanResult policy : propagating) number_wins(expecting(policy));
}
TEST_CASE(
    "a NaN that an operation makes is canonical under either policy, zero times infinity "
    "beside a quiet NaN included") {
  for (const NanResult policy : {NanResult::canonical, NanResult::propagate}) {
    made(expecting(policy));
    made_beside_nan(expecting(policy));
  }
}
TEST_CASE("a NaN that is made is negative where it is to be, and 0 * infinity + NaN x86's") {
  constexpr Small indefinite = 0xffc00000;
  for (const NanResult policy : {NanResult::negative, NanResult::x86})
    made(expecting(policy), indefinite);
  made_beside_nan(expecting(NanResult::negative), indefinite);
  given_beside_nothing(expecting(NanResult::x86));
  for (Operation op : two_operands)  // negative: an operand's is no other
    for (Small nan : {quiet_a, quiet_b})
      CHECK(answer(NanResult::negative, op, {one, nan}) == Answer{indefinite, 0});
}

TEST_CASE("every NaN that results have is negative, in formats whose NaN has a sign") {
  const auto code_of = [](const char* text, NanResult policy) {
    return Rounder<std::uint64_t>(parse_format(text), {.nan = policy}).nan_code;
  };
  const std::pair<const char*, std::uint64_t> formats[] = {
      {"binary16", 0xfe00}, {"e4m3fn", 0xff},      {"e5m0;nan=ieee;inf=no", 0x3f},
      {"e4m3fnuz", 0x80},   {"binary8p3se", 0x80}, {"ue4m3fn", 0x7f}};
  for (const auto& [text, want] : formats)
    for (const NanResult policy : {NanResult::negative, NanResult::x86}) {
      CAPTURE(text);
      CHECK(code_of(text, policy) == want);
    }
  // An overflow that gives NaN, and a number that an unsigned format has no code for.
  const Layout<std::uint64_t> single(binary32);
  const Rounder<std::uint64_t> fn(e4m3fn, {.nan = NanResult::negative});
  const auto past = convert<std::uint64_t>(fn, single, 0x7f000000);
  CHECK(past.code == 0xff);
  CHECK(past.flags == (overflow | inexact));
}

TEST_CASE("a payload moves between widths by its leading digits") {
  CHECK(converted("binary16", 0x7e2b, "binary32") == Answer{0x7fc56000, 0});
  CHECK(converted("binary32", 0x7fc56fff, "binary16") == Answer{0x7e2b, 0});
  CHECK(converted("binary32", 0xffc00001, "binary16") == Answer{0xfe00, 0});
  CHECK(converted("bfloat16", 0xffd5, "binary16") == Answer{0xfea8 | 0x200, 0});
  CHECK(converted("e5m1", 0x3f, "e5m3") == Answer{0xfc, 0});  // one fraction bit: it is quiet

  Tally tally;
  for (Small fraction = 0x200; fraction < 0x400; ++fraction)
    for (Small sign : {0u, 0x8000u}) {
      const Small half = sign | 0x7c00 | fraction;
      const Small there = converted("binary16", half, "e8m20").code;
      const Small back = converted("e8m20", there, "binary16").code;
      tally.check(back == half, [&] { return hex({half}) + " came back as " + hex({back}); });
    }
  tally.expect(2 * 0x200);
}

TEST_CASE("formats with one NaN deliver it; formats with none deliver zero and invalid") {
  CHECK(converted("binary32", quiet_a, "e4m3fn") == Answer{0xff, 0});
  CHECK(converted("binary32", quiet_b, "e4m3fn") == Answer{0x7f, 0});
  CHECK(converted("binary32", 0xffc00000, "e4m3fn") == Answer{0xff, 0});
  CHECK(converted("e4m3fn", 0xff, "e4m3fn") == Answer{0xff, 0});
  CHECK(converted("e4m3fn", 0xff, "e5m0;nan=ieee;inf=no") == Answer{0x3f, 0});
  CHECK(converted("binary32", quiet_a, "ue4m3fn") == Answer{0x7f, 0});
  CHECK(converted("binary32", quiet_a, "e4m3fnuz") == Answer{0x80, 0});
  CHECK(converted("binary32", quiet_a, "binary8p3se") == Answer{0x80, 0});
  CHECK(converted("binary32", quiet_a, "e8m0fnu") == Answer{0xff, 0});
  CHECK(converted("binary32", quiet_a, "e2m1fn") == Answer{0, invalid});
  CHECK(converted("binary32", loud_a, "e4m3fn") == Answer{0x7f, invalid});
}

// Field by field as N1 says it: the sign bit, the quiet bit, and the leading digits of the
// fraction.
namespace {
std::uint64_t carried(const Format& from, std::uint64_t code, const Format& to) {
  const auto ones = [](int n) { return (std::uint64_t{1} << n) - 1; };
  const bool negative = from.is_signed() && code >> (from.exp_bits + from.frac_bits) != 0;
  const std::uint64_t sign = negative && to.is_signed() ? 1 : 0;
  const int magnitude_bits = to.exp_bits + to.frac_bits;
  switch (to.nan) {
    case NanCodes::none:
    case NanCodes::listed: return 0;
    case NanCodes::sign_alone: return std::uint64_t{1} << magnitude_bits;
    case NanCodes::all_ones: return sign << magnitude_bits | ones(magnitude_bits);
    case NanCodes::ieee: break;
  }
  const std::uint64_t fraction = (code & ones(from.frac_bits)) << to.frac_bits >> from.frac_bits;
  const std::uint64_t quiet = to.frac_bits > 0 ? std::uint64_t{1} << (to.frac_bits - 1) : 0;
  return sign << magnitude_bits | ones(to.exp_bits) << to.frac_bits | quiet | fraction;
}
}  // namespace

TEST_CASE("every NaN between every two corners of formats keeps what both of them have") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& from : oracle::format_cover())
    for (const Format& to : oracle::format_cover()) {
      if (!to.has_nan()) continue;
      const Rounder<std::uint64_t> rounder(to, {.nan = NanResult::propagate});
      const Layout<std::uint64_t> f(from);
      for (std::uint64_t code = 0; code >> from.width() == 0; ++code) {
        if (oracle::decode(from, code).kind != oracle::Kind::nan) continue;
        const std::uint64_t z = convert<std::uint64_t>(rounder, f, code).code;
        tally.check(z == carried(from, code, to), [&] {
          return to_string(from) + " " + hex({code}) + " to " + to_string(to) + ": " + hex({z});
        });
        ++expected;
      }
    }
  tally.expect(expected);
}

}  // namespace test_nan
