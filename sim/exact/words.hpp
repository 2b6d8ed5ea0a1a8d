#pragma once
#include <span>
#include <vector>

#include "plan.hpp"
#include "widthwise/datapath/sum.hpp"

// Sums of any width as integers, two's complement: what the lanes have added is gathered here, and
// products are added here one by one where lanes cannot.
namespace widthwise::exact {

// An operand as an integer times a power of two.
struct Item {
  std::uint64_t m;
  std::int32_t q;
  bool negative, special;  // special: infinite or NaN, for the reference
};

// One sum: a word modulo 2^128 if that is enough, or many, 32 digits apart, each with room for the
// carries of 2^30 terms.
class WordSums {
 public:
  WordSums(const Plan& plan, const Sum& sum)
      : plan_(plan), sum_(sum), lone_(plan.reg != Register::open || plan.bits <= 126) {}

  // Words of one sum.
  std::size_t size() const {
    return lone_ ? 1 : static_cast<std::size_t>(plan_.bits / digits_apart) + 5;
  }
  bool stepwise() const {
    return plan_.reg == Register::saturates || plan_.reg == Register::watched;
  }

  // One more term, m * 2^q.
  void add(uint128* words, bool negative, uint128 m, std::int64_t q, Flags& flags) const {
    if (m == 0) return;
    if (q < plan_.last) {
      m = round_magnitude(sum_.align.rm, negative, m, plan_.last - q);
      q = plan_.last;
    }
    const std::int64_t up = q - plan_.last;
    if (stepwise()) return step(words[0], negative, shifted(m, up), flags);
    if (lone_) return accumulate(words[0], negative, up < 128 ? m << up : 0);
    spread(words, negative, static_cast<std::uint64_t>(m), up);
    if (const auto high = static_cast<std::uint64_t>(m >> 64)) spread(words, negative, high, up + 64);
  }
  void add(uint128* words, std::int64_t value, std::int64_t q) const {
    Flags none = 0;
    const auto bits = static_cast<std::uint64_t>(value);
    add(words, value < 0, value < 0 ? 0 - bits : bits, q, none);
  }

  // The sum as a term: all of it, or 65 leading digits or more, the rest jammed into the last.
  Term<uint128> total(const uint128* words) const {
    if (!lone_) return leading(words);
    Flags none = 0;
    Signed<uint128> z = magnitude(words[0]);
    if (plan_.reg == Register::wraps) z = fit(sum_, z, none);
    return {.kind = Kind::finite, .negative = z.negative, .m = z.m, .q = plan_.last};
  }

 private:
  static constexpr int digits_apart = 32;

  static void accumulate(uint128& word, bool negative, uint128 m) {
    const uint128 mask = mask_if<uint128>(negative);
    word += (m ^ mask) - mask;
  }
  static void spread(uint128* words, bool negative, std::uint64_t m, std::int64_t up) {
    accumulate(words[up / digits_apart], negative, uint128{m} << up % digits_apart);
  }
  static Signed<uint128> magnitude(uint128 word) {
    const bool negative = word >> 127 != 0;
    return {negative, negative ? 0 - word : word};
  }
  // A term past 2^124 passes every register, and is cut there.
  static uint128 shifted(uint128 m, std::int64_t up) {
    constexpr uint128 beyond = uint128{1} << 124;
    return bit_length(m) + up > 124 ? beyond : m << up;
  }
  // Lane by lane, for saturation and flags depend on the order.
  void step(uint128& word, bool negative, uint128 m, Flags& flags) const {
    const Signed<uint128> v{negative, m};
    if (sum_.overflow == RegisterOverflow::flag) fit(sum_, v, flags);
    const Signed<uint128> z = fit(sum_, plus(magnitude(word), v), flags);
    word = z.negative ? 0 - z.m : z.m;
  }
  Term<uint128> leading(const uint128* words) const;

  Plan plan_;
  Sum sum_;
  bool lone_;
};

}  // namespace widthwise::exact
