#pragma once
#include "error_sums.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {

// How far codes are from exact results: what each thread sees of it.
struct MeasureErrors {
  Rounder<std::uint64_t> to;  // binary64
  Layout<std::uint64_t> layout;
  const std::byte* codes;
  const double* exact;
  std::size_t count;
  int bytes;
  ErrorSums* sums;  // a thread each

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    ErrorSums seen;
    for (std::size_t i = thread; i < count; i += threads) {
      const auto code = load_code<std::uint64_t>(codes + i * bytes, bytes);
      seen.add(std::bit_cast<double>(convert(to, layout, code).code), exact[i]);
    }
    sums[thread] = seen;
  }
};

// The sums of `each` neighbours.
struct JoinErrors {
  const ErrorSums* from;
  ErrorSums* to;
  std::size_t count, each;  // of `to`

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      ErrorSums all;
      for (std::size_t j = 0; j < each; ++j) all.join(from[i * each + j]);
      to[i] = all;
    }
  }
};

}  // namespace widthwise::cuda
