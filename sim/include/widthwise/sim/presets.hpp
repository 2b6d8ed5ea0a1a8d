#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "widthwise/unit.hpp"

namespace widthwise {

// How we know that a preset is the unit it is named after (the datapath page, sections 1 and 5).
enum class Evidence : std::uint8_t {
  silicon,     // its results equal a GPU's on recorded inputs
  but_floor,   // they do, and none of them depends on align.e_floor, which is models' word
  two_models,  // two published models of the hardware agree with it
  one_model,   // one does; others differ or are silent
  textbook,    // no product: a definition
};
std::string_view to_string(Evidence e);  // "checked on silicon", ...

// In the names e4m3 is e4m3fn; fp8 and bf8 are e4m3fnuz and e5m2fnuz.
struct Preset {
  std::string_view name;
  Unit unit;
  Evidence evidence;
  std::string_view source;
};
std::span<const Preset> presets();

// Names of earlier versions, which are still read.
struct RenamedPreset {
  std::string_view old_name, name;
};
std::span<const RenamedPreset> renamed_presets();

const Preset* find_preset(std::string_view name);  // by either name; null: there is none

}  // namespace widthwise
