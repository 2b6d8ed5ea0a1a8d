#pragma once
#include "cuda/kernels/lane.hpp"
#include "sim/dot/gather.hpp"
#include "widthwise/op/convert.hpp"

// Codes to the values that lanes hold, and back: lib reads and writes them, a thread some.
namespace widthwise::cuda {

// Raises what is kept there to x, whichever threads do so side by side.
WIDTHWISE_BOTH_INLINE void raise_to(unsigned long long* at, unsigned long long x) {
#ifdef __CUDA_ARCH__
  if (*at < x) atomicMax(at, x);
#else
  if (*at < x) *at = x;
#endif
}

// Adds x to what is kept there.
WIDTHWISE_BOTH_INLINE void add_to(unsigned long long* at, unsigned long long x) {
#ifdef __CUDA_ARCH__
  if (x) atomicAdd(at, x);
#else
  *at += x;
#endif
}

// |x| 2^scale, or the infinity or NaN of lanes. Exact where lanes have all numbers of the format.
template <class T>
WIDTHWISE_BOTH_INLINE T magnitude_of(const Factor<std::uint64_t>& x, int scale = 0) {
  switch (x.kind()) {
    case Kind::zero: return 0;
    case Kind::infinite: return std::numeric_limits<T>::infinity();
    case Kind::nan: return std::numeric_limits<T>::quiet_NaN();
    case Kind::finite: break;
  }
  return std::ldexp(static_cast<T>(x.m), static_cast<int>(x.q + scale));
}

// values[i] = codes[i] as an operand is conditioned, times 2^scale, or its negative. Infinities are
// those of the lanes, and NaN theirs.
template <class T>
struct DecodeValues {
  Operand operand;
  Layout<std::uint64_t> layout;
  const std::byte* codes;
  std::size_t count;
  int bytes, scale;
  bool negated;
  T* values;
  unsigned long long* seen;  // the bits of the largest magnitude of a number; 1 if there are others

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    unsigned long long largest = 0, special = 0;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::uint64_t code = load_code<std::uint64_t>(codes + i * bytes, bytes);
      const Factor<std::uint64_t> x = condition(operand, factor(layout, code));
      const T magnitude = magnitude_of<T>(x, scale);
      if (x.endless)
        special = 1;
      else if (bits_of(magnitude) > largest)
        largest = bits_of(magnitude);
      values[i] = x.negative != negated ? -magnitude : magnitude;
    }
    raise_to(&seen[0], largest);
    raise_to(&seen[1], special);
  }
};

// result[i] = the code of values[i] 2^-scale, or of its negative, which is a number of the format,
// NaN, or an infinity; not where the definition is to do it.
template <class T>
struct EncodeValues {
  Rounder<std::uint64_t> to;
  Layout<std::uint64_t> lanes;  // binary32 or binary64
  const T* values;
  const std::uint8_t* redo;
  std::size_t count;
  int bytes;
  T unscale;  // 2^-scale, or its negative
  std::byte* result;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      if (redo[i]) continue;
      const T x = hn::Mul(values[i], unscale);
      store_code(result + i * bytes, bytes, convert(to, lanes, std::uint64_t{bits_of(x)}).code);
    }
  }
};

}  // namespace widthwise::cuda
