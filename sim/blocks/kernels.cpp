#include "kernels.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/blocks/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/blocks/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// One block of a strip on its way.
struct Block {
  const Meeting& m;
  const Rules& rules;
  Registers& registers;
  std::size_t k;  // its first product
  double* sums;   // of every group: a strip of numbers and one of the powers that vote

  HWY_INLINE std::size_t lane(std::size_t group, std::size_t i) const {
    return k + (rules.strided ? group + i * rules.group_count : group * rules.group_size + i);
  }
  HWY_INLINE std::size_t size(std::size_t group) const {
    if (rules.strided) return (rules.lanes - group + rules.group_count - 1) / rules.group_count;
    return std::min(rules.group_size, rules.lanes - group * rules.group_size);
  }
  HWY_INLINE double* sum(std::size_t group) const { return sums + 2 * strip * group; }
  HWY_INLINE Term c(std::size_t column) const {
    return {load(registers.sum + column), load(registers.power + column)};
  }
  HWY_INLINE void put(std::size_t group, std::size_t column, const Term& t) const {
    store(t.value, sum(group) + column);
    store(t.power, sum(group) + strip + column);
  }
  HWY_INLINE Term of_group(std::size_t group, std::size_t column) const {
    return {load(sum(group) + column), load(sum(group) + strip + column)};
  }
};

HWY_INLINE I load_exponents(const std::int16_t* at) {
  const hn::Rebind<std::int16_t, Doubles> narrow;
  const hn::Rebind<std::int32_t, Doubles> middle;
  return hn::PromoteTo(Ints(), hn::PromoteTo(middle, hn::LoadU(narrow, at)));
}

// --- Products one by one -------------------------------------------------------------------------

HWY_INLINE Term product(const Block& b, std::size_t i, std::size_t column) {
  const Rules& rules = b.rules;
  const std::size_t at = i * strip + column;
  V x = hn::Mul(number(b.m.a[i]), load(b.m.b + at));
  if (rules.overflow_at > 0) {
    const M over = hn::Ge(hn::Abs(x), number(rules.overflow_at));
    const V infinity = number(std::numeric_limits<double>::infinity());
    x = hn::IfThenElse(over, hn::CopySign(infinity, x), x);
  }
  if (rules.product) {
    x = round(*rules.product, x);
    return {x, vote(x, rules.product->least_normal)};
  }
  if (rules.normalised) return {x, vote(x, 0)};
  const I e = hn::Add(load_exponents(b.m.b_exponent + at), hn::Set(Ints(), b.m.a_exponent[i]));
  return {x, hn::IfThenElseZero(finite_number(x), power_of_exponent(e))};
}

// What the infinities and NaN of products, C and scales make of the block, if they do.
HWY_INLINE V special(const Block& b, std::size_t column) {
  V z = b.c(column).value;
  for (std::size_t i = b.k; i < b.k + b.rules.lanes; ++i)
    z = hn::Add(z, product(b, i, column).value);
  if (!b.rules.group_scale) return z;
  for (std::size_t g = 0; g < b.rules.group_count; ++g) {
    const std::size_t at = b.k / b.rules.lanes * b.rules.group_count + g;
    for (const V scale : {number(b.m.scale_a[at]), load(b.m.scale_b + at * strip + column)})
      z = hn::IfThenElse(hn::Eq(scale, scale), z, scale);
  }
  return z;
}

HWY_INLINE Term group_sum(const Block& b, std::size_t group, std::size_t column) {
  const bool with_c = b.rules.c_level == CLevel::group;
  const std::size_t n = b.size(group);
  return reduce(b.rules, b.rules.group, n + with_c, with_c, [&](std::size_t i) HWY_ATTR {
    return i < n ? product(b, b.lane(group, i), column) : b.c(column);
  });
}

// --- Plain products at once ----------------------------------------------------------------------

// The largest exponent sum of a group of products, as powers of two.
HWY_INLINE void largest_powers(const Block& b, std::size_t group, double* powers) {
  const hn::ScalableTag<std::int16_t> d;
  alignas(64) std::int16_t most[strip];
  const std::size_t n = b.size(group);
  for (std::size_t column = 0; column < strip; column += 2 * hn::Lanes(d)) {
    auto low = hn::Set(d, 2 * no_exponent), high = low;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = b.lane(group, i);
      const auto a = hn::Set(d, b.m.a_exponent[at]);
      const std::int16_t* from = b.m.b_exponent + at * strip + column;
      low = hn::Max(low, hn::Add(a, hn::LoadU(d, from)));
      high = hn::Max(high, hn::Add(a, hn::LoadU(d, from + hn::Lanes(d))));
    }
    hn::StoreU(low, d, most + column);
    hn::StoreU(high, d, most + column + hn::Lanes(d));
  }
  for (std::size_t column = 0; column < strip; column += hn::Lanes(Doubles()))
    store(power_of_exponent(load_exponents(most + column)), powers + column);
}

// Which whole number an aligned term becomes.
enum class Whole : std::uint8_t { truncated, floored, by_mode };

template <Whole whole, bool overflows>
HWY_INLINE V aligned_product(const Rules& rules, V a, V b, V up) {
  V x = hn::Mul(a, b);
  if constexpr (overflows) {
    const M over = hn::Ge(hn::Abs(x), number(rules.overflow_at));
    const V infinity = number(std::numeric_limits<double>::infinity());
    x = hn::IfThenElse(over, hn::CopySign(infinity, x), x);
  }
  x = hn::Mul(x, up);
  if constexpr (whole == Whole::truncated) return to_integer(RoundingMode::rtz, x);
  if constexpr (whole == Whole::floored) return to_integer(RoundingMode::rdn, x);
  return to_integer(rules.group.mode, x);
}

template <Whole whole, bool overflows>
HWY_INLINE void window(const Block& b, std::size_t group) {
  constexpr int vectors = 4;
  const std::size_t width = hn::Lanes(Doubles()), n = b.size(group);
  const SumRule& rule = b.rules.group;
  const bool with_c = b.rules.c_level == CLevel::group;
  double* const value = b.sum(group);
  double* const power = value + strip;
  largest_powers(b, group, power);
  for (std::size_t column = 0; column < strip; column += vectors * width) {
    V total[vectors], up[vectors], unit[vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      const Term c = b.c(at);
      V most = load(power + at);
      if (with_c) most = hn::Max(most, c.power);
      const V floor = hn::Max(most, number(rule.least_power));
      up[v] = over(floor, rule.frac_bits);
      unit[v] = hn::Mul(floor, number(power_of_two(-rule.frac_bits)));
      total[v] = with_c ? aligned_c(rule, c, floor) : number(-0.0);
      store(hn::IfThenElseZero(hn::Gt(most, number(0)), floor), power + at);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = b.lane(group, i);
      const V a = number(b.m.a[at]);
      for (int v = 0; v < vectors; ++v) {
        const V of_b = load(b.m.b + at * strip + column + static_cast<std::size_t>(v) * width);
        total[v] = hn::Add(total[v], aligned_product<whole, overflows>(b.rules, a, of_b, up[v]));
      }
    }
    for (int v = 0; v < vectors; ++v)
      store(hn::Mul(total[v], unit[v]), value + column + static_cast<std::size_t>(v) * width);
  }
}

HWY_INLINE void exact(const Block& b, std::size_t group) {
  constexpr int vectors = 4;
  const std::size_t width = hn::Lanes(Doubles()), n = b.size(group);
  const bool with_c = b.rules.c_level == CLevel::group;
  double* const value = b.sum(group);
  largest_powers(b, group, value + strip);
  for (std::size_t column = 0; column < strip; column += vectors * width) {
    V total[vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      const Term c = b.c(at);
      total[v] = with_c ? c.value : number(-0.0);
      if (with_c) store(hn::Max(c.power, load(value + strip + at)), value + strip + at);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = b.lane(group, i);
      const V a = number(b.m.a[at]);
      for (int v = 0; v < vectors; ++v)
        total[v] = hn::MulAdd(
            a, load(b.m.b + at * strip + column + static_cast<std::size_t>(v) * width), total[v]);
    }
    for (int v = 0; v < vectors; ++v)
      store(total[v], value + column + static_cast<std::size_t>(v) * width);
  }
}

HWY_INLINE void quick_group(const Block& b, std::size_t group) {
  const SumRule& rule = b.rules.group;
  if (rule.aligned == Aligned::exact) return exact(b, group);
  if (b.m.overflows) return window<Whole::by_mode, true>(b, group);
  switch (rule.mode) {
    case RoundingMode::rtz: return window<Whole::truncated, false>(b, group);
    case RoundingMode::rdn: return window<Whole::floored, false>(b, group);
    default: return window<Whole::by_mode, false>(b, group);
  }
}

// --- The block -----------------------------------------------------------------------------------

// A group's sum times its scales, by whose exponents alone it votes.
HWY_INLINE Term scaled(const Block& b, std::size_t group, std::size_t column, Term t) {
  if (!b.rules.group_scale) return t;
  const std::size_t at = b.k / b.rules.lanes * b.rules.group_count + group;
  const std::size_t of_b = at * strip + column;
  t.value = hn::Mul(hn::Mul(t.value, number(b.m.scale_a[at])), load(b.m.scale_b + of_b));
  const V power = hn::Mul(number(b.m.scale_a_power[at]), load(b.m.scale_b_power + of_b));
  t.power = hn::IfThenElseZero(hn::Gt(t.power, number(0)), power);
  return t;
}

HWY_INLINE V join(const Block& b, std::size_t column) {
  const Rules& rules = b.rules;
  const bool with_c = rules.c_level == CLevel::block;
  const std::size_t groups = rules.group_count;
  const auto term = [&](std::size_t g) HWY_ATTR {
    return g < groups ? scaled(b, g, column, b.of_group(g, column)) : b.c(column);
  };
  Term t =
      groups + with_c == 1 ? term(0) : reduce(rules, rules.block, groups + with_c, with_c, term);
  if (rules.c_level == CLevel::late) {
    const Term of_products = t;
    t = reduce(rules, rules.late, 2, true,
               [&](std::size_t i) HWY_ATTR { return i == 0 ? of_products : b.c(column); });
  }
  if (rules.quick) return t.value;
  return unless_special(special(b, column), t.value);
}

// What promotion leaves in the sum's register.
HWY_INLINE V promoted(const Slot& to, V sum, double* outer) {
  store(round(to, sum_to_odd(load(outer), sum)), outer);
  return number(0);
}

void run(const Meeting& m, const Rules& rules, Registers& registers, double* sums) {
  for (std::size_t k = 0; k < m.k; k += rules.lanes) {
    const Block b{m, rules, registers, k, sums};
    for (std::size_t g = 0; rules.quick && g < rules.group_count; ++g) quick_group(b, g);
    const std::size_t done = m.first + k + rules.lanes;
    const bool due = rules.promote && (done % rules.interval == 0 || done == m.total);
    for (std::size_t column = 0; column < strip; column += hn::Lanes(Doubles())) {
      for (std::size_t g = 0; !rules.quick && g < rules.group_count; ++g)
        b.put(g, column, group_sum(b, g, column));
      V x = round(rules.out, join(b, column));
      if (due) x = promoted(*rules.promote, x, registers.outer + column);
      store(x, registers.sum + column);
      store(vote(x, rules.out.least_normal), registers.power + column);
    }
  }
}

void finish(const Rules& rules, const double* c, Registers& registers) {
  for (std::size_t column = 0; column < strip; column += hn::Lanes(Doubles())) {
    V x = load((rules.promote ? registers.outer : registers.sum) + column);
    if (rules.c_round) x = round(*rules.c_round, sum_to_odd(x, load(c + column)));
    if (rules.final) x = round(*rules.final, x);
    store(x, registers.sum + column);
  }
}

Kernels choose() { return {&run, &finish}; }
const char* name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::blocks {

HWY_EXPORT(choose);
HWY_EXPORT(name);

Kernels kernels() { return HWY_DYNAMIC_DISPATCH(choose)(); }
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }

}  // namespace widthwise::blocks
#endif
