#include "small.hpp"

// Operands of two formats, results in a third, and the policies: DAZ, FTZ, overflow.
namespace {

using namespace tests;

constexpr std::initializer_list<Operation> arithmetic{Operation::add, Operation::subtract,
                                                      Operation::multiply, Operation::divide,
                                                      Operation::remainder};

// Operand, operand, result: wider, narrower, without sign, zero, infinity or NaN, of another bias.
const std::vector<std::array<std::string_view, 3>>& triples() {
  static const std::vector<std::array<std::string_view, 3>> all{
      {"e4m3fn", "e5m2", "e3m2fn"},
      {"e4m3fn", "e8m0fnu", "e5m10"},
      {"e5m2", "e2m1fn", "e8m7"},
      {"e4m3fnuz", "e5m2fnuz", "e4m3fnuz"},
      {"e8m0fnu", "e8m0fnu", "e5m2"},
      {"e4m3", "e3m4", "ue4m3fn"},
      {"e5m2", "e4m3", "e8m0fnu"},
      {"binary8p1se", "binary8p7se", "binary8p4se"},
      {"binary8p3ue", "e5m2", "e2m1fn"},
      {"e3m4;sub=no", "e4m3", "e5m1;sub=no"},
      {"e2m3fn", "e2m3fn", "e4m9"},
      {"e5m2", "e5m2", "e5m2fnuz"},
      {"e4m3b11fnuz", "e4m3fn", "ue3m4;zero=no;nan=all_ones"},
      {"e5m2", "e5m2", "e4m2;zero=no;nan=none"},
      {"e3m2fn", "e5m2", "e3m8;nan=all_ones;inf=top"},
  };
  return all;
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("two operand formats and a result format: every pair, every mode, flags") {
    Judge judge;
    std::uint64_t expected = 0;
    for (const auto& texts : triples()) {
      const std::vector<Format> f = formats({texts[0], texts[1], texts[2]});
      const Codes a(f[0]), b(f[1]);
      const Target target(f[2], half_of(deterministic_environments()));
      for (Operation op : arithmetic) judge.all_pairs(op, target, a, b);
      expected += arithmetic.size() * a.size() * b.size() * target.size();
    }
    judge.expect(expected);
  }

  TEST_CASE("DAZ, FTZ and what overflow does are followed: every pair, every mode, flags") {
    Judge judge;
    std::uint64_t expected = 0;
    for (const Format& f : formats({"e4m3;daz",
                                    "e4m3;ftz",
                                    "e4m3;daz;ftz",
                                    "e4m3fnuz;daz;ftz",
                                    "ue4m3fn;daz;ftz",
                                    "e3m3;overflow=max",
                                    "e3m3;overflow=nan",
                                    "e3m3;overflow=inf",
                                    "e3m2fn;overflow=inf",
                                    "e4m3fn;overflow=max",
                                    "e4m3fn;overflow=inf",
                                    "e4m3fnuz;overflow=max",
                                    "binary8p4se;overflow=nan",
                                    "binary8p4sf;overflow=inf",
                                    "e4m2;nan=none;inf=top;ftz",
                                    "e3m3;sub=no;daz;ftz",
                                    "ue4m3;overflow=nan;ftz",
                                    "binary8p1se;ftz;daz",
                                    "e3m3;overflow=satfinite",
                                    "e4m3fn;overflow=satfinite",
                                    "e5m0;nan=ieee;ftz"})) {
      const Codes codes(f);
      const Target target(f, half_of(policy_environments()));
      for (Operation op : {Operation::add, Operation::multiply, Operation::divide})
        judge.all_pairs(op, target, codes, codes);
      judge.all_codes(Operation::convert, target, codes);
      judge.all_codes(Operation::sqrt, target, codes);
      expected += (3 * codes.size() + 2) * codes.size() * target.size();
    }
    judge.expect(expected);
  }
}

// 100 formats in threes are a million: each pair of operand formats meets another result format.
TEST_CASE("operands of every two formats, results in another: every operation, every mode") {
  const std::uint64_t count = samples(4);
  Judge judge;
  Random& random = judge.random();
  std::vector<Codes> codes(small_formats().begin(), small_formats().end());
  std::uint64_t expected = 0;
  for (const Codes& f : codes)
    for (const Codes& g : codes) {
      const Target target(codes[random() % codes.size()].format(), all_environments());
      for (Operation op : arithmetic)
        for (std::uint64_t i = 0; i < count; ++i)
          judge(op, target, {{&f, random() % f.size()}, {&g, random() % g.size()}});
      expected += arithmetic.size() * count * target.size();
    }
  judge.expect(expected);
}
