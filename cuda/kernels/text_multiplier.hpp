#pragma once
#include <utility>

#include "cuda/kernels/side.hpp"
#include "sim/dot/checked_product.hpp"

// The user's product: what was made of a text, linked with the kernel that calls it.
extern "C" WIDTHWISE_BOTH void widthwise_product(std::uint64_t ma, std::uint64_t mb,
                                                 widthwise::uint128* mp);

namespace widthwise::cuda {

// Where a thread tells of a product of too many digits; the first one is kept.
struct FirstWide {
  int told = 0;
  WideProduct product{};

  WIDTHWISE_BOTH void tell(const WideProduct& wide) {
#ifdef __CUDA_ARCH__
    const bool first = atomicExch(&told, 1) == 0;
#else
    const bool first = std::exchange(told, 1) == 0;
#endif
    if (first) product = wide;
  }
};

struct TextMultiplier {
  int digits_a, digits_b;
  bool exchanged;
  FirstWide* wide = nullptr;

  // Of too many digits, it counts as 0 until the host has read of it.
  WIDTHWISE_BOTH uint128 operator()(std::uint64_t a, std::uint64_t b) const {
    uint128 product;
    exchanged ? widthwise_product(b, a, &product) : widthwise_product(a, b, &product);
    const std::int64_t bits = bit_length(product);
    if (bits <= digits_a + digits_b) return product;
    wide->tell({a, b, bits});
    return 0;
  }
};

}  // namespace widthwise::cuda
