#pragma once
#include "cuda/kernels/side.hpp"
#include "sim/elementwise/apply.hpp"

// The definition on threads: one of lib's operations, an element a thread.
namespace widthwise::cuda {

template <class U>
struct Elements {
  Operation op;
  int operands;
  Rounder<U> to;
  Layout<U> format[3];
  const void* data[3] = {};
  std::size_t count = 0;
  void* result = nullptr;
  std::uint8_t* flags = nullptr;  // where they are wanted
  RandomSource random{};

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) element(i);
  }

 private:
  WIDTHWISE_BOTH_INLINE void element(std::size_t i) const {
    U x[3]{};
    WIDTHWISE_UNROLLED
    for (int j = 0; j < 3; ++j)
      if (j < operands) {
        const int bytes = item_bytes(format[j].format.width());
        x[j] = load_code<U>(static_cast<const std::byte*>(data[j]) + i * bytes, bytes);
      }
    const Result<U> z = apply(op, to, format, x, draw<U>(to.env.rounding, random, i));
    const int bytes = item_bytes(to.layout.format.width());
    store_code(static_cast<std::byte*>(result) + i * bytes, bytes, z.code);
    if (flags) flags[i] = static_cast<std::uint8_t>(z.flags);
  }
};

}  // namespace widthwise::cuda
