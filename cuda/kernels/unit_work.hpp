#pragma once
#include "places.hpp"
#include "sim/dot/gather.hpp"
#include "widthwise/multipliers.hpp"

// The definition on threads: lib's chain, an output a thread.
namespace widthwise::cuda {

// Work that is longer than a launch's arguments may be, in the device's memory.
template <class Work>
struct InMemory {
  const Work* work;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    work->run(thread, threads);
  }
};
template <class Work>
using LaunchArgument = std::conditional_t<(sizeof(Work) > 32764), InMemory<Work>, Work>;

// A unit, its operands and what threads work in.
template <class M, class H>
struct UnitWork {
  Datapath<M, H> path;
  MatrixProduct p;            // of addresses where the threads run
  std::size_t whole_columns;  // of the product that this is a part of
  const std::size_t* order;
  Places places;     // of B, whose strides are 1 where these are a map
  Lane<H>* lanes;    // so many a thread:
  std::size_t held;  // a block's at least
  Term<M>* terms;    // three times a block's and three more a thread

  static constexpr std::size_t terms_of(std::size_t block) { return 3 * (block + 1); }

  WIDTHWISE_BOTH_INLINE std::size_t length() const { return padded_lanes(path, p.k); }
  WIDTHWISE_BOTH_INLINE std::size_t block() const { return block_lanes(path, length()); }
  WIDTHWISE_BOTH_INLINE Gather<M, H> from() const { return {path, p, p.k, order}; }

  WIDTHWISE_BOTH_INLINE Lane<H> lane(std::size_t i, std::size_t j, std::size_t t) const {
    const Gather<M, H> dense = from();
    if (!places.mapped() || t >= p.k) return dense.lane(i, j, t);
    const Factor<H> b = element(path.b, p.b, places.rows[order[t]], places.columns[j]);
    return {dense.a(i, t), condition(path.unit.b, b), dense.scale_a(i, t), dense.scale_b(t, j)};
  }
  WIDTHWISE_BOTH_INLINE std::span<Lane<H>> lanes_of(std::size_t thread) const {
    return {lanes + thread * held, held};
  }
  WIDTHWISE_BOTH_INLINE Scratch<M> scratch(std::size_t thread) const {
    const std::size_t n = block() + 1;
    Term<M>* const room = terms + thread * 3 * n;
    return {{room, n}, {room + n, n}, {room + 2 * n, n}};
  }
  // Of output (i, j), before any of it.
  WIDTHWISE_BOTH_INLINE Progress start(std::size_t i, std::size_t j) const {
    return {{p.seed, p.first_index + i * whole_columns + j}};
  }

  // Output (i, j), its lanes gathered block by block.
  template <class Multiplier, class Trace>
  WIDTHWISE_BOTH H output(std::size_t i, std::size_t j, std::size_t thread,
                          const Multiplier& multiplier, Progress& progress, Trace& trace) const {
    const std::size_t L = block();
    const std::span<Lane<H>> lent = lanes_of(thread).first(L);
    const auto gathered = [&](std::size_t first) -> std::span<const Lane<H>> {
      for (std::size_t t = 0; t < L; ++t) lent[t] = lane(i, j, first + t);
      return lent;
    };
    return chain_of_blocks<M>(path, length(), gathered, from().addend(i, j), scratch(thread),
                              multiplier, progress, trace);
  }
};

}  // namespace widthwise::cuda
