#pragma once
#include "rtl_bench.hpp"
#include "widthwise/hdl/rtl.hpp"

namespace tests {

// What a module takes for its stochastic roundings: words that the simulator's generator makes, or
// what that makes them from.
class RandomInputs {
 public:
  RandomInputs(const widthwise::SingleOperation& s, const widthwise::hdl::RtlOptions& options);
  RandomInputs(const widthwise::Unit& u, const widthwise::hdl::RtlOptions& options);

  std::vector<Field> fields() const;
  // Of a block whose first lane is at `first` along k.
  std::string values(std::uint64_t seed, std::uint64_t index, std::uint64_t first) const;

 private:
  bool moves(const widthwise::hdl::RandomPort& port) const;

  bool at_once_, generator_, has_step_ = false;
  std::vector<widthwise::hdl::RandomPort> ports_;
};

}  // namespace tests
