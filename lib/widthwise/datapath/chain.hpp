#pragma once
#include "widthwise/datapath/compensation.hpp"

namespace widthwise {

// The block at position `first` along k, on what the registers hold.
template <class M, class H, class Multiplier, class Trace>
constexpr Accumulator<H> run_block(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                                   const Accumulator<H>& acc, std::int64_t first,
                                   const Scratch<M>& scratch, const Multiplier& multiplier,
                                   Progress& progress, Trace& trace) {
  if (u.compensation) return add_compensated(u, lanes[0], acc, first, multiplier, progress, trace);
  return {
      loaded(u.out, block(u, lanes, acc.sum.value, first, scratch, multiplier, progress, trace)),
      {}};
}

// The blocks one after another, each on the rounded result of the one before; promotion moves that
// into an outer accumulator every `interval` products.
template <class M, class H, class Multiplier, class Trace>
constexpr Register<H> run_blocks(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                                 const Factor<H>& c, const Scratch<M>& scratch,
                                 const Multiplier& multiplier, Progress& progress, Trace& trace) {
  const std::size_t L = u.unit.lanes ? static_cast<std::size_t>(u.unit.lanes) : lanes.size();
  const Register<H> zero{{}, cleared<H>(u.unit.out.fmt)}, start{{}, c};
  Register<H> outer = start;
  Accumulator<H> acc{u.promote ? zero : start, zero};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < lanes.size(); i += L) {
    first = static_cast<std::int64_t>(i);
    acc = run_block(u, lanes.subspan(i, L), acc, first, scratch, multiplier, progress, trace);
    if (!u.promote) continue;
    const bool due = (first + static_cast<std::int64_t>(L)) % u.unit.chain.promote->interval == 0;
    if (!due && i + L < lanes.size()) continue;
    const Register<H> inner = settled(u, acc, first, progress, trace);
    outer = add_rounded<M>(*u.promote, outer.value, inner.value, first, progress, trace);
    acc = {zero, zero};
  }
  return u.promote ? outer : settled(u, acc, first, progress, trace);
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
