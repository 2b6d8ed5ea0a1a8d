#pragma once
#include <initializer_list>
#include <span>
#include <vector>

#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {

inline std::vector<widthwise::Unit> units_of(std::initializer_list<const char*> texts) {
  std::vector<widthwise::Unit> all;
  for (const char* text : texts) all.push_back(widthwise::parse_unit(text));
  return all;
}

// Whether the condition holds of every unit, on every instruction set.
template <class Condition>
void hold_everywhere(std::span<const widthwise::Unit> units, const Condition& condition) {
  REQUIRE(!units.empty());
  on_every_target([&] {
    for (const widthwise::Unit& u : units) {
      CAPTURE(widthwise::to_string(u));
      CHECK(condition(u));
    }
  });
}

// An engine against the reference on every instruction set, with flags and without: every unit, one
// block and past a strip of outputs.
inline void compare_everywhere(const char* engine, std::span<const widthwise::Unit> units,
                               std::uint64_t seed) {
  ProductRandom random(seed);
  Tally tally;
  std::uint64_t expected = 0;
  for (const widthwise::Unit& u : units)
    for (const Rival::Shape& s : {Rival::Shape{2, 1, 5}, {2, 19, 66}}) {
      CAPTURE(widthwise::to_string(u));
      Rival(engine, u, tally).everywhere().compare_random(s, random);
      expected += Rival::times_everywhere() * outputs_compared(s);
    }
  tally.expect(expected);
}

// Past one panel, and sums that are infinite from a step on to the last; with flags.
inline void compare_past_panels(const char* engine, std::initializer_list<const char*> texts) {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  for (const widthwise::Unit& u : units_of(texts)) {
    CAPTURE(widthwise::to_string(u));
    const Rival rival(engine, u, tally, true);
    rival.compare_random({1, 1100, 3}, random);
    expected += outputs_compared({1, 1100, 3});
    for (const std::size_t k : {257, 600}) rival.compare_lasting(k), expected += Rival::lasting;
  }
  tally.expect(expected);
}

}  // namespace tests
