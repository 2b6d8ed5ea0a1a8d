#pragma once
#include "unit_work.hpp"

namespace widthwise::cuda {

// All outputs of a product, or some.
template <class M, class H, class Multiplier = ExactMultiplier<M>>
struct UnitOutputs : UnitWork<M, H> {
  const std::size_t* which;  // null: all
  std::size_t count;
  Multiplier multiplier;

  // The outputs of one of so many threads.
  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t n = this->p.n;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::size_t at = which ? which[i] : i;
      Progress progress = this->start(at / n, at % n);
      NoTrace trace;
      const H code = this->output(at / n, at % n, thread, multiplier, progress, trace);
      this->from().store(at, code, progress.flags);
    }
  }
};

}  // namespace widthwise::cuda
