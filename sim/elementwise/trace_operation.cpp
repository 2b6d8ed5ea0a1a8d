#include "widthwise/sim/trace_operation.hpp"

#include <array>

#include "../dot/wires.hpp"
#include "widthwise/operations.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/carrier.hpp"

namespace widthwise {
namespace {

template <class U>
struct Job {
  Rounder<U> to;
  std::array<Layout<U>, 3> f;
  std::array<U, 3> x;
  U random;
};

// A significand without the zeros that only fill its carrier.
template <class U>
TraceRow row(Stage stage, std::string slot, Kind kind, bool negative, U sig, std::int64_t exp) {
  if (sig != U{} && stage != Stage::pack)
    for (; (sig & U(1)) == U{}; sig = sig >> 1) ++exp;
  return {stage, std::move(slot), 0, kind, negative, hexadecimal(sig), sig == U{} ? 0 : exp};
}

template <class U, class Trace>
Result<U> apply(Operation op, const Job<U>& j, Trace&& trace) {
  const Layout<U>&fa = j.f[0], &fb = j.f[1], &fc = j.f[2];
  const U &a = j.x[0], &b = j.x[1], &c = j.x[2];
  const auto extremes = [&](bool greater, NanOperand rule) {
    return extremum(j.to, greater, rule, fa, a, fb, b, j.random, trace);
  };
  switch (op) {
    case Operation::add: return add(j.to, fa, a, fb, b, j.random, trace);
    case Operation::subtract: return subtract(j.to, fa, a, fb, b, j.random, trace);
    case Operation::multiply: return multiply(j.to, fa, a, fb, b, j.random, trace);
    case Operation::divide: return divide(j.to, fa, a, fb, b, j.random, trace);
    case Operation::remainder: return remainder(j.to, fa, a, fb, b, j.random, trace);
    case Operation::sqrt: return sqrt(j.to, fa, a, j.random, trace);
    case Operation::fma: return fma(j.to, fa, a, fb, b, fc, c, j.random, trace);
    case Operation::convert: return convert(j.to, fa, a, j.random, trace);
    case Operation::round_to_integral:
      return round_to_integral(j.to, fa, a, false, j.random, trace);
    case Operation::round_to_integral_exact:
      return round_to_integral(j.to, fa, a, true, j.random, trace);
    case Operation::minimum: return extremes(false, NanOperand::wins);
    case Operation::maximum: return extremes(true, NanOperand::wins);
    case Operation::minimum_number: return extremes(false, NanOperand::loses);
    case Operation::maximum_number: return extremes(true, NanOperand::loses);
    case Operation::min_num: return extremes(false, NanOperand::loses_unless_loud);
    case Operation::max_num: return extremes(true, NanOperand::loses_unless_loud);
    case Operation::logb: return logb(j.to, fa, a, j.random, trace);
    case Operation::next_up: return next_up(fa, a);
    case Operation::next_down: return next_down(fa, a);
    case Operation::copysign: return {copysign(fa, a, fb, b), 0};
    case Operation::negate: return {negate(fa, a), 0};
    case Operation::abs: return {abs(fa, a), 0};
  }
  return {};
}

template <class U>
std::vector<TraceRow> trace_in(Operation op, const Format& to, const Env& env,
                               std::span<const CodeArray> operands, const U& random) {
  const auto format = [&](std::size_t i) { return operands[i < operands.size() ? i : 0].format; };
  Job<U> job{Rounder<U>(to, env),
             {Layout<U>(format(0)), Layout<U>(format(1)), Layout<U>(format(2))},
             {},
             random};
  std::vector<TraceRow> rows;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    job.x[i] = load_code<U>(static_cast<const std::byte*>(operands[i].data),
                            item_bytes(operands[i].format.width()));
    const Factor<U> x = factor(job.f[i], job.x[i]);
    rows.push_back(row(Stage::unpack, std::string(1, "abc"[i]), x.kind, x.negative, x.m, x.q));
  }
  bool packed = false;
  const Result<U> z =
      apply(op, job, [&](Stage stage, bool negative, std::int64_t exp, const U& sig) {
        packed |= stage == Stage::pack;
        rows.push_back(row(stage, "out", Kind::finite, negative, sig, exp));
      });
  if (!packed) rows.push_back(row(Stage::pack, "out", Kind::finite, false, z.code, 0));
  return rows;
}

}  // namespace

std::vector<TraceRow> trace_operation(Operation op, const Format& to, const Env& env,
                                      std::span<const CodeArray> operands, RandomSource random) {
  int needed = digits_needed(to, env.rounding);
  for (const CodeArray& x : operands) needed = std::max(needed, digits_needed(x.format));
  const int k = env.rounding.random_bits;
  const std::uint64_t bits =
      k > 0 ? random_bits(k, {random.seed, random.first_index}, Slot::out, 0) : 0;
  if (needed <= 64) return trace_in<std::uint64_t>(op, to, env, operands, bits);
  if (needed <= 256) return trace_in<Wide<4>>(op, to, env, operands, Wide<4>(bits));
  return trace_in<Wide<65>>(op, to, env, operands, Wide<65>(bits));
}

}  // namespace widthwise
