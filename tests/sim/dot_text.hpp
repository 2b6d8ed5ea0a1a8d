#pragma once
#include <string>
#include <vector>

#include "widthwise/sim/dot.hpp"

namespace tests {

using namespace widthwise;

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
  std::string at_the_end_of_the_trace(const ReferenceUnit& unit) const;

 private:
  MatrixProduct product_;
  Format result_;
  std::vector<std::byte> a_, b_, c_, scale_a_, scale_b_;
};

// c + sum a[i] * b[i] of one unit, by way of make_reference.
std::string dot(const Unit& unit, const DotText& text);

}  // namespace tests
