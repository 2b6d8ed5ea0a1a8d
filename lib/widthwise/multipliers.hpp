#pragma once
#include "widthwise/significand.hpp"

// Multipliers other than the exact one, on significands with their hidden ones.
namespace widthwise {

// An approximate multiplier of the literature, as a value. None makes more digits than its factors
// have together, and each gives a * b what it gives b * a.
struct NamedMultiplier {
  enum class Name : std::uint8_t {
    // An array without its rightmost columns: partial-product bits of a weight below 2^parameter
    // are never added (Schulte and Swartzlander, 1993, without their correction).
    truncated_array,
    // Mitchell's logarithmic multiplier (1962): the sum of two piecewise linear logarithms.
    // Significands without leading one (subnormals) are normalised first, as their log2 demands.
    mitchell,
    // DRUM (Hashemi, Bahar, Reda, 2015): the leading `parameter` digits of each operand, the last
    // of them set to one to centre the error, multiplied exactly.
    drum,
    // The low `parameter` digits of each operand dropped before an exact product.
    truncated_operands
  };
  Name name;
  int parameter = 0;

  constexpr uint128 operator()(std::uint64_t a, std::uint64_t b) const {
    switch (name) {
      case Name::truncated_array: return add_columns(a, b);
      case Name::mitchell: return add_logarithms(a, b);
      case Name::drum: return uint128{leading(a)} * leading(b);
      case Name::truncated_operands: return uint128{truncated(a)} * truncated(b);
    }
    return 0;
  }

 private:
  constexpr uint128 add_columns(std::uint64_t a, std::uint64_t b) const {
    uint128 sum = 0;
    for (int i = 0; i < 64; ++i) {
      if (!(b >> i & 1)) continue;
      const uint128 row = uint128{a} << i;
      sum += parameter < 128 ? row >> parameter << parameter : 0;
    }
    return sum;
  }

  // log2 x is about k + f for x = 2^k (1 + f); the antilogarithm is the same line again.
  static constexpr uint128 add_logarithms(std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0) return 0;
    const auto ka = static_cast<int>(bit_length(a)) - 1, kb = static_cast<int>(bit_length(b)) - 1;
    const uint128 fa = uint128{a ^ std::uint64_t{1} << ka} << kb,
                  fb = uint128{b ^ std::uint64_t{1} << kb} << ka;
    const uint128 one = uint128{1} << (ka + kb), f = fa + fb;  // fractions in units of 2^-(ka + kb)
    return f < one ? one + f : f << 1;
  }

  // The leading digits of x; below them a one, then zeros.
  constexpr std::uint64_t leading(std::uint64_t x) const {
    const int drop = static_cast<int>(bit_length(x)) - parameter;
    return drop <= 0 ? x : (x >> drop | 1) << drop;
  }
  constexpr std::uint64_t truncated(std::uint64_t x) const { return x >> parameter << parameter; }
};

// A multiplier of words among carriers H and M (datapath/product.hpp).
template <class M, class Multiply>
struct SuppliedMultiplier {
  Multiply multiply;

  template <class H>
  constexpr M operator()(const H& a, const H& b) const {
    return M(multiply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
};

}  // namespace widthwise
