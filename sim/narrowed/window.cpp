#include "window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/unit/roundings.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::narrowed {
namespace {

// U: Unit or const Unit.
template <class U, class Do>
void each_operand(U& u, const Do& what) {
  what("a", u.a.fmt), what("b", u.b.fmt), what("c", u.c.fmt);
}

// Digits of every result.
int digits_kept(const Round& r) {
  const int kept = std::min(r.fmt.frac_bits, r.keep_frac.value_or(r.fmt.frac_bits));
  return std::min(kept, r.post_norm_frac.value_or(kept)) + 1;
}
// By how many binades a rounding, of two cuts perhaps, lifts a number at most.
double lift(const Round& r) { return 2 * std::log2(1 + std::ldexp(1.0, 1 - digits_kept(r))); }

std::string unfit(const char* where, const Format& f) {
  if (f.least_digit() >= least && f.emax() < most) return {};  // inside of the window
  const auto refuse = [&](const char* why) {
    return fmt::format("{} = {} {}", where, to_string(f), why);
  };
  if (!holds_window(f)) return refuse("lies partly outside of a double's exponents");
  if (f.inf != InfCodes::ieee || !f.has_nan() || !f.zero)
    return refuse("has not IEEE 754's infinities, NaN and zeros");
  return f.magnitude_bits() > 63 ? refuse("has more than 64 bits") : std::string();
}
bool saturates(const Round& r) {
  return r.overflow == Overflow::satfinite || r.fmt.overflow == Overflow::satfinite;
}
std::string unfit(const char* where, const Round& r) {
  if (holds_window(r.fmt) && r.nan_bits) return fmt::format("{} has a NaN of its own", where);
  if (saturates(r)) return fmt::format("{} has infinities saturate", where);
  return unfit(where, r.fmt);
}
// Sums to which cutting adds nothing, but for a last digit at a fixed place, and whose register, if
// they have one, lies there.
std::string unfit(const char* where, const Sum& s) {
  if (s.align.reference == Reference::max_exponent && s.align.rm != Rounding(RoundingMode::rtz))
    return fmt::format("{} is not aligned by rtz", where);
  if (!s.width) return {};
  if (s.align.reference != Reference::fixed_lsb)
    return fmt::format("{} has a register of digits that go with its terms", where);
  return -s.align.frac_bits < least
             ? fmt::format("{} has a register with digits below 2^{}", where, least)
             : std::string();
}

constexpr bool is_double(const Format& f) {
  return f.emin() >= binary64.emin() && f.emax() <= binary64.emax();
}
bool all_doubles(const Unit& u) {
  bool all = true;
  each_operand(u, [&](const char*, const Format& f) { all &= is_double(f); });
  each_rounding(u, [&](const char*, const Round& r) { all &= is_double(r.fmt); });
  return all;
}

bool is_compensated(const Unit& u) { return u.chain.compensation != Compensation::none; }

std::int64_t bits(std::size_t n) { return static_cast<std::int64_t>(std::bit_width(n)); }

// No fewer than there are, and products of each.
struct Blocks {
  std::size_t count, lanes;
};

// By how many binades all roundings from a product to the result lift a number at most.
double longest_way(const Unit& u, const Blocks& blocks) {
  const auto times = [](const std::optional<Round>& r, std::size_t n) {
    return r ? static_cast<double>(n) * lift(*r) : 0.0;
  };
  const std::size_t of_sums = is_compensated(u) ? 4 : 1;
  double way = times(u.product.round, 1) + times(u.out, of_sums * (blocks.count + 1)) +
               times(u.chain.c_round, 1) + times(u.chain.final, 1);
  for (const Sum* s : {&u.group_sum, &u.block_sum, &u.c_sum})
    if (has_nodes(*s)) way += times(s->node_round, blocks.count * (blocks.lanes + 1));
  if (u.chain.promote) way += times(u.chain.promote->round, blocks.count + 1);
  return way;
}

// What arises whatever the operands is below 2^this: a product and its part of a block meet fewer
// than 16 roundings, each of which may add one.
std::int64_t above_own_numbers(const Unit& u, const Blocks& blocks) {
  std::int64_t above = std::numeric_limits<std::int64_t>::min();
  const auto adds = [&](std::int64_t exponent) {
    above = std::max(above, exponent + 1 + bits(blocks.count) + bits(blocks.lanes) + 4);
  };
  each_rounding(u, [&](const char*, const Round& r) {
    if (!holds_window(r.fmt)) adds(r.fmt.has_inf() ? r.fmt.emin() : r.fmt.emax());
  });
  for (const Sum* s : {&u.group_sum, &u.block_sum, &u.c_sum})
    if (s->align.reference == Reference::fixed_lsb) adds(-s->align.frac_bits);
  return above;
}

}  // namespace

Format narrowed(const Format& f) {
  Format z = f;
  if (holds_window(f)) z.exp_bits = exp_bits, z.bias = ieee_bias(exp_bits);
  return z;
}
Unit narrowed(const Unit& u) {
  Unit z = u;
  each_operand(z, [](const char*, Format& f) { f = narrowed(f); });
  each_rounding(z, [](const char*, Round& r) { r.fmt = narrowed(r.fmt); });
  return z;
}

std::string unfit(const Unit& u) {
  if (all_doubles(u)) return "all exponents are a double's";
  if (u.scale) return "block scales";
  std::string why;
  const auto note = [&](const char* where, const auto& x) {
    if (why.empty()) why = unfit(where, x);
  };
  each_operand(u, note);
  each_rounding(u, note);
  note("group_sum", u.group_sum), note("block_sum", u.block_sum), note("c_sum", u.c_sum);
  if (why.empty() && is_compensated(u) && digits_kept(u.out) < 5)
    return "compensated sums of fewer than 5 digits";
  return why;
}

Window::Window(const Unit& u, std::size_t k)
    : digits_a_(u.a.fmt.precision()),
      digits_b_(u.b.fmt.precision()),
      digits_c_(u.c.fmt.precision()),
      products_(bits(k)) {
  const std::size_t lanes = u.lanes ? static_cast<std::size_t>(u.lanes) : k;
  const Blocks blocks{k / lanes + 1, lanes};
  const double lifts = std::ceil(longest_way(u, blocks));
  lifted_ = static_cast<std::int64_t>(std::min(lifts, 4.0 * most)) + 2;
  if (is_compensated(u)) lifted_ += bits(k) + 3;
  own_ = above_own_numbers(u, blocks);
}

bool Window::holds(const Span& a, const Span& b, const Span& c) const {
  for (const Span* x : {&a, &b, &c})
    if (x->lowest < least || x->highest >= most) return false;
  const std::int64_t last_of_product = a.lowest - digits_a_ + b.lowest - digits_b_ + 2;
  if (std::min(last_of_product, c.lowest - digits_c_ + 1) < least) return false;
  const std::int64_t sums = a.highest + b.highest + 2 + products_;
  return std::max({sums, c.highest + 1, own_}) + lifted_ <= most;
}

}  // namespace widthwise::narrowed
