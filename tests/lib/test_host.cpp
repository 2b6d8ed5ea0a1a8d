#include <limits>
#include <string>

#include "host.hpp"
#include "operands.hpp"
#include "tally.hpp"

namespace test_host {

// binary32 and binary64 against the processor this runs on, in its four directions, flags included.
namespace {

using namespace tests;

// Processors disagree on which NaN, and on whether inf * 0 + NaN is invalid (RISC-V: it is).
template <class F>
bool same(const HostResult<F>& want, std::uint64_t code, Flags flags, bool nan_addend) {
  const F got = std::bit_cast<F>(static_cast<typename Host<F>::Code>(code));
  if (std::isnan(want.value)) return std::isnan(got) && (nan_addend || flags == want.flags);
  return std::bit_cast<typename Host<F>::Code>(want.value) == code && flags == want.flags;
}

template <class F>
void judge(Operation op, const Direction& d, const Coded<typename Host<F>::Code>* x, Tally& tally) {
  using Code = typename Host<F>::Code;
  const Rounder<Code> to(Host<F>::format, {.rounding = d.mode, .tininess = host_tininess});
  F v[3];
  for (int i = 0; i < 3; ++i) v[i] = opaque(std::bit_cast<F>(x[i].code));
  const HostResult<F> want = on_host<F>(d.host, [&] { return compute(op, v[0], v[1], v[2]); });
  const Result<Code> got = apply(op, to, x, Code{});
  const bool nan_addend = op == Operation::fma && std::isnan(v[2]);
  tally.check(same(want, got.code, static_cast<Flags>(got.flags), nan_addend), [&] {
    return Description{call_text(op, x),
                       to.layout.format,
                       to.env,
                       0,
                       {got.code},
                       {std::bit_cast<Code>(want.value)},
                       static_cast<Flags>(got.flags),
                       want.flags}
        .text();
  });
}

template <class F>
void judge_all(std::initializer_list<Operation> operations, std::uint64_t count) {
  const Operands<typename Host<F>::Code> f(Host<F>::format);
  Tally tally;
  Random random(15);
  for (const Direction& d : directions)
    for (Operation op : operations) {
      for (const auto& a : f.named())
        for (const auto& b : f.named()) {
          const Coded<typename Host<F>::Code> x[3]{f.coded(a), f.coded(b), f.coded(f.any(random))};
          judge<F>(op, d, x, tally);
        }
      for (std::uint64_t i = 0; i < count; ++i) {
        Coded<typename Host<F>::Code> x[3];
        draw(op, f, f.layout().format, random, x);
        judge<F>(op, d, x, tally);
      }
    }
  tally.expect(std::size(directions) * operations.size() *
               (f.named().size() * f.named().size() + count));
}

constexpr std::initializer_list<Operation> arithmetic{
    Operation::add,    Operation::subtract, Operation::multiply,
    Operation::divide, Operation::sqrt,     Operation::round_to_integral_exact};

// A conversion on the host: G(a) in all four directions.
template <class From, class To>
void judge_conversion(std::uint64_t count) {
  using Wider = std::uint64_t;
  const Operands<Wider> f(Host<From>::format);
  Tally tally;
  Random random(16);
  for (const Direction& d : directions) {
    const Rounder<Wider> to(Host<To>::format, {.rounding = d.mode, .tininess = host_tininess});
    for (std::uint64_t i = 0; i < count; ++i) {
      const Wider a =
          i < f.named().size() ? f.named()[i]
          : i % 2              ? f.any(random)
                  : f.with_exponent(Operands<Wider>::exponent_near(i % 4 ? -126 : 127, 26, random),
                                    random);
      const From v = opaque(std::bit_cast<From>(static_cast<typename Host<From>::Code>(a)));
      const auto want = on_host<To>(d.host, [&] { return static_cast<To>(v); });
      const Result<Wider> got = convert<Wider>(to, f.layout(), a);
      tally.check(same(want, got.code, static_cast<Flags>(got.flags), false), [&] {
        return Description{"convert " + coded_text(f.layout().format, {a}),
                           to.layout.format,
                           to.env,
                           0,
                           {got.code},
                           {std::bit_cast<typename Host<To>::Code>(want.value)},
                           static_cast<Flags>(got.flags),
                           want.flags}
            .text();
      });
    }
  }
  tally.expect(std::size(directions) * count);
}

// To int64, rounded as told. Where there is no such integer the host's value is its own affair.
template <class F>
void judge_to_int64(std::uint64_t count) {
  const Operands<std::uint64_t> f(Host<F>::format);
  Tally tally;
  Random random(17);
  for (const Direction& d : directions)
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t a =
          i < f.named().size()
              ? f.named()[i]
              : f.with_exponent(static_cast<std::int64_t>(random() % 70) - 4, random);
      const F v = opaque(std::bit_cast<F>(static_cast<typename Host<F>::Code>(a)));
      const auto want = on_host<long long>(d.host, [&] { return std::llrint(v); });
      const IntegerResult got =
          to_integer<std::uint64_t>(64, true, RoundingRule(d.mode), f.layout(), a);
      const bool same_value =
          (want.flags & invalid) || got.value == static_cast<std::uint64_t>(want.value);
      tally.check(same_value && got.flags == want.flags, [&] {
        return Description{"to int64 " + coded_text(f.layout().format, {a}),
                           f.layout().format,
                           {.rounding = d.mode},
                           0,
                           {got.value},
                           {static_cast<std::uint64_t>(want.value)},
                           got.flags,
                           want.flags}
            .text();
      });
    }
  tally.expect(std::size(directions) * count);
}

}  // namespace

TEST_CASE("binary32: the host's results and flags in four directions") {
  judge_all<float>(arithmetic, samples(100'000));
}
TEST_CASE("binary64: the host's results and flags in four directions") {
  judge_all<double>(arithmetic, samples(100'000));
}
TEST_CASE("fma: the host's results and flags in four directions") {
  if (!has_fma()) {
    std::printf("SKIPPED: this CPU has no fused multiply-add\n");
    return;
  }
  judge_all<float>({Operation::fma}, samples(100'000));
  judge_all<double>({Operation::fma}, samples(100'000));
}
TEST_CASE("binary64 to binary32, binary32 to binary64, either to int64: as the host") {
  judge_conversion<double, float>(samples(100'000));
  judge_conversion<float, double>(samples(100'000));
  judge_to_int64<float>(samples(100'000));
  judge_to_int64<double>(samples(100'000));
}

}  // namespace test_host
