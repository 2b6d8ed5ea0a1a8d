#pragma once
#include <memory>

#include "stimuli.hpp"
#include "widthwise/sim/elementwise.hpp"

namespace widthwise::hdl {

struct Answer {
  std::vector<Code> y{Code()};
  Code scale{};  // of a block of elements
  std::uint8_t flags = 0;
};

// The simulator at work on a design, one block of a unit's at a time.
class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual Answer answer(const Stimulus& s, RandomSource random) const = 0;
};
std::unique_ptr<Simulator> make_simulator(const Design& design, int lanes,
                                          const Multiplier& multiply = {});

}  // namespace widthwise::hdl
