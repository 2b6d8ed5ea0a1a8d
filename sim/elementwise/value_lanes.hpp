#pragma once
#include "lane_kernels.hpp"

// Floats rounded to a format's numbers as floats, without their codes.
namespace widthwise::elements {

// What becomes of what is no number of the format, as bits of floats: for positive and for
// negative.
struct ValueEnds {
  Bits<float> over[2], infinite[2], nan;
  Bits<float> largest;  // the format's largest number
};

// y[i] = x[i] rounded; bits[i] are its random ones, where the rounding takes any. The machine has
// to round as encode_kernel says.
using ValueKernel = void (*)(const Encoding<float>& to, const ValueEnds& ends,
                             const RandomPlaces& places, const float* x, const std::uint64_t* bits,
                             std::size_t n, float* y);
// For encodings that have a quick way, or by random bits that lane_plan.hpp takes.
ValueKernel value_kernel(Quick quick);

}  // namespace widthwise::elements
