#pragma once
#include "widthwise/datapath/compensation.hpp"

namespace widthwise {

// The block at position `first` along k, on what the registers hold.
template <class M, class H, class Lanes, class Multiplier, class State, class Trace>
constexpr void run_block(const Datapath<M, H>& u, const Lanes& lanes, Accumulator<H>& acc,
                         std::int64_t first, const Scratch<M>& scratch,
                         const Multiplier& multiplier, State& progress, Trace& trace) {
  if (u.compensation)
    add_compensated(u, lanes, first, multiplier, progress, trace, acc);
  else
    block(u, lanes, first, scratch, multiplier, progress, trace, acc.sum);
}

// A chain between two of its blocks.
template <class H>
struct ChainState {
  Register<H> outer;  // what promotion gathers
  Accumulator<H> inner;
  bool pending = false;    // inner holds products that outer has not
  std::int64_t first = 0;  // where the last block began
};

template <class M, class H>
constexpr ChainState<H> start_chain(const Datapath<M, H>& u, const Factor<H>& c) {
  const Register<H> zero{{}, cleared<H>(u.unit.out.fmt)};
  const Register<H> start = u.unit.chain.c_at == CAt::first ? Register<H>{{}, c} : zero;
  return {start, {u.promote ? zero : start, zero}};
}

template <class M, class H, class State, class Trace>
constexpr void promote(const Datapath<M, H>& u, ChainState<H>& s, State& progress, Trace& trace) {
  const Register<H> zero{{}, cleared<H>(u.unit.out.fmt)};
  const Register<H> inner = settled(u, s.inner, s.first, progress, trace);
  add_rounded(u, *u.promote, s.outer.value, inner.value, s.first, progress, trace, s.outer);
  s.inner = {zero, zero};
  s.pending = false;
}

// One more block, on the rounded result of the one before; promotion moves that into an outer
// accumulator every `interval` products.
template <class M, class H, class Lanes, class Multiplier, class State, class Trace>
constexpr void advance(const Datapath<M, H>& u, ChainState<H>& s, const Lanes& lanes,
                       std::int64_t first, const Scratch<M>& scratch, const Multiplier& multiplier,
                       State& progress, Trace& trace) {
  run_block(u, lanes, s.inner, first, scratch, multiplier, progress, trace);
  s.pending = true;
  s.first = first;
  if (!u.promote) return;
  const std::int64_t end = first + static_cast<std::int64_t>(lanes.size());
  if (end % u.unit.chain.promote->interval == 0) promote(u, s, progress, trace);
}

// What the unit delivers if no block follows: a code of result_round's format.
template <class M, class H, class State, class Trace>
constexpr H end_chain(const Datapath<M, H>& u, ChainState<H> s, const Factor<H>& c, State& progress,
                      Trace& trace) {
  if (u.promote && s.pending) promote(u, s, progress, trace);
  Register<H> acc = u.promote ? s.outer : settled(u, s.inner, s.first, progress, trace);
  if (u.c_round) add_rounded(u, *u.c_round, acc.value, c, 0, progress, trace, acc);
  if (!u.final) return acc.code;
  return rounded(*u.final, term<M>(acc.value, 0, false, u.register_digits), 0, progress, trace);
}

// A NaN that has been rounded stays the NaN it is, whatever is added to it.
template <class M, class H>
constexpr Mask<M> is_decided(const Datapath<M, H>& u, const ChainState<H>& s) {
  if (u.promote && s.pending) return {};  // C may be a NaN of another format
  return is_nan((u.promote ? s.outer : s.inner.sum).value);
}

template <class M, class H>
constexpr std::size_t block_lanes(const Datapath<M, H>& u, std::size_t all) {
  return u.unit.lanes ? static_cast<std::size_t>(u.unit.lanes) : all;
}

// c + the sum of `length` lanes as the unit computes it (datapath 3.7). They come in the unit's
// order, padded to whole blocks, at least one: block(i) holds those from the i-th on.
template <class M, class H, class Blocks, class Multiplier, class State, class Trace>
constexpr H chain_of_blocks(const Datapath<M, H>& u, std::size_t length, const Blocks& block,
                            const Factor<H>& c, const Scratch<M>& scratch,
                            const Multiplier& multiplier, State& progress, Trace& trace) {
  ChainState<H> s = start_chain(u, c);
  for (std::size_t i = 0; i < length; i += block_lanes(u, length)) {
    advance(u, s, block(i), static_cast<std::int64_t>(i), scratch, multiplier, progress, trace);
    if (!traced<Trace> && progress.codes_only && any(is_decided(u, s))) break;
  }
  return end_chain(u, s, c, progress, trace);
}

// The same of lanes that are all at hand.
template <class M, class H, class Multiplier, class State, class Trace>
constexpr H chain(const Datapath<M, H>& u, std::span<const Lane<H>> lanes, const Factor<H>& c,
                  const Scratch<M>& scratch, const Multiplier& multiplier, State& progress,
                  Trace& trace) {
  const std::size_t L = block_lanes(u, lanes.size());
  return chain_of_blocks<M>(
      u, lanes.size(), [&](std::size_t i) { return lanes.subspan(i, L); }, c, scratch, multiplier,
      progress, trace);
}

// The same of the first lane, of the first two, and so on, each padded for itself: deliver(i, code,
// flags). `padded` has room for a block. Not for a unit whose order or blocks depend on how many
// lanes there are.
template <class M, class H, class Multiplier, class Deliver>
constexpr void running_chain(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                             const Factor<H>& c, const Scratch<M>& scratch,
                             std::span<Lane<H>> padded, const Multiplier& multiplier,
                             Progress progress, const Deliver& deliver) {
  NoTrace trace;
  ChainState<H> whole_blocks = start_chain(u, c);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t at = i % padded.size();
    padded[at] = lanes[i];
    const Lane<H> zero{no_factor<H>(), no_factor<H>(), lanes[i].scale_a, lanes[i].scale_b};
    std::fill(padded.begin() + static_cast<std::ptrdiff_t>(at) + 1, padded.end(), zero);
    ChainState<H> s = whole_blocks;
    Progress here = progress;
    advance(u, s, std::span<const Lane<H>>(padded), static_cast<std::int64_t>(i - at), scratch,
            multiplier, here, trace);
    if (at + 1 == padded.size()) whole_blocks = s, progress = here;
    const H code = end_chain(u, s, c, here, trace);
    deliver(i, code, here.flags);
  }
}

}  // namespace widthwise
