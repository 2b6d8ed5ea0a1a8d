#pragma once
#include "plan.hpp"
#include "sim/unit/bound.hpp"
#include "widthwise/datapath/sum.hpp"

// A sum as one integer modulo 2^128, two's complement, in units of its last digit. Plain data and
// constexpr: threads of a GPU take it as it is.
namespace widthwise::exact {

// Whether such a word holds all sums, or as much of them as the register does.
constexpr bool in_one_word(const Plan& p) { return p.reg != Register::open || p.bits <= 126; }

constexpr uint128 signed_word(bool negative, uint128 m) {
  const uint128 mask = mask_if<uint128>(negative);
  return (m ^ mask) - mask;
}

// A term as a multiple of the register's last digit, `up` digits above it.
struct Placed {
  uint128 m;
  std::int64_t up;
};

class WordSum {
 public:
  constexpr WordSum(const Plan& plan, const Sum& sum)
      : plan_(plan),
        sum_(sum, {}, false),
        mode_(sum.align.rm.mode),
        table_(truth_table(sum.align.rm.mode)) {}

  // How terms of so many digits are cut without asking lib, if they are.
  enum class Cut : std::uint8_t { by_lib, directed, nearest };
  constexpr Cut quick_cut(int digits) const {
    if (plan_.terms == Terms::whole || plan_.reg == Register::watched) return Cut::by_lib;
    switch (sum_.align.rm.mode) {
      case RoundingMode::rdn:
      case RoundingMode::rup:
      case RoundingMode::rtz:
      case RoundingMode::raz: return digits <= most_directed ? Cut::directed : Cut::by_lib;
      case RoundingMode::odd: return Cut::by_lib;
      default:
        return sum_.align.rm.stochastic() || digits > most_nearest ? Cut::by_lib : Cut::nearest;
    }
  }
  // One more term, m * 2^q, that has digits below the register's last one.
  template <Cut how>
  constexpr void add_cut(uint128& word, bool negative, uint128 m, std::int64_t q,
                         Flags& flags) const {
    const std::int64_t below = plan_.last - q;
    word += how == Cut::nearest ? nearest(negative, m, below) : directed(negative, m, below);
    if (plan_.reg == Register::saturates) keep_inside(word, flags);
  }
  constexpr bool is_cut(std::int64_t q) const { return q < plan_.last; }

  // One more term, m * 2^q.
  constexpr void add(uint128& word, bool negative, uint128 m, std::int64_t q, Flags& flags) const {
    add(word, negative, placed(negative, m, q), flags);
  }
  constexpr void add(uint128& word, bool negative, const Placed& v, Flags& flags) const {
    if (stepwise()) return step(word, negative, v, flags);
    accumulate(word, negative, v);
  }
  constexpr Term<uint128> total(uint128 word) const {
    Flags none = 0;
    if (plan_.reg == Register::wraps) keep_inside(word, none);
    const bool negative = is_negative(word);
    return finite_term(negative, signed_word(negative, word), plan_.last);
  }

  constexpr Placed placed(bool negative, uint128 m, std::int64_t q) const {
    if (q >= plan_.last) return {m, q - plan_.last};
    return {cut(negative, m, plan_.last - q), 0};
  }
  // Whether terms are added one by one, in their order.
  constexpr bool stepwise() const {
    return plan_.reg == Register::saturates || plan_.reg == Register::watched;
  }
  // Saturation and flags depend on the order. A term past 2^124 passes every register, and is cut
  // there. (Not inlined, like cut: the usual terms, which need neither, were slower beside them.)
  [[gnu::noinline]] constexpr void step(uint128& word, bool negative, const Placed& v,
                                        Flags& flags) const {
    constexpr uint128 beyond = uint128{1} << 124;
    const bool large = v.m != 0 && bit_length(v.m) + v.up > 124;
    const uint128 m = large ? beyond : shift_left(v.m, v.m == 0 ? 0 : v.up);
    uint128 term = signed_word(negative, m);
    word += term;
    if (sum_.overflow == RegisterOverflow::flag) keep_inside(term, flags);
    keep_inside(word, flags);
  }
  static constexpr void accumulate(uint128& word, bool negative, const Placed& v) {
    if (v.up < 128) word += signed_word(negative, shift_left(v.m, v.up));
  }

 private:
  static constexpr int most_directed = 127, most_nearest = 125;  // digits of terms

  // Directed roundings are down, of the number or, up, of what it is with its sign turned; toward
  // zero and away from it, by its sign, one or the other.
  constexpr uint128 directed(bool negative, uint128 m, std::int64_t below) const {
    const auto digits = static_cast<int>(std::min<std::int64_t>(below, most_directed));
    const RoundingMode mode = sum_.align.rm.mode;
    const bool turns = mode == RoundingMode::rup || mode == RoundingMode::raz,
               by_sign = mode == RoundingMode::rtz || mode == RoundingMode::raz,
               turned = turns != (by_sign && negative);
    const auto whole = static_cast<int128>(signed_word(negative != turned, m)) >> digits;
    return signed_word(turned, static_cast<uint128>(whole));
  }
  // Words of 64 digits do for nearly all numbers: past so many of them only the upper half is
  // moved, and of the lower one it matters whether it is zero.
  constexpr uint128 nearest(bool negative, uint128 m, std::int64_t below) const {
    const auto digits = static_cast<int>(std::min<std::int64_t>(below, most_nearest + 1));
    const auto high = static_cast<std::uint64_t>(m >> 64), low = static_cast<std::uint64_t>(m);
    uint128 whole;
    if (digits > 64) [[likely]]
      whole = rounded(negative, high << 1 | (low != 0), digits - 63);
    else if (high == 0 && digits < 64)
      whole = rounded(negative, low, digits);
    else
      whole = rounded(negative, m, digits);
    return signed_word(negative, whole);
  }
  // What is cut off is more than half, or half and ties go away from zero.
  template <class M>
  constexpr M rounded(bool negative, M m, int digits) const {
    const M half = M{1} << (digits - 1), whole = m >> digits, rest = m & ((half << 1) - 1);
    return whole + (rest + ties_away(negative, whole & 1) > half);
  }
  constexpr bool ties_away(bool negative, bool odd) const {
    const int tie = 8 * negative + 4 * odd + 2;  // a guard digit, and none below it
    return (table_ >> tie & 1) != 0;
  }
  [[gnu::noinline]] constexpr uint128 cut(bool negative, uint128 m, std::int64_t digits) const {
    // lib wants two digits to spare above a magnitude: two go below, jammed into one that lies
    // under the digit which decides. Where fewer are cut there is room as it is.
    if (m >> 126 != 0 && digits > 3)
      return round_magnitude<uint128>(mode_, negative, shift_right_jam(m, 2), digits - 2);
    if (m >> 62 != 0) return round_magnitude<uint128>(mode_, negative, m, digits);
    return round_magnitude<std::uint64_t>(mode_, negative, static_cast<std::uint64_t>(m), digits);
  }
  // As lib has it; most sums fit as they are.
  constexpr void keep_inside(uint128& word, Flags& flags) const {
    const uint128 limit = uint128{1} << (*sum_.width - 1);
    if (word + limit < limit << 1) return;
    Progress raised;
    raised.flags = flags;
    word = fit(sum_, word, raised);
    flags = raised.flags;
  }

  Plan plan_;
  SumRule<uint128> sum_;
  RoundingMode mode_;    // that cuts terms
  std::uint16_t table_;  // of it
};

}  // namespace widthwise::exact
