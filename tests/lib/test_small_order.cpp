#include "small.hpp"
#include "tests/turns.hpp"

// What orders, picks, classifies and turns codes of formats of up to eight bits.
namespace {

using namespace tests;

constexpr std::initializer_list<Operation> extremes{
    Operation::minimum, Operation::maximum, Operation::minimum_number, Operation::maximum_number,
    Operation::min_num, Operation::max_num, Operation::min_x86,        Operation::max_x86};

constexpr std::initializer_list<Comparison> comparisons{
    Comparison::quiet_equal,         Comparison::quiet_less,      Comparison::quiet_less_equal,
    Comparison::quiet_unordered,     Comparison::signaling_equal, Comparison::signaling_less,
    Comparison::signaling_less_equal};
constexpr std::initializer_list<Comparison> total_orders{Comparison::total_order,
                                                         Comparison::total_order_magnitude};

// The definition's answer to a comparison, as the oracle gives it.
oracle::Answer compared(Comparison what, const Layout<Small>& f, Small a, const Layout<Small>& g,
                        Small b) {
  using enum Comparison;
  if (what == total_order) return {widthwise::total_order<Small>(f, a, b), 0};
  if (what == total_order_magnitude) return {widthwise::total_order_magnitude<Small>(f, a, b), 0};
  const Relation r = widthwise::compare<Small>(f, a, g, b);
  const bool loud =
      what == signaling_equal || what == signaling_less || what == signaling_less_equal;
  const Flags flags = comparison_flags<Small>(f, a, g, b, loud);
  const bool equal = r == Relation::equal, less = r == Relation::less;
  switch (what) {
    case quiet_unordered: return {r == Relation::unordered, flags};
    case quiet_equal:
    case signaling_equal: return {equal, flags};
    case quiet_less:
    case signaling_less: return {less, flags};
    default: return {less || equal, flags};
  }
}

void compare_all_pairs(std::initializer_list<Comparison> whats, const Codes& f, const Codes& g,
                       Tally& tally) {
  for (std::uint64_t a = 0; a < f.size(); ++a)
    for (std::uint64_t b = 0; b < g.size(); ++b)
      for (Comparison what : whats) {
        const oracle::Answer want = oracle::compare(what, {*f.values, a}, {*g.values, b});
        const oracle::Answer got =
            compared(what, f.layout, static_cast<Small>(a), g.layout, static_cast<Small>(b));
        tally.check(got == want, [&] {
          return Description{"comparison " + std::to_string(static_cast<int>(what)) + " " +
                                 coded_text(f.format(), {a}) + " " + coded_text(g.format(), {b}),
                             f.format(),
                             {},
                             0,
                             {got.code},
                             {want.code},
                             got.flags,
                             want.flags}
              .text();
        });
      }
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("all eight minimum and maximum operations: every pair of codes") {
    Judge judge;
    std::uint64_t expected = 0;
    for (const Format& f : in_turn(small_formats(), 2)) {
      const Codes codes(f);
      const Target target(
          f, half_of({{.rounding = RoundingMode::rne}, {.rounding = RoundingMode::rdn}}));
      for (Operation op : extremes) judge.all_pairs(op, target, codes, codes);
      expected += extremes.size() * codes.size() * codes.size() * target.size();
    }
    judge.expect(expected);
  }

  TEST_CASE("every comparison, total orders included: every pair of codes") {
    Tally tally;
    std::uint64_t expected = 0;
    for (const Format& f : small_formats()) {
      const Codes codes(f);
      compare_all_pairs(comparisons, codes, codes, tally);
      compare_all_pairs(total_orders, codes, codes, tally);
      expected += (comparisons.size() + total_orders.size()) * codes.size() * codes.size();
    }
    tally.expect(expected);
  }
}

TEST_CASE("comparisons and extremes between two formats, results in a third") {
  Judge judge;
  std::uint64_t expected = 0;
  for (const Format& f : tiny_formats())
    for (const Format& g : tiny_formats()) {
      const Codes a(f), b(g);
      const Target target(tiny_formats()[expected % tiny_formats().size()],
                          half_of(deterministic_environments()));
      for (Operation op : extremes) judge.all_pairs(op, target, a, b);
      compare_all_pairs(comparisons, a, b, judge.tally());
      expected += a.size() * b.size() * (extremes.size() * target.size() + comparisons.size());
    }
  judge.expect(expected);
}

TEST_CASE("next up, next down, negate, abs and copysign: every code") {
  Judge judge;
  std::uint64_t expected = 0;
  for (const Format& f : small_formats()) {
    const Codes codes(f);
    const Target target(f, {Env{}});
    for (Operation op :
         {Operation::next_up, Operation::next_down, Operation::negate, Operation::abs})
      judge.all_codes(op, target, codes);
    judge.all_pairs(Operation::copysign, target, codes, codes);
    expected += codes.size() * (4 + codes.size());
  }
  judge.expect(expected);
}

TEST_CASE("class: every code") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& f : small_formats()) {
    const Codes codes(f);
    for (std::uint64_t a = 0; a < codes.size(); ++a) {
      const auto want = static_cast<NumberClass>(oracle::class_of({*codes.values, a}));
      const NumberClass got = classify<Small>(codes.layout, static_cast<Small>(a));
      tally.check(got == want, [&] {
        return coded_text(f, {a}) + ": got class " + std::to_string(static_cast<int>(got)) +
               ", want " + std::to_string(static_cast<int>(want));
      });
    }
    expected += codes.size();
  }
  tally.expect(expected);
}
