#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "sim/engine/fields.hpp"
#include "sim/engine/final_rounding.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::tensor {
namespace {

constexpr Rounding toward_zero(RoundingMode::rtz), nearest_even(RoundingMode::rne);
constexpr std::int64_t float_digits = 24, float_emin = -126, float_emax = 127;
constexpr std::int64_t most_lanes = 1024;  // a block lies in one panel

// Whether C begins the chain, or is added in the end as IEEE 754 adds two numbers of out's format.
bool is_plain_ending(const Unit& u) {
  if (u.chain.c_at == CAt::first) return !u.chain.c_round;
  if (!u.chain.c_round) return false;
  const Round& to = *u.chain.c_round;
  return to.fmt == u.out.fmt && to.rm == nearest_even && !to.keep_frac && !to.post_norm_frac &&
         to.subnormals == Flush::keep && to.zero_sign == ZeroSign::ieee &&
         (to.overflow == Overflow::ieee || to.overflow == Overflow::inf);
}

// Why the unit has another shape than one fused sum a block, chained; empty if it has that one.
std::string unlike_a_tensor_unit(const Unit& u) {
  if (u.lanes == 0) return "one block takes all of K";
  if (u.lanes > most_lanes) return fmt::format("more than {} products a block", most_lanes);
  if (u.scale) return "block scales";
  if (u.groups) return "groups of products";
  if (u.c_level != CLevel::group || u.late_frac) return "C is not one of the block's addends";
  if (u.product.round || u.product.overflow_to_inf_at) return "products are rounded or overflow";
  if (u.product.exponent != ProductExponent::field_sum)
    return "products are normalised before they are aligned";
  if (u.chain.promote) return "promotion";
  if (!is_plain_ending(u))
    return "C is added last, and not rounded to out's format by ties to even";
  if (u.chain.compensation != Compensation::none) return "compensated sums";
  if (u.chain.final && !FinalRounding::takes(u.out.fmt, *u.chain.final))
    return "a final rounding of more than 64 digits";
  return {};
}

// Why the block's sum is not this engine's; empty if it is.
std::string unlike_a_window(const Sum& s) {
  if (s.order != Order::fused || s.node_round) return "its sums are no fused ones";
  if (s.width) return "its sums are of a given width";
  if (s.align.reference != Reference::max_exponent)
    return "its terms are not aligned to the largest exponent";
  if (s.align.rm != toward_zero)
    return fmt::format("aligned terms are rounded by {}, not toward zero", to_string(s.align.rm));
  if (s.align.drop_c_below) return "a small C is dropped";
  return {};
}

// Why codes of the operand are not numbers that float lanes hold; empty if they are.
std::string unheld(const char* where, const Operand& x) {
  const Format& f = x.fmt;
  const auto refuse = [&](const char* why) {
    return fmt::format("{} = {} {}", where, to_string(f), why);
  };
  if (!f.is_signed()) return refuse("is unsigned");
  if (!f.subnormals || !f.zero) return refuse("has no subnormals, or no zero");
  if (f.daz || x.subnormals != Flush::keep) return refuse("flushes subnormals");
  if (f.nan == NanCodes::sign_alone) return refuse("has NaN in the place of -0");
  if (f.width() > 32 || f.precision() > float_digits || f.emin() < float_emin ||
      f.emax() > float_emax)
    return refuse("has digits or exponents that float has not");
  if (f.least_digit() < float_emin && f.emin() != float_emin)
    return refuse("has subnormals that are some of float's, at another place");
  if (x.keep_frac && x.keep_rm != toward_zero) return refuse("is rounded before use");
  return {};
}

std::string unlike_a_result(const Unit& u) {
  const Round& to = u.out;
  if (u.c.fmt != to.fmt || u.c.subnormals != Flush::keep || u.c.keep_frac)
    return "C is not in out's format as it stands";
  if (to.post_norm_frac || to.subnormals != Flush::keep || to.fmt.ftz)
    return "out does more than round to its format";
  if (to.fmt == binary32 && to.rm == toward_zero) return {};
  if (to.fmt == binary16 && to.rm == nearest_even && !to.keep_frac) return {};
  return fmt::format("out = {}, {}: only binary32 toward zero and binary16 to nearest even",
                     to_string(to.fmt), to_string(to.rm));
}

constexpr std::int64_t frac_bits(const Operand& x) { return x.keep_frac.value_or(x.fmt.frac_bits); }

constexpr double most_units = 2147483647;

// The most that one product is in units of 2^(E - F).
double units_of_product(std::int64_t frac_bits, std::int64_t frac_a, std::int64_t frac_b) {
  const auto largest = static_cast<double>(((std::int64_t{2} << frac_a) - 1) *
                                           ((std::int64_t{2} << frac_b) - 1));  // at most 2^24
  return std::ldexp(largest, static_cast<int>(frac_bits - frac_a - frac_b));
}

// Whether exponent sums fit int8, beside those of zeros, and all products float.
bool narrow(const Plan& p, const Format& a, const Format& b, const Format& c) {
  const std::int64_t of_zeros = of_zero<std::int8_t> + std::max(a.emax(), b.emax());
  const bool c_decides = p.finish == Finish::truncate || of_zeros <= c.emin();
  return p.least > of_zeros && c_decides && p.least >= least_exponent(p.frac_bits) &&
         a.emax() + b.emax() <= most_exponent;
}

// Chains of blocks, each one fused sum of its products with C: no sum after it is met.
Unit as_computed(const Unit& u) {
  using fields::of;
  Unit z = fields::core(u);
  z.block_sum = u.block_sum, z.c_sum = u.c_sum;
  z.chain = {.lane_permutation = u.chain.lane_permutation,
             .c_at = of(u.chain.c_at),
             .c_round = of(u.chain.c_round),
             .final = of(u.chain.final)};
  return z;
}

}  // namespace

Answer plan(const Unit& u) {
  const auto refuse = [](const std::string& why) { return Answer{std::nullopt, why}; };
  for (const std::string& why : {unlike_a_tensor_unit(u), unlike_a_window(u.group_sum),
                                 unheld("a", u.a), unheld("b", u.b), unlike_a_result(u)})
    if (!why.empty()) return refuse(why);
  if (u != as_computed(u)) return refuse(fields::unknown);

  const Align& align = u.group_sum.align;
  const std::int64_t F = align.frac_bits, frac_a = frac_bits(u.a), frac_b = frac_bits(u.b);
  if (frac_a + frac_b + 2 > float_digits)
    return refuse(fmt::format("exact products have {} digits", frac_a + frac_b + 2));
  if (F < 1 || F > 28) return refuse(fmt::format("{} bits below the largest exponent", F));
  if (align.e_floor && *align.e_floor > u.c.fmt.emin())
    return refuse("the least exponent of a sum lies above C's");
  const bool nearest = u.out.fmt == binary16;
  if (nearest && F < binary16.frac_bits) return refuse("C loses digits before it is rounded");

  Plan p{};
  p.finish = nearest ? Finish::nearest : Finish::truncate;
  p.lanes = u.lanes;
  p.frac_bits = F;
  const double units = units_of_product(F, frac_a, frac_b),
               of_c = std::ldexp(2, static_cast<int>(F));
  p.chunk = std::min(p.lanes, static_cast<std::int64_t>(most_units / units));
  p.may_overflow = static_cast<double>(p.lanes) * units + of_c > most_units;
  p.least = u.a.fmt.emin() + u.b.fmt.emin();
  p.wide = !narrow(p, u.a.fmt, u.b.fmt, u.c.fmt);
  p.floor = std::max(align.e_floor.value_or(INT64_MIN), F - float_emax);
  p.kept = u.out.keep_frac.value_or(u.out.fmt.frac_bits);
  p.survives = F >= frac_a + frac_b;
  return {p, fmt::format("exact products of {} digits, {} of them a sum, aligned in 32-bit lanes",
                         frac_a + frac_b + 2, u.lanes)};
}

}  // namespace widthwise::tensor
