#pragma once
#include "words.hpp"

namespace widthwise::exact {

// The roundings after the one sum: out's, and the final one.
class Finish {
 public:
  explicit Finish(const Unit& u)
      : out_(Slot::out, u.out), final_(slot_if<std::uint64_t>(Slot::final, u.chain.final)) {}

  // Whether the code of a zero depends on more than whether all its addends had a minus sign.
  bool asks_for_mixed() const { return out_.description.rm.mode == RoundingMode::rdn; }

  std::uint64_t code(const Term<uint128>& sum, Progress& progress) const {
    NoTrace trace;
    const bool small = sum.m >> 62 == 0;  // roundings want a digit to spare above a magnitude
    const std::uint64_t z = small ? rounded(out_, shorter(sum), 0, progress, trace)
                                  : rounded(out_, sum, 0, progress, trace);
    if (!final_) return z;
    const Factor<std::uint64_t> held = factor(out_.rounder.layout, z);
    return rounded(*final_, term<std::uint64_t>(held, 0), 0, progress, trace);
  }

 private:
  static Term<std::uint64_t> shorter(const Term<uint128>& t) {
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
