#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/sim/dot.hpp"

// Approximate multipliers of the literature, on significands with their hidden ones. They show how
// a user's own product is made.
namespace widthwise {

// An array multiplier without its `columns` rightmost columns: partial-product bits of a weight
// below 2^columns are never added (Schulte and Swartzlander, 1993, without their correction).
Multiplier truncated_array(int columns);

// Mitchell's logarithmic multiplier (1962): the sum of two piecewise linear logarithms.
// Significands without leading one (subnormals) are normalised first, as their log2 demands.
Multiplier mitchell();

// DRUM (Hashemi, Bahar, Reda, 2015): the leading `width` digits of each operand, the last of them
// set to one to centre the error, multiplied exactly. width >= 2.
Multiplier drum(int width);

// The low `bits` digits of each operand dropped before an exact product.
Multiplier truncated_operands(int bits);

// "exact", "truncated_array8", "mitchell", "drum6", "truncated_operands4".
Multiplier parse_multiplier(std::string_view text);
std::vector<std::string> multiplier_names();

}  // namespace widthwise
