#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

// The usual case of an operation, a chunk of elements at a time.
namespace widthwise {

// Elements held in carriers at a time: 4 KiB an operand stay in L1, and are many enough for what is
// done once a chunk not to count.
template <class U>
inline constexpr std::size_t chunk = sizeof(U) < 512 ? 4096 / sizeof(U) : 8;

// Compiled once for each of three levels of x86-64 and called by what the machine has (glibc picks
// when the program is loaded). Everything the loop calls has to be in line: a function that is not
// keeps the compiler from making SIMD code.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define WIDTHWISE_VECTOR_LEVELS \
  [[gnu::flatten, gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define WIDTHWISE_VECTOR_LEVELS
#endif

// each(i) for n elements, carriers of up to 64 digits. It is taken by value and the arrays are told
// apart (restrict), else the compiler must fear that a result overwrites the format.
template <class U, class Each>
WIDTHWISE_VECTOR_LEVELS void quick_chunk(std::size_t n, const Each each, U* __restrict code,
                                         std::uint8_t* __restrict flags,
                                         std::uint8_t* __restrict sure) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto z = each(i);
    code[i] = z.code;
    flags[i] = static_cast<std::uint8_t>(z.flags);
    sure[i] = z.sure;
  }
}

// The first index from i on that is not sure; n if there is none.
inline std::size_t next_unsure(const std::uint8_t* sure, std::size_t i, std::size_t n) {
  const void* at = std::memchr(sure + i, 0, n - i);
  return at ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(at) - sure) : n;
}

}  // namespace widthwise
