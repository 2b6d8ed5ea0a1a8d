#pragma once
#include <span>

#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {

// An engine against the reference on every instruction set: every unit, one block and past a strip
// of outputs. Returns how many outputs were compared.
inline std::uint64_t compare_everywhere(const char* engine, std::span<const widthwise::Unit> units,
                                        bool flags, ProductRandom& random, Tally& tally) {
  std::uint64_t compared = 0;
  on_every_target([&] {
    for (const widthwise::Unit& u : units)
      for (const Rival::Shape& s : {Rival::Shape{2, 1, 5}, {3, 21, 66}}) {
        CAPTURE(widthwise::to_string(u));
        Rival(engine, u, tally, flags).compare_random(s, random);
        compared += outputs_compared(s);
      }
  });
  return compared;
}

}  // namespace tests
