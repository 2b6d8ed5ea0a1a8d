#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tables.hpp"
#include "widthwise/hdl/adapters.hpp"
#include "widthwise/hdl/design.hpp"

using namespace tests;
using widthwise::parse_design;
using widthwise::parse_single_operation;

namespace {

// The constants of a prefix, as text.
std::vector<Constant> with_prefix(const ConstantTable& table, std::string_view prefix) {
  std::vector<Constant> found;
  for (Constant c : table)
    if (c.name.starts_with(prefix)) c.section.clear(), found.push_back(c);
  return found;
}

bool same(const std::vector<Constant>& a, const std::vector<Constant>& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.name == y.name && x.value == y.value; });
}

}  // namespace

TEST_CASE("an operation's operands and result have the constants that a unit's have") {
  for (const std::string f : {"e4m3fn", "e5m2", "bfloat16", "binary16", "e6m9", "e20m49", "e15m112",
                              "e8m0fnu", "e2m1fn", "binary8p3se", "e3m2;sub=no", "e5m10;daz;ftz"}) {
    CAPTURE(f);
    const ConstantTable unit = table_of("fma(" + f + ", sum=" + f + ")");
    const ConstantTable op = table_of("fma(" + f + ")");
    for (const std::string prefix : {"A_", "B_", "C_", "Y_", "PROD_", "FLAG_", "RM_", "OVERFLOW_",
                                     "FLUSH_", "FTZ_", "TININESS_", "MODEL_ABI", "LATENCY"}) {
      CAPTURE(prefix);
      std::vector<Constant> wanted = with_prefix(unit, prefix);
      if (prefix == "C_")  // the sum that C enters, and when, is a unit's alone
        std::erase_if(wanted, [](const Constant& c) {
          return c.name.starts_with("C_LEVEL") || c.name == "C_AT_LAST";
        });
      CHECK(!wanted.empty());
      CHECK(same(with_prefix(op, prefix), wanted));
    }
  }
}

TEST_CASE("operands are as many as the operation reads, each in its own format") {
  const ConstantTable t = table_of("multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)");
  CHECK(text(t, "OPERATION") == "multiply");
  CHECK(integer(t, "NUM_OPERANDS") == 2);
  CHECK(integer(t, "A_FRAC_WIDTH") == 2);
  CHECK(integer(t, "B_FRAC_WIDTH") == 3);
  CHECK(integer(t, "Y_FRAC_WIDTH") == 10);
  CHECK(integer(t, "PROD_SIG_WIDTH") == 7);
  CHECK(integer(t, "PROD_LSB_EXP_MIN") == -16 - 9);
  CHECK(code(t, "RM_DEFAULT") == code(t, "RM_RTZ"));
  CHECK_FALSE(flag(t, "TININESS_AFTER_ROUNDING"));
  CHECK(find(t, "C_WIDTH") == nullptr);
  CHECK(find(table_of("sqrt(binary32)"), "B_WIDTH") == nullptr);
  CHECK(find(table_of("add(binary32)"), "PROD_SIG_WIDTH") == nullptr);
}

TEST_CASE("the NaN that an operation makes stands in its table, and HardFloat's folder for it") {
  const auto folder = [](const char* design) {
    return text(widthwise::hdl::hardfloat_constants(table_of(design)), "SPECIALISATION");
  };
  CHECK(text(table_of("add(e5m10)"), "NAN_RESULT") == "canonical");
  CHECK(code(table_of("add(e5m10)"), "Y_QNAN") == Code(0x7e00));
  CHECK(folder("add(e5m10)").starts_with("source/RISCV,"));
  CHECK(text(table_of("add(e5m10, nan=x86)"), "NAN_RESULT") == "x86");
  CHECK(code(table_of("add(e5m10, nan=x86)"), "Y_QNAN") == Code(0xfe00));
  CHECK(folder("add(e5m10, nan=x86)").starts_with("source/8086-SSE,"));
  CHECK(code(table_of("multiply(e4m3fn, nan=negative)"), "Y_QNAN") == Code(0xff));
  CHECK(code(table_of("add(binary128, nan=negative)"), "Y_QNAN") ==
        (Code(0x1ffff) << 111));  // past what a unit's nan_bits could say
  CHECK(code(table_of("add(e5m10, nan=propagate)"), "Y_QNAN") == Code(0x7e00));
  CHECK(folder("add(e5m10, nan=propagate)") == "none has this NaN");
}

TEST_CASE("an operation whose rounding has no three-bit code has a port of four") {
  CHECK(integer(table_of("add(e5m10)"), "RM_WIDTH") == 3);
  const ConstantTable raz = table_of("add(e5m10, out=e5m10:raz)");
  CHECK(integer(raz, "RM_WIDTH") == 4);
  CHECK(code(raz, "RM_DEFAULT") == code(raz, "RM_RAZ"));
  const ConstantTable sr = table_of("convert(binary32, out=e4m3fn:sr8:half)");
  CHECK(integer(sr, "Y_SR_WIDTH") == 8);
  CHECK(code(sr, "Y_SR") == code(sr, "SR_HALF"));
}

TEST_CASE("flushing is told for each side of an operation") {
  const ConstantTable in = table_of("add(e5m10, b=e5m10;daz)"),
                      out = table_of("add(e5m10, out=e5m10;ftz)");
  CHECK((flag(in, "FTZ_IN") && !flag(in, "FTZ_OUT")));
  CHECK((!flag(out, "FTZ_IN") && flag(out, "FTZ_OUT")));
  // An operand that the operation does not read counts for nothing.
  CHECK_FALSE(flag(table_of("sqrt(e5m10)"), "FTZ_IN"));
}

TEST_CASE("the model hash of an operation is FNV-1a of its text, and is its own") {
  const auto op = parse_single_operation("add(e4m3fn)");
  CHECK(widthwise::hdl::model_hash(op) == 0x314f5808c1341208);
  CHECK(code(table_of("add(e4m3fn)"), "MODEL_HASH") == Code(widthwise::hdl::model_hash(op)));
  std::set<std::uint64_t> hashes;
  for (const std::string& design : designs())
    hashes.insert(widthwise::hdl::model_hash(parse_design(design)));
  CHECK(hashes.size() == designs().size());
}

TEST_CASE("an operation that contradicts itself, or a name that is none, has no table") {
  auto op = parse_single_operation("abs(e5m10)");
  CHECK_THROWS_AS(widthwise::hdl::operation_constants(op, "module"), std::invalid_argument);
  op.to.frac_bits = 9;
  CHECK_THROWS_WITH_AS(
      widthwise::hdl::operation_constants(op, "unit"),
      "abs: out: abs gives codes of a's format, e5m10, not of e5m9; leave out= away",
      std::invalid_argument);
}
