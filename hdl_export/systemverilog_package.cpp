#include "model_ports.hpp"
#include "verilog_value.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

std::string type_of(const Constant& c, const VerilogValue& v) {
  if (v.type == "integer") return "int";
  return std::holds_alternative<bool>(c.value) ? "bit" : "logic " + v.type;
}

std::string declared(const Constant& c) {
  const auto v = verilog_value(c);
  if (!v) return "  " + text_comment(c, "//");
  return commented(fmt::format("  localparam {} {} = {};", type_of(c, *v), c.name, v->value), "//",
                   v->note, c.comment);
}

// Ranges are literal: Icarus binds no typedef whose range names a constant of the package.
std::string vector_type(const ConstantTable& table, std::string_view prefix, std::string_view name,
                        std::string_view sign) {
  const std::string width = fmt::format("{}_WIDTH", prefix);
  if (!has(table, width)) return "";
  const std::int64_t bits = value_of<std::int64_t>(table, width);
  if (bits > widest_vector) return "";
  return fmt::format("  typedef logic {}[{}:0] {};\n", sign, bits - 1, name);
}

std::string rounding_type(const ConstantTable& table) {
  if (!has(table, "RM_WIDTH")) return "";
  std::string names;
  for (const Constant& c : table) {
    const auto* code = std::get_if<Pattern>(&c.value);
    if (c.section != "codes: rounding" || !code) continue;
    names += fmt::format("{}{} = {}", names.empty() ? "" : ", ", c.name.substr(3),
                         verilog_value(c)->value);
  }
  return fmt::format("  typedef enum logic [{}:0] {{{}}} rm_e;\n",
                     value_of<std::int64_t>(table, "RM_WIDTH") - 1, names);
}

std::string types(const ConstantTable& table) {
  const std::string all = vector_type(table, "A", "a_t", "") + vector_type(table, "B", "b_t", "") +
                          vector_type(table, "C", "c_t", "") +
                          vector_type(table, "SCALE", "scale_t", "") +
                          vector_type(table, "ACC", "acc_t", "signed ") +
                          vector_type(table, "Y", "y_t", "") + rounding_type(table);
  return all.empty() ? "" : "\n  // --- types\n" + all;
}

}  // namespace

std::string systemverilog_package(const ConstantTable& table) {
  const std::string package = unit_name(table) + "_pkg", guard = upper(package) + "_SV";
  return fmt::format(
             "// Generated. Write {0}::NAME: Yosys takes no import of a whole package.\n"
             "`ifndef {1}\n`define {1}\n"
             "// verilator lint_off UNUSEDPARAM\n"
             "package {0};\n",
             package, guard) +
         sections(table, "  //", declared) + types(table) +
         "endpackage\n// verilator lint_on UNUSEDPARAM\n`endif\n";
}

}  // namespace widthwise::hdl
