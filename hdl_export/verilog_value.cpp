#include "verilog_value.hpp"

#include "verilog_literal.hpp"

namespace widthwise::hdl {
namespace {

struct Visitor {
  using Result = std::optional<VerilogValue>;

  Result operator()(std::int64_t value) const {
    if (fits_integer(value)) return VerilogValue{"integer", fmt::format("{}", value), ""};
    return VerilogValue{"signed [63:0]",
                        fmt::format("64'sh{:016x}", static_cast<std::uint64_t>(value)),
                        fmt::format("= {}", value)};
  }
  Result operator()(bool value) const { return VerilogValue{"", value ? "1'b1" : "1'b0", ""}; }
  Result operator()(const Pattern& p) const {
    return VerilogValue{fmt::format("[{}:0]", p.width - 1), verilog_literal(p), ""};
  }
  Result operator()(const std::string&) const { return {}; }
};

}  // namespace

std::optional<VerilogValue> verilog_value(const Constant& c) {
  return std::visit(Visitor{}, c.value);
}

std::string text_comment(const Constant& c, std::string_view mark) {
  return fmt::format("{} {}: {}\n", mark, c.name, std::get<std::string>(c.value));
}

}  // namespace widthwise::hdl
