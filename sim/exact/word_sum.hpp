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
  constexpr WordSum(const Plan& plan, const Sum& sum) : plan_(plan), sum_(sum) {}

  // Whether terms of so many digits are cut by `add_cut`.
  constexpr bool cuts_quickly(int digits) const {
    const RoundingMode mode = sum_.align.rm.mode;
    const bool directed = mode == RoundingMode::rdn || mode == RoundingMode::rup ||
                          mode == RoundingMode::rtz || mode == RoundingMode::raz;
    return plan_.terms != Terms::whole && directed && plan_.reg != Register::watched &&
           digits <= 127;
  }
  // One more term, m * 2^q, that has digits below the register's last one. Directed roundings are
  // down, of the number or, up, of what it is with its sign turned; toward zero and away from it,
  // by its sign, one or the other.
  constexpr void add_cut(uint128& word, bool negative, uint128 m, std::int64_t q,
                         Flags& flags) const {
    const RoundingMode mode = sum_.align.rm.mode;
    const bool turns = mode == RoundingMode::rup || mode == RoundingMode::raz,
               by_sign = mode == RoundingMode::rtz || mode == RoundingMode::raz,
               turned = turns != (by_sign && negative);
    const std::int64_t digits = std::min<std::int64_t>(plan_.last - q, 127);
    const auto whole = static_cast<int128>(signed_word(negative != turned, m)) >> digits;
    word += signed_word(turned, static_cast<uint128>(whole));
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
    Signed<uint128> z = magnitude(word);
    Flags none = 0;
    if (plan_.reg == Register::wraps) z = fit(sum_, z, none);
    return {.kind = Kind::finite, .negative = z.negative, .m = z.m, .q = plan_.last};
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
  [[gnu::noinline]] constexpr uint128 cut(bool negative, uint128 m, std::int64_t digits) const {
    const Rounding& rule = sum_.align.rm;
    if (m >> 62 != 0) return round_magnitude(rule, negative, m, digits);
    return round_magnitude(rule, negative, static_cast<std::uint64_t>(m), digits);  // quicker
  }
  static constexpr Signed<uint128> magnitude(uint128 word) {
    const bool negative = word >> 127 != 0;
    return {negative, signed_word(negative, word)};
  }
  // As lib has it; most sums fit as they are.
  constexpr void keep_inside(uint128& word, Flags& flags) const {
    const uint128 limit = uint128{1} << (*sum_.width - 1);
    if (word + limit < limit << 1) return;
    const Signed<uint128> z = fit(sum_, magnitude(word), flags);
    word = signed_word(z.negative, z.m);
  }

  Plan plan_;
  Sum sum_;
};

}  // namespace widthwise::exact
