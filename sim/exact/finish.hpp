#pragma once
#include "word_sum.hpp"

namespace widthwise::exact {

// The roundings after the one sum, out's and the final one, in a carrier of what they look at.
template <class U>
class FinishIn {
 public:
  explicit constexpr FinishIn(const Unit& u)
      : out_(Slot::out, u.out), final_(slot_if<U>(Slot::final, u.chain.final)) {}

  // Whether the code of a zero depends on more than whether all its addends had a minus sign.
  constexpr bool asks_for_mixed() const { return out_.description.rm.mode == RoundingMode::rdn; }

  constexpr std::uint64_t code(const Term<uint128>& sum, Progress& progress) const {
    NoTrace trace;
    const bool small = sum.m >> 62 == 0;  // roundings want a digit to spare above a magnitude
    widthwise::Register<U> z;
    if (small)
      round_to(out_, shorter(sum), 0, progress, trace, z);
    else
      round_to(out_, sum, 0, progress, trace, z);
    if (!final_) return static_cast<std::uint64_t>(z.code);
    return static_cast<std::uint64_t>(rounded(*final_, term<U>(z.value, 0), 0, progress, trace));
  }

 private:
  static constexpr Term<std::uint64_t> shorter(const Term<uint128>& t) {
    Term<std::uint64_t> z = finite_term(t.negative, static_cast<std::uint64_t>(t.m), t.q);
    z.mixed = t.mixed;
    return z;
  }

  RoundingSlot<U> out_;
  std::optional<RoundingSlot<U>> final_;
};
using Finish = FinishIn<std::uint64_t>;

// Of sums of two doubles, many at a time.
class QuickFinish {
 public:
  explicit QuickFinish(const Unit& u) {
    if (!u.chain.final && !u.out.post_norm_frac && !u.out.rm.stochastic() &&
        u.out.fmt.precision() <= 50)
      rounder_.emplace(u.out);
  }

  bool takes() const { return rounder_.has_value(); }
  // first[i] + second[i], exactly, where the sum is a normal number of magnitude below `limit`.
  void codes(const double* first, const double* second, double limit, std::size_t n,
             std::uint64_t* codes, std::uint8_t* flags, std::uint8_t* sure) const;

 private:
  std::optional<Rounder<std::uint64_t>> rounder_;
};

}  // namespace widthwise::exact
