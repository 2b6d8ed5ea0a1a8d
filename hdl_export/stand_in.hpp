#pragma once
#include "stimuli.hpp"

namespace widthwise::hdl {

// Operands that are chosen for a result are found by arithmetic, which goes on evenly in a float as
// it does not in a table: tables among a design's operands have floats that hold their values in
// their place, and the values next to these are what stands at the ports.
class StandIn {
 public:
  explicit StandIn(const Dataflow& flow);

  const Dataflow& flow() const { return flow_; }
  Stimulus in_tables(Stimulus s) const;

 private:
  Dataflow real_, flow_;
};

}  // namespace widthwise::hdl
