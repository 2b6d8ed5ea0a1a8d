#pragma once
#include <string>

#include "widthwise/unit.hpp"

// Which tensor units float and integer lanes compute: one fused sum a block, C in it, its terms cut
// to F bits below the largest exponent. docs/exactness.md argues every condition.
namespace widthwise::tensor {

// How a sum becomes the next C.
enum class Finish : std::uint8_t {
  truncate,  // to binary32, toward zero
  nearest,   // to binary16, ties to even
};

struct Plan {
  Finish finish;
  bool wide;  // operands' exponents pass int8, or their products float: the kernel has to look
  std::int64_t lanes;      // products a block
  std::int64_t chunk;      // of them whose sum fits 32 bits, whatever they are
  bool may_overflow;       // a block's sum with C may pass 32 bits
  std::int64_t frac_bits;  // F
  std::int64_t least;      // exponent sum of a product that is not zero
  std::int64_t floor;      // of the exponent that all are aligned to, or one that no sum sees
  std::int64_t kept;       // fraction bits of the sums
  bool survives;           // no product vanishes that has the largest exponent
};

struct Answer {
  std::optional<Plan> plan;
  std::string reason;  // the conditions that hold, or the one that fails
};

Answer plan(const Unit& unit);

}  // namespace widthwise::tensor
