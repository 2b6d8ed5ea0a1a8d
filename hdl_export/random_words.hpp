#pragma once
#include <span>

#include "rtl_files.hpp"

// What a module takes for its stochastic roundings: random words, or with the simulator's generator
// in front of it what that makes them from.
namespace widthwise::hdl {

// The generator's are seed, index and perhaps step, the first lane's position along k.
std::vector<Port> random_inputs(std::span<const RandomPort> ports, bool generator);

// The words on wires that bear the ports' names, in a stage of their own. A port that moves along k
// counts its steps from port `step`.
void generate_words(Netlist& out, std::span<const RandomPort> ports);

}  // namespace widthwise::hdl
