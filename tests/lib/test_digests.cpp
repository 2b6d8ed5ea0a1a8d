#include <cinttypes>
#include <string>

#include "tally.hpp"
#include "tests/mutate/digests.hpp"
#include "tests/oracle/walk.hpp"
#ifdef WIDTHWISE_MPFR
#include "widthwise/sim/mpfr_oracle.hpp"
#endif

// The kill test judges mutants by digests. Here the oracles answer the same questions.
namespace {

using namespace widthwise;
using mutate::Answer;
using mutate::Code;

Answer as_answer(const oracle::Answer& z) { return {z.code, z.flags}; }

class Walking {
 public:
  void set(const Format& a, const Format& b, const Format& c, const Format& to, const Env& env) {
    f_[0] = &oracle::values(a), f_[1] = &oracle::values(b), f_[2] = &oracle::values(c);
    to_ = to;
    env_ = env;
  }
  Answer operate(Operation op, Code a, Code b, Code c, Code random) const {
    const oracle::Coded x(*f_[0], a), y(*f_[1], b), z(*f_[2], c);
    switch (arity(op)) {
      case 1: return as_answer(oracle::answer(op, to_, env_, {x}, random));
      case 2: return as_answer(oracle::answer(op, to_, env_, {x, y}, random));
      default: return as_answer(oracle::answer(op, to_, env_, {x, y, z}, random));
    }
  }
  Answer scaleb(Code a, std::int64_t n, Code random) const {
    const oracle::Outcome x = oracle::scaleb(oracle::values(to_), {*f_[0], a}, n);
    return as_answer(oracle::deliver(x, env_, random));
  }
  Answer to_integer(IntegerType type, Code a, Code random) const {
    return as_answer(oracle::to_integer(type, env_.rounding, {*f_[0], a}, random));
  }
  Answer from_integer(IntegerType type, Code integer, Code random) const {
    const oracle::Outcome x = oracle::from_integer(oracle::values(to_), type, integer);
    return as_answer(oracle::deliver(x, env_, random));
  }
  Answer compare(Comparison what, Code a, Code b) const {
    return as_answer(oracle::compare(what, {*f_[0], a}, {*f_[0], b}));
  }
  Answer class_of(Code a) const { return {static_cast<Code>(oracle::class_of({*f_[0], a})), 0}; }

 private:
  const oracle::Values* f_[3]{};
  Format to_{};
  Env env_;
};

#ifdef WIDTHWISE_MPFR
class Mpfr {
 public:
  void set(const Format& a, const Format& b, const Format& c, const Format& to, const Env& env) {
    f_[0] = a, f_[1] = b, f_[2] = c;
    to_ = to;
    env_ = env;
  }
  Answer operate(Operation op, Code a, Code b, Code c, Code random) const {
    const OracleOperand x[] = {{f_[0], {&a, 1}}, {f_[1], {&b, 1}}, {f_[2], {&c, 1}}};
    const auto count = static_cast<std::size_t>(arity(op));
    const OracleResult z = mpfr_compute(op, to_, env_, {x, count}, random);
    return {z.code[0], z.flags};
  }

 private:
  Format f_[3]{}, to_{};
  Env env_;
};
#endif

// Prints what the table ought to say.
auto agreeing(tests::Tally& tally) {
  return [&tally](const char* subject, Code ours, Code in_table) {
    tally.check(ours == in_table, [&] {
      char text[200];
      std::snprintf(text, sizeof text, "%s: the table has 0x%" PRIx64 ", the oracle 0x%" PRIx64,
                    subject, in_table, ours);
      return std::string(text);
    });
  };
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("the digests that judge mutants are those of the value-walking oracle") {
    tests::Tally tally;
    Walking walking;
    mutate::for_each_small_digest(walking, agreeing(tally));
    tally.expect(std::size(mutate::own_code_digests) + std::size(mutate::code_digests) +
                 std::size(mutate::pair_digests) + 4);
  }

  TEST_CASE("the digests of long formats that judge mutants are MPFR's") {
#ifdef WIDTHWISE_MPFR
    tests::Tally tally;
    Mpfr mpfr;
    mutate::for_each_long_digest(mpfr, agreeing(tally));
    tally.expect(std::size(mutate::long_digests));
#else
    std::printf("SKIPPED: MPFR was not found when the build was set up\n");
#endif
  }
}
