#include "shipped.hpp"

#include <algorithm>
#include <cmath>

namespace widthwise {
namespace {

using Values = std::vector<double>;

// Quantiles of the normal distribution, as bitsandbytes 0.50 stores them in binary32.
Values nf4() {
  constexpr float values[] = {-1.0F,
                              -0.6961928009986877F,
                              -0.5250730514526367F,
                              -0.39491748809814453F,
                              -0.28444138169288635F,
                              -0.18477343022823334F,
                              -0.09105003625154495F,
                              0.0F,
                              0.07958029955625534F,
                              0.16093020141124725F,
                              0.24611230194568634F,
                              0.33791524171829224F,
                              0.44070982933044434F,
                              0.5626170039176941F,
                              0.7229568362236023F,
                              1.0F};
  return {std::begin(values), std::end(values)};
}

Values af4() {
  constexpr float values[] = {-1.0F,        -0.69441008F, -0.51243739F, -0.3736951F,
                              -0.25607552F, -0.14982478F, -0.04934812F, 0.0F,
                              0.04273164F,  0.12934483F,  0.21961274F,  0.31675666F,
                              0.42563882F,  0.55496234F,  0.72424863F,  1.0F};
  Values z(std::begin(values), std::end(values));
  std::ranges::reverse(z);  // bitsandbytes numbers them from the top
  return z;
}

// A sign beside eight magnitudes; code 8 is a second zero.
Values mirrored(std::initializer_list<float> magnitudes) {
  Values z(magnitudes.begin(), magnitudes.end());
  for (const float x : magnitudes) z.push_back(-x);
  return z;
}

// Point i of n from 0.1 to 1, as torch.linspace rounds it: from the nearer end.
float between(int i, int n) {
  constexpr float first = 0.1F, last = 1.0F;
  const float step = (last - first) / static_cast<float>(n - 1);
  return i < n / 2 ? std::fma(step, static_cast<float>(i), first)
                   : std::fma(-step, static_cast<float>(n - 1 - i), last);
}

// bitsandbytes' create_dynamic_map(): decades of 10^-6 to 1, the k-th cut into 2^k parts, of which
// the middles are taken; 0 and 1 besides.
Values dynamic8() {
  constexpr float decades[] = {1e-6F, 1e-5F, 1e-4F, 1e-3F, 1e-2F, 1e-1F, 1.0F};
  Values z{0.0, 1.0};
  for (int k = 0; k < 7; ++k)
    for (int i = 0; i < 1 << k; ++i) {
      const int points = (1 << k) + 1;
      const float middle = (between(i, points) + between(i + 1, points)) / 2;
      const float x = decades[k] * middle;
      z.push_back(x), z.push_back(-x);
    }
  std::ranges::sort(z);
  return z;
}

struct Recipe {
  ShippedTable table;
  Values (*values)();
};
constexpr Recipe recipes[] = {
    {{"nf4", "4-bit NormalFloat: QLoRA, appendix E; bitsandbytes"}, nf4},
    {{"af4", "4-bit AbNormal Float: D. Yoshida, 2023; bitsandbytes"}, af4},
    {{"fp4", "4-bit float of bitsandbytes, with thirds"},
     [] {
       return mirrored(
           {0.0F, 0.0052083333F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F});
     }},
    {{"apot4", "additive powers of two, 4 bits, before their scale: Y. Li, X. Dong, W. Wang, 2020"},
     [] {
       return mirrored({0.0F, 0.0625F, 0.125F, 0.1875F, 0.25F, 0.375F, 0.5F, 0.625F});
     }},
    {{"dynamic8", "8-bit dynamic tree: T. Dettmers, 2015; bitsandbytes"}, dynamic8},
};
constexpr auto shipped = [] {
  std::array<ShippedTable, std::size(recipes)> z{};
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = recipes[i].table;
  return z;
}();

}  // namespace

std::span<const ShippedTable> shipped_tables() { return shipped; }

std::vector<double> shipped_values(std::string_view name) {
  for (const Recipe& r : recipes)
    if (r.table.name == name) return r.values();
  return {};
}

}  // namespace widthwise
