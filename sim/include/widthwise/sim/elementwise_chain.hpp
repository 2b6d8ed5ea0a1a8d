#pragma once
#include <vector>

#include "widthwise/sim/elementwise.hpp"

// Elementwise operations one after the other without arrays in between: all steps are taken for a
// chunk of elements, while it is in the first cache, before the next one is begun.
namespace widthwise {

struct ChainStep {
  Operation op;
  Format to;
  Env env;
  std::vector<std::size_t> from;  // 0, 1, …: the chain's operands, then the results of the steps
  std::uint64_t seed = 0;         // of stochastic rounding
};

class ElementwiseChain {
 public:
  // Throws where a step takes what is not there yet, or what its operation does not take.
  ElementwiseChain(std::span<const Format> operands, std::vector<ChainStep> steps, bool flags,
                   std::size_t expected);

  // The last step's results, as if each step had been an `elementwise` of its own. flags, if they
  // are wanted, are those that any step raised for the element.
  void run(std::span<const void* const> operands, std::size_t count, void* result,
           std::uint8_t* flags, std::uint64_t first_index = 0) const;

  const Format& result_format() const { return steps_.back().to; }
  bool quick() const;  // as Elementwise::quick

 private:
  std::vector<Format> formats_;  // operands, then results
  std::vector<ChainStep> steps_;
  std::vector<Elementwise> operations_;
};

}  // namespace widthwise
