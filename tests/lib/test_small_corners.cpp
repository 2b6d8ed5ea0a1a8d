#include "small.hpp"
#include "tests/oracle/format_cover.hpp"

// The corners of a format's fields: every two values of two fields that may meet do.
namespace {

using namespace tests;

constexpr Operation everything[] = {Operation::add,
                                    Operation::subtract,
                                    Operation::multiply,
                                    Operation::divide,
                                    Operation::remainder,
                                    Operation::sqrt,
                                    Operation::fma,
                                    Operation::convert,
                                    Operation::round_to_integral,
                                    Operation::round_to_integral_exact,
                                    Operation::minimum,
                                    Operation::maximum,
                                    Operation::minimum_number,
                                    Operation::maximum_number,
                                    Operation::min_num,
                                    Operation::max_num,
                                    Operation::min_x86,
                                    Operation::max_x86,
                                    Operation::logb};

}  // namespace

TEST_CASE("among the formats of the cover every two values of two fields meet that may") {
  std::set<oracle::FieldPair> met, may_meet;
  const oracle::FormatCover cover;
  for (const oracle::FieldChoice& x : cover.choices()) {
    CHECK(oracle::is_format(oracle::format_of(x)));
    met.merge(oracle::field_pairs(x));
  }
  std::uint64_t all = 1;
  for (const int n : oracle::field_values) all *= static_cast<std::uint64_t>(n);
  for (std::uint64_t index = 0; index < all; ++index) {
    oracle::FieldChoice x;
    std::uint64_t rest = index;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto n = static_cast<std::uint64_t>(oracle::field_values[i]);
      x[i] = static_cast<int>(rest % n), rest /= n;
    }
    if (index % 7 == 0 && oracle::is_format(oracle::format_of(x)))
      may_meet.merge(oracle::field_pairs(x));
  }
  CHECK(met == may_meet);
  CHECK(oracle::format_cover().size() < 60);
}

TEST_CASE("corners of formats: every operation, in every mode, by every rule of tininess") {
  Judge judge;
  Random& random = judge.random();
  std::vector<Codes> codes;
  std::vector<Target> targets;
  for (const Format& f : oracle::format_cover()) {
    codes.emplace_back(f);
    targets.emplace_back(f, policy_environments());
  }
  std::uint64_t expected = 0;
  const auto any = [&] {
    const Codes& f = codes[random() % codes.size()];
    return tests::Operand{&f, random() % f.size()};
  };
  const auto judge_one = [&](Operation op, const Target& to, tests::Operand a, tests::Operand b,
                             tests::Operand c) {
    expected += to.size();
    if (arity(op) == 1) return judge(op, to, {a});
    if (arity(op) == 2) return judge(op, to, {a, b});
    judge(op, to, {a, b, c});
  };
  for (const Operation op : everything)
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (std::uint64_t n = 0; n < samples(60); ++n) {
        const auto own = [&] { return tests::Operand{&codes[i], random() % codes[i].size()}; };
        judge_one(op, targets[i], own(), own(), own());
        judge_one(op, targets[i], any(), any(), any());
      }
  judge.expect(expected);
}
