#pragma once
#include "device.hpp"
#include "widthwise/cuda/memory.hpp"

// Affine integers of numbers that lie on a device: sim's AffineScales there. Addresses are the
// device's. T is float or double, the numbers' type.
namespace widthwise::cuda {

// Codes have `bits` digits in items of the rule's size, in two's complement.
template <class T>
AffineCounts quantise_affine(Device& device, const AffineNumbers& numbers, const AffineRule& rule,
                             int bits, const T* x, void* codes, std::uint8_t* flags,
                             RandomSource random);
template <class T>
void dequantise_affine(Device& device, const AffineNumbers& numbers, IntegerItem item, int bits,
                       const void* codes, T* x);

// The least and the largest element of each of so many groups, as the layout numbers them; NaN
// where there is one.
template <class T>
void group_ranges(Device& device, const AffineLayout& layout, const T* x, std::span<T> low,
                  std::span<T> high);

}  // namespace widthwise::cuda
