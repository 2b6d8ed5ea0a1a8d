#pragma once
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise {

// What a unit delivers of the codes that its chain ends with, where a rounding of its own follows
// (lib's end_chain).
class FinalRounding {
 public:
  // Whether a word holds all digits that it looks at.
  static bool takes(const Format& from, const Round& to) {
    return from.width() <= 64 && digits_needed(to.fmt, to.rm) <= 64;
  }

  // Codes of the format that the chain ends with.
  FinalRounding(const Format& from, const Round& to)
      : from_(from),
        to_(Slot::final, to),
        from_bytes_(item_bytes(from.width())),
        bytes_(item_bytes(to.fmt.width())) {}

  // n codes side by side, of the outputs from this one on.
  void operator()(const std::byte* codes, std::size_t n, Where output, std::byte* results) const {
    NoTrace trace;
    for (std::size_t i = 0; i < n; ++i, ++output.index, codes += from_bytes_, results += bytes_) {
      const auto x = factor(from_, load_code<std::uint64_t>(codes, from_bytes_));
      Progress progress{output};
      store_code(results, bytes_, rounded(to_, term<std::uint64_t>(x, 0), 0, progress, trace));
    }
  }

 private:
  Layout<std::uint64_t> from_;
  RoundingSlot<std::uint64_t> to_;
  int from_bytes_, bytes_;
};

}  // namespace widthwise
