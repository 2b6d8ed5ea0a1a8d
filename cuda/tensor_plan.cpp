#include "tensor_plan.hpp"

#include <fmt/format.h>

#include <climits>

#include "kernels/tensor_tile.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

constexpr std::int64_t most_late_bits = 38;  // sums of 64 bits then hold it all
constexpr int depth = TensorTile<JoinedEarly<tensor::Finish::truncate>, std::int32_t>::depth;

int digits(const Operand& x) { return static_cast<int>(x.keep_frac.value_or(x.fmt.frac_bits)) + 1; }

// Scales of one digit are exponents, and go with those of operands.
std::string unlike_an_exponent(const Scale& s) {
  constexpr int most = 255;
  const Format& f = s.fmt;
  if (s.apply == ScaleApply::group) return "scales of groups";
  if (f.frac_bits > 0) return fmt::format("scale = {} has digits", to_string(f));
  if (f.emin() < -most || f.emax() > most)
    return fmt::format("scale = {} has exponents past {}", to_string(f), most);
  return {};
}

constexpr Rounding down(RoundingMode::rdn);

bool is_window(const Sum& s) {
  return s.order == Order::fused && !s.node_round && !s.width &&
         s.align.reference == Reference::max_exponent && s.align.rm == down;
}

// Why C does not join late as on CDNA3; empty if it does.
std::string unlike_a_late_join(const Unit& u) {
  if (u.lanes == 0) return "one block takes all of K";
  const Align &products = u.group_sum.align, &join = u.c_sum.align;
  const std::int64_t floor = join.e_floor.value_or(INT64_MIN);
  if (!is_window(u.c_sum) || floor < u.c.fmt.emin() || floor > PackedOperand::most_exponent)
    return "C joins late, but not aligned and rounded down from C's least exponent on";
  const LateFrac frac = u.late_frac.value_or(LateFrac{join.frac_bits, join.frac_bits});
  if (frac.F_C < binary32.frac_bits || frac.F_sum < std::max(frac.F_C, products.frac_bits) ||
      frac.F_sum > most_late_bits)
    return fmt::format("C joins late with {} digits, the products with {}", frac.F_C, frac.F_sum);
  if (products.e_floor) return "a least exponent of products that C joins late";
  if (u.groups) {
    const Align& groups = u.block_sum.align;
    if (group_shape(u.groups, static_cast<std::size_t>(u.lanes)).count > 2)
      return "more than two groups of products";
    if (!is_window(u.block_sum) || groups.frac_bits != products.frac_bits || groups.e_floor ||
        groups.drop_c_below)
      return "groups of products not aligned alike and rounded down";
  }
  Round out = u.out;
  if (out.post_norm_frac && out.post_norm_rm != down) return "sums cut otherwise than down";
  out.post_norm_frac.reset();
  if (!rounds_plainly(out, binary32)) return "C joins late, and out is no plain binary32";
  return {};
}

// What is left of a late join: C is joined early, and nothing else happens.
Unit joined_early(Unit u) {
  u.c_level = CLevel::group;
  u.c_sum = u.block_sum = {};
  u.groups.reset();
  u.late_frac.reset();
  u.product.overflow_to_inf_at.reset();
  u.out = {.fmt = binary32, .rm = RoundingMode::rtz};
  // Codes become numbers by lib, whatever stands for NaN.
  for (Operand* x : {&u.a, &u.b})
    if (x->fmt.nan == NanCodes::sign_alone) x->fmt.nan = NanCodes::none;
  return u;
}

// What is left when the tiles have done their part: a unit of sim/tensor.
Unit one_sum(Unit u) {
  if (u.c_level == CLevel::late) u = joined_early(u);
  u.scale.reset();
  u.chain.lane_permutation.reset();
  u.chain.promote.reset();
  u.chain.c_at = CAt::first;
  u.chain.c_round.reset();
  return u;
}

std::string refusal(const ProductTask& task, const tensor::Plan& sum) {
  const Unit& u = task.unit;
  if (sum.lanes > depth) return fmt::format("more than {} products a block", depth);
  if (std::max(digits(u.a), digits(u.b)) > PackedOperand::significand_bits)
    return fmt::format("significands of more than {} digits", PackedOperand::significand_bits);
  const bool late = u.c_level == CLevel::late;
  if (late && sum.chunk < sum.lanes)
    return "sums of products of more than 32 bits that C joins late";
  if (!sum.survives) return "products that lose digits whatever the exponents";
  if (u.scale && u.product.overflow_to_inf_at) return "products overflow before they are scaled";
  if (u.scale) return unlike_an_exponent(*u.scale);
  return {};
}

}  // namespace

bool rounds_plainly(const Round& r, const Format& f) {
  return r.fmt == f && r.rm == Rounding(RoundingMode::rne) && !r.keep_frac && !r.post_norm_frac &&
         r.subnormals == Flush::keep && r.zero_sign == ZeroSign::ieee;
}

std::string unlike_a_tiled_chain(const Unit& u) {
  const Chain& chain = u.chain;
  if (chain.promote && !rounds_plainly(chain.promote->round, binary32))
    return "promotion to another format than binary32, or by another mode than to nearest even";
  if (chain.c_at == CAt::last) {
    if (chain.promote) return "promotion and C added last";
    if (!chain.c_round || !rounds_plainly(*chain.c_round, u.out.fmt))
      return "C is added last, and not rounded to out's format by ties to even";
  }
  return {};
}

TensorAnswer tensor_plan(const ProductTask& task) {
  const auto refuse = [](std::string why) { return TensorAnswer{std::nullopt, std::move(why)}; };
  const Unit& u = task.unit;
  if (task.flags) return refuse("flags are wanted");
  if (u.chain.final) return refuse("a final rounding");
  if (task.k == 0 || task.k > INT_MAX / 4) return refuse("of a length that tiles have not");
  if (const std::string why = unlike_a_tiled_chain(u); !why.empty()) return refuse(why);
  const bool late = u.c_level == CLevel::late;
  if (const std::string why = late ? unlike_a_late_join(u) : ""; !why.empty()) return refuse(why);
  const tensor::Answer sum = tensor::plan(one_sum(u));
  if (!sum.plan) return refuse(sum.reason);
  if (const std::string why = refusal(task, *sum.plan); !why.empty()) return refuse(why);
  return {TensorPlan{.sum = *sum.plan,
                     .groups = group_shape(u.groups, static_cast<std::size_t>(u.lanes)),
                     .late = late},
          {}};
}

}  // namespace widthwise::cuda
