#include "header_checks.hpp"

#include <algorithm>

#include "adapter_format.hpp"
#include "folder_templates.hpp"
#include "printing.hpp"
#include "verilog_literal.hpp"
#include "widthwise/hdl/adapters.hpp"

namespace widthwise::hdl {
namespace {

// A number's bits, in a form that no header has it in; a text has none.
Pattern bits_of(const Constant& c) {
  if (const auto* pattern = std::get_if<Pattern>(&c.value)) return *pattern;
  if (const auto* flag = std::get_if<bool>(&c.value)) return {64, {*flag}};
  return {64, {static_cast<std::uint64_t>(std::get<std::int64_t>(c.value))}};
}

const std::string* text_of(const Constant& c) { return std::get_if<std::string>(&c.value); }

template <std::invocable<const Constant&> Line>
std::string lines(const ConstantTable& table, const Line& line) {
  std::string text;
  for (const Constant& c : table) text += line(c);
  return text;
}

// --- Verilog and SystemVerilog -------------------------------------------------------------------

// Where a header's constants are met: in a module, by names that begin so.
struct Scope {
  std::string module, header, parameters, body, prefix;
  bool texts = false;  // they are constants there, and no comments
};

int widest(const ConstantTable& table) {
  int bits = 64;
  for (const Constant& c : table)
    if (!text_of(c)) bits = std::max(bits, bits_of(c).width);
  return bits;
}

// An integer goes on with its sign where codes are wider.
std::string sized_literal(const Constant& c) {
  const auto* integer = std::get_if<std::int64_t>(&c.value);
  return integer ? fmt::format("64'sh{:x}", static_cast<std::uint64_t>(*integer))
                 : verilog_literal(bits_of(c));
}

std::string held(const Scope& scope, const Constant& c) {
  const std::string met = scope.prefix + c.name;
  if (const std::string* text = text_of(c))
    return scope.texts
               ? fmt::format("    hold(\"{}\", {} == {}, 1);\n", c.name, met, quoted_text(*text))
               : "";
  return fmt::format("    hold(\"{}\", {}, {});\n", c.name, met, sized_literal(c));
}

std::string holding_module(const ConstantTable& table, const Scope& scope,
                           const std::string& more = "") {
  return filled("holding_module.v",
                {{"MODULE", scope.module},
                 {"HEADER", scope.header},
                 {"PARAMETERS", scope.parameters},
                 {"BODY", scope.body},
                 {"BITS", std::to_string(widest(table))},
                 {"HELD", lines(table, [&](const Constant& c) { return held(scope, c); }) + more}});
}

std::string include(const std::string& header) { return fmt::format("`include \"{}\"\n", header); }

// A header of what other libraries read, beside the unit's own; there is none without floats.
bool has_adapters(const ConstantTable& table) { return !adapter_formats(table).empty(); }

Values adapter_values(const ConstantTable& table, std::string_view library,
                      const std::string& modules) {
  const std::string& name = unit_name(table);
  const std::string module =
      fmt::format("{}_{}", name, library == "fpnew" ? "fpnew_package" : "adapter");
  Values values{{"NAME", name}, {"MODULES", modules}, {"ADAPTER", ""}, {"ADAPTER_ERRORS", ""}};
  if (!has_adapters(table)) return values;
  values[2].second = fmt::format("  {} {} ();\n", module, library);
  values[3].second = fmt::format(" + {}.errors", library);
  return values;
}

std::string verilog_checks(const ConstantTable& table) {
  const std::string& name = unit_name(table);
  const std::string body = name + ".vh", list = name + "_params.vh", macros = name + "_defs.vh",
                    hardfloat = name + "_hardfloat.vh";
  std::string modules =
      holding_module(table, {name + "_localparams", body, "", include(body), ""}) +
      holding_module(table,
                     {name + "_parameters", list, " #(\n" + include(list) + ") ()", "", ""}) +
      holding_module(
          table, {name + "_macros", macros, "", include(macros), "`" + upper(name) + "_", true});
  if (has_adapters(table))
    modules += holding_module(hardfloat_constants(table),
                              {name + "_adapter", hardfloat, "", include(hardfloat), ""});
  return filled("headers.v", adapter_values(table, "hardfloat", modules));
}

// The codes of roundings have a second name there, in rm_e.
std::string held_roundings(const ConstantTable& table, const std::string& package) {
  return lines(table, [&](const Constant& c) {
    if (c.section != "codes: rounding" || !std::holds_alternative<Pattern>(c.value))
      return std::string();
    const std::string name = c.name.substr(3);
    return fmt::format("    hold(\"{}\", {}::{}, {});\n", name, package, name,
                       verilog_literal(bits_of(c)));
  });
}

std::string systemverilog_checks(const ConstantTable& table) {
  const std::string &name = unit_name(table), package = name + "_pkg",
                    adapter = name + "_fpnew_pkg";
  std::string modules =
      holding_module(table, {name + "_package", package + ".sv", "", "", package + "::"},
                     held_roundings(table, package));
  if (has_adapters(table))
    modules += holding_module(fpnew_constants(table),
                              {name + "_fpnew_package", adapter + ".sv", "", "", adapter + "::"});
  return filled("headers.sv", adapter_values(table, "fpnew", modules));
}

// --- VHDL ----------------------------------------------------------------------------------------

struct VhdlValue {
  std::string operator()(std::int64_t x) const {
    return fits_integer(x) ? std::to_string(x)
                           : (*this)(Pattern{64, {static_cast<std::uint64_t>(x)}});
  }
  std::string operator()(bool x) const { return x ? "'1'" : "'0'"; }
  std::string operator()(const Pattern& p) const { return '"' + binary_digits(p) + '"'; }
  std::string operator()(const std::string& text) const { return vhdl_text(text); }
};

std::string held_in_vhdl(const ConstantTable& table, const std::string& package) {
  return lines(table, [&](const Constant& c) {
    return fmt::format(
        "    assert work.{0}.{1} = {2}\n      report \"{0}.vhd: {1} is wrong\" severity failure;\n",
        package, c.name, std::visit(VhdlValue{}, c.value));
  });
}

std::string vhdl_checks(const ConstantTable& table) {
  const std::string& name = unit_name(table);
  std::string held = held_in_vhdl(table, name + "_pkg");
  if (has_adapters(table)) held += held_in_vhdl(flopoco_constants(table), name + "_flopoco_pkg");
  return filled("headers.vhd", {{"NAME", name}, {"HELD", held}});
}

// --- C -------------------------------------------------------------------------------------------

// Of a code past 64 bits, which is a list of words there.
std::string held_words(const std::string& header, const std::string& macro, const Constant& c) {
  const Pattern p = bits_of(c);
  const int count = (p.width + 31) / 32;
  std::string text = fmt::format("  {{\n    const uint32_t words[{}] = {};\n", count, macro);
  for (int i = 0; i < count; ++i)
    text += fmt::format("    hold(\"{}\", \"{}, word {}\", words[{}], UINT32_C(0x{:x}));\n", header,
                        c.name, i, i,
                        p.limbs[static_cast<std::size_t>(i) / 2] >> i % 2 * 32 & 0xffffffff);
  return text + "  }\n";
}

std::string held_in_c(const ConstantTable& table, const std::string& header) {
  return lines(table, [&](const Constant& c) {
    const std::string macro = upper(unit_name(table)) + "_" + c.name;
    const std::string* text = text_of(c);
    if (!text && bits_of(c).width > 64) return held_words(header, macro, c);
    return fmt::format(
        "  {}(\"{}\", \"{}\", {}, {});\n", text ? "hold_text" : "hold", header, c.name, macro,
        text ? quoted_text(*text) : fmt::format("UINT64_C(0x{})", hex_digits(bits_of(c))));
  });
}

std::string c_checks(const ConstantTable& table) {
  const std::string& name = unit_name(table);
  std::string held = held_in_c(table, name + ".h"), adapter;
  if (has_adapters(table)) {
    held += held_in_c(ap_float_constants(table), name + "_ap_float.h");
    adapter = fmt::format("\n#include \"{}_ap_float.h\"\n", name);
  }
  return filled("headers.c", {{"NAME", name}, {"ADAPTER", adapter}, {"HELD", held}});
}

}  // namespace

std::vector<File> header_checks(const ConstantTable& table) {
  const std::string file = fmt::format("bench/{}_headers", unit_name(table));
  return {{file + ".v", verilog_checks(table)},
          {file + ".sv", systemverilog_checks(table)},
          {file + ".vhd", vhdl_checks(table)},
          {file + ".c", c_checks(table)},
          {file + ".py", filled("headers.py", {{"NAME", unit_name(table)}})}};
}

}  // namespace widthwise::hdl
