#include "chain_plan.hpp"

#include <fmt/format.h>

#include <climits>

#include "sim/engine/fields.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::cuda {
namespace {

// A sum as exact as that of lib's operations: all digits of all terms, and one rounding after it.
constexpr bool exact(const Sum& s) {
  return s.align.reference == Reference::exact && !s.width && !s.node_round;
}

// Why a block is not one product and one addition; empty if it is.
std::string unlike_a_chain(const Unit& u) {
  if (other_than_float(u)) return "formats other than floats";
  if (u.lanes != 1) return "more than one product a block";
  if (u.scale) return "block scales";
  if (u.chain.compensation != Compensation::none) return "compensated sums";
  if (u.chain.lane_permutation) return "permuted lanes";
  if (u.product.overflow_to_inf_at) return "products that overflow to infinity";
  const Sum& joins_c = u.c_level == CLevel::group   ? u.group_sum
                       : u.c_level == CLevel::block ? u.block_sum
                                                    : u.c_sum;
  if (!exact(joins_c) || !exact(u.group_sum))
    return "its sums are aligned, of a given width, or rounded inside";
  return {};
}

// Chains of multiply-adds, whose exponents and registers nobody looks at.
Unit as_computed(const Unit& u) {
  using fields::of;
  Unit z = fields::core(u);
  z.product.round = of(u.product.round), z.product.exponent = of(u.product.exponent);
  z.block_sum = of(u.block_sum), z.c_sum = of(u.c_sum);
  z.groups = u.groups, z.late_frac = u.late_frac;
  z.chain = of(u.chain);
  return z;
}

// What codes, and the digits that a rounding looks at, take.
struct Need {
  int digits = 0, exp_bits = 0;
  std::uint64_t bias = 0;
  std::string cut;  // where a rounding is more than one

  void format(const Format& f, const Rounding& rm = {}) {
    digits = std::max(digits, digits_needed(f, rm));
    exp_bits = std::max(exp_bits, f.exp_bits);
    bias = std::max(bias, static_cast<std::uint64_t>(f.bias < 0 ? -f.bias : f.bias));
  }
  void round(const char* where, const std::optional<Round>& r) {
    if (!r) return;
    format(r->fmt, r->rm);
    if (r->post_norm_frac) cut = fmt::format("{} cuts twice", where);
  }
  // Sums of a few exponents, and of what stands for a zero's, have to fit 32 bits as well.
  bool exponents_fit() const { return exp_bits <= 32 - 8 && bias >> (32 - 8) == 0; }
};

Need need(const Unit& u) {
  Need z;
  z.format(u.a.fmt), z.format(u.b.fmt), z.format(u.c.fmt);
  z.round("product.round", u.product.round), z.round("out", u.out);
  z.round("chain.c_round", u.chain.c_round), z.round("chain.final", u.chain.final);
  if (u.chain.promote) z.round("chain.promote.round", u.chain.promote->round);
  return z;
}

}  // namespace

ChainAnswer chain_plan(const ProductTask& task) {
  const Unit& u = task.unit;
  const auto refuse = [](std::string why) { return ChainAnswer{std::move(why)}; };
  if (task.k == 0 || task.k > INT_MAX / 2) return refuse("of a length that tiles have not");
  if (std::string why = unlike_a_chain(u); !why.empty()) return refuse(std::move(why));
  if (u != as_computed(u)) return refuse(fields::unknown);
  const Need n = need(u);
  if (!n.cut.empty()) return refuse(n.cut);
  if (n.digits > 64)
    return refuse(fmt::format("codes and roundings take {} digits, integers have 64", n.digits));
  if (!n.exponents_fit()) return refuse("exponents that 32 bits do not hold");
  return {.is_long = n.digits > 32};
}

}  // namespace widthwise::cuda
