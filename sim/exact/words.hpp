#pragma once
#include <cstddef>

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

  // One more term, m * 2^q.
  void add(uint128* words, bool negative, uint128 m, std::int64_t q, Flags& flags) const {
    const Placed v = placed(negative, m, q);
    if (stepwise()) return step(*words, negative, v, flags);
    if (lone_) return accumulate(*words, negative, v);
    spread(words, negative, v);
  }
  void add(uint128* words, std::int64_t value, std::int64_t q) const {
    Flags none = 0;
    const auto bits = static_cast<std::uint64_t>(value);
    if (value != 0) add(words, value < 0, value < 0 ? 0 - bits : bits, q, none);
  }
  // n products, in their order.
  void add_products(uint128* words, const Item* a, const Item* b, std::size_t n,
                    Flags& flags) const;

  // The sum as a term: all of it, or 65 leading digits or more, the rest jammed into the last. Uses
  // the words up.
  Term<uint128> total(uint128* words) const {
    if (!lone_) return leading(words);
    Signed<uint128> z = magnitude(*words);
    Flags none = 0;
    if (plan_.reg == Register::wraps) z = fit(sum_, z, none);
    return {.kind = Kind::finite, .negative = z.negative, .m = z.m, .q = plan_.last};
  }

 private:
  static constexpr int digits_apart = 32;

  // A term as a multiple of the register's last digit, `up` digits above it.
  struct Placed {
    uint128 m;
    std::int64_t up;
  };
  Placed placed(bool negative, uint128 m, std::int64_t q) const {
    if (q >= plan_.last) return {m, q - plan_.last};
    return {cut(negative, m, plan_.last - q), 0};
  }
  uint128 cut(bool negative, uint128 m, std::int64_t digits) const;
  bool stepwise() const {
    return plan_.reg == Register::saturates || plan_.reg == Register::watched;
  }

  void step(uint128& word, bool negative, const Placed& v, Flags& flags) const;
  void keep_inside(uint128& word, Flags& flags) const;
  static void accumulate(uint128& word, bool negative, const Placed& v) {
    if (v.up < 128) word += signed_word(negative, shift_left(v.m, v.up));
  }
  static void spread(uint128* words, bool negative, const Placed& v) {
    uint128* const at = words + v.up / digits_apart;
    const std::int64_t up = v.up % digits_apart;
    at[0] += signed_word(negative, uint128{static_cast<std::uint64_t>(v.m)} << up);
    const auto high = static_cast<std::uint64_t>(v.m >> 64);
    if (high != 0) at[64 / digits_apart] += signed_word(negative, uint128{high} << up);
  }
  static uint128 signed_word(bool negative, uint128 m) {
    const uint128 mask = mask_if<uint128>(negative);
    return (m ^ mask) - mask;
  }
  static Signed<uint128> magnitude(uint128 word) {
    const bool negative = word >> 127 != 0;
    return {negative, signed_word(negative, word)};
  }
  Term<uint128> leading(uint128* words) const;

  Plan plan_;
  Sum sum_;
  bool lone_;
};

}  // namespace widthwise::exact
