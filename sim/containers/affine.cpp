#include "widthwise/sim/affine.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "../engine/machine_rounding.hpp"
#include "affine_code.hpp"
#include "affine_lanes.hpp"

namespace widthwise {
namespace affine {
namespace {

// Contiguous elements whose scales are one, or contiguous too.
struct Piece {
  std::size_t first, count, scale;
  bool each;
};

Piece piece_at(const AffineLayout& at, std::size_t first, std::size_t end) {
  const std::size_t i = first % at.inner, k = first / at.inner % at.length;
  const bool along_k = at.of_group != 0 && at.inner == 1 && at.block == 1;
  std::size_t count = end - first;
  if (at.of_inner != 0)
    count = at.inner - i;
  else if (along_k)
    count = at.length - k;
  else if (at.of_group != 0)
    count = (std::min(at.length, (k / at.block + 1) * at.block) - k) * at.inner - i;
  else if (at.of_outer != 0)
    count = (at.length - k) * at.inner - i;
  return {first, std::min(count, end - first), at.scale_of(first), at.of_inner != 0 || along_k};
}

template <class Work>
void each_piece(const AffineLayout& layout, std::size_t first, std::size_t count,
                const Work& work) {
  for (const std::size_t end = first + count; first < end;) {
    const Piece p = piece_at(layout, first, end);
    work(p);
    first += p.count;
  }
}

// Calls work with the codes as what they are.
template <class Work>
void with_items(IntegerItem item, const void* codes, const Work& work) {
  switch (item.bytes * 2 + item.is_signed) {
    case 2: return work(static_cast<const std::uint8_t*>(codes));
    case 3: return work(static_cast<const std::int8_t*>(codes));
    case 4: return work(static_cast<const std::uint16_t*>(codes));
    case 5: return work(static_cast<const std::int16_t*>(codes));
    case 8: return work(static_cast<const std::uint32_t*>(codes));
    default: return work(static_cast<const std::int32_t*>(codes));
  }
}

// The number of codes that a rule has is at most 8 bits', so that quotients past `far` clamp.
bool suits_quick(const AffineRule& rule, const std::uint8_t* flags) {
  return rule.arithmetic == AffineArithmetic::exact && rule.rounding == RoundingMode::rne &&
         rule.item.bytes == 1 && !flags;
}
bool suits_lanes(const AffineRule& rule, const std::uint8_t* flags) {
  using enum RoundingMode;
  const RoundingMode mode = rule.rounding.mode;
  if (flags || rule.far_is_low) return false;
  if (rule.arithmetic == AffineArithmetic::torch_legacy && !lanes_fuse()) return false;
  if (rule.arithmetic != AffineArithmetic::exact) return mode == rne;
  return is_nearest(mode) || mode == rdn || mode == rup || mode == rtz;
}

// Whole vectors of an array's last elements.
template <class Value>
struct Padded {
  alignas(64) Value values[chunk] = {};
  Padded(const Value* x, std::size_t n) { std::copy_n(x, n, values); }
};

// What codes stand for.
struct Steps {
  bool each;
  const double *scale, *zero;

  // Of codes of up to 16 bits and scales in binary32: a difference has 17 digits, so that a double
  // holds the product, and a float's product is rounded once.
  template <class Item, class Value>
  void take_short(const Item* codes, std::size_t n, Value* values) const {
    if (each) {
      for (std::size_t i = 0; i < n; ++i)
        values[i] = (static_cast<Value>(codes[i]) - static_cast<Value>(zero[i])) *
                    static_cast<Value>(scale[i]);
      return;
    }
    const auto s = static_cast<Value>(*scale);
    const auto z = static_cast<std::int32_t>(*zero);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<Value>(static_cast<std::int32_t>(codes[i]) - z) * s;
  }

  template <class Item, class Value>
  std::uint64_t take(const Item* codes, std::size_t n, Value* values) const {
    std::uint64_t rounded = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = each ? i : 0;
      const auto z = dequantised<Value>(static_cast<double>(codes[i]), zero[at], scale[at]);
      values[i] = z.value;
      rounded += z.rounded;
    }
    return rounded;
  }
};

// Looked up once for all pieces.
struct QuickKernels {
  Quick of_one = quick_kernel(false), of_each = quick_kernel(true);
  std::size_t lanes = float_lanes();
};

void quick_piece(const QuickKernels& kernels, const Scales& s, const AffineRule& rule,
                 const float* x, std::size_t n, std::uint8_t* codes, AffineCounts& counts) {
  const Quick kernel = s.each ? kernels.of_each : kernels.of_one;
  const auto add = [&](const AffineCounts& more) {
    counts.clamped += more.clamped, counts.nan += more.nan;
  };
  constexpr std::size_t most = std::size_t{1} << 30;  // a kernel counts in 32 bits
  std::size_t i = 0;
  const std::size_t lanes = kernels.lanes;
  for (const std::size_t whole = n / lanes * lanes; i < whole;) {
    const std::size_t count = std::min(most, whole - i);
    add(kernel(s.from(i), rule, x + i, count, codes + i));
    i += count;
  }
  if (i == n) return;
  alignas(64) float rest[padding] = {};
  std::array<std::uint8_t, padding> packed;
  std::copy(x + i, x + n, rest);
  add(kernel(s.from(i), rule, rest, (n - i + lanes - 1) / lanes * lanes, packed.data()));
  std::copy_n(packed.begin(), n - i, codes + i);
}

}  // namespace
}  // namespace affine

using namespace affine;

AffineScales::AffineScales(const AffineLayout& layout, std::vector<double> scales,
                           std::vector<std::int64_t> zero_points)
    : layout_(layout), scale_(std::move(scales)), zero_point_(std::move(zero_points)) {
  const MachineRounding mode(RoundingMode::rne);
  const std::size_t count = scale_.size(), padded = count + padding;  // which vectors read
  scale_.resize(padded, 1), zero_point_.resize(padded);
  scale32_.resize(padded), reciprocal_.resize(padded), zero_.resize(padded), zero32_.resize(padded);
  bool binary32 = true, moderate = true;
  for (std::size_t i = 0; i < padded; ++i) {
    const auto narrow = static_cast<float>(scale_[i]);
    const std::int64_t zero = zero_point_[i];
    scale32_[i] = narrow, reciprocal_[i] = 1 / narrow;
    zero_[i] = static_cast<double>(zero), zero32_[i] = static_cast<float>(zero);
    binary32 &= double{narrow} == scale_[i];
    moderate &= scale_[i] > 0x1p-100 && scale_[i] < 0x1p100 && zero >= -128 && zero <= 255;
  }
  binary32_ = binary32, moderate_ = moderate;
}

template <class Value>
AffineCounts AffineScales::quantise_values(const AffineRule& rule, const Value* values,
                                           std::size_t first, std::size_t count, void* codes,
                                           std::uint8_t* flags, RandomSource random) const {
  const MachineRounding mode(RoundingMode::rne);
  const bool lanes = suits_lanes(rule, flags), floats = sizeof(Value) == 4;
  const bool quick = floats && moderate_ && binary32_ && suits_quick(rule, flags);
  // Quotients of two floats below 2^28 (docs/exactness.md, 65).
  const bool short_quotients = floats && binary32_ && rule.qmax - rule.qmin < 1 << 26;
  const QuickKernels kernels;
  const Careful<Value> careful = careful_kernel<Value>();
  const Pack pack = pack_kernel();
  AffineCounts counts;
  const auto define = [&](const Value* x, std::size_t at, std::size_t scale) {
    const Code c = code_of(rule, double{*x}, scale_[scale], zero_point_[scale], random, at);
    counts.nan += c.nan;
    if (flags) flags[at] = flags_of(rule, double{*x}, scale_[scale], zero_point_[scale], c);
    return static_cast<double>(c.sum);
  };
  each_piece(layout_, first, count, [&](const Piece& p) {
    const Scales s{p.each,
                   scale_.data() + p.scale,
                   zero_.data() + p.scale,
                   scale32_.data() + p.scale,
                   reciprocal_.data() + p.scale,
                   zero32_.data() + p.scale};
    auto* to =
        static_cast<std::uint8_t*>(codes) + p.first * static_cast<std::size_t>(rule.item.bytes);
    if constexpr (sizeof(Value) == 4)
      if (quick) return quick_piece(kernels, s, rule, values + p.first, p.count, to, counts);
    Rounded rounded;
    for (std::size_t i = 0; i < p.count; i += chunk) {
      const std::size_t n = std::min(chunk, p.count - i);
      const Value* x = values + p.first + i;
      bool sure = false;
      if (lanes && n % padding == 0)
        sure = careful(s.from(i), rule, short_quotients, x, n, rounded);
      else if (lanes)
        sure = careful(s.from(i), rule, short_quotients, Padded(x, n).values, n, rounded);
      for (std::size_t j = 0; j < n && !sure; ++j)
        if (!lanes || rounded.sure[j] == 0)
          rounded.code[j] = define(x + j, p.first + i + j, p.scale + (p.each ? i + j : 0));
      counts.clamped +=
          pack(rule, rounded.code, n, to + i * static_cast<std::size_t>(rule.item.bytes));
    }
  });
  return counts;
}

AffineCounts AffineScales::quantise(const AffineRule& rule, const float* values, std::size_t first,
                                    std::size_t count, void* codes, std::uint8_t* flags,
                                    RandomSource random) const {
  return quantise_values(rule, values, first, count, codes, flags, random);
}
AffineCounts AffineScales::quantise(const AffineRule& rule, const double* values, std::size_t first,
                                    std::size_t count, void* codes, std::uint8_t* flags,
                                    RandomSource random) const {
  return quantise_values(rule, values, first, count, codes, flags, random);
}

template <class Value>
std::uint64_t AffineScales::dequantise_values(IntegerItem item, const void* codes,
                                              std::size_t first, std::size_t count,
                                              Value* values) const {
  const MachineRounding mode(RoundingMode::rne);
  const bool is_short = item.bytes <= 2 && binary32_;
  std::uint64_t rounded = 0;
  with_items(item, codes, [&](const auto* items) {
    each_piece(layout_, first, count, [&](const Piece& p) {
      const Steps steps{p.each, scale_.data() + p.scale, zero_.data() + p.scale};
      if (is_short)
        steps.take_short(items + p.first, p.count, values + p.first);
      else
        rounded += steps.take(items + p.first, p.count, values + p.first);
    });
  });
  return rounded;
}

FloatRange float_range(const float* x, std::size_t count, FloatRange before) {
  const MachineRounding mode(RoundingMode::rne);
  return range_kernel()(x, count, before);
}

void block_ranges(const float* x, std::size_t length, std::size_t block, std::size_t rows,
                  float* low, float* high) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const MachineRounding mode(RoundingMode::rne);
  const auto kernel = range_kernel();
  for (std::size_t row = 0; row < rows; ++row, x += length)
    for (std::size_t k = 0; k < length; k += block) {
      const FloatRange range = kernel(x + k, std::min(block, length - k), {infinity, -infinity});
      *low++ = range.low, *high++ = range.high;
    }
}

std::uint64_t AffineScales::dequantise(IntegerItem item, const void* codes, std::size_t first,
                                       std::size_t count, float* values) const {
  return dequantise_values(item, codes, first, count, values);
}
std::uint64_t AffineScales::dequantise(IntegerItem item, const void* codes, std::size_t first,
                                       std::size_t count, double* values) const {
  return dequantise_values(item, codes, first, count, values);
}

}  // namespace widthwise
