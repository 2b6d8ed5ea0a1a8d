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
  void add(uint128* words, bool negative, uint128 m, std::int64_t q, Flags& flags) const;
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
  Term<uint128> total(uint128* words) const;

 private:
  static constexpr int digits_apart = 32;

  // A term as a multiple of the register's last digit, `up` digits above it.
  struct Placed {
    uint128 m;
    std::int64_t up;
  };
  Placed placed(bool negative, uint128 m, std::int64_t q) const;
  bool stepwise() const {
    return plan_.reg == Register::saturates || plan_.reg == Register::watched;
  }

  void step(uint128& word, bool negative, const Placed& v, Flags& flags) const;
  static void accumulate(uint128& word, bool negative, const Placed& v);
  static void spread(uint128* words, bool negative, const Placed& v);
  Term<uint128> leading(uint128* words) const;

  Plan plan_;
  Sum sum_;
  bool lone_;
};

}  // namespace widthwise::exact
