#include "widthwise/hdl/adapters.hpp"

#include "adapter_format.hpp"
#include "printing.hpp"

namespace widthwise::hdl {
namespace {

constexpr const char* same_comment = "0: the library reads these codes otherwise";

ConstantTable named(const ConstantTable& table, std::string_view library) {
  return {{"unit", "UNIT_NAME", fmt::format("{}_{}", unit_name(table), library), ""},
          {"unit", "SPEC", value_of<std::string>(table, "SPEC"), ""}};
}

void add(ConstantTable& to, const AdapterFormat& f, std::string_view name, std::int64_t value,
         std::string comment = "") {
  to.push_back({f.letter, fmt::format("{}_{}", f.letter, name), value, std::move(comment)});
}

void add_same(ConstantTable& to, const AdapterFormat& f, bool same) {
  to.push_back({f.letter, f.letter + "_SAME_CODES", same, same_comment});
}

std::uint64_t default_rounding(const ConstantTable& table) {
  return value_of<Pattern>(table, "RM_DEFAULT").limbs[0];
}

// A rounding of three bits, where the library has it.
void add_rounding(ConstantTable& to, std::string name, std::uint64_t number, std::string comment) {
  to.push_back({"rounding", std::move(name), Pattern{3, {number}}, std::move(comment)});
}

// HardFloat's folders of what machines leave open; a unit has its own NaN (QNAN).
std::string hardfloat_specialisation(const ConstantTable& table) {
  const std::string nan =
      has(table, "NAN_RESULT") ? value_of<std::string>(table, "NAN_RESULT") : "canonical";
  if (nan == "canonical") return "source/RISCV, whose NaN is the QNAN here";
  if (nan == "x86") return "source/8086-SSE, whose NaN is the QNAN here";
  return "none has this NaN";
}

constexpr std::uint64_t odd = 6, past_three_bits = 8;

}  // namespace

ConstantTable hardfloat_constants(const ConstantTable& table) {
  ConstantTable all = named(table, "hardfloat");
  all.push_back({"unit", "SPECIALISATION", hardfloat_specialisation(table), ""});
  for (const AdapterFormat& f : adapter_formats(table)) {
    add(all, f, "expWidth", f.exponent);
    add(all, f, "sigWidth", f.significand, "hidden bit included");
    add(all, f, "recWidth", f.exponent + f.significand + 1, "of recoded numbers");
    add_same(all, f, f.ieee && !f.flushed);
  }
  if (const auto rm = default_rounding(table); rm < past_three_bits)
    add_rounding(all, "roundingMode", rm, "round_odd is 6");
  all.push_back({"rounding", "control", value_of<bool>(table, "TININESS_AFTER_ROUNDING"),
                 "1: flControl_tininessAfterRounding"});
  return all;
}

ConstantTable fpnew_constants(const ConstantTable& table) {
  constexpr std::uint64_t rod = 5;
  ConstantTable all = named(table, "fpnew");
  for (const AdapterFormat& f : adapter_formats(table)) {
    add(all, f, "EXP_BITS", f.exponent);
    add(all, f, "MAN_BITS", f.fraction, "without the hidden bit");
    add_same(all, f, f.ieee && !f.flushed);
  }
  if (const auto rm = default_rounding(table); rm < past_three_bits)
    add_rounding(all, "RND_MODE", rm == odd ? rod : rm, "fpnew_pkg::roundmode_e; ROD is 5");
  return all;
}

ConstantTable flopoco_constants(const ConstantTable& table) {
  ConstantTable all = named(table, "flopoco");
  for (const AdapterFormat& f : adapter_formats(table)) {
    add(all, f, "wE", f.exponent, "no code of it is set aside");
    add(all, f, "wF", f.fraction, "without the hidden bit");
    add(all, f, "WORD_WIDTH", 2 + 1 + f.exponent + f.fraction,
        "exception, sign, exponent, fraction");
  }
  const char* names[] = {"EXCEPTION_ZERO", "EXCEPTION_NORMAL", "EXCEPTION_INF", "EXCEPTION_NAN"};
  for (std::uint64_t code = 0; code < 4; ++code)
    all.push_back({"the two bits in front of a word", names[code], Pattern{2, {code}}, ""});
  return all;
}

ConstantTable ap_float_constants(const ConstantTable& table) {
  ConstantTable all = named(table, "ap_float");
  for (const AdapterFormat& f : adapter_formats(table)) {
    add(all, f, "W", 1 + f.exponent + f.fraction, "all bits: ap_float<W, E>");
    add(all, f, "E", f.exponent);
    add_same(all, f, f.ieee && f.flushed);
  }
  return all;
}

std::string vivado_tcl(const ConstantTable& table) {
  std::string list;
  for (const AdapterFormat& f : adapter_formats(table)) {
    if (f.letter != "A" && f.letter != "Y") continue;
    const std::string_view port = f.letter == "A" ? "A" : "Result";
    list += fmt::format(
        "  CONFIG.{0}_Precision_Type {{Custom}} \\\n  CONFIG.C_{0}_Exponent_Width {{{1}}} \\\n"
        "  CONFIG.C_{0}_Fraction_Width {{{2}}} \\\n",
        port, f.exponent, f.significand);
  }
  return fmt::format(
      "# Generated from {0}. set_property -dict ${1}_floating_point [get_ips ...]\n"
      "# Fractions are counted with their hidden bit. The operator flushes subnormal numbers, "
      "rounds\n"
      "# to nearest even, and takes B and C in A's format.\n"
      "set {1}_floating_point [list \\\n{2}]\n",
      value_of<std::string>(table, "SPEC"), unit_name(table), list);
}

}  // namespace widthwise::hdl
