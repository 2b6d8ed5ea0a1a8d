#include "small.hpp"

// Every pair of codes of every format of up to eight bits, results in the operands' format.
namespace {

using namespace tests;

void every_pair(std::initializer_list<Operation> operations, const std::vector<Format>& formats,
                const std::vector<Env>& environments) {
  Judge judge;
  std::uint64_t expected = 0;
  for (const Format& f : formats) {
    const Codes codes(f);
    const Target target(f, environments);
    for (Operation op : operations) judge.all_pairs(op, target, codes, codes);
    expected += operations.size() * codes.size() * codes.size() * environments.size();
  }
  judge.expect(expected);
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("add and subtract: every pair of codes, every mode, tininess rules in turn") {
    every_pair({Operation::add, Operation::subtract}, small_formats(),
               half_of(deterministic_environments()));
  }
  TEST_CASE("multiply: every pair of codes, every mode, tininess rules in turn") {
    every_pair({Operation::multiply}, small_formats(), half_of(deterministic_environments()));
  }
  TEST_CASE("divide: every pair of codes, every mode, tininess rules in turn") {
    every_pair({Operation::divide}, small_formats(), half_of(deterministic_environments()));
  }
  TEST_CASE("remainder: every pair of codes, every mode, tininess rules in turn") {
    every_pair({Operation::remainder}, small_formats(), half_of(deterministic_environments()));
  }
  TEST_CASE("add, multiply, divide: every pair of codes, stochastic rounding") {
    every_pair({Operation::add, Operation::multiply, Operation::divide}, main_formats(),
               half_of(stochastic_environments()));
  }
}
