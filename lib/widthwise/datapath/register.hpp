#pragma once
#include "widthwise/datapath/block.hpp"

namespace widthwise {

// x + y, exact, then rounded once.
template <class M, class H, class State, class Trace>
constexpr void add_rounded(const Datapath<M, H>& u, const RoundingSlot<H>& slot, const Term<M>& x,
                           const Term<M>& y, std::int64_t step, State& progress, Trace& trace,
                           Register<H>& to) {
  Term<M> sum;
  sum_of_two(u.exact_sum, x, y, reach_of(slot.description), progress, trace, sum);
  round_to(slot, sum, step, progress, trace, to);
}

// The same of two registers: C at the end of a chain, and promotion.
template <class M, class H, class State, class Trace>
constexpr void add_rounded(const Datapath<M, H>& u, const RoundingSlot<H>& slot, const Factor<H>& x,
                           const Factor<H>& y, std::int64_t step, State& progress, Trace& trace,
                           Register<H>& to) {
  add_rounded(u, slot, term<M>(x, 0, false, u.register_digits),
              term<M>(y, 0, false, u.register_digits), step, progress, trace, to);
}

}  // namespace widthwise
