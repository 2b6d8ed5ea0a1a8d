#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/side_by_side.hpp"
#include "widthwise/sim/text.hpp"

// The ways of a row of integers against those of one: the same digits, and right where sure.
namespace {

using namespace tests;

template <class U>
void judge_parts(std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  Tally tally;
  Random random(20);
  for (std::uint64_t i = 0; i < count; ++i) {
    const U a = static_cast<U>(random()) >> random() % digits<U>;
    const U b = static_cast<U>(random()) >> random() % digits<U>;
    const Halves<U> row = SideBySide::multiply(a, b), one = multiply_exact(a, b);
    tally.check(row.high == one.high && row.low == one.low,
                [&] { return "product " + hex({a}) + " " + hex({b}); });
    const Normalised<U> top = SideBySide::normalised(a);
    const bool good =
        a == 0 ? top.sig == 0 : top.sig == a << top.zeros && top.sig >> (digits<U> - 1) == 1;
    tally.check(good, [&] { return "normalise " + hex({a}); });
  }
  const U table[4] = {10, 11, 12, 13};
  for (bool high : {false, true})
    for (bool low : {false, true})
      tally.check(SideBySide::pick(table, high, low) == OneByOne::pick(table, high, low),
                  [&] { return "pick " + std::to_string(2 * high + low); });
  tally.expect(2 * count + 4);
}

template <class U>
Quick<U> quick(Operation op, const Rounder<U>& to, const Layout<U>& f, const Coded<U>* x) {
  const U &a = x[0].code, &b = x[1].code, &c = x[2].code;
  switch (op) {
    case Operation::multiply: return quick_product<SideBySide>(to, f, a, f, b);
    case Operation::fma: return quick_fma<SideBySide>(to, f, a, f, b, f, c);
    default: return quick_sum<SideBySide>(to, op == Operation::subtract, f, a, f, b);
  }
}

// Random bits have no quick way. Of any operands, most results are normal numbers.
template <class U>
void judge_format(std::string_view text, std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  const std::initializer_list<Operation> operations{Operation::add, Operation::subtract,
                                                    Operation::multiply, Operation::fma};
  const Operands<U> f(parse_format(text));
  std::vector<Rounder<U>> all;
  for (const Env& env : deterministic_environments()) all.emplace_back(f.layout().format, env);
  Tally tally;
  Random random(21);
  std::uint64_t sure = 0;
  for (Operation op : operations)
    for (std::uint64_t i = 0; i < count; ++i) {
      const Rounder<U>& to = all[i % all.size()];
      Coded<U> x[3];
      draw(op, f, f.layout().format, random, x);
      if (i % 2)
        for (Coded<U>& operand : x)
          operand.code = f.with_exponent(f.exponent_near(0, 3, random), random);
      const Quick<U> z = quick(op, to, f.layout(), x);
      const Result<U> full = apply(op, to, x, U{});
      sure += z.sure;
      tally.check(!z.sure || (z.code == full.code && z.flags == full.flags), [&] {
        return Description{call_text(op, x),
                           f.layout().format,
                           to.env,
                           0,
                           {z.code},
                           {full.code},
                           static_cast<Flags>(z.flags),
                           static_cast<Flags>(full.flags)}
            .text();
      });
    }
  tally.expect(operations.size() * count);
  CHECK(sure > tally.cases() / 3);
  CHECK(sure < tally.cases());
}

}  // namespace

TEST_CASE("a row of integers multiplies, normalises and looks up as one does") {
  judge_parts<std::uint32_t>(100'000);
  judge_parts<std::uint64_t>(100'000);
}

TEST_CASE("what is computed side by side is right wherever it is sure, and mostly sure") {
  for (const char* text : {"binary16", "bfloat16", "binary32", "e4m3fn;ftz", "e4m26"})
    judge_format<std::uint32_t>(text, 50'000);
  for (const char* text : {"binary64", "e11m40", "e4m58"})
    judge_format<std::uint64_t>(text, 50'000);
}
