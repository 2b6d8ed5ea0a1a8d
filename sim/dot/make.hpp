#pragma once
#include "widthwise/sim/dot.hpp"

// One source a pair of carriers, so that they compile side by side.
namespace widthwise {

std::unique_ptr<ReferenceUnit> make_small(const Unit& u, std::size_t k,
                                          Multiplier m);  // 128 and 64 bits
std::unique_ptr<ReferenceUnit> make_medium(const Unit& u, std::size_t k,
                                           Multiplier m);  // 640 and 128 bits
std::unique_ptr<ReferenceUnit> make_large(const Unit& u, std::size_t k,
                                          Multiplier m);  // heap and 4,160 bits

}  // namespace widthwise
