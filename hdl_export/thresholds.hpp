#pragma once
#include "stimuli.hpp"
#include "widthwise/hdl/rtl.hpp"

namespace widthwise::hdl {

// Operands at each threshold of a unit: at a floor of the largest exponent, where C is dropped or a
// product is infinite, at the ends of registers and of windows, at the last digit that is kept. Of
// many that are aimed there those are taken whose result would be another one if the threshold lay
// one higher or lower: random operands almost never tell.
std::vector<Stimulus> threshold_stimuli(const Unit& unit, const Dataflow& flow, std::uint64_t seed,
                                        const Multiplier& multiply);

}  // namespace widthwise::hdl
