#pragma once
#include "unit_work.hpp"

namespace widthwise::cuda {

// The results over the first 1, 2, … k elements of every output, from (i * n + j) * k on. A thread
// holds all k lanes, and behind them a block.
template <class M, class H>
struct UnitRunning : UnitWork<M, H> {
  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t outputs = this->p.m * this->p.n;
    for (std::size_t at = thread; at < outputs; at += threads) output(at, thread);
  }

 private:
  WIDTHWISE_BOTH void output(std::size_t at, std::size_t thread) const {
    const std::size_t i = at / this->p.n, j = at % this->p.n, k = this->p.k;
    const std::span<Lane<H>> held = this->lanes_of(thread);
    for (std::size_t t = 0; t < k; ++t) held[t] = this->lane(i, j, t);
    const Gather<M, H> from = this->from();
    const auto deliver = [&](std::size_t t, const H& code, Flags flags) {
      from.store(at * k + t, code, flags);
    };
    running_chain<M, H>(this->path, held.first(k), from.addend(i, j), this->scratch(thread),
                        held.subspan(k), ExactMultiplier<M>{}, this->start(i, j), deliver);
  }
};

}  // namespace widthwise::cuda
