#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_vectors.hpp"

using namespace tests;
using widthwise::Format;
using widthwise::Operation;
using widthwise::hdl::RtlFile;
using widthwise::hdl::RtlOperation;

// RTL against SMT-LIB's floating-point numbers (theory FloatingPoint, version 2.6): Yosys turns the
// netlist into bit vectors, and cvc5 looks for operands on which the two differ.
namespace {

struct Mode {
  int rm;
  std::string_view name;
};
constexpr Mode modes[] = {{0, "RNE"}, {1, "RTZ"}, {2, "RTN"}, {3, "RTP"}, {4, "RNA"}};

enum class Claim { result, result_and_flags };

// An operation in a sort of SMT-LIB, which has one for every format that is IEEE's but for its
// widths.
class Theory {
 public:
  explicit Theory(const RtlOperation& op) : op_(op), f_(op.result) {}

  // The solver's input: are there operands that refute the claim?
  std::string question(const std::string& netlist, const Mode& mode, Claim claim) const {
    const std::string differ =
        claim == Claim::result ? "" : " (distinct (|dut_n flags| s) (concat nv #b0 of uf nx))";
    return fmt::format(
        "(set-logic ALL)\n{}(declare-const s |dut_s|)\n{}"
        "(define-fun y () {} {})\n(define-fun nan () Bool (fp.isNaN y))\n{}"
        "(assert (= (|dut_n rm| s) #b{:04b}))\n(assert (or (distinct y {}){}))\n(check-sat)\n",
        netlist, operands(), sort(0), applied(mode.name, ""),
        claim == Claim::result ? "" : flags(mode), mode.rm, number("y"), differ);
  }

 private:
  std::string_view names() const { return std::string_view("abc").substr(0, op_.operands.size()); }
  std::string widths(int room) const {
    return fmt::format("{} {}", f_.exp_bits + room, f_.precision());
  }
  std::string sort(int room) const { return fmt::format("(_ FloatingPoint {})", widths(room)); }
  // What a port holds.
  std::string number(std::string_view port) const {
    return fmt::format("((_ to_fp {}) (|dut_n {}| s))", widths(0), port);
  }
  std::string applied(std::string_view mode, std::string_view suffix) const {
    std::string text = op_.operation == Operation::multiply ? "(fp.mul "
                       : op_.operation == Operation::add    ? "(fp.add "
                                                            : "(fp.fma ";
    text += mode;
    for (const char x : names()) text += fmt::format(" {}{}", x, suffix);
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
    if (op_.operation == Operation::fma)
      invalid += " (and (fp.isNaN (fp.mul RNE a b)) (not (fp.isNaN a)) (not (fp.isNaN b)))";
    text += fmt::format("(define-fun roomy () {} (fp.abs {}))\n", sort(2),
                        applied(mode.name, "_roomy"));
    text += definition("nv", fmt::format("(or (and nan{}){})", quiet, invalid));
    text += definition("nx", fmt::format("(and (not nan) (not (fp.eq {} {})))", applied("RTN", ""),
                                         applied("RTP", "")));
    text +=
        definition("of", fmt::format("(and (= nx #b1) (fp.geq roomy {}))", power(f_.emax() + 1)));
    return text +
           definition("uf", fmt::format("(and (= nx #b1) (fp.lt roomy {}))", power(f_.emin())));
  }

  const RtlOperation& op_;
  const Format& f_;
};

// A unit's module as functions of its ports, called `dut_n PORT` in there.
std::string netlist(const Scratch& folder, const std::vector<RtlFile>& files) {
  for (const RtlFile& file : files) write(folder / file.name, file.text);
  const Ran ran = run(folder.path(),
                      "yosys -q -p 'read_verilog *.v; hierarchy -check -top dut; proc; flatten; "
                      "opt; write_smt2 netlist.smt2'");
  CHECK(ran.output == "");
  REQUIRE(ran.status == 0);
  return read(folder / "netlist.smt2");
}

// cvc5 1.0.3 refuses a sort of one fraction bit, and answers wrongly of two exponent bits.
std::string answer(const Scratch& folder, const std::string& question) {
  write(folder / "question.smt2", question);
  return run(folder.path(), "cvc5 --fp-exp --bv-solver=bitblast-internal question.smt2").output;
}

struct Proof {
  std::string_view operation;
  std::vector<std::string_view> formats;
  Claim claim;
};

void prove(const std::vector<Proof>& proofs) {
  for (const Proof& proof : proofs)
    for (const std::string_view f : proof.formats) {
      const std::string_view third = proof.operation == "fma" ? f : "";
      const RtlOperation op =
          operation(fmt::format("{0} {1} {1} {2} -> {1}", proof.operation, f, third));
      const Scratch folder;
      const std::string functions = netlist(folder, rtl(op, "dut"));
      for (const Mode& mode : modes) {
        CAPTURE(proof.operation);
        CAPTURE(f);
        CAPTURE(mode.name);
        CHECK(answer(folder, Theory(op).question(functions, mode, proof.claim)) == "unsat\n");
      }
    }
}

bool have_tools() { return have("yosys") && have("cvc5"); }

}  // namespace

TEST_CASE("RTL is fp.mul and fp.add on all operands, proved") {
  if (!have_tools()) return;
  prove({{"multiply", {"e5m2", "e4m3"}, Claim::result}, {"add", {"e3m2"}, Claim::result}});
}

TEST_CASE("RTL is fp.mul, fp.add and fp.fma on all operands, flags too, proved") {
  if (!long_run() || !have_tools()) return;
  prove({{"multiply", {"e3m2", "e5m2", "e4m3"}, Claim::result_and_flags},
         {"add", {"e3m2"}, Claim::result_and_flags},
         {"add", {"e5m2", "e4m3"}, Claim::result},
         {"fma", {"e3m2"}, Claim::result}});
}

TEST_CASE("a module that was changed in one place is refuted") {
  if (!have_tools()) return;
  const RtlOperation op = operation("multiply e5m2 e5m2 -> e5m2");
  std::vector<RtlFile> files = rtl(op, "dut");
  const auto replace = [&](std::string_view name, std::string_view from, std::string_view to) {
    for (RtlFile& file : files)
      if (const std::size_t at = file.text.find(from); file.name == name && at != file.text.npos)
        return void(file.text.replace(at, from.size(), to));
    FAIL(name);
  };
  replace("ww_decide.v", "guard & (sticky | odd);     // rne",
          "guard & (sticky | !odd);    // rne");
  replace("ww_round.v", "by_one && carries", "carries && !by_one");
  const Scratch folder;
  const std::string functions = netlist(folder, files);
  const auto refuted = [&](const Mode& mode, Claim claim) {
    return answer(folder, Theory(op).question(functions, mode, claim)) == "sat\n";
  };
  CHECK(refuted(modes[0], Claim::result));            // ties go to the odd one
  CHECK(refuted(modes[3], Claim::result_and_flags));  // tininess is lost beside it
}
