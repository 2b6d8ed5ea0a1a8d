#include "exact_sum.hpp"

#include <algorithm>

namespace widthwise::mpfr {
namespace {

// Wider than any precision, random bits and a carry of 2^20 addends together.
constexpr Exponent gap = 1 << 16;

Exponent last_digit(const Scaled& v) {
  return v.scale - static_cast<Exponent>(mpfr_min_prec(static_cast<mpfr_srcptr>(v.x)));
}

}  // namespace

ExactSum::ExactSum(std::vector<Scaled> addends) {
  std::erase_if(addends, [](const Scaled& v) { return mpfr::is_zero(v); });
  close_gaps(std::move(addends));
  find_result();
}

//   true:   | first |          … 2^62 …          | second |        scale: exponent above the top
//   moved:  | first |  gap  | second |                             digit, 0 for the first
//
void ExactSum::close_gaps(std::vector<Scaled> addends) {
  std::sort(addends.begin(), addends.end(),
            [](const Scaled& x, const Scaled& y) { return x.scale > y.scale; });
  for (Scaled& v : addends) {
    if (clusters_.empty()) {
      clusters_.push_back({0, v.scale});
    } else if (v.scale - clusters_.back().moved < clusters_.back().lowest - gap) {
      const Exponent top = clusters_.back().lowest - gap;
      clusters_.push_back({top, v.scale - top});
    }
    Cluster& c = clusters_.back();
    c.lowest = std::min(c.lowest, last_digit(v) - c.moved);
    mpfr_set_exp(v.x, static_cast<mpfr_exp_t>(v.scale - c.moved));
    terms_.push_back(std::move(v.x));
  }
}

// The sum lies at the first cluster that does not cancel, or a digit below it.
void ExactSum::find_result() {
  Real z(2);
  into(z, MPFR_RNDZ);
  zero_ = mpfr_zero_p(static_cast<mpfr_srcptr>(z)) != 0;
  if (zero_) return;
  negative_ = mpfr_signbit(static_cast<mpfr_srcptr>(z)) != 0;
  const Exponent e = mpfr_get_exp(z);
  const auto at = std::find_if(clusters_.begin(), clusters_.end(),
                               [&](const Cluster& c) { return e > c.lowest - gap / 2; });
  scale_ = at->moved;
}

int ExactSum::into(mpfr_ptr z, mpfr_rnd_t rnd) const {
  std::vector<mpfr_ptr> addends;
  for (const Real& x : terms_) addends.push_back(const_cast<mpfr_ptr>(static_cast<mpfr_srcptr>(x)));
  return mpfr_sum(z, addends.data(), addends.size(), rnd);
}

Computation ExactSum::computation() const {
  return {[this](mpfr_ptr z, mpfr_rnd_t rnd) { return into(z, rnd); }, scale_};
}

}  // namespace widthwise::mpfr
