#include "verilog_value.hpp"
#include "widthwise/hdl/verilog.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::string_view lint_off = "// verilator lint_off UNUSEDPARAM\n";
constexpr std::string_view lint_on = "\n// verilator lint_on UNUSEDPARAM\n";

std::string declared(std::string_view keyword, const Constant& c, const VerilogValue& v,
                     std::string_view end) {
  return commented(fmt::format("{} {}{}{} = {}{}", keyword, v.type, v.type.empty() ? "" : " ",
                               c.name, v.value, end),
                   "//", v.note, c.comment);
}

// Sized whatever its kind, for a macro has no type that would give it a width.
std::string macro_value(const Constant& c) {
  if (const auto* text = std::get_if<std::string>(&c.value)) return quoted_text(*text);
  const auto* integer = std::get_if<std::int64_t>(&c.value);
  if (!integer || !fits_integer(*integer)) return verilog_value(c)->value;
  return *integer < 0 ? fmt::format("(-32'sd{})", -*integer) : fmt::format("32'sd{}", *integer);
}

}  // namespace

std::string verilog_localparams(const ConstantTable& table) {
  std::string text =
      "// Generated. Include it in the body of each module that wants it: localparams belong to "
      "one\n"
      "// module, which is why there is no include guard.\n";
  text += lint_off;
  text += sections(table, "//", [](const Constant& c) {
    const auto v = verilog_value(c);
    return v ? declared("localparam", c, *v, ";") : text_comment(c, "//");
  });
  return text += lint_on;
}

std::string verilog_parameters(const ConstantTable& table) {
  const Constant* last = nullptr;
  for (const Constant& c : table)
    if (verilog_value(c)) last = &c;
  std::string text =
      "// Generated. Include it between the brackets of module name #( ... ), where it sizes the "
      "ports\n"
      "// that follow. It belongs to one module, which is why there is no include guard.\n";
  text += lint_off;
  text += sections(table, "//", [&](const Constant& c) {
    const auto v = verilog_value(c);
    return v ? declared("parameter", c, *v, &c == last ? "" : ",") : text_comment(c, "//");
  });
  return text += lint_on;
}

std::string verilog_defines(const ConstantTable& table) {
  const std::string prefix = upper(unit_name(table)) + "_", guard = prefix + "DEFS_VH";
  std::string text = fmt::format(
      "// Generated. Macros for any place; the unit's name in front keeps those of units apart.\n"
      "`ifndef {0}\n`define {0}\n",
      guard);
  text += sections(table, "//", [&](const Constant& c) {
    const auto v = verilog_value(c);
    return commented(fmt::format("`define {}{} {}", prefix, c.name, macro_value(c)), "//",
                     v ? v->note : "", c.comment);
  });
  return text + "\n`endif\n";
}

}  // namespace widthwise::hdl
