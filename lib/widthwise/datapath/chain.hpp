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

// x + y, exact, then rounded once: C at the end of a chain, and promotion.
template <class M, class H, class Trace>
constexpr Register<H> add_rounded(const RoundingSlot<H>& slot, const Factor<H>& x,
                                  const Factor<H>& y, std::int64_t step, Progress& progress,
                                  Trace& trace) {
  const Adder<H> adder{{}, {}, {.reach = reach_of(slot.description)}};
  Term<M> pair[2] = {term<M>(x, 0), term<M>(y, 0)};
  const Term<M> sum = reduce(adder, std::span<Term<M>>(pair), progress, trace);
  return loaded(slot, rounded(slot, sum, step, progress, trace));
}

// The blocks one after another, each on the rounded result of the one before; promotion moves that
// into an outer accumulator every `interval` products.
template <class M, class H, class Multiplier, class Trace>
constexpr Register<H> run_blocks(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                                 const Factor<H>& c, const Scratch<M>& scratch,
                                 const Multiplier& multiplier, Progress& progress, Trace& trace) {
  const std::size_t L = u.unit.lanes ? static_cast<std::size_t>(u.unit.lanes) : lanes.size();
  const Register<H> zero{{}, cleared<H>(u.unit.out.fmt)};
  Register<H> outer{{}, c}, acc = u.promote ? zero : outer;
  for (std::size_t i = 0; i < lanes.size(); i += L) {
    const auto first = static_cast<std::int64_t>(i);
    acc = loaded(u.out, block(u, lanes.subspan(i, L), acc.value, first, scratch, multiplier,
                              progress, trace));
    if (!u.promote) continue;
    const bool due = (first + static_cast<std::int64_t>(L)) % u.unit.chain.promote->interval == 0;
    if (!due && i + L < lanes.size()) continue;
    outer = add_rounded<M>(*u.promote, outer.value, acc.value, first, progress, trace);
    acc = zero;
  }
  return u.promote ? outer : acc;
}

// c + the sum of all lanes as the unit computes it (datapath 3.7): a code of result_round's format.
// The lanes come in the unit's order, padded to whole blocks, at least one.
template <class M, class H, class Multiplier, class Trace>
constexpr H chain(const Datapath<M, H>& u, std::span<const Lane<H>> lanes, const Factor<H>& c,
                  const Scratch<M>& scratch, const Multiplier& multiplier, Progress& progress,
                  Trace& trace) {
  const bool c_first = u.unit.chain.c_at == CAt::first;
  const Factor<H> start = c_first ? c : cleared<H>(u.unit.out.fmt);
  Register<H> acc = run_blocks(u, lanes, start, scratch, multiplier, progress, trace);
  if (!c_first) acc = add_rounded<M>(*u.c_round, acc.value, c, 0, progress, trace);
  if (!u.final) return acc.code;
  return rounded(*u.final, term<M>(acc.value, 0), 0, progress, trace);
}

}  // namespace widthwise
