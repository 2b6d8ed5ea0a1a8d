#pragma once
#include "printing.hpp"

// The vectors that a test bench exchanges with the golden model.
namespace widthwise::hdl {

// Tools need not take wider vectors (IEEE 1800-2017, 6.9.1).
inline constexpr std::int64_t widest_vector = 1 << 16;

// Products of a call: a block of the unit's, or one where a unit takes any number of them.
std::int64_t call_terms(const ConstantTable& table);

// Bits of A, B, C, SCALE or Y in such a call; 0 where there is no such port.
std::int64_t port_bits(const ConstantTable& table, std::string_view port);

bool fit_vectors(const ConstantTable& table);

}  // namespace widthwise::hdl
