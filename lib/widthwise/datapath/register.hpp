#pragma once
#include "widthwise/datapath/block.hpp"

namespace widthwise {

// A register between blocks: the code it holds and what its format reads from that.
template <class H>
struct Register {
  H code{};
  Factor<H> value{};
};

template <class H>
constexpr Register<H> loaded(const RoundingSlot<H>& slot, const H& code) {
  return {code, factor(slot.rounder.layout, code)};
}

// x + y, exact, then rounded once.
template <class M, class H, class Trace>
constexpr Register<H> add_rounded(const RoundingSlot<H>& slot, const Term<M>& x, const Term<M>& y,
                                  std::int64_t step, Progress& progress, Trace& trace) {
  const Adder<H> adder{{}, {}, {.reach = reach_of(slot.description)}};
  Term<M> pair[2] = {x, y};
  const Term<M> sum = reduce(adder, std::span<Term<M>>(pair), progress, trace);
  return loaded(slot, rounded(slot, sum, step, progress, trace));
}

// The same of two registers: C at the end of a chain, and promotion.
template <class M, class H, class Trace>
constexpr Register<H> add_rounded(const RoundingSlot<H>& slot, const Factor<H>& x,
                                  const Factor<H>& y, std::int64_t step, Progress& progress,
                                  Trace& trace) {
  return add_rounded(slot, term<M>(x, 0), term<M>(y, 0), step, progress, trace);
}

}  // namespace widthwise
