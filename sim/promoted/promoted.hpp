#pragma once
#include "widthwise/sim/engine.hpp"

// Units that promote what a number of products comes to: by the engine of such a segment.
namespace widthwise::promoted {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::promoted
