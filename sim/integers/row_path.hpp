#pragma once
#include <memory>

#include "sim/engine/row.hpp"
#include "widthwise/datapath/block.hpp"

namespace widthwise {

// A unit for rows of integers. Out of line: for whoever takes all that it calls into itself.
template <class U>
[[gnu::noinline]] std::unique_ptr<const Datapath<U, U>> row_path(const Unit& unit) {
  return std::make_unique<const Datapath<U, U>>(unit);
}

}  // namespace widthwise
