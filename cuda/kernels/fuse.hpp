#pragma once
#include "quantise.hpp"
#include "widthwise/sim/operation.hpp"

// Sums and products of codes of at most 16 bits by a float's fused operation (docs/exactness.md,
// 34).
namespace widthwise::cuda {

// add, subtract, multiply and fma, all of them a b + c to odd.
struct FusedStep {
  Operation op;
  bool downward;  // x - x is -0

  WIDTHWISE_BOTH_INLINE float operator()(float x, float y, float z) const {
    constexpr std::uint32_t sign = 0x80000000;
    float a = x, b = y, c = z;
    if (op == Operation::add || op == Operation::subtract) {
      a = 1, b = x;
      c = std::bit_cast<float>(bits_of(y) ^ (op == Operation::subtract ? sign : 0));
    }
    if (op == Operation::multiply)  // a zero of the product's sign
      c = std::bit_cast<float>((bits_of(x) ^ bits_of(y)) & sign);
    const float down = fused_down(a, b, c), up = fused_up(a, b, c);
    return (bits_of(down) & 1) != 0 || (downward && up == 0) ? down : up;
  }
};

template <class Item, class Rounded>
struct Fuse {
  FusedStep step;
  int operands;
  NumberOf<float> number[3];
  Encode<AddedUp, Rounded, Ends::any> encode;
  const void* data[3] = {};
  void* result = nullptr;
  std::size_t count = 0;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      float x[3] = {};
      WIDTHWISE_UNROLLED
      for (int j = 0; j < 3; ++j)
        if (j < operands)
          x[j] = std::bit_cast<float>(number[j](static_cast<const Item*>(data[j])[i]));
      const std::uint32_t z = bits_of(step(x[0], x[1], x[2]));
      static_cast<Item*>(result)[i] = static_cast<Item>(encode(FromSingle::of(z), i));
    }
  }
};

// All that are built: KERNEL(name, Item, Rounded).
#define WIDTHWISE_FUSE_KERNELS(KERNEL)          \
  KERNEL(fuse_8, std::uint8_t, ByTable)         \
  KERNEL(fuse_16, std::uint16_t, ByTable)       \
  KERNEL(fuse_8_random, std::uint8_t, ByChance) \
  KERNEL(fuse_16_random, std::uint16_t, ByChance)

}  // namespace widthwise::cuda
