#pragma once
#include <algorithm>
#include <limits>

#include "lane.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/random.hpp"

// Numbers to codes of at most 16 bits and back, a few instructions each (docs/exactness.md, 34).
namespace widthwise::cuda {

// A number as the bits of a float's magnitude, to odd where a float has not all of its digits, and
// its sign as a mask.
struct SignedBits {
  std::uint32_t bits, negative;

  static constexpr std::uint32_t infinity = 0x7f800000;
};

// The numbers that come in, by their bits: so many of them make 16 bytes or more.
struct FromSingle {
  using Bits = std::uint32_t;
  static constexpr int together = 4;

  static WIDTHWISE_BOTH_INLINE SignedBits of(Bits x) {
    return {x & 0x7fffffff, static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> 31)};
  }
};
struct FromBrain {
  using Bits = std::uint16_t;
  static constexpr int together = 8;

  static WIDTHWISE_BOTH_INLINE SignedBits of(Bits x) {
    return FromSingle::of(std::uint32_t{x} << 16);
  }
};
struct FromHalf {
  using Bits = std::uint16_t;
  static constexpr int together = 8;

  static WIDTHWISE_BOTH_INLINE SignedBits of(Bits x) { return FromSingle::of(single(x)); }

 private:
#ifdef __CUDA_ARCH__
  static __device__ __forceinline__ std::uint32_t single(Bits x) {
    float z;
    asm("cvt.f32.f16 %0, %1;" : "=f"(z) : "h"(x));
    return bits_of(z);
  }
#else
  static std::uint32_t single(Bits x) {
    static constexpr Rounder<std::uint64_t> to(binary32);
    static constexpr Layout<std::uint64_t> from(binary16);
    return static_cast<std::uint32_t>(convert(to, from, std::uint64_t{x}).code);
  }
#endif
};
struct FromDouble {
  using Bits = std::uint64_t;
  static constexpr int together = 4;

  // Toward zero and up, whose last digits differ if any digit is lost. What lies past the largest
  // float becomes that one, so it has to overflow as well.
  static WIDTHWISE_BOTH_INLINE SignedBits of(Bits x) {
    const auto high = static_cast<std::int32_t>(x >> 32);
    const double absolute = std::fabs(std::bit_cast<double>(x));
    return {narrowed_down(absolute) | (narrowed_up(absolute) & 1),
            static_cast<std::uint32_t>(high >> 31)};
  }

 private:
#ifdef __CUDA_ARCH__
  static __device__ __forceinline__ std::uint32_t narrowed_down(double x) {
    return bits_of(__double2float_rz(x));
  }
  static __device__ __forceinline__ std::uint32_t narrowed_up(double x) {
    return bits_of(__double2float_ru(x));
  }
#else
  static std::uint32_t narrowed(RoundingMode mode, double x) {
    const Rounder<std::uint64_t> to(binary32, {mode});
    static constexpr Layout<std::uint64_t> from(binary64);
    return static_cast<std::uint32_t>(convert(to, from, bits_of(x)).code);
  }
  static std::uint32_t narrowed_down(double x) { return narrowed(RoundingMode::rtz, x); }
  static std::uint32_t narrowed_up(double x) { return narrowed(RoundingMode::rup, x); }
#endif
};

// Codes with digits more than the format has, of which the last one says whether any below is set:
// a truncated magnitude, which is all that rounding asks for.
struct CutShort {      // of a format with float's exponents
  std::uint32_t most;  // the bits of a float that overflows, as all above it do
  int down;            // from a float's digits to these

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t bits) const {
    const std::uint32_t x = bits < most ? bits : most;
    const bool lost = (x & ((1u << down) - 1)) != 0;
    return x >> down | lost;
  }
};
struct AddedUp {
  std::uint32_t most, least;   // the latter 2^emin
  float scale;                 // c / 2^e, see below
  std::uint32_t step, offset;  // of codes, a binade; less what stands in c

  // c + x, toward zero and up, with c a power of two whose last digit, and that of all up to 2 c,
  // is the last but one wanted, e being the exponent or the least one: 2 (c + x), or one more.
  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t bits) const {
    const std::uint32_t x = bits < most ? bits : most;
    const std::uint32_t field = (x > least ? x : least) >> 23;
    const auto power = std::bit_cast<float>(field << 23), number = std::bit_cast<float>(x);
    const std::uint32_t twice =
        bits_of(fused_down(power, scale, number)) + bits_of(fused_up(power, scale, number));
    return twice + (field * step - offset);
  }
};

// Bit `row` of a table, a row the lowest digits of the code and above them its sign. A GPU has both
// in one instruction each, of which its compiler makes two.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ std::uint32_t table_bit(std::uint32_t table, std::uint32_t code,
                                                   std::uint32_t negative) {
  std::uint32_t row;
  asm("lop3.b32 %0, %1, 7, %2, 0xe2;" : "=r"(row) : "r"(code), "r"(negative));
  return __funnelshift_r(table, table, row) & 1;  // by its lowest five bits
}
#else
inline std::uint32_t table_bit(std::uint32_t table, std::uint32_t code, std::uint32_t negative) {
  const std::uint32_t row = (code & 7) | (negative & ~7u);
  return table >> (row & 31) & 1;
}
#endif

// What rounding by the mode's truth table adds, on the last of the kept digits and two more.
struct ByTable {
  static constexpr bool random = false;
  std::uint32_t table;  // negative numbers' rows in the uppermost byte

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t code, std::uint32_t negative,
                                                 std::uint32_t) const {
    return (code >> 2) + table_bit(table, code, negative);
  }
};

// By random bits, as Rounder adds them.
struct ByChance {
  static constexpr bool random = true;
  std::uint32_t half, tie;
  int below;

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t code, std::uint32_t,
                                                 std::uint32_t bits) const {
    return (code + half + (bits << 2) - (bits & tie)) >> below;
  }
};

// What stands for a magnitude too large, for infinity and for NaN.
enum class Ends : std::uint8_t {
  mirrored,  // the first two are one code, with the number's sign
  one,       // all three are one code, and zeros have signs
  any,
};

// A code for either sign.
struct BySign {
  std::uint32_t positive, turned;

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t negative) const {
    return positive ^ (negative & turned);
  }
};

template <Ends ends>
struct Finish {
  std::uint32_t sign, max_finite, nan;
  BySign over, infinite;
  std::uint32_t lost;                       // digits that a number below zero loses,
  std::uint32_t below_zero, negative_zero;  // and what it is given

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(std::uint32_t magnitude,
                                                 const SignedBits& x) const {
    if constexpr (ends == Ends::mirrored) {
      const std::uint32_t most = over.positive, held = magnitude < most ? magnitude : most;
      return x.bits > SignedBits::infinity ? nan : held | (x.negative & sign);
    }
    if constexpr (ends == Ends::one)
      return magnitude > max_finite ? nan : magnitude | (x.negative & sign);
    const std::uint32_t given = magnitude == 0 ? negative_zero : below_zero;
    const std::uint32_t code = (magnitude & ~(x.negative & lost)) | (x.negative & given);
    std::uint32_t end = over(x.negative);
    if (x.bits == SignedBits::infinity) end = infinite(x.negative);
    if (x.bits > SignedBits::infinity) end = nan;
    return magnitude > max_finite ? end : code;
  }
};

// Items in and items out, so many at a time that they make 16 bytes on one side.
template <class In, class Out, std::size_t together>
struct Packs {
  const void* in = nullptr;
  void* out = nullptr;
  // Counted in a register: what is in no pack goes one by one.
  std::uint32_t packs = 0;
  std::size_t count = 0;

  void lie_at(const void* from, void* to, std::size_t items) {
    constexpr std::size_t most = std::size_t{1}
                                 << 31;  // and a grid's threads more do not pass 2^32
    in = from, out = to, count = items;
    const bool whole = aligned<In>(from) && aligned<Out>(to);
    packs = whole ? static_cast<std::uint32_t>(std::min(most, items / together)) : 0;
  }
  std::size_t threads_wanted() const {
    return std::max<std::size_t>(packs, count - packs * together);
  }

  // out[i] = each(in[i], i), by one of so many threads.
  template <class Each>
  WIDTHWISE_BOTH_INLINE void run(std::size_t thread, std::size_t threads, const Each& each) const {
    const auto apart = static_cast<std::uint32_t>(threads);
    for (auto p = static_cast<std::uint32_t>(thread); p < packs; p += apart) {
      const auto x = static_cast<const Pack<In>*>(in)[p];
      Pack<Out> z;
      WIDTHWISE_UNROLLED
      for (std::size_t i = 0; i < together; ++i)
        z.x[i] = each(x.x[i], std::size_t{p} * together + i);
      static_cast<Pack<Out>*>(out)[p] = z;
    }
    for (std::size_t i = packs * together + thread; i < count; i += threads)
      static_cast<Out*>(out)[i] = each(static_cast<const In*>(in)[i], i);
  }

 private:
  template <class T>
  struct alignas(std::min<std::size_t>(16, sizeof(T) * together)) Pack {
    T x[together];
  };
  template <class T>
  static bool aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(Pack<T>) == 0;
  }
};

// A number to its code, that of element i.
template <class LongCodes, class Rounded, Ends ends>
struct Encode {
  LongCodes long_codes;
  Rounded rounded;
  Finish<ends> finish;
  int random_bits = 0;
  PhiloxKeys keys{0};
  std::uint64_t first_index = 0;

  WIDTHWISE_BOTH_INLINE std::uint32_t operator()(const SignedBits& x, std::size_t i) const {
    return finish(rounded(long_codes(x.bits), x.negative, draw(i)), x);
  }

 private:
  WIDTHWISE_BOTH_INLINE std::uint32_t draw(std::size_t i) const {
    if constexpr (!Rounded::random) return 0;
    const RandomField field(random_bits);
    const std::uint64_t index = first_index + i;
    const auto words =
        widthwise::random_words(field, keys, static_cast<std::uint32_t>(index),
                                static_cast<std::uint32_t>(index >> 32), Slot::out, 0);
    return field.of<std::uint32_t>(words, 0);
  }
};

template <class From, class Item, class LongCodes, class Rounded, Ends ends>
struct Quantise {
  using Bits = typename From::Bits;

  Encode<LongCodes, Rounded, ends> encode;
  // To draw random bits takes longer than to load and store one by one.
  Packs<Bits, Item, Rounded::random ? 1 : From::together> arrays{};

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    arrays.run(thread, threads,
               [&](Bits x, std::size_t i) { return static_cast<Item>(encode(From::of(x), i)); });
  }
};

// The number that a code stands for, by its bits. A float whose exponent field is the format's,
// subnormals too, is that number times a power of two.
template <class T>
struct NumberOf {
  std::uint32_t magnitude_mask, sign;
  int up;                                       // from the format's fraction to a float's
  float scale;                                  // 2^(float's bias - the format's)
  std::uint32_t infinity, first_nan, lone_nan;  // codes that are none where there are none

  WIDTHWISE_BOTH_INLINE BitsOf<T> operator()(std::uint32_t item) const {
    constexpr int top = 8 * sizeof(T) - 1;
    const std::uint32_t code = item & (magnitude_mask | sign), magnitude = code & magnitude_mask;
    T x = hn::Mul(std::bit_cast<float>(magnitude << up), scale);
    if (magnitude == infinity) x = std::numeric_limits<T>::infinity();
    const BitsOf<T> bits = bits_of(x) | BitsOf<T>{(code & sign) != 0} << top;
    return magnitude >= first_nan || code == lone_nan ? nan : bits;
  }

 private:
  static constexpr auto nan =
      static_cast<BitsOf<T>>(Layout<std::uint64_t>(sizeof(T) == 4 ? binary32 : binary64).nan_code);
};

template <class Item, class T>
struct Dequantise {
  NumberOf<T> number;
  Packs<Item, BitsOf<T>, 4> arrays{};

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    arrays.run(thread, threads, [&](Item code, std::size_t) { return number(code); });
  }
};

// All that are built, by name: KERNEL(name, From, Item, LongCodes, Rounded, ends). The usual source
// has the usual ends apart.
#define WIDTHWISE_QUANTISE_FROM(KERNEL, name, From)                   \
  KERNEL(name##_8, From, std::uint8_t, AddedUp, ByTable, any)         \
  KERNEL(name##_16, From, std::uint16_t, AddedUp, ByTable, any)       \
  KERNEL(name##_8_random, From, std::uint8_t, AddedUp, ByChance, any) \
  KERNEL(name##_16_random, From, std::uint16_t, AddedUp, ByChance, any)
#define WIDTHWISE_QUANTISE_CUT(KERNEL, name, From)                   \
  KERNEL(name##_16_cut, From, std::uint16_t, CutShort, ByTable, any) \
  KERNEL(name##_16_cut_random, From, std::uint16_t, CutShort, ByChance, any)
#define WIDTHWISE_QUANTISE_KERNELS(KERNEL)                                                   \
  WIDTHWISE_QUANTISE_FROM(KERNEL, quantise_single, FromSingle)                               \
  WIDTHWISE_QUANTISE_FROM(KERNEL, quantise_double, FromDouble)                               \
  WIDTHWISE_QUANTISE_FROM(KERNEL, quantise_half, FromHalf)                                   \
  WIDTHWISE_QUANTISE_FROM(KERNEL, quantise_brain, FromBrain)                                 \
  WIDTHWISE_QUANTISE_CUT(KERNEL, quantise_single, FromSingle)                                \
  WIDTHWISE_QUANTISE_CUT(KERNEL, quantise_half, FromHalf)                                    \
  WIDTHWISE_QUANTISE_CUT(KERNEL, quantise_brain, FromBrain)                                  \
  KERNEL(quantise_single_8_mirrored, FromSingle, std::uint8_t, AddedUp, ByTable, mirrored)   \
  KERNEL(quantise_single_8_one, FromSingle, std::uint8_t, AddedUp, ByTable, one)             \
  KERNEL(quantise_single_16_mirrored, FromSingle, std::uint16_t, AddedUp, ByTable, mirrored) \
  KERNEL(quantise_single_16_cut_mirrored, FromSingle, std::uint16_t, CutShort, ByTable, mirrored)

// And back: KERNEL(name, Item, T).
#define WIDTHWISE_DEQUANTISE_KERNELS(KERNEL)         \
  KERNEL(dequantise_8_single, std::uint8_t, float)   \
  KERNEL(dequantise_16_single, std::uint16_t, float) \
  KERNEL(dequantise_8_double, std::uint8_t, double)  \
  KERNEL(dequantise_16_double, std::uint16_t, double)

}  // namespace widthwise::cuda
