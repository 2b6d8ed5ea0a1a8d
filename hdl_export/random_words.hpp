#pragma once
#include <span>

#include "rtl_files.hpp"

// The simulator's generator in front of a module, instead of ports for random words.
namespace widthwise::hdl {

// seed, index and perhaps step, the first lane's position along k.
std::vector<Port> generator_ports(bool with_step);

// The words on wires that bear the ports' names, in a stage of their own. A slot that moves along k
// counts its steps from port `step`.
void generate_words(Netlist& out, std::span<const RandomPort> ports,
                    const std::function<bool(Slot)>& moves);

}  // namespace widthwise::hdl
