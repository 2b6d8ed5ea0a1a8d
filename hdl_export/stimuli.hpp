#pragma once
#include <cstdint>
#include <vector>

#include "dataflow.hpp"

// What stands at a design's inputs while it is checked. Nothing of it need be right: the simulator
// says what comes of it.
namespace widthwise::hdl {

struct Stimulus {
  std::vector<Code> a, b, c, scale_a, scale_b;  // a port's lanes, the first first
  bool running = false;                         // c is a result, in a result's format
};

// Random operands almost never meet these: all named codes squared; results at both ends of the
// subnormal numbers and beside the largest number; results half way between two numbers; sums whose
// terms cancel.
std::vector<Stimulus> directed_stimuli(const Dataflow& flow, std::uint64_t seed);

// The first-th to the one before `last` of sim's operands for tests (operands.hpp).
std::vector<Stimulus> random_stimuli(const Dataflow& flow, std::uint64_t seed, std::size_t first,
                                     std::size_t last);

}  // namespace widthwise::hdl
