#include <array>

#include "operands.hpp"
#include "tally.hpp"

namespace test_side_by_side {

// The quick ways of an operation: what they are sure of is what the operation says, whether one
// value is worked on or a row of them.
namespace {

using namespace tests;

template <class How, class U>
Quick<U> quick(Operation op, const Rounder<U>& to, const Coded<U>* x) {
  const Layout<U>&f = *x[0].layout, &g = *x[1].layout, &h = *x[2].layout;
  switch (op) {
    case Operation::add: return quick_sum<How>(to, false, f, x[0].code, g, x[1].code);
    case Operation::subtract: return quick_sum<How>(to, true, f, x[0].code, g, x[1].code);
    case Operation::multiply: return quick_product<How>(to, f, x[0].code, g, x[1].code);
    case Operation::convert: return quick_conversion<How>(to, f, x[0].code);
    default: return quick_fma<How>(to, f, x[0].code, g, x[1].code, h, x[2].code);
  }
}

// Every step of an operation is told to whoever listens, so a traced one takes no quick way.
template <class U>
Result<U> in_full(Operation op, const Rounder<U>& to, const Coded<U>* x) {
  const auto listener = [](auto&&...) {};
  const Layout<U>&f = *x[0].layout, &g = *x[1].layout, &h = *x[2].layout;
  switch (op) {
    case Operation::add: return add(to, f, x[0].code, g, x[1].code, U{}, listener);
    case Operation::subtract: return subtract(to, f, x[0].code, g, x[1].code, U{}, listener);
    case Operation::multiply: return multiply(to, f, x[0].code, g, x[1].code, U{}, listener);
    case Operation::convert: return convert(to, f, x[0].code, U{}, listener);
    default: return fma(to, f, x[0].code, g, x[1].code, h, x[2].code, U{}, listener);
  }
}

struct Counts {
  std::uint64_t judged = 0, sure = 0;
};

template <class How, class U>
void judge(Operation op, const Format& f, const Env& env, std::uint64_t n, Random& random,
           Tally& tally, Counts& counts) {
  const Operands<U> operands(f);
  const Rounder<U> to(f, env);
  for (std::uint64_t i = 0; i < n; ++i) {
    Coded<U> x[3];
    draw(op, operands, f, random, x);
    const Quick<U> got = quick<How>(op, to, x);
    const Result<U> want = in_full(op, to, x);
    ++counts.judged;
    counts.sure += got.sure;
    tally.check(!got.sure || (got.code == want.code && got.flags == want.flags), [&] {
      return Description{call_text(op, x),
                         f,
                         env,
                         0,
                         limbs(got.code),
                         limbs(want.code),
                         static_cast<Flags>(got.flags),
                         static_cast<Flags>(want.flags)}
          .text();
    });
  }
}

constexpr std::array operations{Operation::add, Operation::subtract, Operation::multiply,
                                Operation::fma, Operation::convert};

template <class How, class U>
void judge_formats(std::initializer_list<Format> formats) {
  Random random(1);
  Tally tally;
  Counts counts;
  const std::uint64_t n = samples(1000);
  std::uint64_t expected = 0;
  for (const Format& f : formats)
    for (const Operation op : operations)
      for (const Env& env : deterministic_environments()) {
        judge<How, U>(op, f, env, n, random, tally, counts);
        expected += n;
      }
  tally.expect(expected);
  CHECK(counts.sure > counts.judged / 10);  // else nothing was shown
}

Format unsigned_format() {
  Format f = ieee_format(5, 10);
  f.sign = Sign::none;
  return f;
}

TEST_CASE("a quick result is sure only where it is the operation's own: side by side") {
  judge_formats<SideBySide, std::uint32_t>(
      {binary16, binary32, e4m3fn, e4m3fnuz, e5m2, ieee_format(4, 26)});
  judge_formats<SideBySide, std::uint64_t>(
      {binary64, binary32, ieee_format(20, 40), ieee_format(4, 58)});
}

TEST_CASE("a quick result is sure only where it is the operation's own: one by one") {
  judge_formats<OneByOne, std::uint32_t>({binary16, binary32, e4m3fn, e4m3fnuz, e5m2});
  judge_formats<OneByOne, std::uint64_t>({binary64});
  judge_formats<OneByOne, uint128>({binary128, ieee_format(15, 64), binary64});
}

TEST_CASE("no quick result of a format without signs is sure: its negative results need care") {
  Random random(2);
  Tally tally;
  Counts counts;
  const std::uint64_t n = samples(1000);
  judge<SideBySide, std::uint32_t>(Operation::add, unsigned_format(), {}, n, random, tally, counts);
  tally.expect(n);
  CHECK(counts.sure == 0);
}

template <class U>
void judge_steps() {
  Random random(3);
  Tally tally;
  const std::uint64_t n = samples(100'000);
  for (std::uint64_t i = 0; i < n; ++i) {
    const U a = uniform<U>(random) >> random() % digits<U>, b = uniform<U>(random);
    const Normalised<U> counted = OneByOne::normalised(a), halved = SideBySide::normalised(a);
    const Halves<U> p = OneByOne::multiply(a, b), q = SideBySide::multiply(a, b);
    const bool same_zeros = a == U{} || counted.zeros == halved.zeros;
    tally.check(counted.sig == halved.sig && same_zeros && p.high == q.high && p.low == q.low,
                [&] { return "a " + hex(limbs(a)) + ", b " + hex(limbs(b)); });
  }
  const U table[4] = {10, 11, 12, 13};
  for (bool high : {false, true})
    for (bool low : {false, true})
      tally.check(SideBySide::pick(table, high, low) == OneByOne::pick(table, high, low),
                  [&] { return "pick " + std::to_string(2 * high + low); });
  tally.expect(n + 4);
}

TEST_CASE("a row of integers multiplies, normalises and looks up as one does") {
  judge_steps<std::uint32_t>();
  judge_steps<std::uint64_t>();
}

}  // namespace

}  // namespace test_side_by_side
