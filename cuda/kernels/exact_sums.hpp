#pragma once
#include "packed_lines.hpp"
#include "sim/exact/finish.hpp"
#include "sim/exact/levels.hpp"
#include "values.hpp"

// What comes before and after the tiles of exact sums: operands as doubles, and words as codes.
namespace widthwise::cuda {

// Every element, conditioned and scaled, or its negative; NaN for what is not finite.
struct DecodeLines {
  Lines lines;
  bool by_step;  // step by step, not line by line
  bool negated;
  double* values;
  unsigned long long* seen;  // as exact::Range has it, but for the second's complement

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    unsigned long long most = 0, least = ~0ull;
    for (std::size_t i = thread; i < lines.count * lines.length; i += threads) {
      const double x = by_step ? value(i % lines.count, i / lines.count)
                               : value(i / lines.length, i % lines.length);
      const unsigned long long bits = bits_of(hn::Abs(x));
      values[i] = negated ? -x : x;
      if (x == 0 || x != x) continue;
      if (bits > most) most = bits;
      if (bits < least) least = bits;
    }
    raise_to(&seen[0], most);
    raise_to(&seen[1], ~least);
  }

 private:
  WIDTHWISE_BOTH_INLINE double value(std::size_t line, std::size_t lane) const {
    const Factor<std::uint64_t> x = lines.element(line, lane), scale = lines.scale(line, lane);
    if (x.endless || scale.endless) return std::numeric_limits<double>::quiet_NaN();
    const double magnitude = hn::Mul(magnitude_of<double>(x), magnitude_of<double>(scale));
    return x.negative != scale.negative ? -magnitude : magnitude;
  }
};

// C joins the sum, which is rounded, unless the output is to be redone; it is, too, where C is not
// finite or has digits that the word has not, or where a zero's sign depends on all addends.
struct FinishSums {
  exact::WordSum sum;
  exact::Finish finish;
  Operand c_operand;
  Layout<std::uint64_t> c_layout;
  const std::byte* c;  // dense codes, or null
  int c_bytes;
  std::int64_t c_last, c_top;  // C is to be a multiple of 2^c_last, below 2^c_top
  const uint128* words;
  std::uint8_t* redo;
  std::byte* result;
  std::uint8_t* flags;  // or null
  int bytes;            // of a result
  std::size_t rows, columns;
  // Where random bits are drawn.
  std::uint64_t seed;
  std::size_t first, row_outputs;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t at = thread; at < rows * columns; at += threads)
      if (!redo[at]) redo[at] = !deliver(at);
  }

 private:
  WIDTHWISE_BOTH_INLINE bool deliver(std::size_t at) const {
    const Factor<std::uint64_t> addend = addend_of(at);
    if (addend.endless) return false;
    Progress progress{{seed, first + at / columns * row_outputs + at % columns}};
    uint128 word = words[at];
    if (addend.kind() == Kind::finite) {
      if (addend.q < c_last || addend.q + bit_length(addend.m) > c_top) return false;
      sum.add(word, addend.negative, addend.m, addend.q, progress.flags);
    }
    const Term<uint128> total = sum.total(word);
    if (total.m == 0 && (addend.negative || finish.asks_for_mixed())) return false;
    store_code(result + at * bytes, bytes, finish.code(total, progress));
    if (flags) flags[at] = static_cast<std::uint8_t>(progress.flags);
    return true;
  }
  WIDTHWISE_BOTH_INLINE Factor<std::uint64_t> addend_of(std::size_t at) const {
    if (!c) return cleared<std::uint64_t>(c_operand.fmt);
    const std::uint64_t code = load_code<std::uint64_t>(c + at * c_bytes, c_bytes);
    return condition(c_operand, factor(c_layout, code));
  }
};

}  // namespace widthwise::cuda
