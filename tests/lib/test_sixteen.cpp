#include "operands.hpp"
#include "small.hpp"
#include "widthwise/sim/text.hpp"

// binary16 and bfloat16: all 65,536 codes of one operand, samples of two and three.
namespace {

using namespace tests;

const std::vector<Codes>& sixteens() {
  static const std::vector<Codes> all{Codes(binary16), Codes(bfloat16)};
  return all;
}

// The tininess rule cannot show where an integer is the result.
std::vector<Env> environments_of_integers() {
  std::vector<Env> all = stochastic_environments();
  for (int mode = 0; mode < deterministic_modes; ++mode)
    all.push_back({.rounding = static_cast<RoundingMode>(mode)});
  return all;
}

// From -infinity to +infinity; zero once, as its positive code.
std::vector<std::uint64_t> ascending(const Codes& f) {
  std::vector<std::uint64_t> above, codes;
  for (const oracle::Point& p : f.values->points()) above.push_back(p.code);
  above.push_back(f.values->infinity(false));
  for (std::size_t i = above.size(); i-- > 1;) codes.push_back(above[i] | f.values->sign(true));
  codes.insert(codes.end(), above.begin(), above.end());
  return codes;
}

// -0 stands between the same neighbours as +0, and steps down arrive at it from above.
void check_step(const Codes& f, bool up, std::uint64_t from, std::uint64_t to, Tally& tally) {
  const auto a = static_cast<Small>(from);
  const Result<Small> z = up ? next_up<Small>(f.layout, a) : next_down<Small>(f.layout, a);
  const std::uint64_t zero = up && to == 0 ? f.values->sign(true) : 0;
  tally.check(z.code == (to | zero) && z.flags == 0, [&] {
    return coded_text(f.format(), {from}) + (up ? " up: got " : " down: got ") + hex({z.code}) +
           ", want " + hex({to | zero});
  });
}

void every_code(Operation op, const std::vector<Env>& environments) {
  Judge judge;
  for (const Codes& f : sixteens()) judge.all_codes(op, Target(f.format(), environments), f);
  judge.expect(2 * 65'536 * environments.size());
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("sqrt, logb, negate, abs: every code of binary16 and bfloat16") {
    every_code(Operation::sqrt, all_environments());
    every_code(Operation::logb, all_environments());
    for (Operation op : {Operation::negate, Operation::abs}) every_code(op, {Env{}});
  }

  TEST_CASE("next up and next down climb through binary16 and bfloat16 without a miss") {
    for (const Codes& f : sixteens()) {
      const std::vector<std::uint64_t> codes = ascending(f);
      Tally tally;
      for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
        check_step(f, true, codes[i], codes[i + 1], tally);
        check_step(f, false, codes[i + 1], codes[i], tally);
      }
      tally.expect(2 * (2 * f.values->points().size()));
    }
  }

  TEST_CASE("round to integral, silent and telling: every code of binary16 and bfloat16") {
    every_code(Operation::round_to_integral, environments_of_integers());
    every_code(Operation::round_to_integral_exact, environments_of_integers());
  }

  TEST_CASE("convert: every code of binary16 and bfloat16 to each other and to smaller formats") {
    const std::vector<Format> targets = formats({"binary16",
                                                 "bfloat16",
                                                 "e4m3fn",
                                                 "e5m2",
                                                 "e4m3",
                                                 "e3m4",
                                                 "e4m3fnuz",
                                                 "e5m2fnuz",
                                                 "e4m3b11fnuz",
                                                 "e8m0fnu",
                                                 "ue4m3fn",
                                                 "e2m1fn",
                                                 "e2m3fn",
                                                 "e3m2fn",
                                                 "binary8p1se",
                                                 "binary8p3se",
                                                 "binary8p4uf",
                                                 "e4m3;sub=no",
                                                 "e4m2;zero=no;nan=none",
                                                 "e3m0;nan=none",
                                                 "e4m3fn;overflow=max",
                                                 "e5m7;ftz",
                                                 "e6m9;sub=no"});
    Judge judge;
    for (const Codes& f : sixteens())
      for (const Format& to : targets)
        judge.all_codes(Operation::convert, Target(to, deterministic_environments()), f);
    judge.expect(2 * 65'536 * targets.size() * deterministic_environments().size());
  }
}

TEST_CASE("add, subtract, multiply, divide, remainder, fma: samples of binary16 and bfloat16") {
  const std::uint64_t count = samples(30'000);
  const std::initializer_list<Operation> operations{Operation::add,       Operation::subtract,
                                                    Operation::multiply,  Operation::divide,
                                                    Operation::remainder, Operation::fma};
  Judge judge;
  for (const Codes& f : sixteens()) {
    const Operands<Small> operands(f.format());
    const Target target(f.format(), all_environments());
    for (Operation op : operations)
      for (std::uint64_t i = 0; i < count; ++i) {
        Coded<Small> x[3];
        draw(op, operands, f.format(), judge.random(), x);
        if (arity(op) == 3)
          judge(op, target, {{&f, x[0].code}, {&f, x[1].code}, {&f, x[2].code}});
        else
          judge(op, target, {{&f, x[0].code}, {&f, x[1].code}});
      }
  }
  judge.expect(2 * operations.size() * count * all_environments().size());
}
