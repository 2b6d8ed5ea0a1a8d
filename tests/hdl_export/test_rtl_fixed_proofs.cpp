#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_proofs.hpp"
#include "turns.hpp"

using namespace tests;
using widthwise::Format;
using widthwise::Operation;
using widthwise::SingleOperation;

// RTL of fixed point against integers in two's complement, where rounding looks at a floor and
// overflow at the integer's own bits: the hardware has a magnitude and a sign instead.
namespace {

constexpr int bits = 40;  // of the theory's integers, which hold every exact result

std::string number(std::int64_t x) {
  return fmt::format("#x{:010x}", static_cast<std::uint64_t>(x) & 0xffffffffff);
}
std::string shifted(const std::string& x, std::int64_t left) {
  return fmt::format("(bvshl {} {})", x, number(left));
}
std::string definition(std::string_view name, std::string_view sort, const std::string& value) {
  return fmt::format("(define-fun {} () {} {})\n", name, sort, value);
}
constexpr std::string_view integer = "(_ BitVec 40)";

// Whether the floor goes up by one, by the modes' codes: `rest` is what it has dropped.
constexpr std::pair<int, std::string_view> upwards[] = {
    {0, "(or above (and tie odd))"},             // rne
    {1, "(and lost negative)"},                  // rtz
    {2, "false"},                                // rdn
    {3, "lost"},                                 // rup
    {4, "(or above (and tie (not negative)))"},  // rna
    {6, "(and lost (not odd))"},                 // odd
    {8, "(and lost (not negative))"},            // raz
    {9, "(or above (and tie negative))"},        // rnz
    {10, "(or above tie)"},                      // rnp
    {11, "above"},                               // rnm
    {13, "(or above (and tie (not odd)))"},      // rno
};

class Integers {
 public:
  explicit Integers(const SingleOperation& op) : op_(op), to_(op.to) {}

  // The solver's input: are there operands that refute the RTL, flags and all?
  std::string question(const std::string& netlist) const {
    std::string codes;
    for (const auto& [code, up] : upwards) codes += fmt::format(" (= rm #b{:04b})", code);
    return fmt::format(
        "(set-logic QF_BV)\n{}(declare-const s |dut_s|)\n"
        "(define-fun rm () (_ BitVec 4) (|dut_n rm| s))\n{}{}(assert (or{}))\n"
        "(assert (or (distinct (|dut_n y| s) y) (distinct (|dut_n flags| s) (concat #b00 of #b0 "
        "nx))))\n",
        netlist, exact(), delivered(), codes);
  }

 private:
  std::string operand(std::size_t i) const {
    const Format& f = op_.operands[i];
    return fmt::format("((_ {}_extend {}) (|dut_n {}| s))", f.is_signed() ? "sign" : "zero",
                       bits - f.width(), "abc"[i]);
  }
  static std::int64_t fraction(const Format& f) { return -f.least_digit(); }
  // The exact result in units so small that the last kept bit and half of it are multiples.
  std::int64_t exact_fraction() const {
    const std::int64_t a = fraction(op_.operands[0]), b = fraction(op_.operands[1]);
    const bool product = op_.op == Operation::multiply || op_.op == Operation::fma;
    std::int64_t most = std::max(fraction(to_), product ? a + b : std::max(a, b));
    if (op_.op == Operation::fma) most = std::max(most, fraction(op_.operands[2]));
    return most + 1;
  }
  std::string scaled(std::size_t i) const {
    return shifted(operand(i), exact_fraction() - fraction(op_.operands[i]));
  }
  std::string exact() const {
    const std::int64_t of_product =
        exact_fraction() - fraction(op_.operands[0]) - fraction(op_.operands[1]);
    const std::string product =
        shifted(fmt::format("(bvmul {} {})", operand(0), operand(1)), of_product);
    const auto sum = [](std::string_view how, const std::string& x, const std::string& y) {
      return fmt::format("({} {} {})", how, x, y);
    };
    return definition("exact", integer,
                      op_.op == Operation::multiply   ? product
                      : op_.op == Operation::fma      ? sum("bvadd", product, scaled(2))
                      : op_.op == Operation::subtract ? sum("bvsub", scaled(0), scaled(1))
                      : op_.op == Operation::add      ? sum("bvadd", scaled(0), scaled(1))
                                                      : scaled(0));
  }

  std::string delivered() const {
    const std::int64_t down = exact_fraction() - fraction(to_);
    std::string up = "false";
    for (const auto& [code, when] : upwards)
      up = fmt::format("(ite (= rm #b{:04b}) {} {})", code, when, up);
    const std::string rest = fmt::format("(bvand exact {})", number((std::int64_t{1} << down) - 1));
    const std::string half = number(std::int64_t{1} << (down - 1));
    return definition("floor", integer, fmt::format("(bvashr exact {})", number(down))) +
           definition("negative", "Bool", fmt::format("(bvslt exact {})", number(0))) +
           definition("odd", "Bool", "(= ((_ extract 0 0) floor) #b1)") +
           definition("rest", integer, rest) +
           definition("lost", "Bool", fmt::format("(distinct rest {})", number(0))) +
           definition("tie", "Bool", fmt::format("(= rest {})", half)) +
           definition("above", "Bool", fmt::format("(bvugt rest {})", half)) +
           definition("n", integer,
                      fmt::format("(bvadd floor (ite {} {} {}))", up, number(1), number(0))) +
           ending();
  }

  // Results past the ends, by the format's rule.
  std::string ending() const {
    const int w = to_.width();
    using enum widthwise::Overflow;
    const bool is_signed = to_.is_signed();
    const std::int64_t high = (std::int64_t{1} << (w - is_signed)) - 1;
    const std::int64_t low = !is_signed ? 0 : to_.overflow == symmetric ? -high : -high - 1;
    const auto part = [](int top, int last, std::string_view of) {
      return fmt::format("((_ extract {} {}) {})", top, last, of);
    };
    const std::string bits_of_n = part(w - 1, 0, "n");
    const std::string clamped = fmt::format("(ite negative_n {} {})", part(w - 1, 0, number(low)),
                                            part(w - 1, 0, number(high)));
    const std::string past =
        to_.overflow == zero      ? part(w - 1, 0, number(0))
        : to_.overflow == wrap    ? bits_of_n
        : to_.overflow == wrap_sm ? fmt::format("(ite (= {} {}) {} (bvnot {}))", part(w, w, "n"),
                                                part(w - 1, w - 1, "n"), bits_of_n, bits_of_n)
        : to_.overflow == keep_sign && is_signed
            ? fmt::format("(concat (ite negative_n #b1 #b0) {})", part(w - 2, 0, "n"))
        : to_.overflow == keep_sign ? bits_of_n
                                    : clamped;
    const std::string out =
        fmt::format("(or (bvslt n {}) (bvsgt n {}))", number(low), number(high));
    return definition("negative_n", "Bool", fmt::format("(bvslt n {})", number(0))) +
           definition("over", "Bool", out) +
           definition("y", fmt::format("(_ BitVec {})", w),
                      fmt::format("(ite over {} {})", past, bits_of_n)) +
           definition("of", "(_ BitVec 1)", "(ite over #b1 #b0)") +
           definition("nx", "(_ BitVec 1)", "(ite (or over lost) #b1 #b0)");
  }

  const SingleOperation& op_;
  const Format& to_;
};

std::string verdict(const std::string& text, std::vector<widthwise::hdl::RtlFile> files) {
  const Scratch folder;
  const std::string functions = netlist(folder, files);
  Solver solver = z3;
  solver.check = "(check-sat)";
  return answer(solver, folder, Integers(operation(text).s).question(functions));
}

}  // namespace

namespace {

void prove(std::initializer_list<std::string> operations) {
  for (const std::string& text : operations) {
    CAPTURE(text);
    CHECK(verdict(text, rtl(operation(text), "dut")) == "unsat\n");
  }
}

}  // namespace

TEST_CASE("RTL of fixed point is rounded integers on all operands, modes and flags, proved") {
  if (!have_tools(z3)) return;
  prove({"add fixed8.4 fixed8.4 -> fixed8.4", "subtract fixed8.4 fixed8.2 -> fixed8.1",
         "subtract ufixed8.4 ufixed8.5 -> ufixed8.2", "convert fixed16.8 -> fixed8.4",
         "multiply fixed8.4 fixed8.4 -> fixed8.4"});
  for (const char* rule :
       in_turn<const char*>({"symmetric", "zero", "wrap", "wrap_sm", "keep_sign"}, 3))
    prove({fmt::format("add fixed16.8 fixed16.4 -> fixed8.4;overflow={}", rule),
           fmt::format("convert fixed16.8 -> fixed8.4;overflow={}", rule)});
}

TEST_CASE("RTL of products and fma of fixed point is rounded integers, proved") {
  if (!long_run() || !have_tools(z3)) return;
  prove({"fma fixed8.4 fixed8.4 fixed8.4 -> fixed8.4", "multiply ufixed8.4 fixed8.6 -> fixed8.3"});
  for (const char* rule : {"symmetric", "zero", "wrap", "wrap_sm", "keep_sign"})
    prove({fmt::format("multiply fixed8.4 fixed8.4 -> fixed8.4;overflow={}", rule)});
}

TEST_CASE("fixed point that was changed in one place is refuted") {
  if (!have_tools(z3)) return;
  struct Fault {
    const char *operation, *file, *from, *to;
  };
  const char *product = "multiply fixed8.4 fixed8.4 -> fixed8.4;overflow=wrap_sm",
             *sum = "add fixed8.4 fixed8.4 -> fixed8.4";
  for (const Fault& f :
       {Fault{product, "ww_pack_fixed.v", "whole[W] != whole[W-1]", "whole[W] == whole[W-1]"},
        Fault{product, "ww_round_pattern.v", ".odd(kept[0])", ".odd(kept[1])"},
        Fault{product, "ww_shift_right.v", "lost = lost | ", "lost = lost & "},
        Fault{product, "ww_unpack_fixed.v", "negative ? -code", "negative ? ~code"},
        Fault{sum, "ww_pack_fixed.v", "rounded > {1'b0, most}", "rounded >= {1'b0, most}"},
        Fault{sum, "ww_pack_fixed.v", "MOST + {{W{1'b0}}, 1'b1}", "MOST"}}) {
    CAPTURE(f.file);
    CAPTURE(f.to);
    auto files = rtl(operation(f.operation), "dut");
    change(files, f.file, f.from, f.to);
    CHECK(verdict(f.operation, files) == "sat\n");
  }
}
