#pragma once
#include <vector>

#include "sim/engine/numbers.hpp"
#include "widthwise/datapath/product.hpp"
#include "widthwise/sim/dot.hpp"
#include "words.hpp"

// Codes of operands, conditioned as the definition does it and times their block scales.
namespace widthwise::exact {

// NaN, infinity or zero of x * y.
constexpr Kind product_kind(Kind x, Kind y) {
  const auto is = [&](Kind z) { return x == z || y == z; };
  const bool endless = is(Kind::infinite) || is(Kind::nan);
  return kind_of(is(Kind::zero) || is(Kind::nan), endless);
}

// Codes along a line of a matrix.
struct Line {
  const std::byte* at;
  std::ptrdiff_t stride;  // in bytes
  const std::byte* operator()(std::size_t i) const {
    return at + static_cast<std::ptrdiff_t>(i) * stride;
  }
};
// Their scales: element i has code (first + i) / block.
struct Scales {
  Line codes;
  std::size_t first, block;
};

// Codes of one format as numbers, and as doubles if those hold them: NaN stands for all that is not
// finite.
class Coded {
 public:
  Coded(const Operand& x, bool doubles);

  int bytes() const { return bytes_; }
  Factor<std::uint64_t> factor(const std::byte* at) const {
    return condition(operand_, widthwise::factor(layout_, load_code<std::uint64_t>(at, bytes_)));
  }
  Item item(const std::byte* at) const;
  // Codes that do not lie side by side go through `held`.
  void numbers(const Line& codes, std::size_t n, std::vector<std::byte>& held, double* out) const;

 private:
  double number(const std::byte* at) const;

  Operand operand_;
  Layout<std::uint64_t> layout_;
  int bytes_;
  std::optional<Codec<double>> codec_;  // for formats that it reads
  std::vector<double> table_;           // of every code of one byte, for others
};

class Reader {
 public:
  Reader(const Operand& x, const std::optional<Scale>& scale, bool doubles);

  int bytes() const { return codes_.bytes(); }
  int scale_bytes() const { return scales_ ? scales_->bytes() : 0; }
  Item item(const Line& codes, const Scales& scales, std::size_t i) const;
  // With its scale.
  Kind kind(const Line& codes, const Scales& scales, std::size_t i) const;
  // Its kind and sign, and its scale's.
  std::uint32_t sorts(const Line& codes, const Scales& scales, std::size_t i) const;
  void numbers(const Line& codes, const Scales& scales, std::size_t n, std::vector<std::byte>& held,
               double* out) const;

 private:
  // Of element i.
  static const std::byte* scale_code(const Scales& scales, std::size_t i) {
    return scales.codes((scales.first + i) / scales.block);
  }

  Coded codes_;
  std::optional<Coded> scales_;
};

}  // namespace widthwise::exact
