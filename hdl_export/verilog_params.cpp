#include <fmt/core.h>

#include "verilog_literal.hpp"
#include "widthwise/hdl/verilog.hpp"

namespace widthwise::hdl {
namespace {

// What an integer of Verilog holds, but for -2^31, which would be written with the literal 2^31.
constexpr std::int64_t integer_max = 0x7fffffff;

// The line of a constant, its comment apart.
struct Line {
  std::string_view name;

  std::string operator()(std::int64_t value) const {
    if (-integer_max <= value && value <= integer_max)
      return fmt::format("localparam integer {} = {};", name, value);
    return fmt::format("localparam signed [63:0] {} = 64'sh{:016x};  // = {}", name,
                       static_cast<std::uint64_t>(value), value);
  }
  std::string operator()(bool value) const {
    return fmt::format("localparam {} = 1'b{};", name, static_cast<int>(value));
  }
  std::string operator()(const Pattern& p) const {
    return fmt::format("localparam [{}:0] {} = {};", p.width - 1, name, verilog_literal(p));
  }
  // Verilog-2001 has no strings that every tool takes.
  std::string operator()(const std::string& text) const {
    return fmt::format("// {}: {}", name, text);
  }
};

std::string line(const Constant& c) {
  const std::string declared = std::visit(Line{c.name}, c.value);
  if (c.comment.empty()) return declared + "\n";
  const std::string_view mark = declared.back() == ';' ? "  // " : "; ";
  return fmt::format("{}{}{}\n", declared, mark, c.comment);
}

}  // namespace

std::string verilog_localparams(const ConstantTable& table) {
  std::string text =
      "// Generated. Include it in the body of each module that wants it: localparams belong to "
      "one\n"
      "// module, which is why there is no include guard.\n"
      "// verilator lint_off UNUSEDPARAM\n";
  std::string_view section;
  for (const Constant& c : table) {
    if (c.section != section) text += fmt::format("\n// --- {}\n", c.section);
    section = c.section;
    text += line(c);
  }
  return text + "\n// verilator lint_on UNUSEDPARAM\n";
}

}  // namespace widthwise::hdl
