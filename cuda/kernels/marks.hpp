#pragma once
#include <cstdint>

#include "side.hpp"

namespace widthwise::cuda {

// How many outputs are marked, and where they are: in no order, each of them by itself is all one.
struct ListMarks {
  const std::uint8_t* marks;
  std::size_t outputs;
  unsigned long long* count;
  std::size_t* list;  // or null: they are counted alone

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    constexpr std::size_t together = sizeof(std::uint64_t);
    const auto* eights = reinterpret_cast<const std::uint64_t*>(marks);
    for (std::size_t i = thread; i < (outputs + together - 1) / together; i += threads) {
      const std::size_t first = i * together;
      if (first + together <= outputs && eights[i] == 0) continue;
      for (std::size_t at = first; at < first + together && at < outputs; ++at)
        if (marks[at]) keep(at);
    }
  }

 private:
  WIDTHWISE_BOTH_INLINE void keep(std::size_t at) const {
    const unsigned long long place = next();
    if (list) list[place] = at;
  }
  WIDTHWISE_BOTH_INLINE unsigned long long next() const {
#ifdef __CUDA_ARCH__
    return atomicAdd(count, 1ull);
#else
    return (*count)++;
#endif
  }
};

}  // namespace widthwise::cuda
