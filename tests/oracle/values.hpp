#pragma once
#include <cstdint>
#include <vector>

#include "exact.hpp"
#include "widthwise/format.hpp"

// What the codes of a format stand for, read from docs/semantics.md alone.
namespace oracle {

using widthwise::Format;

enum class Kind : std::uint8_t { zero, finite, infinite, nan };

// (-1)^negative * sig * 2^exp, and whatever else a code tells. Operands of up to 64 bits.
struct Number {
  Kind kind = Kind::zero;
  bool negative = false;
  bool signalling = false;
  bool subnormal = false;
  std::uint64_t sig = 0;
  std::int64_t exp = 0;
  std::uint64_t code = 0;
};

Number decode(const Format& f, std::uint64_t code);

// The finite number of a format, not negative, next to which a result may come to lie.
struct Point {
  Dyadic value;
  std::uint64_t code;
  bool odd;  // last digit of its significand
  bool subnormal;
};

// Two neighbours lo < hi with nothing of the format between them, in units of 2^exp.
struct Gap {
  Wide lo, hi;
  std::int64_t exp;
  bool lo_odd;
};

// All codes of a format of up to 16 bits, decoded, and its finite numbers in order.
class Values {
 public:
  explicit Values(const Format& f);

  const Format& format() const { return format_; }
  const Number& operator[](std::uint64_t code) const { return numbers_[code]; }
  std::uint64_t size() const { return numbers_.size(); }

  const std::vector<Point>& points() const { return points_; }
  // From the i-th point to the next; past the last one, to where the next would be.
  Gap gap(std::size_t i) const;
  // Below the least normal number, on a grid of the format's precision without a least exponent.
  Gap gap_under_normal() const;
  // The least normal number: anything smaller is tiny.
  Dyadic least_normal() const { return least_normal_; }

  bool has(Kind special) const { return special == Kind::nan ? has_nan_ : has_infinity_; }
  std::uint64_t nan() const { return nan_; }
  std::uint64_t infinity(bool negative) const { return infinity_ | sign(negative); }
  std::uint64_t sign(bool negative) const { return negative && format_.is_signed() ? sign_ : 0; }

 private:
  void sort_points();
  void find_specials();

  Format format_;
  std::vector<Number> numbers_;
  std::vector<Point> points_;
  Dyadic least_normal_;
  bool has_nan_ = false, has_infinity_ = false;
  std::uint64_t nan_ = 0, infinity_ = 0, sign_ = 0;
};

// The one table of a format, made when first asked for. Not for several threads at once.
const Values& values(const Format& f);

}  // namespace oracle
