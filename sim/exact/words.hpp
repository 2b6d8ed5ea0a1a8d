#pragma once
#include <cstddef>

#include "word_sum.hpp"

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
      : plan_(plan),
        word_(plan, sum),
        lone_(in_one_word(plan)),
        cut_(word_.quick_cut((plan.a * plan.b).digits)) {}

  // Words of one sum.
  std::size_t size() const {
    return lone_ ? 1 : static_cast<std::size_t>(plan_.bits / digits_apart) + 5;
  }

  // One more term, m * 2^q.
  void add(uint128* words, bool negative, uint128 m, std::int64_t q, Flags& flags) const {
    const Placed v = word_.placed(negative, m, q);
    if (lone_) return word_.add(*words, negative, v, flags);
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

  // The sum as a term: all of it, or 97 leading digits or more, the rest jammed into the last. Uses
  // the words up.
  Term<uint128> total(uint128* words) const { return lone_ ? word_.total(*words) : leading(words); }

 private:
  static constexpr int digits_apart = 32;

  static void spread(uint128* words, bool negative, const Placed& v) {
    uint128* const at = words + v.up / digits_apart;
    const std::int64_t up = v.up % digits_apart;
    at[0] += signed_word(negative, uint128{static_cast<std::uint64_t>(v.m)} << up);
    const auto high = static_cast<std::uint64_t>(v.m >> 64);
    if (high != 0) at[64 / digits_apart] += signed_word(negative, uint128{high} << up);
  }
  // Most of them have digits below the register's last one.
  template <WordSum::Cut how>
  void cut_products(uint128& word, const Item* a, const Item* b, std::size_t n, Flags& flags) const;
  Term<uint128> leading(uint128* words) const;

  Plan plan_;
  WordSum word_;
  bool lone_;
  WordSum::Cut cut_;
};

}  // namespace widthwise::exact
