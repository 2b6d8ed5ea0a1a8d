#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "host_kernels.hpp"
#include "tests/sim/edges.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// The tiles of tensor units, small blocks and exact sums as an engine of their own, run on the CPU,
// against the reference.
namespace tests {

inline constexpr const char* tensor_engine = "cuda tensor tiles on the CPU";

// Empty, or why no tiles take the unit.
std::string why_no_tensor_tiles(const widthwise::Unit& u, bool flags = false, std::size_t k = 1);
std::string why_no_block_tiles(const widthwise::Unit& u, bool flags = false, std::size_t k = 1);
std::string why_no_exact_tiles(const widthwise::Unit& u, bool flags = false, std::size_t k = 1);

widthwise::Unit preset(std::string_view name);

// Numbers that the format has.
CodeList encoded(const widthwise::Format& f, std::vector<double> numbers);

// One output, of numbers that their formats have; scales by blocks.
struct Dot {
  std::string what;
  widthwise::Unit unit;
  std::vector<double> a, b;
  double c = 0;
  bool redone = false;  // whether the tile is to leave it to the definition
  std::vector<double> scale_a{}, scale_b{};
};
void compare(const std::vector<Dot>& dots);

// Operands of every sort, in ragged shapes, and how many outputs were compared.
std::uint64_t compare_all_sorts(const widthwise::Unit& u, Tally& tally, ProductRandom& random);
// The same in shapes of a tile: for units whose tiles have been compared in ragged ones.
std::uint64_t compare_relative(const widthwise::Unit& u, Tally& tally, ProductRandom& random);

// Ordinary operands: at most one output in 500 is left to the definition.
void compare_ordinary(const widthwise::Unit& u, ProductRandom& random);

// Without a barrier most outputs are wrong, or seen to be.
void check_barriers(const widthwise::Unit& u);

inline std::vector<double> all(std::size_t count, double x) {
  return std::vector<double>(count, x);
}
inline double power(int e) { return std::ldexp(1.0, e); }
inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace tests
