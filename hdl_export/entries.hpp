#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "codes.hpp"
#include "widthwise/hdl/constants.hpp"
#include "widthwise/wide.hpp"

namespace widthwise::hdl {

// Holds the codes of every format within the limits.
using Code = Wide<65>;

// The table while it is made. A rounding's code has as many bits as the unit's port for it.
struct Draft {
  ConstantTable table;
  int rm_width;
};

// Adds one section's constants, whose names may begin alike: Entries(draft, "…", "A_").
class Entries {
 public:
  Entries(Draft& draft, std::string section, std::string_view prefix = "")
      : draft_(draft), section_(std::move(section)), prefix_(prefix) {}

  void integer(std::string_view name, std::int64_t value, std::string comment = "") {
    add(name, value, std::move(comment));
  }
  void flag(std::string_view name, bool value, std::string comment = "") {
    add(name, value, std::move(comment));
  }
  void text(std::string_view name, std::string value) { add(name, std::move(value), ""); }
  void pattern(std::string_view name, int width, const Code& code, std::string comment = "") {
    const auto limbs = static_cast<std::ptrdiff_t>(width + 63) / 64;
    add(name, Pattern{width, {code.limb, code.limb + limbs}}, std::move(comment));
  }
  void policy(std::string_view name, auto value) {
    using E = decltype(value);
    const auto number = static_cast<std::size_t>(value);
    pattern(name, code_width<E>, Code(number), std::string(code_names<E>[number]));
  }
  void rounding(std::string_view name, const Rounding& r) {
    const RoundingCode& code = rounding_code(r);
    pattern(name, draft_.rm_width, Code(code.number), std::string(code.name));
  }

 private:
  template <class T>
  void add(std::string_view name, T value, std::string comment) {
    draft_.table.push_back(
        {section_, prefix_ + std::string(name), std::move(value), std::move(comment)});
  }

  Draft& draft_;
  std::string section_, prefix_;
};

}  // namespace widthwise::hdl
