#pragma once
#include "widthwise/sim/engine.hpp"

// Chains whose products and sums are rounded to posits, in double lanes (docs/exactness.md, 73).
namespace widthwise::lanes {

// Of a unit whose sums are posits.
Opinion opinion_in_posits(const ProductTask& task);
std::unique_ptr<ProductEngine> make_in_posits(const ProductTask& task);

}  // namespace widthwise::lanes
