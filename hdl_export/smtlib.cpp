#include "adapter_format.hpp"
#include "printing.hpp"
#include "widthwise/hdl/adapters.hpp"

namespace widthwise::hdl {
namespace {

// SMT-LIB's roundings by their numbers in the table; there are no others.
constexpr std::string_view roundings[] = {"RNE", "RTZ", "RTN", "RTP", "RNA"};

// Codes of the sort that stand for themselves: all but the NaNs, of which the sort has one.
constexpr std::string_view codes[] = {"POS_ZERO",      "NEG_ZERO",   "MIN_SUBNORMAL",
                                      "MAX_SUBNORMAL", "MIN_NORMAL", "MAX_FINITE",
                                      "ONE",           "POS_INF",    "NEG_INF"};

std::string code_definitions(const ConstantTable& table, const AdapterFormat& f,
                             std::string_view sort) {
  std::string text;
  for (const std::string_view code : codes) {
    const std::string name = fmt::format("{}_{}", f.letter, code);
    if (has(table, name))
      text += fmt::format("(define-fun {0}_{1} () {0} ((_ to_fp {2} {3}) #b{4}))\n", sort, code,
                          f.exponent, f.significand, binary_digits(value_of<Pattern>(table, name)));
  }
  return text;
}

std::string sort_of(const ConstantTable& table, const AdapterFormat& f) {
  const std::string sort = fmt::format("{}_{}", unit_name(table), f.letter);
  if (!f.ieee || f.exponent < 2 || f.significand < 2)
    return fmt::format("; {}: its codes are not those of a sort of SMT-LIB\n", sort);
  return fmt::format("(define-sort {} () (_ FloatingPoint {} {}))\n", sort, f.exponent,
                     f.significand) +
         code_definitions(table, f, sort);
}

}  // namespace

std::string smtlib(const ConstantTable& table) {
  std::string text = fmt::format(
      "; Generated from {}. Sorts are (_ FloatingPoint eb sb), sb with the hidden bit.\n",
      value_of<std::string>(table, "SPEC"));
  for (const AdapterFormat& f : adapter_formats(table)) text += sort_of(table, f);
  const std::uint64_t rm = value_of<Pattern>(table, "RM_DEFAULT").limbs[0];
  if (rm < std::size(roundings))
    text += fmt::format("(define-fun {}_rm () RoundingMode {})\n", unit_name(table), roundings[rm]);
  return text;
}

}  // namespace widthwise::hdl
