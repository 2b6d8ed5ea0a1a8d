#include "rtl_multiplier.hpp"

#include <fmt/core.h>

#include <sstream>
#include <stdexcept>

#include "verilog_literal.hpp"
#include "widthwise/sim/multipliers.hpp"

namespace widthwise::hdl {
namespace {

constexpr int widest_table = 16;  // digits of both significands together

int digits_of(const Operand& x) { return x.keep_frac.value_or(x.fmt.frac_bits) + 1; }

std::string module(std::string_view comment, std::string_view name, int wa, int wb,
                   std::string_view inside) {
  return fmt::format(
      "{}`default_nettype none\n"
      "module {} #(\n"
      "  parameter integer WA = {},\n"
      "  parameter integer WB = {}\n"
      ") (\n"
      "  input  wire [WA-1:0] a,\n"
      "  input  wire [WB-1:0] b,\n"
      "  output wire [WA+WB-1:0] p\n"
      ");\n{}endmodule\n`default_nettype wire\n",
      comment, name, wa, wb, inside);
}

// One of lib's, which lies in a module of its own.
std::string instance(const NamedMultiplier& m) {
  using Name = NamedMultiplier::Name;
  const auto text = [&](std::string_view module, std::string_view parameter) {
    const std::string last =
        parameter.empty() ? "" : fmt::format(", .{}({})", parameter, m.parameter);
    return fmt::format("  {} #(.WA(WA), .WB(WB){}) multiply (.a(a), .b(b), .p(p));\n", module,
                       last);
  };
  switch (m.name) {
    case Name::truncated_array: return text("ww_truncated_array", "COLUMNS");
    case Name::mitchell: return text("ww_mitchell", "");
    case Name::drum: return text("ww_drum", "KEEP");
    case Name::truncated_operands: return text("ww_truncated_operands", "DROP");
  }
  return {};
}

std::string product_literal(const Multiplier& multiply, std::uint64_t a, std::uint64_t b,
                            int width) {
  const uint128 p = multiply(a, b);
  if (p >> width != 0)
    throw std::invalid_argument(fmt::format(
        "rtl: the multiplier makes more of {} * {} than the {} digits that both significands have "
        "together; cut its product",
        a, b, width));
  return verilog_literal({width, {static_cast<std::uint64_t>(p)}});
}

std::string table(const Multiplier& multiply, int wa, int wb) {
  std::string cases;
  for (std::uint64_t a = 1; a >> wa == 0; ++a)
    for (std::uint64_t b = 1; b >> wb == 0; ++b)  // zeros are no matter of the multiplier
      cases += fmt::format("      {}: product = {};\n", verilog_literal({wa + wb, {a << wb | b}}),
                           product_literal(multiply, a, b, wa + wb));
  return fmt::format(
      "  reg [WA+WB-1:0] product;\n  always @*\n    case ({{a, b}})\n{}"
      "      default: product = {{(WA+WB){{1'b0}}}};\n    endcase\n  assign p = product;\n",
      cases);
}

// What only its author can write.
std::string to_be_filled_in(const Multiplier& multiply) {
  std::string text =
      "  // Fill in: p is the product of the significands a and b, hidden ones included, that the\n"
      "  // simulator was given. They have too many digits for a table.\n";
  if (const auto* product = multiply.target<TextProduct>()) {
    std::istringstream lines(product->source);
    for (std::string line; std::getline(lines, line);) text += fmt::format("  // {}\n", line);
  }
  return text;
}

}  // namespace

RtlFile multiplier_module(std::string_view name, const Multiplier& multiply, const Operand& a,
                          const Operand& b) {
  const int wa = digits_of(a), wb = digits_of(b);
  const auto* named = multiply.target<NamedMultiplier>();
  const bool fits = wa + wb <= widest_table;
  const std::string inside = named  ? instance(*named)
                             : fits ? table(multiply, wa, wb)
                                    : to_be_filled_in(multiply);
  return {fmt::format("{}.v", name),
          module("// The product of two significands, as the simulator was told to take it.\n",
                 name, wa, wb, inside)};
}

}  // namespace widthwise::hdl
