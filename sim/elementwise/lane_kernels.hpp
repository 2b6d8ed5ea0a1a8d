#pragma once
#include <cstddef>
#include <cstdint>

#include "lane_constants.hpp"

// The loops over lanes, compiled for this machine's instruction set. Counts are multiples of
// `padding`.
namespace widthwise::elements {

inline constexpr std::size_t padding = 64;

enum class Step : std::uint8_t { none, add, subtract, multiply, fma, divide, sqrt };

// How a sum or product that the carrier cannot hold stands in for the exact one: rounded by the
// machine's mode; to odd, where the machine rounds to nearest; or so, and past the carrier's
// largest number as that number.
enum class Sum : std::uint8_t { rounded, to_odd, finite_to_odd };

template <class T>
struct Kernels {
  using Decode = void (*)(const Decoding<T>& f, const void* codes, std::size_t n, T* numbers);
  // result = a op b (op c). Signalling NaN stands for an invalid operation where flags are wanted.
  // `downward`: x - x is -0 in a sum to odd.
  using Operate = void (*)(bool downward, const T* a, const T* b, const T* c, std::size_t n,
                           T* result);
  using Encode = void (*)(const Encoding<T>& to, const T* numbers, std::size_t n, void* codes,
                          std::uint8_t* flags);
  Decode decode = nullptr;
  Operate operate = nullptr;
  Encode encode = nullptr;
};

// What the carrier does between operands and result.
struct Middle {
  Step step;
  Sum sum;
  bool flags;
};

template <class T>
typename Kernels<T>::Decode decode_kernel(const Decoding<T>& f, bool flags);
Kernels<float>::Decode odd_kernel();  // doubles, rounded to odd
template <class T>
typename Kernels<T>::Operate operate_kernel(const Middle& m);  // none for Step::none
// Where `to` has a quick way and there are no flags, the machine has to round by its mode (ties
// away: toward zero).
template <class T>
typename Kernels<T>::Encode encode_kernel(const Encoding<T>& to, bool flags);
// Stochastically; bits[i] are element i's.
template <class T>
using RandomEncode = void (*)(const Encoding<T>& to, const RandomPlaces& places, const T* numbers,
                              const std::uint64_t* bits, std::size_t n, void* codes);
template <class T>
RandomEncode<T> random_kernel(int bytes_of_a_code);
// Into the carrier itself: only NaN changes.
template <class T>
typename Kernels<T>::Encode carrier_kernel(bool flags);

}  // namespace widthwise::elements
