#pragma once
#include "plan.hpp"

// Which units tiles of the machine's own floats and doubles compute.
namespace widthwise::blocks {

// Digits of exact products.
std::int64_t product_digits(const Unit& u);

// Exact sums with C that the machine rounds to binary32, and nothing else.
bool exact_tile(const Rules& r);
// Rounded products, or exact ones that a float holds, in a tree of the machine's own additions.
bool float_tree(const Rules& r, const Unit& u);
// The same where products, nodes or sums, or all of them, are rounded to few digits.
bool short_tree(const Rules& r, const Unit& u);
// CDNA3's blocks: products in floats, one or two groups toward zero, joined down, then C.
bool late_tile(const Rules& r, const Unit& u);
CompensatedTile compensated_tile(const Rules& r, const Unit& u);

// Exact products, and registers at the first of so many steps, that let no number of a compensated
// sum to few digits overflow in them (docs/exactness.md, 56).
inline constexpr std::size_t compensated_interval = 16;
struct CompensatedWatch {
  double most_product, most_sum, most_compensation;
  explicit CompensatedWatch(const Rules& r);
};

// Whether no node of a tree to few digits overflows, nor a sum within so many blocks that begin
// with one of at most this; 0: whatever they begin with (docs/exactness.md, 59).
inline constexpr std::size_t tree_interval = 16;
struct TreeWatch {
  bool fits;
  double limit = 0;
  TreeWatch(const Rules& r, double most_product);
};

}  // namespace widthwise::blocks
