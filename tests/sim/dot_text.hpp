#pragma once
#include <limits>
#include <string>
#include <vector>

#include "widthwise/sim/dot.hpp"

namespace tests {

using namespace widthwise;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Change>
Unit with(Unit u, const Change& change) {
  change(u);
  return u;
}

// A chain of exact sums of so many products and C, each rounded once; all in one format.
constexpr Unit fused(const Format& f, std::int64_t lanes) {
  Unit u{};
  u.a.fmt = u.b.fmt = u.c.fmt = u.out.fmt = f;
  u.lanes = lanes;
  u.c_level = CLevel::group;
  return u;
}

// The codes of these numbers in hexadecimal. Each has to be a number of the format.
std::string codes(const Format& f, const std::vector<double>& numbers);

// One dot product as the vector files write it: codes in hexadecimal, lane 0 first, each in as many
// digits as its width needs. Scales are empty for a unit without them.
struct DotText {
  std::string a, b, c, scale_a{}, scale_b{};
  std::uint64_t seed = 0, index = 0;
};

// The same as an engine takes it.
class Dot {
 public:
  Dot(const Unit& unit, const DotText& text);

  std::size_t k() const { return product_.k; }
  std::string run(const ReferenceUnit& unit) const;
  std::string run(const ReferenceUnit& unit, Flags& flags) const;
  std::string at_the_end_of_the_trace(const ReferenceUnit& unit) const;
  // A row a string: stage, slot, lane, and the value as sign, significand and exponent. Of
  // normalised ones, which fill their carrier, without the zeros at the end.
  std::vector<std::string> trace(const ReferenceUnit& unit) const;

 private:
  MatrixProduct product_;
  Format result_;
  std::vector<std::byte> a_, b_, c_, scale_a_, scale_b_;
};

// One line of tests/oracle/dpu_blocks.py.
struct Question {
  std::string unit_text;
  DotText operands;
  std::string want;

  explicit Question(const std::string& line);
};

// c + sum a[i] * b[i] of one unit, by way of make_reference.
std::string dot(const Unit& unit, const DotText& text);
std::string dot(const Unit& unit, const std::vector<double>& a, const std::vector<double>& b,
                double c = 0);

}  // namespace tests
