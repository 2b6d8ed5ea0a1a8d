#pragma once
#include <cstddef>
#include <cstdint>

#include "plan.hpp"
#include "sim/engine/halves.hpp"

namespace widthwise::lanes {

inline constexpr std::size_t half_columns = 128;

// One tile: tile_rows rows of A and half_columns columns of B meet on k steps.
struct HalfTile {
  const std::uint32_t* a;  // row r from a + r * k on, each number twice in its word
  const Half* b;           // k rows of half_columns
  Half* sum;               // tile_rows rows of half_columns
  std::size_t k;
};

// Null where this machine's lanes do not compute in binary16.
using HalfKernel = void (*)(const HalfTile&);
HalfKernel half_kernel(const HalfPlan& plan);

}  // namespace widthwise::lanes
