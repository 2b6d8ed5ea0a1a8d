#pragma once
#include "widthwise/sim/dot.hpp"

// The reference over carriers of so many bits for magnitudes. One source a pair of carriers, so
// that they compile side by side.
namespace widthwise {

// With codes of 64 bits.
std::unique_ptr<ReferenceUnit> make_128(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_256(const Unit& u, std::size_t k, Multiplier m);
// With codes of 128.
std::unique_ptr<ReferenceUnit> make_640(const Unit& u, std::size_t k, Multiplier m);
// On the heap, with codes of 4,160.
std::unique_ptr<ReferenceUnit> make_large(const Unit& u, std::size_t k, Multiplier m);

}  // namespace widthwise
