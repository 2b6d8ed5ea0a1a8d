#pragma once
#include "cuda/kernels/side.hpp"
#include "sim/dot/gather.hpp"
#include "widthwise/multipliers.hpp"

// The definition on threads: lib's chain, an output a thread.
namespace widthwise::cuda {

template <class M, class H, class Multiplier = ExactMultiplier<M>>
struct UnitOutputs {
  Datapath<M, H> path;
  MatrixProduct p;            // of addresses where the threads run
  std::size_t whole_columns;  // of the product that this is a part of
  const std::size_t* order;
  const std::uint8_t* redo;  // which outputs; null: all
  Lane<H>* lanes;            // a block's for every thread
  Term<M>* terms;            // three times as many and three more
  Multiplier multiplier;

  // The outputs of one of so many threads.
  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t outputs = p.m * p.n;
    for (std::size_t at = thread; at < outputs; at += threads)
      if (!redo || redo[at]) output(at, thread);
  }

  static constexpr std::size_t terms_of(std::size_t block) { return 3 * (block + 1); }

 private:
  // Its lanes are gathered block by block.
  WIDTHWISE_BOTH void output(std::size_t at, std::size_t thread) const {
    const std::size_t i = at / p.n, j = at % p.n;
    const std::size_t length = padded_lanes(path, p.k), L = block_lanes(path, length);
    const std::span<Lane<H>> lent{lanes + thread * L, L};
    Term<M>* const room = terms + thread * terms_of(L);
    const Scratch<M> scratch{{room, L + 1}, {room + L + 1, L + 1}, {room + 2 * (L + 1), L + 1}};
    const Gather<M, H> from{path, p, p.k, order};
    const auto block = [&](std::size_t first) -> std::span<const Lane<H>> {
      for (std::size_t t = 0; t < L; ++t) lent[t] = from.lane(i, j, first + t);
      return lent;
    };
    Progress progress{{p.seed, p.first_index + i * whole_columns + j}};
    NoTrace trace;
    const H code = chain_of_blocks<M>(path, length, block, from.addend(i, j), scratch, multiplier,
                                      progress, trace);
    from.store(at, code, progress.flags);
  }
};

}  // namespace widthwise::cuda
