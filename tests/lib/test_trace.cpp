#include <string>

#include "small.hpp"
#include "traced.hpp"

namespace test_trace {

// What a trace hears: the stages in the order of the path, each with a number that holds there.
namespace {

using namespace tests;

double value(const oracle::Number& x) {
  const double magnitude = std::ldexp(static_cast<double>(x.sig), static_cast<int>(x.exp));
  return x.negative ? -magnitude : magnitude;
}

std::string text(const std::vector<Heard>& heard) {
  std::string said;
  for (const Heard& h : heard)
    said += " stage " + std::to_string(static_cast<int>(h.stage)) + (h.negative ? " -" : " ") +
            std::to_string(h.magnitude) + " (" + hex({h.sig}) + ")";
  return said;
}

}  // namespace

// Without subnormals the gap below the least number is decided past the round stage: not here.
TEST_CASE(
    "a trace hears every stage: the exact result up to its rounding, and the code behind it") {
  Tally tally;
  Random random(19);
  std::uint64_t finite = 0;
  for (const Format& f : formats({"e4m3fn", "e3m4", "e3m2fn", "binary8p4se"})) {
    const Codes codes(f);
    const oracle::Values& v = *codes.values;
    for (Operation op : traced_operations)
      for (int i = 0; i < 6'000; ++i) {
        Small x[3];
        for (Small& code : x) code = static_cast<Small>(random() % codes.size());
        const auto is_number = [&](Small code) { return v[code].kind == oracle::Kind::finite; };
        if (!is_number(x[0]) || !is_number(x[1]) || !is_number(x[2])) continue;
        const double exact = exact_result(op, value(v[x[0]]), value(v[x[1]]), value(v[x[2]]));
        std::vector<Heard> heard;
        const Result<Small> z =
            with_listener(op, Rounder<Small>(f), codes.layout, x[0], x[1], x[2], Listener(heard));
        // Zeros, NaNs and what overflows are packed past the rounder.
        if (exact == 0 || (z.flags & (overflow | invalid))) continue;
        ++finite;
        tally.check(tells_the_truth(heard, exact, value(v[z.code]), z.code), [&] {
          return std::string(name(op)) + " " + coded_text(f, {x[0]}) + " " + hex({x[1]}) + " " +
                 hex({x[2]}) + ", exact " + std::to_string(exact) + ":" + text(heard);
        });
      }
  }
  tally.expect(finite);
  CHECK(finite > 150'000);
}

}  // namespace test_trace
