#include <limits>
#include <string>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "host.hpp"
#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/sim/text.hpp"

namespace test_host_flush {

// Subnormals that the processor flushes, next to the least normal number: x86 by MXCSR.FTZ and
// MXCSR.DAZ, which are apart, 64-bit Arm by FPCR.FZ, which is both.
namespace {

using namespace tests;

struct Policy {
  const char* options;
  unsigned control;  // bits of the processor's control register
};
#if defined(__x86_64__)
constexpr Policy policies[] = {{";ftz", 0x8000}, {";daz", 0x0040}, {";daz;ftz", 0x8040}};
unsigned control() { return _mm_getcsr(); }
void set_control(unsigned bits) { _mm_setcsr(bits); }
#elif defined(__aarch64__)
constexpr Policy policies[] = {{";daz;ftz", 1u << 24}};
unsigned control() {
  std::uint64_t bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return static_cast<unsigned>(bits);
}
void set_control(unsigned bits) {
  asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{bits}) : "memory");
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)

// The host flushes meanwhile. What it raises stays.
class Flushing {
 public:
  explicit Flushing(unsigned bits) : bits_(bits) { set_control(control() | bits_); }
  ~Flushing() { set_control(control() & ~bits_); }

 private:
  unsigned bits_;
};

// Arm raises underflow alone where it flushes a result (FPRoundBase of its manual).
Flags as_the_host_tells(Flags flags) {
  if (host_tininess == Tininess::before_rounding && (flags & underflow)) return flags & ~inexact;
  return flags;
}

// A number or one a few steps beside it, of either sign.
template <class F>
F near(F x, Random& random) {
  using Code = typename Host<F>::Code;
  const Code code = std::bit_cast<Code>(x) + static_cast<Code>(random() % 17) - Code{8};
  const F z = std::bit_cast<F>(code);
  return random() % 2 ? z : -z;
}

// Operands whose result lies next to the least normal number, and often within its last digit.
template <class F>
void aim(Operation op, Random& random, F (&x)[3]) {
  constexpr F least = std::numeric_limits<F>::min();
  constexpr int half_way = std::numeric_limits<F>::min_exponent / 2;
  const auto fraction = 1 + static_cast<F>(random() >> 11) / static_cast<F>(0x1p53);  // in [1, 2]
  const F factor = std::ldexp(fraction, half_way - static_cast<int>(random() % 8));
  const int below = static_cast<int>(random() % (2 * std::numeric_limits<F>::digits));
  switch (op) {
    case Operation::multiply:
      x[0] = near(factor, random), x[1] = near(least / factor, random);
      return;
    case Operation::divide:
      x[1] = near(1 / factor, random), x[0] = near(least * std::fabs(x[1]), random);
      return;
    case Operation::fma:
      x[0] = near(factor, random), x[1] = near(std::ldexp(least / factor, -below), random);
      x[2] = near(least, random);
      return;
    default:
      x[0] = near(std::ldexp(least, static_cast<int>(random() % 3)), random);
      x[1] = near(std::ldexp(x[0], -static_cast<int>(random() % 2)), random);
  }
}

template <class F>
void judge(Operation op, const Direction& d, const Policy& policy, const F (&x)[3], Tally& tally) {
  using Code = typename Host<F>::Code;
  const Format f = parse_format(to_string(Host<F>::format) + policy.options);
  const Rounder<Code> to(f, {.rounding = d.mode, .tininess = host_tininess});
  const Layout<Code> layout(f);
  Coded<Code> coded[3];
  for (int i = 0; i < 3; ++i) coded[i] = {&layout, std::bit_cast<Code>(x[i])};
  const HostResult<F> want = on_host<F>(d.host, [&] {
    const Flushing flushing(policy.control);
    return opaque(compute(op, opaque(x[0]), opaque(x[1]), opaque(x[2])));
  });
  const Result<Code> got = apply(op, to, coded, Code{});
  const auto flags = as_the_host_tells(static_cast<Flags>(got.flags));
  const bool both_nan = std::isnan(want.value) && std::isnan(std::bit_cast<F>(got.code));
  const bool same = both_nan || std::bit_cast<Code>(want.value) == got.code;
  tally.check(same && flags == want.flags, [&] {
    return Description{call_text(op, coded),
                       f,
                       to.env,
                       0,
                       {got.code},
                       {std::bit_cast<Code>(want.value)},
                       flags,
                       want.flags}
        .text();
  });
}

template <class F>
void judge_all(std::uint64_t count) {
  Tally tally;
  Random random(18);
  std::uint64_t expected = 0;
  for (const Policy& policy : policies)
    for (const Direction& d : directions)
      for (Operation op : {Operation::add, Operation::subtract, Operation::multiply,
                           Operation::divide, Operation::fma}) {
        if (op == Operation::fma && !has_fma()) continue;
        for (std::uint64_t i = 0; i < count; ++i, ++expected) {
          F x[3]{};
          aim(op, random, x);
          judge<F>(op, d, policy, x, tally);
        }
      }
  tally.expect(expected);
}

#endif

}  // namespace

#if defined(__x86_64__) || defined(__aarch64__)
TEST_CASE("binary32: what the host flushes, a million operands at the border") {
  judge_all<float>(samples(20'000) * (3 / std::size(policies)));
}
TEST_CASE("binary64: what the host flushes, a million operands at the border") {
  judge_all<double>(samples(20'000) * (3 / std::size(policies)));
}
#endif

// Where the rules part: 2^-126 (1 - 2^-24) is 24 digits long and a half of the last subnormal one.
TEST_CASE("what is flushed follows the rule of tininess") {
  const Layout<std::uint32_t> f(parse_format("binary32;ftz"));
  const auto product = [&](std::uint32_t a, std::uint32_t b, Tininess rule) {
    const Rounder<std::uint32_t> to(f.format, {.tininess = rule});
    const auto z = multiply<std::uint32_t>(to, f, a, f, b);
    return std::pair(z.code, static_cast<Flags>(z.flags));
  };
  using enum Tininess;
  constexpr std::uint32_t least = 0x00800000, below_one = 0x3f7fffff;
  CHECK(product(least, below_one, after_rounding) == std::pair(0u, underflow | inexact));
  CHECK(product(least, below_one, before_rounding) == std::pair(0u, underflow | inexact));
  CHECK(product(least, below_one, as_delivered) == std::pair(least, Flags{inexact}));
  // 2^-126 (1 - 2^-46): to 24 digits that is 2^-126, whatever the exponent.
  CHECK(product(0x00800001, 0x3f7ffffe, after_rounding) == std::pair(least, Flags{inexact}));
  CHECK(product(0x00800001, 0x3f7ffffe, before_rounding) == std::pair(0u, underflow | inexact));
  // An exact subnormal number is tiny by all three.
  for (const Tininess rule : {after_rounding, before_rounding, as_delivered})
    CHECK(product(least | 0x80000000u, 0x3f000000, rule) ==
          std::pair(0x80000000u, underflow | inexact));
}

}  // namespace test_host_flush
