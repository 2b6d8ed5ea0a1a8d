#pragma once
#include "widthwise/unit.hpp"

namespace widthwise {

// Calls what(name, rounding) with every rounding that a unit has. U: Unit or const Unit.
template <class U, class Do>
void each_rounding(U& u, const Do& what) {
  const auto if_there = [&](const char* name, auto& r) {
    if (r) what(name, *r);
  };
  if_there("product.round", u.product.round);
  if_there("group_sum.node_round", u.group_sum.node_round);
  if_there("block_sum.node_round", u.block_sum.node_round);
  if_there("c_sum.node_round", u.c_sum.node_round);
  what("out", u.out);
  if (u.chain.promote) what("chain.promote.round", u.chain.promote->round);
  if_there("chain.c_round", u.chain.c_round);
  if_there("chain.final", u.chain.final);
}

}  // namespace widthwise
