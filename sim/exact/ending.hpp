#pragma once
#include <variant>

#include "finish.hpp"
#include "operands.hpp"
#include "words.hpp"

namespace widthwise::exact {

// The signs among a sum's addends.
struct Signs {
  bool minus = false, plus = false;

  void see(bool negative) { (negative ? minus : plus) = true; }
  void meet(const Signs& x) { minus |= x.minus, plus |= x.plus; }
};

// The end of a sum in words: C joins it, and it is rounded.
class Ending {
 public:
  Ending(const Unit& unit, const Plan& plan)
      : c_format_(unit.c.fmt),
        c_(unit.c, plan.c_doubles),
        sums_(plan, unit.group_sum),
        finish_(finish_of(plan, unit)) {}

  const Coded& c() const { return c_; }
  const WordSums& sums() const { return sums_; }

  // Where that is a code; or null, for no C.
  Factor<std::uint64_t> addend(const std::byte* at) const {
    return at ? c_.factor(at) : cleared<std::uint64_t>(c_format_);
  }
  // Whether the sign of a zero depends on more than whether all addends had a minus sign.
  bool asks_for_mixed() const {
    return std::visit([](const auto& finish) { return finish.asks_for_mixed(); }, finish_);
  }
  // The code of a sum and C, a number. If that is a zero it has the sign of its addends, if they
  // agree: then `see` tells the products' beside C's. Uses the words up.
  template <class See>
  std::uint64_t code(uint128* sum, const Factor<std::uint64_t>& c, const See& see,
                     Progress& progress) const {
    if (c.kind() == Kind::finite) sums_.add(sum, c.negative, c.m, c.q, progress.flags);
    Term<uint128> total = sums_.total(sum);
    if (total.m == 0) {
      Signs all;
      all.see(c.negative);
      see(all);
      total.negative = all.minus && !all.plus;
      total.mixed = all.minus && all.plus;
    }
    return std::visit([&](const auto& finish) { return finish.code(total, progress); }, finish_);
  }

 private:
  // In a carrier of as many digits as the roundings look at.
  using AnyFinish = std::variant<Finish, FinishIn<uint128>>;
  static AnyFinish finish_of(const Plan& p, const Unit& u) {
    if (p.long_rounding) return FinishIn<uint128>(u);
    return Finish(u);
  }

  Format c_format_;
  Coded c_;
  WordSums sums_;
  AnyFinish finish_;
};

}  // namespace widthwise::exact
