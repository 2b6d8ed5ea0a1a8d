#include "kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/blocks/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/blocks/compensated_tile-inl.hpp"
#include "sim/blocks/exact_tile-inl.hpp"
#include "sim/blocks/late_tile-inl.hpp"
#include "sim/blocks/tree_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// --- Operands ------------------------------------------------------------------------------------

void exponents(const double* numbers, std::size_t n, int emin, std::int16_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(numbers[i]) << 1;
    const auto e = static_cast<std::int32_t>(magnitude >> 53) - 1023;
    out[i] = magnitude == 0 ? no_exponent : static_cast<std::int16_t>(std::max(e, emin));
  }
}

void complete(const double* numbers, const std::int16_t* exponents, std::size_t n, float* singles,
              Spread& of) {
  for (std::size_t i = 0; i < n; ++i) singles[i] = static_cast<float>(numbers[i]);
  const hn::ScalableTag<std::int16_t> d;
  if (n < hn::Lanes(d)) return of.meet(exponents, n);
  const auto ends = hn::Set(d, special_exponent), none = hn::Set(d, Spread{}.least);
  auto least = none, most = hn::Set(d, Spread{}.most), specials = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto e = hn::LoadU(d, exponents + i);
    least = hn::Min(least, hn::IfThenElse(hn::Gt(e, ends), e, none));
    most = hn::Max(most, e);
    specials = hn::Or(specials, hn::VecFromMask(d, hn::Eq(e, ends)));
  }
  of.meet({hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, most)),
           !hn::AllTrue(d, hn::Eq(specials, hn::Zero(d)))});
  of.meet(exponents + i, n - i);
}

// --- The block -----------------------------------------------------------------------------------

// A group's sum times its scales, by whose exponents alone it votes.
void scale(const Block& b, std::size_t group, Strip& sum) {
  const std::size_t at_a = b.scale(group), at_b = at_a * strip_columns;
  const V scale_a = number(b.m.scale_a[at_a]), power_of_a = number(b.m.scale_a_power[at_a]);
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    const V value = hn::Mul(load(sum.value + at), scale_a);
    const V power = hn::Mul(power_of_a, load(b.m.scale_b_power + at_b + at));
    const M voted = hn::Gt(load(sum.power + at), number(0));
    store(hn::Mul(value, load(b.m.scale_b + at_b + at)), sum.value + at);
    store(hn::IfThenElseZero(voted, power), sum.power + at);
  });
}

// Every product and sum as lib's block() has them.
void sum_one_by_one(const Block& b, std::size_t group, const Progress& sums, Strip* products,
                    Strip& result) {
  std::size_t n = b.size(group);
  Strip** terms = b.scratch.terms.data();
  for (std::size_t i = 0; i < n; ++i) {
    product(b, b.first(group) + i * b.stride(), products[i]);
    terms[i] = &products[i];
  }
  const bool with_c = b.c_joins(CLevel::group);
  if (with_c) terms[n++] = &b.c;
  reduce(b.rules, b.rules.group, sums, {terms, n, with_c}, result);
}

void sum_groups(const Block& b, const Progress& sums) {
  Strip* products = b.scratch.products.data();
  for (std::size_t g = 0; g < b.rules.group_count; ++g) {
    Strip& sum = b.scratch.sums[g];
    if (b.rules.plain_twofold) {
      products_twofold(b, sums, sum);
    } else if (b.rules.quick) {
      quick_group(b, g, sum);
    } else {
      sum_one_by_one(b, g, sums, products, sum);
      products += b.size(g);
    }
    if (b.rules.group_scale) scale(b, g, sum);
  }
}

// What infinities and NaN of products, C and scales make of the block before it is summed, if they
// do: they add up to one.
void add_specials(const Block& b, double* sum) {
  const Rules& rules = b.rules;
  std::copy_n(b.c.value, strip_columns, sum);
  Strip term;
  for (std::size_t i = 0; i < rules.lanes; ++i) {
    product(b, b.k + i, term);
    add_special(term.value, sum);
  }
  for (std::size_t g = 0; rules.group_scale && g < rules.group_count; ++g)
    add_nan(number(b.m.scale_a[b.scale(g)]), b.m.scale_b + b.scale(g) * strip_columns, sum);
}
bool any_special(const double* values) {
  M any = hn::Lt(number(0), number(0));
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    any = hn::Or(any, infinite_or_nan(load(values + at)));
  });
  return !hn::AllFalse(Doubles(), any);
}

// The sum of the groups and C.
void sum_block(const Block& b, const Progress& sums, Strip& result) {
  const Rules& rules = b.rules;
  sum_groups(b, sums);
  Strip** terms = b.scratch.terms.data();
  std::size_t n = 0;
  for (; n < rules.group_count; ++n) terms[n] = &b.scratch.sums[n];
  const bool with_c = b.c_joins(CLevel::block);
  if (with_c) terms[n++] = &b.c;
  Strip* sum = terms[0];
  if (n > 1) reduce(rules, rules.block, sums, {terms, n, with_c}, *(sum = &result));
  if (b.c_joins(CLevel::late)) {
    Strip* pair[] = {sum, &b.c};
    reduce(rules, rules.late, sums, {pair, 2, true}, *(sum = &result));
  }
  if (sum != &result) std::copy_n(sum->value, strip_columns, result.value);
}

// Marks of a strip's sums join those before them, but where `decided` holds.
HWY_INLINE void keep_marks(M decided, const std::int64_t* of_sums, std::int64_t* all) {
  if (!all) return;
  const I kept = hn::IfThenZeroElse(hn::RebindMask(Ints(), decided), hn::LoadU(Ints(), of_sums));
  hn::StoreU(hn::Or(hn::LoadU(Ints(), all), kept), Ints(), all);
}

// The block's exact sum. Where infinities and NaN have decided, no sum is there to raise a flag or
// to be in doubt.
void join(const Block& b, Strip& result) {
  const bool special = !b.rules.quick && (b.m.special || any_special(b.c.value));
  if (!special) return sum_block(b, b.progress, result);
  const auto [first, columns, draws, all_flags, all_doubts] = b.progress;
  alignas(64) double specials[strip_columns];
  alignas(64) std::int64_t flags[strip_columns] = {}, doubts[strip_columns] = {};
  add_specials(b, specials);
  sum_block(b, {first, columns, draws, all_flags ? flags : nullptr, all_doubts ? doubts : nullptr},
            result);
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    const V special_sum = load(specials + at);
    store(unless_special(special_sum, load(result.value + at)), result.value + at);
    const M decided = infinite_or_nan(special_sum);
    keep_marks(decided, flags + at, all_flags ? all_flags + at : nullptr);
    keep_marks(decided, doubts + at, all_doubts ? all_doubts + at : nullptr);
  });
}

// Whether doubles hold all sums of the block's products, none of which is infinite or NaN.
bool is_narrow(const Block& b) {
  if (b.rules.narrow_span < 0) return false;
  const std::size_t block = b.k / b.rules.lanes;
  return b.m.a_span[block] + b.m.b_span[block] <= b.rules.narrow_span;
}
struct NarrowSum {
  const double *a, *b, *c;
  std::size_t n;
  HWY_INLINE Pair terms(std::size_t at) const {
    V total = number(-0.0);
    for (std::size_t i = 0; i < n; ++i)
      total = hn::MulAdd(number(a[i]), load(b + i * strip_columns + at), total);
    return {total, load(c + at)};
  }
  HWY_INLINE V operator()(std::size_t at) const { return sum_to_odd(terms(at)); }
};
void add_narrow(const Block& b, Strip& sum) {
  const NarrowSum exact{b.m.a + b.k, b.m.b + b.k * strip_columns, sum.value, b.rules.lanes};
  round_strip(b.rules.out, b.progress, b.position(b.k), false, exact, sum);
}

// --- Compensated sums ----------------------------------------------------------------------------

void negate(const double* from, std::size_t columns, double* to) {
  for_each_vector(columns,
                  [&](std::size_t at) HWY_ATTR { store(hn::Neg(load(from + at)), to + at); });
}

// The rounded additions of one step, that of product p (lib's datapath/compensation.hpp).
struct CompensatedStep {
  const Block& b;
  const Strip& p;

  // x + y, or x - y.
  void add(const Slot& slot, const double* x, const double* y, Strip& result) const {
    round_sum(slot, b.progress, p.lane, false, x, y, result);
  }
  void subtract(const Slot& slot, const double* x, const double* y, Strip& result) const {
    alignas(64) double minus_y[strip_columns];
    negate(y, b.m.columns, minus_y);
    add(slot, x, minus_y, result);
  }

  void kahan(const Registers& r) const {
    const CompensationSlots& slots = b.rules.compensated;
    Strip y, t, moved;
    subtract(slots.addend, p.value, r.compensation, y);
    add(b.rules.out, r.sum->value, y.value, t);
    subtract(slots.difference, t.value, r.sum->value, moved);
    subtract(slots.error, moved.value, y.value, moved);
    std::copy_n(t.value, strip_columns, r.sum->value);
    std::copy_n(moved.value, strip_columns, r.compensation);
  }

  void neumaier(const Registers& r) const {
    const CompensationSlots& slots = b.rules.compensated;
    alignas(64) double large[strip_columns], small[strip_columns];
    for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
      const V sum = load(r.sum->value + at), addend = load(p.value + at);
      const M sum_leads = hn::Ge(hn::Abs(sum), hn::Abs(addend));
      store(hn::IfThenElse(sum_leads, sum, addend), large + at);
      store(hn::IfThenElse(sum_leads, addend, sum), small + at);
    });
    Strip rest;
    add(b.rules.out, r.sum->value, p.value, *r.sum);
    subtract(slots.difference, large, r.sum->value, rest);
    add(slots.error, rest.value, small, rest);
    add(slots.compensation, r.compensation, rest.value, rest);
    std::copy_n(rest.value, strip_columns, r.compensation);
  }
};

void add_compensated(const Block& b, const Registers& registers) {
  Strip p;
  product(b, b.k, p);
  const CompensatedStep step{b, p};
  b.rules.compensation == Compensation::kahan ? step.kahan(registers) : step.neumaier(registers);
}

// What the registers come to after the last step.
void settle(const Rules& rules, const Progress& progress, std::uint64_t step, const Registers& r) {
  if (rules.compensation != Compensation::neumaier) return;
  round_sum(rules.compensated.compensated, progress, step, false, r.sum->value, r.compensation,
            *r.sum);
}

// --- The chain -----------------------------------------------------------------------------------

void promote(const Rules& rules, const Progress& progress, std::uint64_t step, const Registers& r) {
  settle(rules, progress, step, r);
  round_sum(*rules.promote, progress, step, false, r.outer, r.sum->value, *r.sum);
  std::copy_n(r.sum->value, strip_columns, r.outer);
  if (r.compensation) std::fill_n(r.compensation, strip_columns, 0.0);
  *r.sum = {};
}

// Whether what the blocks up to a position have come to is promoted.
bool is_promoted(const Rules& rules, std::size_t end, std::size_t total) {
  return rules.promote && (end % rules.interval == 0 || end == total);
}

// All blocks of a tile: add(first, end) is asked for those between two promotions.
template <class Add>
void run_pieces(const Meeting& m, const Rules& rules, const Registers& of_first_row,
                Scratch& scratch, const Add& add) {
  for (std::size_t k = 0; k < m.k;) {
    std::size_t end = k + rules.lanes;
    while (end < m.k && !is_promoted(rules, m.first + end, m.total)) end += rules.lanes;
    add(k, end);
    k = end;
    if (!is_promoted(rules, m.first + end, m.total)) continue;
    Registers registers = of_first_row;
    Where output = m.output;
    for (std::size_t r = 0; r < m.rows; ++r, registers.to_next_row(), output.index += m.row_outputs)
      promote(rules, {output, m.columns, &scratch.draws[r], registers.flags, registers.doubts},
              m.first + end - rules.lanes, registers);
  }
}

void run_block(const Block& b, const Registers& registers) {
  const Rules& rules = b.rules;
  const std::uint64_t first = b.position(b.k), end = first + rules.lanes;
  if (rules.compensation != Compensation::none) {
    add_compensated(b, registers);
  } else if (is_narrow(b)) {
    add_narrow(b, *registers.sum);
  } else {
    Strip sum;
    b.c.lane = first;
    join(b, sum);
    round(rules.out, b.progress, first, rules.votes, sum.value, *registers.sum);
  }
  if (is_promoted(rules, end, b.m.total)) promote(rules, b.progress, first, registers);
}

void doubt_all(const Meeting& m, const Registers& of_first_row) {
  std::fill_n(of_first_row.doubts, m.rows * strip_columns, -1);
}

void run(const Meeting& m, const Rules& rules, const Registers& of_first_row, Scratch& scratch) {
  if (m.faint) return doubt_all(m, of_first_row);
  const auto in_pieces = [&](const auto& add) { run_pieces(m, rules, of_first_row, scratch, add); };
  if (are_trees(m, rules))
    return in_pieces([&](std::size_t first, std::size_t end) {
      add_trees(m, rules, first, end, of_first_row.sum);
    });
  if (is_machine_compensated(m, rules))
    return in_pieces([&](std::size_t first, std::size_t end) {
      add_as_machine(m, rules, first, end, of_first_row, scratch);
    });
  if (few_digits_tile(m, rules, of_first_row, scratch)) return;
  if (any_mode_tile(m, rules, of_first_row, scratch)) return;
  if (short_tree_tile(m, rules, of_first_row.sum)) return;
  if (late_tile(m, rules, of_first_row, scratch) || exact_tile(m, rules, of_first_row)) return;
  for (std::size_t k = 0; k < m.k; k += rules.lanes) {
    Meeting of_row = m;
    Registers registers = of_first_row;
    for (std::size_t r = 0; r < m.rows; ++r, of_row.to_next_row(), registers.to_next_row())
      run_block({of_row,
                 rules,
                 *registers.sum,
                 k,
                 {of_row.output, m.columns, &scratch.draws[r], registers.flags, registers.doubts},
                 scratch},
                registers);
  }
}

void finish(const Rules& rules, const Where& first, const double* c, const Registers& r,
            Scratch& scratch) {
  const Progress progress{first, strip_columns, &scratch.draws[0], r.flags, r.doubts};
  Strip& sum = *r.sum;
  if (rules.promote)
    std::copy_n(r.outer, strip_columns, sum.value);
  else
    settle(rules, progress, rules.last_step, r);
  if (rules.c_round) round_sum(*rules.c_round, progress, 0, false, sum.value, c, sum);
  if (rules.final) round(*rules.final, progress, 0, false, sum.value, sum);
}

Kernels choose() { return {&exponents, &complete, &run, &finish}; }
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
