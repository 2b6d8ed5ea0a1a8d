#pragma once
#include "cuda/kernels/side.hpp"
#include "sim/elementwise/apply.hpp"

// The definition on threads: one of lib's operations or comparisons, an element a thread.
namespace widthwise::cuda {

template <class U>
WIDTHWISE_BOTH_INLINE U code_at(const Layout<U>& f, const void* data, std::size_t i) {
  const int bytes = item_bytes(f.format.width());
  return load_code<U>(static_cast<const std::byte*>(data) + i * bytes, bytes);
}

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
  const std::int64_t* powers = nullptr;  // scaleb's second operand, in place of all `op` does

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) element(i);
  }

 private:
  WIDTHWISE_BOTH_INLINE void element(std::size_t i) const {
    U x[3]{};
    WIDTHWISE_UNROLLED
    for (int j = 0; j < 3; ++j)
      if (j < operands) x[j] = code_at(format[j], data[j], i);
    const U bits = draw<U>(to.env.rounding, random, i);
    const Result<U> z =
        powers ? scaleb(to, format[0], x[0], powers[i], bits) : apply(op, to, format, x, bits);
    const int bytes = item_bytes(to.layout.format.width());
    store_code(static_cast<std::byte*>(result) + i * bytes, bytes, z.code);
    if (flags) flags[i] = static_cast<std::uint8_t>(z.flags);
  }
};

template <class U>
struct Comparisons {
  Comparison how;
  Layout<U> a_format, b_format;
  const void *a, *b;
  std::size_t count;
  std::uint8_t* result;  // 0 or 1
  std::uint8_t* flags;   // where they are wanted

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      const Truth z =
          apply(how, a_format, code_at(a_format, a, i), b_format, code_at(b_format, b, i));
      result[i] = z.holds;
      if (flags) flags[i] = static_cast<std::uint8_t>(z.flags);
    }
  }
};

// Codes to integers of 8 to 64 bits, which stand in words of 64 (5.8).
template <class U>
struct ToIntegers {
  IntegerType type;
  RoundingRule rule;
  Layout<U> format;
  const void* a;
  std::size_t count;
  std::uint64_t* result;
  std::uint8_t* flags;  // where they are wanted
  RandomSource random;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      const IntegerResult z =
          to_integer(type.width, type.is_signed, rule, format, code_at(format, a, i),
                     draw<U>(rule.rounding, random, i), type.invalid);
      result[i] = z.value;
      if (flags) flags[i] = static_cast<std::uint8_t>(z.flags);
    }
  }
};

// Integers of 8 to 64 bits to codes.
template <class U>
struct FromIntegers {
  IntegerType type;
  Rounder<U> to;
  const void* a;
  std::size_t count;
  void* result;
  std::uint8_t* flags;  // where they are wanted
  RandomSource random;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const int bytes = item_bytes(to.layout.format.width());
    for (std::size_t i = thread; i < count; i += threads) {
      const std::uint64_t x = integer(i);
      const bool negative = type.is_signed && x >> 63;
      const Result<U> z =
          from_integer(to, negative, negative ? 0 - x : x, draw<U>(to.env.rounding, random, i));
      store_code(static_cast<std::byte*>(result) + i * bytes, bytes, z.code);
      if (flags) flags[i] = static_cast<std::uint8_t>(z.flags);
    }
  }

 private:
  // In 64 bits, the sign in all that are above its own.
  WIDTHWISE_BOTH_INLINE std::uint64_t integer(std::size_t i) const {
    const int bytes = type.width / 8, above = 64 - type.width;
    const auto x = load_code<std::uint64_t>(static_cast<const std::byte*>(a) + i * bytes, bytes)
                   << above;
    return type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> above)
                          : x >> above;
  }
};

// IEEE 754-2019, 5.7.2, which raises nothing.
enum class Question : std::uint8_t { number_class, sign };

template <class U>
struct Classes {
  Question question;
  Layout<U> format;
  const void* a;
  std::size_t count;
  std::uint8_t* result;  // a NumberClass, or 1 where there is a minus sign

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      const U code = code_at(format, a, i);
      result[i] = question == Question::sign ? unpack(format, code).negative
                                             : static_cast<std::uint8_t>(classify(format, code));
    }
  }
};

// All that are built of integers of one length, by name: KERNEL(name, Work).
#define WIDTHWISE_ELEMENT_KERNELS(KERNEL, integers, U) \
  KERNEL(elements_##integers, Elements<U>)             \
  KERNEL(compare_##integers, Comparisons<U>)           \
  KERNEL(classify_##integers, Classes<U>)              \
  KERNEL(to_integers_##integers, ToIntegers<U>)        \
  KERNEL(from_integers_##integers, FromIntegers<U>)

}  // namespace widthwise::cuda
