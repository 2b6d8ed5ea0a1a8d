#include "affine.hpp"

#include <vector>

#include "kernels/affine.hpp"

namespace widthwise::cuda {
namespace {

using Count = unsigned long long;

// Scales and zero points on the device.
struct ScalesThere {
  Buffer scales, zeros;
  AffineSteps steps;

  ScalesThere(Device& device, const AffineNumbers& x)
      : scales(copied_in(device, x.scales)),
        zeros(copied_in(device, x.zero_points)),
        steps{x.layout, scales.at<double>(), zeros.at<std::int64_t>()} {}
};

}  // namespace

template <class T>
AffineCounts quantise_affine(Device& device, const AffineNumbers& numbers, const AffineRule& rule,
                             int bits, const T* x, void* codes, std::uint8_t* flags,
                             RandomSource random) {
  const ScalesThere there(device, numbers);
  Count n[2] = {};
  const Buffer counts = copied_in(device, std::span<const Count>(n));
  const AffineCodes<T> work{.steps = there.steps,
                            .rule = rule,
                            .x = x,
                            .random = random,
                            .mask = ones<std::uint64_t>(bits),
                            .codes = codes,
                            .flags = flags,
                            .clamped = counts.at<Count>(),
                            .nans = counts.at<Count>() + 1};
  launch_each(device, kernel_of<T>("affine", "affine_codes_single", "affine_codes_double"),
              numbers.layout.size(), &work);
  device.copy_out(n, counts.at(), sizeof n);
  return {n[0], n[1]};
}

template <class T>
void dequantise_affine(Device& device, const AffineNumbers& numbers, IntegerItem item, int bits,
                       const void* codes, T* x) {
  const ScalesThere there(device, numbers);
  const AffineValues<T> work{there.steps, item, 64 - bits, codes, x};
  launch_each(device, kernel_of<T>("affine", "affine_values_single", "affine_values_double"),
              numbers.layout.size(), &work);
}

template <class T>
void group_ranges(Device& device, const AffineLayout& layout, const T* x, std::span<T> low,
                  std::span<T> high) {
  std::vector<Count> sides(low.size() + high.size());
  const Buffer there = copied_in(device, std::span<const Count>(sides));
  const GroupRanges<T> work{layout, x, there.at<Count>(), there.at<Count>() + low.size()};
  launch_each(device, kernel_of<T>("affine", "group_ranges_single", "group_ranges_double"),
              layout.size(), &work);
  device.copy_out(sides.data(), there.at(), sides.size() * sizeof(Count));
  for (std::size_t g = 0; g < low.size(); ++g) {
    low[g] = -in_order<T>(sides[g]);
    high[g] = in_order<T>(sides[low.size() + g]);
  }
}

#define WIDTHWISE_AFFINE_OF(T)                                                                  \
  template AffineCounts quantise_affine(Device&, const AffineNumbers&, const AffineRule&, int,  \
                                        const T*, void*, std::uint8_t*, RandomSource);          \
  template void dequantise_affine(Device&, const AffineNumbers&, IntegerItem, int, const void*, \
                                  T*);                                                          \
  template void group_ranges(Device&, const AffineLayout&, const T*, std::span<T>, std::span<T>);
WIDTHWISE_AFFINE_OF(float)
WIDTHWISE_AFFINE_OF(double)
#undef WIDTHWISE_AFFINE_OF

}  // namespace widthwise::cuda
