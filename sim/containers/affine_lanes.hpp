#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/sim/affine.hpp"

// Quantising in vectors. What a kernel cannot vouch for it leaves to the definition.
namespace widthwise::affine {

inline constexpr std::size_t padding = 64;
inline constexpr std::size_t chunk = 512;  // elements at a time, in the first cache
inline constexpr float far = 512;          // quotients past it clamp, whatever the zero point

// The scales of contiguous elements: one of all of them, or one each.
struct Scales {
  bool each;
  const double *scale, *zero;
  const float *scale32, *reciprocal, *zero32;

  Scales from(std::size_t i) const {
    if (!each) return *this;
    return {each, scale + i, zero + i, scale32 + i, reciprocal + i, zero32 + i};
  }
};

// Codes to 8 bits of floats, to nearest even, a whole number of float_lanes(). The rule is `exact`,
// and the machine rounds to nearest.
using Quick = AffineCounts (*)(const Scales& s, const AffineRule& rule, const float* x,
                               std::size_t n, std::uint8_t* codes);
Quick quick_kernel(bool each);
std::size_t float_lanes();

using RangeKernel = FloatRange (*)(const float* x, std::size_t n, FloatRange before);
RangeKernel range_kernel();

// q + z, not yet clamped, of quotients that a mode has rounded; false where not all are sure, and
// nothing that is not finite is. n is at most `chunk`; the arrays end at a multiple of `padding`.
struct Rounded {
  double code[chunk];
  std::int64_t sure[chunk];
};
template <class Value>
using Careful = bool (*)(const Scales& s, const AffineRule& rule, bool short_quotients,
                         const Value* x, std::size_t n, Rounded& to);
template <class Value>
Careful<Value> careful_kernel();
// Such codes clamped and written: how many were past the range.
using Pack = std::uint64_t (*)(const AffineRule& rule, const double* codes, std::size_t n,
                               void* items);
Pack pack_kernel();
bool lanes_fuse();  // multiply and add with one rounding, as torch_legacy does

}  // namespace widthwise::affine
