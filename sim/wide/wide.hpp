#pragma once
#include "widthwise/sim/engine.hpp"

// Chains, compensated sums and trees with significands of up to 1,088 digits, in two ways.
namespace widthwise::wide {

// Limbs of 64 bits, one output after the other.
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);

// Limbs of 52 bits, eight outputs side by side (AVX-512 IFMA).
Opinion opinion52(const ProductTask& task);
std::unique_ptr<ProductEngine> make52(const ProductTask& task);

}  // namespace widthwise::wide
