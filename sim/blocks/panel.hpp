#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels.hpp"
#include "sim/engine/lines.hpp"
#include "sim/engine/numbers.hpp"
#include "widthwise/datapath/operand.hpp"
#include "widthwise/sim/dot.hpp"

// Operands and scales as the lanes hold them.
namespace widthwise::blocks {

struct Numeral {
  double value = 0;
  std::int16_t exponent = no_exponent;  // of its field
  std::uint64_t digits = 0;             // 0, or a significand that `value` is to be multiplied with

  bool is_number() const { return exponent > special_exponent; }  // and not zero
  bool votes() const { return exponent > lowest_power; }
  double power() const { return votes() ? std::ldexp(1.0, exponent) : 0; }
  // Times a scale.
  Numeral operator*(const Numeral& s) const {
    const auto both = static_cast<std::int16_t>(exponent + s.exponent);
    const double product = value * s.value;
    const bool finite = std::isfinite(product);
    if (is_number() && s.is_number()) return {product, both, digits};
    return {product, finite ? no_exponent : special_exponent, digits};
  }
};

// Codes of a matrix as conditioned operands.
class Reader {
 public:
  explicit Reader(const Operand& x)
      : operand_(x),
        layout_(x.fmt),
        bytes_(item_bytes(x.fmt.width())),
        up_(52 - x.fmt.frac_bits),
        rebias_(static_cast<std::uint64_t>(1023 - x.fmt.bias) << 52),
        used_(~std::uint64_t{0} << (x.keep_frac ? x.fmt.frac_bits - *x.keep_frac : 0)) {
    if (x.keep_frac && x.keep_rm != RoundingMode::rtz) layout_.plain_span = 0;
    if (Codec<double>::slides(x)) codec_.emplace(x);
    for (std::uint64_t code = 0; !codec_ && bytes_ == 1 && code < 256; ++code)
      table_.push_back(numeral(code));
  }

  // n codes at once, from one on and a stride apart. False where not all are numbers whose fields
  // slide.
  bool numbers(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride, std::size_t n,
               std::vector<std::byte>& held, double* out) const {
    return codec_ && codec_->finite(codec_->decode(x, first, stride, n, held, out));
  }
  // The same with exponents, of a format of one byte whose fields do not slide, whatever they are.
  bool look_up(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride, std::size_t n,
               double* out, std::int16_t* exponents) const {
    if (table_.empty()) return false;
    const auto* code = static_cast<const std::uint8_t*>(x.data) + first;
    for (std::size_t i = 0; i < n; ++i, code += stride)
      out[i] = table_[*code].value, exponents[i] = table_[*code].exponent;
    return true;
  }
  int bytes() const { return bytes_; }
  int emin() const { return static_cast<int>(operand_.fmt.emin()); }

  // A normal number's fields slide to a double's places; all else is left to lib.
  Numeral operator()(const CodeMatrix& x, std::size_t row, std::size_t column) const {
    const std::uint64_t code = code_at(x, row, column);
    if (!table_.empty()) return table_[code];
    if (!plain(layout_, code)) [[unlikely]]
      return numeral(code);
    const std::uint64_t magnitude = code & layout_.magnitude_mask;
    const std::uint64_t sign = (code & layout_.sign) << (63 - operand_.fmt.magnitude_bits());
    const std::uint64_t bits = (((magnitude & used_) << up_) + rebias_) | sign;
    const auto field = static_cast<std::int64_t>(magnitude >> operand_.fmt.frac_bits);
    return {std::bit_cast<double>(bits), static_cast<std::int16_t>(field - operand_.fmt.bias)};
  }

  // A number's last place apart from its significand.
  Numeral taken_apart(const CodeMatrix& x, std::size_t row, std::size_t column) const {
    const std::uint64_t code = code_at(x, row, column);
    Numeral z = numeral(code);
    if (!z.votes()) return z;
    z.digits = conditioned(code).m;
    z.value /= static_cast<double>(z.digits);
    return z;
  }

 private:
  std::uint64_t code_at(const CodeMatrix& x, std::size_t row, std::size_t column) const {
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(row) * x.row + static_cast<std::ptrdiff_t>(column) * x.column;
    return load_code<std::uint64_t>(static_cast<const std::byte*>(x.data) + at * bytes_, bytes_);
  }
  Factor<std::uint64_t> conditioned(std::uint64_t code) const {
    return condition(operand_, factor(layout_, code));
  }
  Numeral numeral(std::uint64_t code) const {
    const Factor<std::uint64_t> x = conditioned(code);
    const double sign = x.negative ? -1 : 1;
    switch (x.kind()) {
      case Kind::zero: return {sign * 0.0, no_exponent};
      case Kind::infinite: return {sign * HUGE_VAL, special_exponent};
      case Kind::nan: return {NAN, special_exponent};
      case Kind::finite: break;
    }
    const double magnitude = std::ldexp(static_cast<double>(x.m), static_cast<int>(x.q));
    return {sign * magnitude, static_cast<std::int16_t>(x.e)};
  }

  Operand operand_;
  Layout<std::uint64_t> layout_;
  int bytes_, up_;
  std::uint64_t rebias_, used_;  // used_: bits of a code that are looked at
  std::optional<Codec<double>> codec_;
  std::vector<Numeral> table_;
};

// Numbers, their exponents and where groups are scaled the scales, side by side.
struct Panel {
  Lines<double> value, scale, scale_power;
  Lines<std::int16_t> exponent;
  Lines<float> single;
  Lines<std::uint64_t> digits;     // of significands that are to be multiplied by the user
  std::vector<Spread> spread;      // of every row of A, or of all columns of B
  Spread of_scales;                // of all that are put
  std::vector<std::int16_t> span;  // of every block, where somebody asks

  // What is not put after that is zero.
  void clear() {
    for (Lines<double>* x : {&value, &scale, &scale_power}) x->clear();
    exponent.clear(), single.clear(), digits.clear();
  }
  void resize(std::size_t items, std::size_t scales, std::size_t spreads, bool taken_apart) {
    digits.resize(taken_apart ? items : 0);
    value.resize(items), exponent.resize(items, no_exponent), single.resize(items);
    scale.resize(scales), scale_power.resize(scales);
    spread.assign(spreads, {}), of_scales = {};
  }
  void put(std::size_t at, const Numeral& x) {
    value[at] = x.value, exponent[at] = x.exponent;
    if (!digits.empty()) digits[at] = x.digits;
  }
  void scale_by(std::size_t at, const Numeral& scale) {
    put(at, Numeral{value[at], exponent[at], digits.empty() ? 0 : digits[at]} * scale);
  }
  void put_scale(std::size_t at, const Numeral& x) {
    scale[at] = x.value, scale_power[at] = x.power();
    of_scales.meet(&x.exponent, 1);
  }
  // Zeros from one on: a tile's rows that are no outputs, lest it finds them too large.
  void pad(std::size_t first) {
    std::fill(value.begin() + static_cast<std::ptrdiff_t>(first), value.end(), 0.0);
  }
  // Of every so many numbers.
  void measure_blocks(std::size_t items) {
    span.resize(exponent.size() / items);
    for (std::size_t i = 0; i < span.size(); ++i) {
      Spread of_block;
      of_block.meet(&exponent[i * items], items);
      span[i] = of_block.span();
    }
  }
  // n numbers have been put.
  void complete(const Kernels& kernels, std::size_t first, std::size_t n, Spread& of) {
    kernels.complete(&value[first], &exponent[first], n, &single[first], of);
  }
};

}  // namespace widthwise::blocks
