#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <initializer_list>
#include <string_view>

#include "products.hpp"
#include "widthwise/sim/unit_text.hpp"

// Where the conditions of an engine's plan end: not in which words it refuses, but what.
namespace tests {

using Change = void (*)(widthwise::Unit&);

inline widthwise::Unit with(std::string_view text, Change change) {
  widthwise::Unit u = widthwise::parse_unit(text);
  change(u);
  return u;
}

// Of two units that differ in one thing the first is taken, and the second is not any more.
class Border {
 public:
  explicit Border(std::function<bool(const widthwise::Unit&)> takes) : takes_(std::move(takes)) {}
  // Of what an engine takes.
  explicit Border(const char* engine, bool flags = false, std::size_t k = 1)
      : takes_([=](const widthwise::Unit& u) { return opinion(engine, u, flags, k).takes; }) {}

  void lies_between(const widthwise::Unit& inside, const widthwise::Unit& outside) const {
    CAPTURE(widthwise::to_string(inside));
    CAPTURE(widthwise::to_string(outside));
    CHECK(takes_(inside));
    CHECK_FALSE(takes_(outside));
  }
  void lies_between(const char* inside, const char* outside) const {
    lies_between(widthwise::parse_unit(inside), widthwise::parse_unit(outside));
  }
  // A unit as it is, and changed.
  void lies_between(const char* unit, Change outside) const {
    lies_between(widthwise::parse_unit(unit), with(unit, outside));
  }
  void lies_between(const char* unit, Change inside, Change outside) const {
    lies_between(with(unit, inside), with(unit, outside));
  }
  // A unit as it is, and with any one of the changes.
  void excludes_each(const char* unit, std::initializer_list<Change> changes) const {
    for (const Change change : changes) lies_between(unit, change);
  }

 private:
  std::function<bool(const widthwise::Unit&)> takes_;
};

}  // namespace tests
