#include <array>
#include <tuple>

#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/text.hpp"

namespace test_carriers {

// A result depends on its operands, format and environment, never on the carrier that computed it.
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
                                Operation::minimum,
                                Operation::round_to_integral_exact,
                                Operation::min_num,
                                Operation::maximum_number,
                                Operation::max_x86,
                                Operation::next_up,
                                Operation::next_down,
                                Operation::logb,
                                Operation::copysign,
                                Operation::negate,
                                Operation::abs};

template <class U>
struct Side {
  Layout<U> layout;
  std::vector<Rounder<U>> rounders;
  Side(const Format& f, const std::vector<Env>& all) : layout(f) {
    for (const Env& env : all) rounders.emplace_back(f, env);
  }
};

template <class V, class U>
V carried(const U& x) {
  if constexpr (digits<U> <= 64)
    return V(std::uint64_t{x});
  else
    return V(x);
}

// The same operation in carriers U (just wide enough) and V (wider).
template <class V, class U>
void judge(Operation op, const Side<U>& less, const Side<V>& more, std::size_t i, const Coded<U>* x,
           std::uint64_t r, Tally& tally) {
  Coded<V> y[3];
  for (int k = 0; k < arity(op); ++k) y[k] = {&more.layout, carried<V>(x[k].code)};
  const Result<U> small = apply(op, less.rounders[i], x, U(r));
  const Result<V> large = apply(op, more.rounders[i], y, V(r));
  tally.check(carried<V>(small.code) == large.code && small.flags == large.flags, [&] {
    return Description{call_text(op, x),
                       less.layout.format,
                       less.rounders[i].env,
                       r,
                       limbs(large.code),
                       limbs(small.code),
                       static_cast<Flags>(large.flags),
                       static_cast<Flags>(small.flags)}
        .text();
  });
}

// Every mode, canonical and propagated NaNs, and random bits while the lesser carrier has room.
std::vector<Env> environments(const Format& f, int carrier_digits) {
  std::vector<Env> all = deterministic_environments();
  for (const Env& env : stochastic_environments())
    if (digits_needed(f, env.rounding) <= carrier_digits) all.push_back(env);
  const std::size_t canonical = all.size();
  for (std::size_t i = 0; i < canonical; ++i) {
    all.push_back(all[i]);
    all.back().nan = i % 2 ? NanResult::propagate : NanResult::x86;
  }
  return all;
}

template <class U, class... Vs>
void judge_format(std::string_view text, std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  const Operands<U> f(parse_format(text));
  const Format& format = f.layout().format;
  REQUIRE(digits_needed(format) <= digits<U>);
  const std::vector<Env> all = environments(format, digits<U>);
  const Side<U> less(format, all);
  const std::tuple<Side<Vs>...> wider(Side<Vs>(format, all)...);
  Tally tally;
  Random random(18);
  for (Operation op : operations)
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t which = i % all.size();
      Coded<U> x[3];
      draw(op, f, format, random, x);
      const std::uint64_t r = random_bits(all[which], random);
      (judge(op, less, std::get<Side<Vs>>(wider), which, x, r, tally), ...);
    }
  tally.expect(operations.size() * count * sizeof...(Vs));
}

// Everything is known when the program is written: nothing is left to run.
constexpr Rounder<std::uint32_t> half_nearest(binary16);
constexpr Layout<std::uint32_t> half(binary16);
static_assert(add<std::uint32_t>(half_nearest, half, 0x3c00, half, 0x4000).code == 0x4200);
static_assert(multiply<std::uint32_t>(half_nearest, half, 0x7bff, half, 0x7bff).flags ==
              (overflow | inexact));
static_assert(divide<std::uint32_t>(half_nearest, half, 0x3c00, half, 0).flags == divide_by_zero);
static_assert(widthwise::sqrt<std::uint32_t>(half_nearest, half, 0x4400).code == 0x4000);
static_assert(widthwise::fma<std::uint32_t>(half_nearest, half, 0x4200, half, 0x6156, half, 0x400)
                  .code == 0x6801);
static_assert(widthwise::remainder<std::uint32_t>(half_nearest, half, 0x4500, half, 0x4200).code ==
              0xbc00);
static_assert(to_integer<std::uint64_t>(32, true, RoundingRule(RoundingMode::rtz),
                                        Layout<std::uint64_t>(binary64), 0xc004000000000000)
                  .value == ~std::uint64_t{1});

constexpr Rounder<Wide<4>> octuple_down(binary256, {.rounding = RoundingMode::rdn});
constexpr Layout<Wide<4>> octuple(binary256);
constexpr Wide<4> octuple_one = Wide<4>(std::uint64_t{0x3ffff}) << 236;
static_assert(subtract<Wide<4>>(octuple_down, octuple, octuple_one, octuple, octuple_one).code ==
              octuple.sign);
static_assert(convert<Wide<4>>(Rounder<Wide<4>>(binary16), octuple, octuple_one).code ==
              Wide<4>(0x3c00));

}  // namespace

TEST_CASE("formats of 32 digits give the same results in every wider carrier") {
  for (const char* text :
       {"binary16", "binary32", "e4m3fn", "e8m0fnu", "binary8p1se", "e5m9;sub=no", "e4m26"})
    judge_format<std::uint32_t, std::uint64_t, uint128, Wide<4>>(text, 2'000);
  judge_format<std::uint32_t, Wide<17>>("binary32", 300);
}
TEST_CASE("formats of 64 and 128 digits give the same results in every wider carrier") {
  for (const char* text : {"binary64", "e62m1", "e4m58"})
    judge_format<std::uint64_t, uint128, Wide<4>>(text, 2'000);
  for (const char* text : {"binary128", "e62m60", "e4m122"})
    judge_format<uint128, Wide<4>>(text, 2'000);
  judge_format<std::uint64_t, Wide<17>>("binary64", 300);
}
TEST_CASE("formats of 256 and 1,088 digits give the same results in every wider carrier") {
  for (const char* text : {"binary256", "e4m250"}) judge_format<Wide<4>, Wide<17>>(text, 300);
  judge_format<Wide<17>, Wide<65>>("e15m1000", 50);
}

}  // namespace test_carriers
