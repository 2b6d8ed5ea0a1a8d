#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_proofs.hpp"
#include "turns.hpp"

using namespace tests;
using widthwise::Format;
using widthwise::Operation;
using widthwise::SingleOperation;
using widthwise::hdl::RtlFile;

// RTL against SMT-LIB's floating-point numbers (theory FloatingPoint, version 2.6). There are two
// solvers, whose notions of the theory have nothing in common.
namespace {

// A rounding of SMT-LIB, and the codes of the port rm that it is for.
struct Mode {
  std::string_view name, asked;
};
constexpr Mode modes[] = {{"RNE", "(= rm #b0000)"},
                          {"RTZ", "(= rm #b0001)"},
                          {"RTN", "(= rm #b0010)"},
                          {"RTP", "(= rm #b0011)"},
                          {"RNA", "(= rm #b0100)"}};
constexpr Mode any_mode = {"rounding", "(bvule rm #b0100)"};
constexpr std::string_view rounding =
    "(define-fun rm () (_ BitVec 4) (|dut_n rm| s))\n"
    "(define-fun rounding () RoundingMode (ite (= rm #b0000) RNE (ite (= rm #b0001) RTZ "
    "(ite (= rm #b0010) RTN (ite (= rm #b0011) RTP RNA)))))\n";

enum class Claim { result, result_and_flags };

// An operation in a sort of SMT-LIB, which has one for every format that is IEEE's but for its
// widths.
class Theory {
 public:
  Theory(const SingleOperation& op, Sum sum) : op_(op), f_(op.to), sum_(sum) {}

  // The solver's input: are there operands that refute the claim?
  std::string question(const std::string& netlist, const Mode& mode, Claim claim) const {
    const std::string differ =
        claim == Claim::result ? "" : " (distinct (|dut_n flags| s) (concat nv #b0 of uf nx))";
    return fmt::format(
        "(set-logic QF_BVFP)\n{}(declare-const s |dut_s|)\n{}{}"
        "(define-fun y () {} {})\n(define-fun nan () Bool (fp.isNaN y))\n{}"
        "(assert {})\n(assert (or (distinct y {}){}))\n",
        netlist, rounding, operands(), sort(0), applied(mode.name, 0),
        claim == Claim::result ? "" : flags(mode), mode.asked, number("y"), differ);
  }

 private:
  std::string_view names() const { return std::string_view("abc").substr(0, op_.arity()); }
  std::string widths(int room) const {
    return fmt::format("{} {}", f_.exp_bits + room, f_.precision());
  }
  std::string sort(int room) const { return fmt::format("(_ FloatingPoint {})", widths(room)); }
  // What a port holds.
  std::string number(std::string_view port) const {
    return fmt::format("((_ to_fp {}) (|dut_n {}| s))", widths(0), port);
  }
  std::string_view function() const {
    if (op_.op == Operation::multiply) return "fp.mul";
    return op_.op == Operation::add && sum_ == Sum::add ? "fp.add" : "fp.fma";
  }
  std::string applied(std::string_view mode, int room) const {
    std::string text = fmt::format("({} {}", function(), mode);
    if (op_.op == Operation::add && sum_ == Sum::fma)
      text += fmt::format(" ((_ to_fp {}) RNE 1.0)", widths(room));
    for (const char x : names()) text += fmt::format(" {}{}", x, room ? "_roomy" : "");
    return text + ")";
  }
  std::string operands() const {
    std::string text;
    for (const char x : names())
      text += fmt::format("(define-fun {0} () {1} {2})\n", x, sort(0), number({&x, 1}));
    return text;
  }
  // 2^e where the exponents have room.
  std::string power(int e) const {
    const int room = f_.exp_bits + 2;
    return fmt::format("(fp #b0 #b{:0{}b} #b{:0{}b})", e + (1 << (room - 1)) - 1, room, 0,
                       f_.frac_bits);
  }
  static std::string definition(std::string_view flag, const std::string& when) {
    return fmt::format("(define-fun {} () (_ BitVec 1) (ite {} #b1 #b0))\n", flag, when);
  }

  // IEEE 754-2019, 7.2 to 7.6. A result is inexact where rounding down and up differ; overflow and
  // tininess after rounding are what the same rounding says whose exponents have room.
  std::string flags(const Mode& mode) const {
    std::string text, quiet, invalid;
    for (const char x : names()) {
      text += fmt::format("(define-fun {}_roomy () {} ((_ to_fp {}) RNE {}))\n", x, sort(2),
                          widths(2), x);
      quiet += fmt::format(" (not (fp.isNaN {}))", x);
      invalid += fmt::format(" (and (fp.isNaN {0}) (= ((_ extract {1} {1}) (|dut_n {0}| s)) #b0))",
                             x, f_.frac_bits - 1);
    }
    // 0 * inf is invalid beside a quiet NaN too (docs/semantics.md).
    if (op_.op == Operation::fma)
      invalid += " (and (fp.isNaN (fp.mul RNE a b)) (not (fp.isNaN a)) (not (fp.isNaN b)))";
    text += fmt::format("(define-fun roomy () {} (fp.abs {}))\n", sort(2), applied(mode.name, 2));
    text += definition("nv", fmt::format("(or (and nan{}){})", quiet, invalid));
    text += definition("nx", fmt::format("(and (not nan) (not (fp.eq {} {})))", applied("RTN", 0),
                                         applied("RTP", 0)));
    text +=
        definition("of", fmt::format("(and (= nx #b1) (fp.geq roomy {}))", power(f_.emax() + 1)));
    return text +
           definition("uf", fmt::format("(and (= nx #b1) (fp.lt roomy {}))", power(f_.emin())));
  }

  const SingleOperation& op_;
  const Format& f_;
  Sum sum_;
};

struct Proof {
  std::string_view operation;
  std::vector<std::string_view> formats;
  Claim claim;
};

void prove(const Solver& solver, std::span<const Mode> asked, const std::vector<Proof>& proofs) {
  for (const Proof& proof : proofs)
    for (const std::string_view f : proof.formats) {
      const std::string_view third = proof.operation == "fma" ? f : "";
      const TestedOperation op =
          operation(fmt::format("{0} {1} {1} {2} -> {1}", proof.operation, f, third));
      const Scratch folder;
      const std::string functions = netlist(folder, rtl(op, "dut"));
      for (const Mode& mode : asked) {
        CAPTURE(proof.operation);
        CAPTURE(f);
        CAPTURE(mode.name);
        const std::string question =
            Theory(op.s, solver.sum).question(functions, mode, proof.claim);
        CHECK(answer(solver, folder, question) == "unsat\n");
      }
    }
}

}  // namespace

TEST_CASE("RTL is fp.mul, fp.add and fp.fma on all operands in all modes, flags too, proved") {
  if (!have_tools(z3)) return;
  constexpr Claim all = Claim::result_and_flags;
  const auto formats = in_turn<std::string_view>({"e5m2", "e4m3", "e3m2"}, 3);
  prove(z3, {&any_mode, 1},
        {{"multiply", formats, all}, {"add", formats, all}, {"fma", {"e3m2"}, all}});
}

TEST_CASE("RTL is fp.mul on all operands, proved by another solver") {
  if (!have_tools(cvc5)) return;
  prove(cvc5, modes, {{"multiply", {"e3m2"}, Claim::result}});
}

TEST_CASE("RTL is fp.mul, fp.add and fp.fma on all operands, flags too, proved by both") {
  if (!long_run() || !have_tools(cvc5) || !have_tools(z3)) return;
  prove(z3, {&any_mode, 1}, {{"fma", {"e5m2", "e4m3"}, Claim::result_and_flags}});
  prove(cvc5, modes,
        {{"multiply", {"e3m2", "e5m2", "e4m3"}, Claim::result_and_flags},
         {"add", {"e3m2"}, Claim::result_and_flags},
         {"add", {"e5m2", "e4m3"}, Claim::result},
         {"fma", {"e3m2"}, Claim::result}});
}

TEST_CASE("a multiplier that was changed in one place is refuted") {
  const TestedOperation op = operation("multiply e5m2 e5m2 -> e5m2");
  std::vector<RtlFile> files = rtl(op, "dut");
  change(files, "ww_decide.v", "guard & (sticky | odd);     // rne",
         "guard & (sticky | !odd);    // rne");
  change(files, "ww_round.v", "by_one && carries", "carries && !by_one");
  const auto asked = [&](const Solver& solver, const Mode& mode, Claim claim) {
    const Scratch folder;
    const std::string functions = netlist(folder, files);
    return answer(solver, folder, Theory(op.s, solver.sum).question(functions, mode, claim));
  };
  for (const Solver& solver : {cvc5, z3}) {
    if (!have_tools(solver)) continue;
    CAPTURE(solver.program);
    CHECK(asked(solver, modes[0], Claim::result) == "sat\n");    // ties go to the odd one
    CHECK(asked(solver, modes[3], Claim::result) == "unsat\n");  // tininess is lost beside it
    CHECK(asked(solver, modes[3], Claim::result_and_flags) == "sat\n");
  }
}

TEST_CASE("a sum that forgets what it shifts out is refuted") {
  if (!have_tools(z3)) return;
  for (const char* text : {"add e5m2 e5m2 -> e5m2", "fma e5m2 e5m2 e5m2 -> e5m2"}) {
    CAPTURE(text);
    const TestedOperation op = operation(text);
    std::vector<RtlFile> files = rtl(op, "dut");
    change(files, "ww_shift_right.v", "lost = lost | ", "lost = lost & ");
    const Scratch folder;
    const Theory theory(op.s, z3.sum);
    CHECK(answer(z3, folder, theory.question(netlist(folder, files), any_mode, Claim::result)) ==
          "sat\n");
  }
}
