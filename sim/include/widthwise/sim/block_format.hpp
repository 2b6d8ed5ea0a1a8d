#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "widthwise/format.hpp"

// Blocks of elements that share a scale, as data: OCP MX, NVFP4, block floating point, tiles. What
// they stand for: element * scale, or element * scale * tensor scale (docs/semantics.md, B).
namespace widthwise {

// How a block's largest magnitude becomes its scale. The first six make powers of two.
enum class ScaleRule : std::uint8_t {
  floor,    // floor(log2 amax) - emax: OCP MX 1.0
  ceil,     // ceil(log2 amax) - emax
  rceil,    // ceil(log2(amax / max)): nothing overflows
  even,     // floor, of amax rounded to the element's fraction, ties away
  midmax,   // floor, and one more past the middle of max and 2^(emax + 1)
  nearest,  // log2(amax / max), rounded
  amax,     // amax / max, rounded to the scale's format
  pow2,     // amax / max rounded to binary32, then up to a power of two
};

// Which elements share a scale: `columns` along an axis; rows x columns of the last two axes; a
// whole axis; the whole array.
enum class BlockShape : std::uint8_t { along_axis, tile, whole_axis, whole_array };

struct BlockFormat {
  Format element;
  BlockShape shape = BlockShape::along_axis;
  std::int64_t rows = 1;  // of a tile
  std::int64_t columns = 0;
  Format scale = e8m0fnu;
  ScaleRule rule = ScaleRule::floor;

  bool shared_exponent = false;       // spelled bfp: NaN and infinity are refused
  bool specials_in_elements = false;  // they stay there; else the block's scale is NaN
  bool flush = false;                 // a block below 2^-126 is a zero block
  bool full_range = false;            // integer elements reach -2^(W-1)
  bool raise_on_carry = false;        // where rounding passes the top, the exponent rises

  bool operator==(const BlockFormat&) const = default;

  bool power_of_two() const { return rule <= ScaleRule::nearest; }
  bool takes_tensor_scale() const { return scale == ue4m3fn; }
  // The element's format with the policy that its block has for what is too large. Under a scale
  // that is no power of two an infinity is a quotient past what was divided in, and saturates too.
  Format saturating() const {
    Format f = element;
    if (f.is_fixed()) f.overflow = full_range ? Overflow::ieee : Overflow::symmetric;
    if (f.is_float()) f.overflow = power_of_two() ? Overflow::max : Overflow::satfinite;
    return f;
  }
  // A block with NaN or infinity has no codes.
  bool refuses_specials() const { return shared_exponent || !power_of_two(); }
};

// block(e4m3fn,32,e8m0fnu), block(e4m3fn,128x128,binary32), bfp(8,32,e8), a name as mxfp4; then
// options, each behind a semicolon: scale= specials= flush= clamp= carry=.
BlockFormat parse_block_format(std::string_view text);
std::string to_string(const BlockFormat& f);
void check(const BlockFormat& f);

// Whether a text begins as one of a block format does: for messages of whoever reads others.
bool is_block_format(std::string_view text);

}  // namespace widthwise
