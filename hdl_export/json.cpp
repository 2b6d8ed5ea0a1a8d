#include "printing.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

struct Value {
  std::string operator()(std::int64_t x) const {
    return fmt::format(R"("kind": "integer", "value": {})", x);
  }
  std::string operator()(bool x) const { return fmt::format(R"("kind": "flag", "value": {})", x); }
  std::string operator()(const Pattern& p) const {
    return fmt::format(R"("kind": "pattern", "width": {}, "value": "0x{}")", p.width,
                       hex_digits(p));
  }
  std::string operator()(const std::string& text) const {
    return fmt::format(R"("kind": "text", "value": {})", quoted_text(text));
  }
};

}  // namespace

std::string json(const ConstantTable& table) {
  std::string rows;
  for (const Constant& c : table)
    rows += fmt::format(R"({}  {{"name": "{}", {}, "section": {}, "comment": {}}})",
                        rows.empty() ? "" : ",\n", c.name, std::visit(Value{}, c.value),
                        quoted_text(c.section), quoted_text(c.comment));
  return fmt::format("{{\"unit\": {}, \"constants\": [\n{}\n]}}\n", quoted_text(unit_name(table)),
                     rows);
}

}  // namespace widthwise::hdl
