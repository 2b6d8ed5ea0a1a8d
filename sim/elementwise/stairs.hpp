#pragma once
#include <memory>

#include "look_up.hpp"
#include "way.hpp"

namespace widthwise::elements {

// The steps of a conversion of binary32 to codes of up to 8 bits by a deterministic mode, kept for
// the next call; null for flags, other formats, and arrays too short to be worth it.
std::shared_ptr<const Stairs> stairs_of(const ElementTask& task);

}  // namespace widthwise::elements
