#pragma once
#include "widthwise/random.hpp"

namespace widthwise {

// A place of a unit that rounds, as its field is called: in traces, and in what exports say of
// taps.
constexpr const char* slot_name(Slot s) {
  switch (s) {
    case Slot::product: return "product.round";
    case Slot::group_node: return "group_sum.node_round";
    case Slot::out: return "out";
    case Slot::c_node: return "c_sum.node_round";
    case Slot::c_round: return "chain.c_round";
    case Slot::promote: return "chain.promote.round";
    case Slot::final: return "chain.final";
    case Slot::block_node: return "block_sum.node_round";
    case Slot::addend: return "chain.compensation.addend";
    case Slot::difference: return "chain.compensation.difference";
    case Slot::error: return "chain.compensation.error";
    case Slot::compensation: return "chain.compensation.compensation";
    case Slot::compensated: return "chain.compensation.compensated";
  }
  return "";
}

}  // namespace widthwise
