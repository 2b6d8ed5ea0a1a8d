#include <fmt/format.h>

#include <map>

#include "products.hpp"
#include "random_units.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// The blocks engine against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{3, 1, 70}, {2, 33, 67}, {1, 150, 3}};

[[maybe_unused]] Unit with(std::string_view preset, void (*change)(Unit&)) {
  Unit u = find_preset(preset)->unit;
  change(u);
  return u;
}

}  // namespace

TEST_CASE("the blocks engine gives the reference's codes: every preset, all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  int taken = 0;
  std::uint64_t expected = 0;
  for (const Preset& preset : presets()) {
    const Opinion o = opinion("blocks", preset.unit);
    if (!o.takes) {
      MESSAGE(preset.name << ": " << o.reason);
      continue;
    }
    CAPTURE(preset.name);
    ++taken;
    for (const Rival::Shape& s : shapes) {
      Rival("blocks", preset.unit, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  CHECK(taken == 56);
  tally.expect(expected);
}

TEST_CASE("the blocks engine gives the reference's codes: units of every kind") {
  random_units::Random units(3);
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  int taken = 0, met = 0;
  std::map<std::string, int> why;
  for (; taken < 400; ++met) {
    const Unit u = random_units::unit(units, 8, 20);
    const Rival::Shape s{1, 1 + random() % 40, 1 + random() % 70};
    try {
      make_reference(u, s.k);
    } catch (const std::invalid_argument&) {
      continue;
    }
    const Opinion o = opinions({.unit = u, .k = s.k})[0].engine == "" ? Opinion{} : [&] {
      for (const Opinion& x : opinions({.unit = u, .k = s.k}))
        if (x.engine == "blocks") return x;
      return Opinion{};
    }();
    if (!o.takes) {
      ++why[o.reason.substr(0, 30)];
      continue;
    }
    ++taken;
    Rival("blocks", u, tally).compare_random(s, random);
    expected += outputs_compared(s);
  }
  for (auto& [r, n] : why) MESSAGE(r << ": " << n);
  MESSAGE(taken << " of " << met);
  tally.expect(expected);
}
