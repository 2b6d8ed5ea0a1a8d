#include "row_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "row_kernels.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/unit/roundings.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::rows {
namespace {

// What the carriers have to hold whatever the operands, besides codes: products with their scales,
// and exponents, of which a few are added.
struct Need {
  int product_digits = 0, digits = 0, exp_bits = 0;
  std::int64_t exponent = 0;
  std::int64_t reach = 0;  // of the roundings of registers

  explicit Need(const Unit& u) {
    for (const Format* f : {&u.a.fmt, &u.b.fmt, &u.c.fmt}) format(*f);
    each_rounding(u, [&](const char*, const Round& r) { round(r); });
    for (const Sum* s : {&u.group_sum, &u.block_sum, &u.c_sum}) sum(*s);
    if (u.late_frac) place(u.late_frac->F_sum), place(u.late_frac->F_C);
    place(u.product.overflow_to_inf_at.value_or(0));
    const int exact = u.a.fmt.precision() + u.b.fmt.precision();
    product_digits = u.product.round ? u.product.round->fmt.precision() : exact;
    if (u.scale) {
      format(u.scale->fmt);
      product_digits += 2 * u.scale->fmt.precision();
    }
    product_digits = std::max(product_digits, exact);
    digits = std::max(digits, product_digits);
    reach = u.chain.compensation == Compensation::none ? 0 : reach_of(u.out);
    if (u.chain.c_round) reach = std::max(reach, reach_of(*u.chain.c_round));
    if (u.chain.promote) reach = std::max(reach, reach_of(u.chain.promote->round));
  }

 private:
  void place(std::int64_t x) { exponent = std::max(exponent, x < 0 ? -x : x); }
  void format(const Format& f) {
    exp_bits = std::max(exp_bits, f.exp_bits), digits = std::max(digits, f.precision());
    place(f.bias);
  }
  void round(const Round& r) {
    format(r.fmt);
    place(r.post_norm_frac.value_or(0));
  }
  void sum(const Sum& s) {
    place(s.align.frac_bits);
    place(s.align.e_floor.value_or(0));
    place(s.align.drop_c_below.value_or(0));
  }
};

constexpr int most_exp_bits = 54;
constexpr std::int64_t largest_exponent = std::int64_t{1} << most_exp_bits;
// Of a block: all its terms are kept, for a row of outputs.
constexpr std::size_t most_lanes = 4096;

// Whether a sum of so many terms is of two at a time that a rounding follows at once, which looks
// at few digits: kernels make one digit of what lies far below the larger (jammed_sum).
bool jams(const Unit& u, const Sum& s, CLevel level, std::size_t terms) {
  if (s.align.reference != Reference::exact || s.width) return false;
  const std::int64_t reach = has_nodes(s) ? reach_of(*s.node_round) : reach_of(u, level);
  return terms == 1 || ((has_nodes(s) || terms == 2) && reach && reach <= most_jammed(1));
}

// Whether magnitudes of one word hold all products and registers and nearly all sums.
bool holds_all(const Unit& u, std::size_t lanes, const Need& need, const Capacity& most) {
  if (most.magnitude_bits <= 62) return true;
  if (need.digits > most_jammed(1) || (u.scale && u.scale->apply == ScaleApply::group))
    return false;
  const std::size_t in_group = u.c_level == CLevel::group, in_block = u.c_level == CLevel::block;
  const GroupShape shape = group_shape(u.groups, lanes);
  return (most.group_bits <= 62 || jams(u, u.group_sum, CLevel::group, shape.size + in_group)) &&
         (most.block_bits <= 62 || jams(u, u.block_sum, CLevel::block, shape.count + in_block)) &&
         (most.late_bits <= 62 || jams(u, u.c_sum, CLevel::late, 2)) &&
         need.reach <= most_jammed(1);
}

// Digits of sums of so many products, as far apart as ordinary data make them: further, the more
// there are. 0 where no sum is longer than what is rounded.
int usual_digits(const Unit& u, std::size_t lanes, int product_digits) {
  const Sum& s = u.group_sum;
  const bool cut = s.align.reference == Reference::max_exponent || s.width;
  return has_nodes(s) || cut || lanes <= 2 ? 0 : product_digits + 2 * std::bit_width(lanes) + 10;
}
constexpr int digits_in(int words) { return 64 * words - 2; }

constexpr Widths all_widths[] = {{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}};

}  // namespace

Answer plan(const Unit& u, std::size_t k) {
  const auto refuse = [](std::string why) { return Answer{false, std::move(why)}; };
  if (const Format* t = table_in(u))
    return refuse(fmt::format("codes of {} are looked up, one at a time", to_string(*t)));
  const std::size_t lanes = u.lanes ? static_cast<std::size_t>(u.lanes) : k;
  if (lanes > most_lanes)
    return refuse(fmt::format("blocks of {} products, of which rows keep {}", lanes, most_lanes));
  const Need need(u);
  if (need.exp_bits > most_exp_bits || need.exponent > largest_exponent)
    return refuse(fmt::format("exponents past 2^{}", most_exp_bits));
  Capacity most;
  try {
    most = capacity(u, static_cast<std::int64_t>(k));
  } catch (const std::invalid_argument& past_limit) {
    return refuse(past_limit.what());
  }
  const auto fits = [&](const Widths& w) {
    return most.code_digits <= 64 * w.code_words &&
           (w.magnitude_words > 1 || holds_all(u, lanes, need, most)) &&
           need.product_digits <= digits_in(w.magnitude_words);
  };
  const auto* const least = std::ranges::find_if(all_widths, fits);
  if (least == std::end(all_widths))
    return refuse(
        fmt::format("codes and roundings take {} digits and products {}; rows have 128 and 254",
                    most.code_digits, need.product_digits));
  const int usual = usual_digits(u, lanes, need.product_digits);
  int usual_words = least->magnitude_words;
  while (digits_in(usual_words) < usual) usual_words *= 2;
  if (usual_words > most_magnitude_words)
    return refuse(fmt::format("ordinary sums take {} digits, of which rows keep {}", usual,
                              digits_in(most_magnitude_words)));
  return {true,
          fmt::format("rows of {} bits for codes and of {} for magnitudes, while ordinary sums fit",
                      64 * least->code_words, 64 * least->magnitude_words),
          *least, usual_words};
}

}  // namespace widthwise::rows
