#pragma once
#include <cmath>

#include "kernels.hpp"
#include "widthwise/datapath/operand.hpp"
#include "widthwise/sim/dot.hpp"

namespace widthwise::blocks {

// A code as the lanes hold it.
struct Numeral {
  double value;
  std::int16_t exponent;  // of its field, or no_exponent
};

// Codes of a matrix as conditioned operands (lib's definition), each worked out once where that
// takes less than reading them all.
class Reader {
 public:
  explicit Reader(const Operand& x)
      : operand_(x), layout_(x.fmt), bytes_(item_bytes(x.fmt.width())) {}

  // `count` codes are about to be read.
  void expect(std::size_t count) {
    const int width = operand_.fmt.width();
    if (width > 16 || count >> width == 0 || !known_.empty()) return;
    known_.resize(std::size_t{1} << width);
    for (std::size_t code = 0; code < known_.size(); ++code) known_[code] = numeral(code);
  }

  Numeral operator()(const CodeMatrix& x, std::size_t row, std::size_t column) const {
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(row) * x.row + static_cast<std::ptrdiff_t>(column) * x.column;
    const auto code =
        load_code<std::uint64_t>(static_cast<const std::byte*>(x.data) + at * bytes_, bytes_);
    return code < known_.size() ? known_[code] : numeral(code);
  }

 private:
  Numeral numeral(std::uint64_t code) const {
    const Factor<std::uint64_t> x = condition(operand_, factor(layout_, code));
    const double sign = x.negative ? -1 : 1;
    switch (x.kind) {
      case Kind::zero: return {sign * 0.0, no_exponent};
      case Kind::infinite: return {sign * HUGE_VAL, no_exponent};
      case Kind::nan: return {NAN, no_exponent};
      case Kind::finite: break;
    }
    const double magnitude = std::ldexp(static_cast<double>(x.m), static_cast<int>(x.q));
    return {sign * magnitude, static_cast<std::int16_t>(x.e)};
  }

  Operand operand_;
  Layout<std::uint64_t> layout_;
  int bytes_;
  std::vector<Numeral> known_;
};

}  // namespace widthwise::blocks
