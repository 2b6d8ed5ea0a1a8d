#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "format_cover.hpp"
#include "tests/lib/tally.hpp"
#include "tests/turns.hpp"
#include "walk.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/text.hpp"

namespace test_agree {

// The two oracles share no code. Where they agree on every code, both are right, or were misled by
// the same sentence of docs/semantics.md.
namespace {

using namespace widthwise;
using oracle::Answer;
using oracle::Values;
using tests::Tally;

// IEEE-like, every way to code NaN and infinity, no subnormals, no zero, one digit, no sign.
const std::vector<Format>& formats() {
  static const std::vector<Format> all = [] {
    std::vector<Format> parsed;
    for (const char* text : {"e3m2",
                             "e3m2;bias=4",
                             "e2m3;daz;ftz",
                             "e3m2;overflow=max",
                             "e3m2;overflow=nan",
                             "e3m2;overflow=inf",
                             "e3m2;inf=no",
                             "e3m2;sub=no",
                             "e3m2;nan=none;zero=no",
                             "ue2m2;nan=none;zero=no",
                             "ue2m2;nan=none;inf=top",
                             "e3m2;nan=all_ones",
                             "e3m2;nan=all_ones;bias=7;overflow=max",
                             "e3m2;nan=negative_zero;bias=4",
                             "e3m2;nan=negative_zero;ftz",
                             "e2m1fn",
                             "e2m3fn",
                             "e3m2fn",
                             "ue5m0;nan=all_ones;sub=no;zero=no",
                             "ue5m0;nan=all_ones;sub=no",
                             "e4m0;nan=all_ones;sub=no;zero=no",
                             "e4m0;nan=none",
                             "ue3m1"})
      parsed.push_back(parse_format(text));
    for (bool is_signed : {false, true}) {
      parsed.push_back(p3109_format(6, 1, is_signed, true));
      parsed.push_back(p3109_format(5, 2, is_signed, false));
    }
    return parsed;
  }();
  return all;
}

std::vector<Env> environments() {
  std::vector<Env> all;
  for (Tininess t : {Tininess::before_rounding, Tininess::after_rounding, Tininess::as_delivered})
    for (int m = 0; m < deterministic_modes; ++m)
      all.push_back({.rounding = static_cast<RoundingMode>(m), .tininess = t});
  return all;
}

Env stochastic(std::mt19937_64& random) {
  const auto k = static_cast<int>(random() % 64 + 1);
  return {.rounding = {k, static_cast<StochasticVariant>(random() % 3)},
          .tininess = static_cast<Tininess>(random() % 3)};
}

std::string told(const std::string& what, const Format& to, const Env& env, std::uint64_t random,
                 const Answer& walked, const OracleResult& z) {
  return what + " -> " + to_string(to) + ", " + to_string(env.rounding) + ", random " +
         std::to_string(random) + ", tininess " + to_string(env.tininess) + ": walking " +
         std::to_string(walked.code) + " flags " + std::to_string(walked.flags) + ", MPFR " +
         std::to_string(z.code[0]) + " flags " + std::to_string(z.flags);
}

struct Code {
  Format format;
  std::uint64_t code;
};

// Every mode by one rule of tininess, another one at the next run.
std::vector<Env> environments_in_turn() { return tests::in_turn(environments(), 3); }

// One result of both oracles.
void compare(Tally& tally, Operation op, const Format& to, const Env& env,
             const std::vector<Code>& x, const Answer& walked, std::uint64_t random = 0) {
  std::vector<OracleOperand> operands;
  for (const Code& a : x) operands.push_back({a.format, {&a.code, 1}});
  const OracleResult z = mpfr_compute(op, to, env, operands, random);
  tally.check(z.code[0] == walked.code && z.flags == walked.flags, [&] {
    std::string what = "operation " + std::to_string(static_cast<int>(op));
    for (const Code& a : x) what += " " + to_string(a.format) + ":" + std::to_string(a.code);
    return told(what, to, env, random, walked, z);
  });
}

}  // namespace

TEST_CASE("two operands: walking and MPFR agree on every pair of codes, on result and flags") {
  Tally tally;
  std::uint64_t expected = 0;
  const std::vector<Env> envs = environments_in_turn();
  for (const Format& f : formats()) {
    const Values& v = oracle::values(f);
    for (Operation op : {Operation::add, Operation::subtract, Operation::multiply,
                         Operation::divide, Operation::remainder})
      for (std::uint64_t a = 0; a < v.size(); ++a)
        for (std::uint64_t b = 0; b < v.size(); ++b) {
          const oracle::Outcome exact = oracle::outcome(op, v, {{v, a}, {v, b}});
          for (std::size_t i = (a ^ b) % 2; i < envs.size();
               i += 2)  // each mode at each second pair
            compare(tally, op, f, envs[i], {{f, a}, {f, b}}, oracle::deliver(exact, envs[i]));
        }
    expected += 5 * v.size() * v.size() * envs.size() / 2;  // codes of either parity are as many
  }
  tally.expect(expected);
}

TEST_CASE("one operand: walking and MPFR agree on every code between every two formats") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& from : formats())
    for (const Format& to : formats()) {
      const Values& v = oracle::values(from);
      for (Operation op : {Operation::sqrt, Operation::convert, Operation::round_to_integral,
                           Operation::round_to_integral_exact})
        for (const Env& env : environments_in_turn())
          for (std::uint64_t a = 0; a < v.size(); ++a)
            compare(tally, op, to, env, {{from, a}}, oracle::answer(op, to, env, {{v, a}}));
      expected += 4 * environments_in_turn().size() * v.size();
    }
  tally.expect(expected);
}

TEST_CASE("fma: walking and MPFR agree on every three codes of four and five bits") {
  Tally tally;
  std::uint64_t expected = 0;
  const std::vector<Env> envs = environments_in_turn();
  for (const char* text : {"e2m1fn", "e2m1;ftz", "e3m1", "e2m2;nan=negative_zero;bias=2"}) {
    const Format f = parse_format(text);
    const Values& v = oracle::values(f);
    for (std::uint64_t a = 0; a < v.size(); ++a)
      for (std::uint64_t b = 0; b < v.size(); ++b)
        for (std::uint64_t c = 0; c < v.size(); ++c) {
          const auto exact = oracle::outcome(Operation::fma, v, {{v, a}, {v, b}, {v, c}});
          for (const Env& env : envs)
            compare(tally, Operation::fma, f, env, {{f, a}, {f, b}, {f, c}},
                    oracle::deliver(exact, env));
        }
    expected += v.size() * v.size() * v.size() * envs.size();
  }
  tally.expect(expected);
}

TEST_CASE("stochastic rounding and mixed formats: walking and MPFR agree on random operands") {
  Tally tally;
  std::mt19937_64 random(7);
  const std::uint64_t cases = 200'000;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const auto pick = [&]() -> const Format& { return formats()[random() % formats().size()]; };
    const Format &f = pick(), &g = pick(), &to = pick();
    const Env env = stochastic(random);
    const std::uint64_t bits = random() >> (64 - env.rounding.random_bits);
    const std::uint64_t a = random() % oracle::values(f).size();
    const std::uint64_t b = random() % oracle::values(g).size();
    constexpr std::array ops{Operation::add, Operation::multiply, Operation::divide,
                             Operation::remainder};
    const Operation op = ops[random() % ops.size()];
    compare(tally, op, to, env, {{f, a}, {g, b}},
            oracle::answer(op, to, env, {{f, a}, {g, b}}, bits), bits);
  }
  tally.expect(cases);
}

TEST_CASE("corners of formats' fields: walking and MPFR agree on random operands of any of them") {
  Tally tally;
  std::mt19937_64 random(9);
  const std::vector<Env> envs = environments();
  const std::vector<Format>& all = oracle::format_cover();
  const std::uint64_t cases = 300'000;
  constexpr std::array ops{Operation::add,    Operation::subtract,  Operation::multiply,
                           Operation::divide, Operation::remainder, Operation::sqrt,
                           Operation::fma,    Operation::convert};
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Format& to = all[n % all.size()];
    const Operation op = ops[random() % ops.size()];
    std::vector<Code> x;
    for (int i = 0; i < 3; ++i) {
      const Format& f = n % 2 ? to : all[random() % all.size()];
      x.push_back({f, random() % oracle::values(f).size()});
    }
    const Env env = random() % 4 ? envs[random() % envs.size()] : stochastic(random);
    const int k = env.rounding.random_bits;
    const std::uint64_t bits = k ? random() >> (64 - k) : 0;
    const auto coded = [&](int i) { return oracle::Coded(x[i].format, x[i].code); };
    Answer walked{};
    switch (arity(op)) {
      case 1: walked = oracle::answer(op, to, env, {coded(0)}, bits); break;
      case 2: walked = oracle::answer(op, to, env, {coded(0), coded(1)}, bits); break;
      default: walked = oracle::answer(op, to, env, {coded(0), coded(1), coded(2)}, bits);
    }
    x.resize(static_cast<std::size_t>(arity(op)));
    compare(tally, op, to, env, x, walked, bits);
  }
  tally.expect(cases);
}

TEST_CASE("integers: walking and MPFR agree on every code to an integer, and back") {
  Tally tally;
  std::uint64_t expected = 0;
  std::mt19937_64 random(8);
  for (const char* text : {"e5m2", "e4m3fn;daz", "e5m10", "e8m7", "ue4m4;bias=2", "e6m3;bias=10"}) {
    const Format f = parse_format(text);
    const Values& v = oracle::values(f);
    for (IntegerType type : {IntegerType{32, true}, IntegerType{32, false}, IntegerType{64, true},
                             IntegerType{64, false}})
      for (const Env& env : environments())
        for (std::uint64_t n = 0; n < 512; ++n) {
          const std::uint64_t a = v.size() <= 512 ? n % v.size() : random() % v.size();
          const Answer to = oracle::to_integer(type, env.rounding, {v, a});
          const OracleResult z = mpfr_to_integer(type, env.rounding, {f, {&a, 1}});
          tally.check(z.code[0] == to.code && z.flags == to.flags,
                      [&] { return told("to integer " + std::to_string(a), f, env, 0, to, z); });
          const std::uint64_t integer = random() >> random() % 64;
          const Answer from = oracle::deliver(oracle::from_integer(v, type, integer), env);
          const OracleResult y = mpfr_from_integer(type, integer, f, env);
          tally.check(y.code[0] == from.code && y.flags == from.flags, [&] {
            return told("from integer " + std::to_string(integer), f, env, 0, from, y);
          });
        }
    expected += 4 * environments().size() * 512 * 2;
  }
  tally.expect(expected);
}

}  // namespace test_agree
