#pragma once
#include <cmath>

#include "levels.hpp"

// How lanes of doubles add the products of a tile, by what is known of those.
namespace widthwise::exact {

// How a product enters the sums of its output.
enum class Sequence : std::uint8_t {
  chain,      // into one sum, which the machine rounds by its mode where it has to
  nearest,    // rounded to even by itself
  magnitude,  // rounded by itself and without its sign, by the machine's mode
  two,        // into two sums, without loss
  three,
};

struct Course {
  Sequence sequence;
  Levels levels;
  double start[most_levels];  // of every sum
  double rounder = 0;         // of one digit: 3/2 2^52 times that
  double low = 0, high = 0;   // ends of a register that saturates, from its start on
};

// None where products may be too far apart, or too large for the register's lanes.
std::optional<Course> course(const Plan& plan, const Sum& sum, const Extent& products,
                             std::size_t steps);

inline double two_to(std::int64_t e) { return std::ldexp(1.0, static_cast<int>(e)); }

}  // namespace widthwise::exact
