#pragma once
#include "word_sum.hpp"

namespace widthwise::exact {

// The roundings after the one sum: out's, and the final one.
class Finish {
 public:
  explicit constexpr Finish(const Unit& u)
      : out_(Slot::out, u.out), final_(slot_if<std::uint64_t>(Slot::final, u.chain.final)) {}

  // Whether the code of a zero depends on more than whether all its addends had a minus sign.
  constexpr bool asks_for_mixed() const { return out_.description.rm.mode == RoundingMode::rdn; }

  constexpr std::uint64_t code(const Term<uint128>& sum, Progress& progress) const {
    NoTrace trace;
    const bool small = sum.m >> 62 == 0;  // roundings want a digit to spare above a magnitude
    const std::uint64_t z = small ? rounded(out_, shorter(sum), 0, progress, trace)
                                  : rounded(out_, sum, 0, progress, trace);
    if (!final_) return z;
    const Factor<std::uint64_t> held = factor(out_.rounder.layout, z);
    return rounded(*final_, term<std::uint64_t>(held, 0), 0, progress, trace);
  }

  // Whether sums of two doubles can be rounded many at a time.
  bool quick() const {
    const Round& r = out_.description;
    return !final_ && !r.post_norm_frac && !r.rm.stochastic() && r.fmt.precision() <= 50;
  }
  // first[i] + second[i], exactly, where the sum is a normal number of magnitude below `limit`.
  void codes(const double* first, const double* second, double limit, std::size_t n,
             std::uint64_t* codes, std::uint8_t* flags, std::uint8_t* sure) const;

 private:
  static constexpr Term<std::uint64_t> shorter(const Term<uint128>& t) {
    return {.kind = t.kind,
            .negative = t.negative,
            .mixed = t.mixed,
            .m = static_cast<std::uint64_t>(t.m),
            .q = t.q};
  }

  RoundingSlot<std::uint64_t> out_;
  std::optional<RoundingSlot<std::uint64_t>> final_;
};

}  // namespace widthwise::exact
