#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "widthwise/rounding.hpp"
#include "widthwise/sim/block_format.hpp"

// One block quantised, as hardware is made of it: numbers of a float format in, codes of elements
// and of their scale out.
namespace widthwise {

struct BlockQuantisation {
  BlockFormat to;
  Format from = binary32;
  Rounding rounding{};
  float tensor_scale = 1;  // where scales are ue4m3fn: numbers are over both
  bool tensor_scale_port = false;

  // Of a block.
  std::size_t numbers() const { return static_cast<std::size_t>(to.rows * to.columns); }
  Format element() const { return to.saturating(); }
  // The same under a constant instead of a port; none where the code is no finite number above
  // zero.
  std::optional<BlockQuantisation> under(std::uint32_t tensor_scale_code) const;
  bool operator==(const BlockQuantisation&) const = default;
};

// "blocks(mxfp8_e4m3)", "blocks(block(e2m1fn,32,e8m0fnu);scale=ceil, a=bfloat16, rounding=rtz)":
// numbers are of binary32 if `a` is not given (docs/semantics.md, T7). "blocks(nvfp4,
// tensor_scale=0.25)": a number of binary32, 1 if it is not given; "tensor_scale=port" makes an
// input of its code.
BlockQuantisation parse_block_quantisation(std::string_view text);
std::string to_string(const BlockQuantisation& q);

// Refuses what no hardware is made of: scales raised to powers of two, blocks without a length,
// numbers that binary32 does not hold, random bits.
void check(const BlockQuantisation& q);

}  // namespace widthwise
