// Kills: decide.hpp round.hpp rounder.hpp op/*.hpp
// Flags: -fsanitize=shift -fno-sanitize-recover=all
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "tests/lib/apply.hpp"
#include "tests/lib/nan_cases.hpp"
#include "tests/lib/traced.hpp"
#include "tests/mutate/digests.hpp"

// Exits at the first digest, NaN or trace that differs from what it is in the unchanged definition.
namespace tests {
template Result<std::uint32_t> apply(Operation, const Rounder<std::uint32_t>&,
                                     const Coded<std::uint32_t>*, const std::uint32_t&);
}

namespace {

using namespace widthwise;
using mutate::Answer;
using mutate::Code;
using Small = std::uint32_t;
using Large = std::uint64_t;  // for integers

void demand(bool good, const char* what) {
  if (good) return;
  std::printf("%s: not as it was\n", what);
  std::exit(1);
}

template <class U>
Answer answer(const Result<U>& z) {
  return {z.code, static_cast<Flags>(z.flags)};
}

class Definition {
 public:
  void set(const Format& a, const Format& b, const Format& c, const Format& to, const Env& env) {
    layouts_[0] = Layout<Small>(a), layouts_[1] = Layout<Small>(b), layouts_[2] = Layout<Small>(c);
    to_ = Rounder<Small>(to, env);
    source_ = Layout<Large>(a);
    large_ = Rounder<Large>(to, env);
  }
  Answer operate(Operation op, Code a, Code b, Code c, Code random) {
    const tests::Coded<Small> x[] = {{&layouts_[0], static_cast<Small>(a)},
                                     {&layouts_[1], static_cast<Small>(b)},
                                     {&layouts_[2], static_cast<Small>(c)}};
    return answer(tests::apply(op, to_, x, static_cast<Small>(random)));
  }
  Answer scaleb(Code a, std::int64_t n, Code random) {
    return answer(widthwise::scaleb<Small>(to_, layouts_[0], static_cast<Small>(a), n,
                                           static_cast<Small>(random)));
  }
  Answer to_integer(IntegerType type, Code a, Code random) {
    const IntegerResult z =
        widthwise::to_integer<Large>(type.width, type.is_signed, large_.rule, source_, a, random);
    return {z.value & ~Code{0} >> (64 - type.width), z.flags};
  }
  Answer from_integer(IntegerType type, Code integer, Code random) {
    const bool negative = type.is_signed && (integer >> (type.width - 1)) != 0;
    const Code magnitude = negative ? (0 - integer) & ~Code{0} >> (64 - type.width) : integer;
    return answer(widthwise::from_integer<Large>(large_, negative, magnitude, random));
  }
  Answer compare(Comparison what, Code a, Code b) const;
  Answer class_of(Code a) const {
    return {static_cast<Code>(classify<Small>(layouts_[0], static_cast<Small>(a))), 0};
  }

 private:
  Layout<Small> layouts_[3]{Layout<Small>(e2m1fn), Layout<Small>(e2m1fn), Layout<Small>(e2m1fn)};
  Rounder<Small> to_{e2m1fn};
  Layout<Large> source_{e2m1fn};
  Rounder<Large> large_{e2m1fn};
};

Answer Definition::compare(Comparison what, Code a, Code b) const {
  using enum Comparison;
  const Layout<Small>& f = layouts_[0];
  const auto x = static_cast<Small>(a), y = static_cast<Small>(b);
  if (what == total_order) return {widthwise::total_order<Small>(f, x, y), 0};
  if (what == total_order_magnitude) return {widthwise::total_order_magnitude<Small>(f, x, y), 0};
  const Relation r = widthwise::compare<Small>(f, x, f, y);
  const bool loud =
      what == signaling_equal || what == signaling_less || what == signaling_less_equal;
  const Flags flags = comparison_flags<Small>(f, x, f, y, loud);
  const bool equal = r == Relation::equal, less = r == Relation::less;
  const bool strict = what == quiet_less || what == signaling_less;
  if (what == quiet_unordered) return {r == Relation::unordered, flags};
  if (what == quiet_equal || what == signaling_equal) return {equal, flags};
  return {less || (equal && !strict), flags};
}

void demand_nans(NanResult policy) {
  namespace cases = tests::nan_cases;
  const Rounder<Small> to(binary32, {.nan = policy});
  const Layout<Small> f(binary32);
  const auto check = [&](Operation op, const cases::Operands& codes, Small want, Flags flags) {
    const tests::Coded<Small> x[] = {{&f, codes[0]}, {&f, codes[1]}, {&f, codes[2]}};
    const Result<Small> z = tests::apply(op, to, x, Small{});
    demand(z.code == want && z.flags == flags, "NaN");
  };
  const Small code = makes_negative(policy) ? cases::canonical | cases::minus : cases::canonical;
  cases::made(check, code);
  if (policy == NanResult::x86)
    cases::given_beside_nothing(check);
  else
    cases::made_beside_nan(check, code);
  if (!propagates(policy)) return;
  cases::first_wins(check);
  cases::signalling_is_quieted(check);
  cases::number_wins(check);
}

// e3m2fn has neither infinities nor NaN.
double value(Small code) {
  const int field = code >> 2 & 7, fraction = code & 3;
  const double magnitude = field ? std::ldexp(4 + fraction, field - 5) : std::ldexp(fraction, -4);
  return code & 0x20 ? -magnitude : magnitude;
}

void demand_traces() {
  const Layout<Small> f(e3m2fn);
  const Rounder<Small> to(e3m2fn);
  for (Operation op : tests::traced_operations)
    for (Small a = 0; a < 64; ++a)
      for (Small b = 0; b < 64; ++b) {
        const Small c = (5 * a + 11 * b) % 64;
        if (a % 32 == 0 || b % 32 == 0 || c % 32 == 0) continue;
        const double exact = tests::exact_result(op, value(a), value(b), value(c));
        std::vector<tests::Heard> heard;
        const Result<Small> z = tests::with_listener(op, to, f, a, b, c, tests::Listener(heard));
        if (exact == 0 || (z.flags & (overflow | invalid))) continue;
        demand(tests::tells_the_truth(heard, exact, value(z.code), z.code), "trace");
      }
}

// Zero times the largest number of any format lies below every addend.
void demand_zero_products() {
  Format high = ieee_format(62, 1);
  high.bias = 1;
  const Layout<Large> f(high), g(ieee_format(62, 1));
  const Rounder<Large> to(g.format);
  const Result<Large> z = fma<Large>(to, f, f.max_finite, f, Large{0}, g, Large{1});
  demand(z.code == 1 && z.flags == 0, "zero product");
}

// The largest integers, which short formats do not reach.
void demand_largest_integers() {
  const Layout<Large> f(binary64);
  const auto check = [&](bool is_signed, double x, std::uint64_t want) {
    const IntegerResult z = to_integer<Large>(32, is_signed, RoundingRule(RoundingMode::rne), f,
                                              std::bit_cast<Large>(x));
    demand(z.value == want && z.flags == 0, "largest integer");
  };
  check(false, 0xffffffff, 0xffffffff);
  check(true, 0x7fffffff, 0x7fffffff);
}

}  // namespace

int main() {
  demand_largest_integers();
  demand_zero_products();
  for (const NanResult policy :
       {NanResult::canonical, NanResult::propagate, NanResult::negative, NanResult::x86})
    demand_nans(policy);
  demand_traces();
  Definition definition;
  mutate::for_each_digest(
      definition, [](const char* subject, Code got, Code want) { demand(got == want, subject); });
}
