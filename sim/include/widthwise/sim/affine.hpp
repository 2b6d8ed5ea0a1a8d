#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "widthwise/rounding.hpp"
#include "widthwise/sim/elementwise.hpp"

// Affine integers: x = s (q - z), a scale s > 0 and a zero point z per array, channel or block
// (docs/semantics.md, A1). Codes q are integers of 8, 16 or 32 bits in memory.
namespace widthwise {

// Whose order of operations finds q from x (A2).
enum class AffineArithmetic : std::uint8_t {
  exact,         // x / s rounded, then + z
  onnx,          // x / s in binary32 rounded, then + z
  torch,         // x * (1 / s) in binary32 rounded, then + z
  torch_legacy,  // fma(x, 1 / s, z) in binary32, rounded
};

struct IntegerItem {
  int bytes = 1;  // 1, 2 or 4
  bool is_signed = true;
};

struct AffineRule {
  std::int64_t qmin, qmax;
  AffineArithmetic arithmetic = AffineArithmetic::exact;
  Rounding rounding{};
  IntegerItem item{};
  bool nan_is_zero_point = true;  // else NaN becomes `nan`
  std::int64_t nan = 0;
  bool far_is_low = false;  // infinities and quotients from 2^63 on become qmin (A2)
};

// Values of shape (outer, length, inner), in this order. The scale of element (o, k, i) is number
// o * of_outer + k / block * of_group + i * of_inner, and so is its zero point. of_inner is 0 or 1;
// of_group is 1 where block and inner are.
struct AffineLayout {
  std::size_t outer = 1, length = 1, inner = 1, block = 1;
  std::size_t of_outer = 0, of_group = 0, of_inner = 0;

  constexpr std::size_t size() const { return outer * length * inner; }
  constexpr std::size_t scale_of(std::size_t element) const {
    const std::size_t i = element % inner, k = element / inner % length,
                      o = element / inner / length;
    return o * of_outer + k / block * of_group + i * of_inner;
  }
};

struct AffineCounts {
  std::uint64_t clamped = 0, nan = 0;  // elements past the range, infinities among them; NaN
};

// The least and the largest of some floats; NaN where there is one.
struct FloatRange {
  float low, high;
};
FloatRange float_range(const float* x, std::size_t count, FloatRange before);
// Of each block of rows of a length, the last of which may be short, one after the other.
void block_ranges(const float* x, std::size_t length, std::size_t block, std::size_t rows,
                  float* low, float* high);

// Which codes cover a range (A1).
enum class AffineCover : std::uint8_t {
  asymmetric,      // qmin to qmax from its least number to its largest
  symmetric,       // -qmax to qmax about zero
  symmetric_full,  // qmin to qmax about zero
};

// A scale in binary32 and a zero point, each rounded once from its exact value; `sure` is false
// where binary64 does not vouch for that, as where the range is not finite.
struct AffineParameters {
  float scale = 1;
  std::int64_t zero_point = 0;
  bool sure = true;
};
// Of ranges [low, high], `count` of them.
void affine_parameters(AffineCover cover, std::int64_t qmin, std::int64_t qmax, const double* low,
                       const double* high, std::size_t count, AffineParameters* found);

// Scales and zero points of an array, made ready for elements that come piece by piece.
class AffineScales {
 public:
  // Scales are finite and above zero. Engines' arithmetics take those of binary32 alone.
  AffineScales(const AffineLayout& layout, std::vector<double> scales,
               std::vector<std::int64_t> zero_points);

  // Elements [first, first + count) of `values`, to the same places of `codes` and, if they are
  // wanted, of `flags`: NX, OF and NV as in docs/semantics.md, A3.
  AffineCounts quantise(const AffineRule& rule, const float* values, std::size_t first,
                        std::size_t count, void* codes, std::uint8_t* flags,
                        RandomSource random = {}) const;
  AffineCounts quantise(const AffineRule& rule, const double* values, std::size_t first,
                        std::size_t count, void* codes, std::uint8_t* flags,
                        RandomSource random = {}) const;

  // s (q - z), rounded once where it has to be: how many a double does not hold.
  std::uint64_t dequantise(IntegerItem item, const void* codes, std::size_t first,
                           std::size_t count, float* values) const;
  std::uint64_t dequantise(IntegerItem item, const void* codes, std::size_t first,
                           std::size_t count, double* values) const;

  const AffineLayout& layout() const { return layout_; }

 private:
  template <class Value>
  AffineCounts quantise_values(const AffineRule& rule, const Value* values, std::size_t first,
                               std::size_t count, void* codes, std::uint8_t* flags,
                               RandomSource random) const;
  template <class Value>
  std::uint64_t dequantise_values(IntegerItem item, const void* codes, std::size_t first,
                                  std::size_t count, Value* values) const;

  AffineLayout layout_;
  std::vector<double> scale_, zero_;
  std::vector<std::int64_t> zero_point_;
  std::vector<float> reciprocal_, scale32_, zero32_;
  bool binary32_ = true;  // all scales are numbers of it
  bool moderate_ = true;  // all scales and zero points suit products by reciprocals in binary32
};

}  // namespace widthwise
