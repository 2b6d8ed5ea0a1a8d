#include <ostream>
#include <string>
#include <vector>

#include "tally.hpp"
#include "trial.hpp"
#include "widthwise/sim/text.hpp"

// Which NaN an operation delivers, canonical or an operand's, and what it raises.
namespace {

using namespace tests;
using Small = std::uint32_t;

const Layout<Small> single(binary32);
constexpr Small canonical = 0x7fc00000, one = 0x3f800000, infinity = 0x7f800000;
constexpr Small quiet_a = 0xffc12345, quiet_b = 0x7fe54321, quiet_c = 0x7fc00077;
constexpr Small loud_a = 0x7f812345, loud_b = 0xffa54321;
constexpr Small quieted = 0x00400000;

struct Answer {
  Small code;
  Flags flags;
  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& x) {
  return out << hex({x.code}) << " flags " << x.flags;
}

Answer answer(NanResult policy, Operation op, const std::vector<Small>& codes,
              const Format& to = binary32) {
  Coded<Small> x[3];
  for (std::size_t i = 0; i < codes.size(); ++i) x[i] = {&single, codes[i]};
  const Result<Small> z = apply(op, Rounder<Small>(to, {.nan = policy}), x, Small{});
  return {z.code, static_cast<Flags>(z.flags)};
}
Answer propagated(Operation op, const std::vector<Small>& codes, const Format& to = binary32) {
  return answer(NanResult::propagate, op, codes, to);
}

constexpr std::initializer_list<Operation> two_operands{
    Operation::add,     Operation::subtract,       Operation::multiply,       Operation::divide,
    Operation::minimum, Operation::maximum,        Operation::remainder};

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
      for (const std::vector<Small>& codes : {std::vector{nan, one}, {one, nan}, {nan, quiet_b}}) {
        const bool loud = nan == loud_a || nan == loud_b;
        CHECK(answer(NanResult::canonical, op, codes) == Answer{canonical, loud ? invalid : 0});
      }
}

TEST_CASE("a propagated NaN is the first operand that is one, with its sign") {
  for (Operation op : two_operands) {
    CHECK(propagated(op, {quiet_a, one}) == Answer{quiet_a, 0});
    CHECK(propagated(op, {one, quiet_a}) == Answer{quiet_a, 0});
    CHECK(propagated(op, {one | 0x80000000, quiet_b}) == Answer{quiet_b, 0});
    CHECK(propagated(op, {quiet_a, quiet_b}) == Answer{quiet_a, 0});
    CHECK(propagated(op, {quiet_b, quiet_a}) == Answer{quiet_b, 0});
  }
  CHECK(propagated(Operation::fma, {one, quiet_b, quiet_c}) == Answer{quiet_b, 0});
  CHECK(propagated(Operation::fma, {quiet_a, quiet_b, quiet_c}) == Answer{quiet_a, 0});
  CHECK(propagated(Operation::fma, {one, one, quiet_c}) == Answer{quiet_c, 0});
  for (Operation op : {Operation::sqrt, Operation::convert, Operation::round_to_integral,
                       Operation::logb})
    CHECK(propagated(op, {quiet_a}) == Answer{quiet_a, 0});
}

TEST_CASE("a signalling NaN is made quiet, keeps its payload and raises invalid") {
  for (Operation op : two_operands) {
    CHECK(propagated(op, {loud_a, one}) == Answer{loud_a | quieted, invalid});
    CHECK(propagated(op, {one, loud_b}) == Answer{loud_b | quieted, invalid});
    CHECK(propagated(op, {loud_b, loud_a}) == Answer{loud_b | quieted, invalid});
    CHECK(propagated(op, {quiet_a, loud_b}) == Answer{quiet_a, invalid});
  }
  CHECK(propagated(Operation::fma, {one, one, loud_a}) == Answer{loud_a | quieted, invalid});
  CHECK(propagated(Operation::sqrt, {loud_a}) == Answer{loud_a | quieted, invalid});
  CHECK(propagated(Operation::convert, {loud_b}) == Answer{loud_b | quieted, invalid});
}

TEST_CASE("a NaN that an operation makes is canonical under either policy") {
  const Small minus = 0x80000000;
  for (NanResult policy : {NanResult::canonical, NanResult::propagate}) {
    const Answer made{canonical, invalid};
    CHECK(answer(policy, Operation::add, {infinity, infinity | minus}) == made);
    CHECK(answer(policy, Operation::subtract, {infinity, infinity}) == made);
    CHECK(answer(policy, Operation::multiply, {minus, infinity}) == made);
    CHECK(answer(policy, Operation::divide, {minus, 0}) == made);
    CHECK(answer(policy, Operation::divide, {infinity, infinity | minus}) == made);
    CHECK(answer(policy, Operation::remainder, {infinity | minus, one}) == made);
    CHECK(answer(policy, Operation::remainder, {one, 0}) == made);
    CHECK(answer(policy, Operation::sqrt, {one | minus}) == made);
    CHECK(answer(policy, Operation::sqrt, {infinity | minus}) == made);
    CHECK(answer(policy, Operation::fma, {0, infinity, one}) == made);
    CHECK(answer(policy, Operation::fma, {one, infinity, infinity | minus}) == made);
  }
}

TEST_CASE("zero times infinity is invalid even beside a quiet NaN") {
  for (NanResult policy : {NanResult::canonical, NanResult::propagate})
    CHECK(answer(policy, Operation::fma, {0, infinity, quiet_c}) == Answer{canonical, invalid});
}

TEST_CASE("minimumNumber and minNum: a quiet NaN loses, a signalling one is invalid") {
  CHECK(propagated(Operation::minimum_number, {quiet_a, one}) == Answer{one, 0});
  CHECK(propagated(Operation::minimum_number, {loud_a, one}) == Answer{one, invalid});
  CHECK(propagated(Operation::minimum_number, {loud_a, quiet_b}) == Answer{loud_a | quieted, invalid});
  CHECK(propagated(Operation::min_num, {one, quiet_a}) == Answer{one, 0});
  CHECK(propagated(Operation::min_num, {one, loud_b}) == Answer{loud_b | quieted, invalid});
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
  CHECK(converted("binary32", quiet_a, "e4m3fn") == Answer{0x7f, 0});
  CHECK(converted("binary32", quiet_a, "e4m3fnuz") == Answer{0x80, 0});
  CHECK(converted("binary32", quiet_a, "binary8p3se") == Answer{0x80, 0});
  CHECK(converted("binary32", quiet_a, "e8m0fnu") == Answer{0xff, 0});
  CHECK(converted("binary32", quiet_a, "e2m1fn") == Answer{0, invalid});
  CHECK(converted("binary32", loud_a, "e4m3fn") == Answer{0x7f, invalid});
}
