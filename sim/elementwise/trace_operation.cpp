#include "widthwise/sim/trace_operation.hpp"

#include "../dot/wires.hpp"
#include "apply.hpp"
#include "way.hpp"

namespace widthwise {
namespace {

// A significand without the zeros that only fill its carrier.
template <class U>
TraceRow row(Stage stage, std::string slot, Kind kind, bool negative, U sig, std::int64_t exp) {
  if (sig != U{} && stage != Stage::pack)
    for (; (sig & U(1)) == U{}; sig = sig >> 1) ++exp;
  return {stage, std::move(slot), 0, kind, negative, hexadecimal(sig), sig == U{} ? 0 : exp};
}

// A result that is several of these is the first of them.
template <class U>
Kind kind_of(const Number<U>& x) {
  if (x.nan) return Kind::nan;
  if (x.infinite) return Kind::infinite;
  return x.zero ? Kind::zero : Kind::finite;
}

// Writes down every wire on the way to the code.
template <class U>
struct OnTheWay {
  std::vector<TraceRow>& rows;

  void operator()(Stage stage, const Number<U>& x) const {
    const Kind kind = kind_of(x);
    rows.push_back(row(stage, "out", kind, x.negative, kind == Kind::finite ? x.sig : U{}, x.exp));
  }
  void operator()(Stage stage, bool negative, std::int64_t exp, const U& sig) const {
    rows.push_back(row(stage, "out", Kind::finite, negative, sig, exp));
  }
};

template <class U>
std::vector<TraceRow> trace_in(Operation op, const Format& to, const Env& env,
                               std::span<const CodeArray> operands, const U& random) {
  const auto format = [&](std::size_t i) { return operands[i < operands.size() ? i : 0].format; };
  const Rounder<U> rounder(to, env);
  const Layout<U> f[] = {Layout<U>(format(0)), Layout<U>(format(1)), Layout<U>(format(2))};
  U x[3]{};
  std::vector<TraceRow> rows;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    x[i] = load_code<U>(static_cast<const std::byte*>(operands[i].data),
                        item_bytes(operands[i].format.width()));
    const Factor<U> taken = factor(f[i], x[i]);
    rows.push_back(row(Stage::unpack, std::string(1, "abc"[i]), taken.kind(), taken.negative,
                       taken.m, taken.q));
  }
  const Result<U> z = apply(op, rounder, f, x, random, OnTheWay<U>{rows});
  if (rows.back().stage != Stage::pack)
    rows.push_back(row(Stage::pack, "out", Kind::finite, false, z.code, 0));
  return rows;
}

}  // namespace

std::vector<TraceRow> trace_operation(Operation op, const Format& to, const Env& env,
                                      std::span<const CodeArray> operands, RandomSource random) {
  std::vector<Format> formats;
  for (const CodeArray& x : operands) formats.push_back(x.format);
  const int needed = digits_needed(ElementTask{op, to, env, formats, true, 1});
  if (needed > digits<Wide<65>>) refuse_digits(needed);
  const auto bits = draw<std::uint64_t>(env.rounding, random, 0);
  if (needed <= 64) return trace_in<std::uint64_t>(op, to, env, operands, bits);
  if (needed <= 256) return trace_in<Wide<4>>(op, to, env, operands, Wide<4>(bits));
  return trace_in<Wide<65>>(op, to, env, operands, Wide<65>(bits));
}

}  // namespace widthwise
