#include "sum_constants.hpp"

namespace widthwise::hdl {
namespace {

// Counts stop at 2^63 - 1: sums of that width are the simulator's alone.
bool counted(const SumWidths& w) { return w.needed < INT64_MAX; }

void add_register(Entries& x, const Sum& sum, const SumWidths& w) {
  const bool fixed = sum.align.reference != Reference::max_exponent;
  x.integer("TERMS", w.terms);
  x.integer("WIDTH", w.width,
            w.width < INT64_MAX ? "two's complement, with its sign" : "or more: exact sums");
  x.integer("FRAC_WIDTH", w.fraction, fixed ? "below 1" : "below 2^(the largest exponent)");
  if (fixed) x.integer("LSB_EXP", -w.fraction);
  if (counted(w)) {
    x.integer("INT_WIDTH", w.integer(), "carries included, the sign not");
    x.integer("CARRY_WIDTH", w.carry(), "bits that summing adds to a term's magnitude");
    if (fixed) x.integer("MSB_EXP", w.integer(), "the sign's weight is -2^this");
  }
  x.policy("OVERFLOW", sum.overflow);
  x.flag("CAN_OVERFLOW", w.can_overflow(),
         !w.can_overflow() ? "no operands can overflow it"
         : counted(w)      ? std::to_string(w.needed) + " bits would hold every sum"
                           : "");
}

void add_alignment(Entries& x, const Align& align, const SumWidths& w) {
  x.policy("ALIGN", align.reference);
  if (align.reference != Reference::exact) x.rounding("ALIGN_RM", align.rm);
  x.integer("EXP_WIDTH", w.exponent.width(), "signed; holds what the aligner compares");
  x.integer("EXP_MIN", w.exponent.min);
  x.integer("EXP_MAX", w.exponent.max);
  if (align.e_floor) x.integer("E_FLOOR", *align.e_floor, "the largest exponent is at least this");
  if (align.drop_c_below)
    x.integer("DROP_C_BELOW", *align.drop_c_below, "C is 0 this far below the largest exponent");
}

struct NamedSum {
  std::string_view prefix, title;
  const Sum& sum;
  const SumWidths& widths;
};

void add_sum(Draft& draft, const NamedSum& s) {
  Entries x(draft, std::string(s.title), s.prefix);
  x.policy("ORDER", s.sum.order);
  add_register(x, s.sum, s.widths);
  add_alignment(x, s.sum.align, s.widths);
}

void add_accumulator(Draft& draft, const Unit& u, const Widths& w) {
  const Sum& sum = w.c_sum ? u.c_sum : w.block_sum ? u.block_sum : u.group_sum;
  const std::string_view level = w.c_sum ? "c_sum" : w.block_sum ? "block_sum" : "group_sum";
  const std::string title = "accumulator: " + std::string(level);
  add_sum(draft, {"ACC_", title, sum, w.accumulator()});

  Entries x(draft, title, "ACC_");
  const std::int64_t product_fraction =
      sum.align.reference == Reference::max_exponent ? w.product_fraction : -w.product_lsb;
  std::int64_t guard;  // too large a number only for a register 2^62 places from its products
  if (!__builtin_sub_overflow(w.accumulator().fraction, product_fraction, &guard))
    x.integer("GUARD_WIDTH", guard,
              "of FRAC_WIDTH, bits below an exact product's last; negative: bits cut");
  if (w.c_sum && u.late_frac) {
    x.integer("SUM_FRAC_WIDTH", u.late_frac->F_sum, "fraction bits that the products' sum keeps");
    x.integer("C_FRAC_WIDTH", u.late_frac->F_C, "fraction bits that C keeps");
  }
}

}  // namespace

void add_product(Draft& draft, const Unit& u, const Widths& w) {
  Entries x(draft, "exact product", "PROD_");
  x.integer("SIG_WIDTH", w.product_significand, "unsigned");
  x.integer("FRAC_WIDTH", w.product_fraction);
  x.integer("EXP_WIDTH", w.product_exponent.width(), "signed; the sum of two field exponents");
  x.integer("EXP_MIN", w.product_exponent.min);
  x.integer("EXP_MAX", w.product_exponent.max);
  x.integer("LSB_EXP_MIN", w.product_lsb, "exponent of the least product's last bit");
  x.flag("NORMALISED", u.product.exponent == ProductExponent::normalised,
         "the aligner sees the exponent of the leading bit");
  if (u.product.overflow_to_inf_at)
    x.integer("INF_EXP", *u.product.overflow_to_inf_at, "from 2^this on it is an infinity");
}

void add_sums(Draft& draft, const Unit& u, const Widths& w) {
  const Sum exact{};
  const bool group_is_last = !w.block_sum && !w.c_sum;
  if (!group_is_last) add_sum(draft, {"GROUP_SUM_", "group_sum", u.group_sum, w.group_sum});
  if (w.block_sum && w.c_sum)
    add_sum(draft, {"BLOCK_SUM_", "block_sum", u.block_sum, *w.block_sum});
  add_accumulator(draft, u, w);
  if (w.compensation_sum)
    add_sum(draft, {"COMPENSATION_SUM_", "adder of running sums and what they lost", exact,
                    *w.compensation_sum});
  if (w.promote_sum)
    add_sum(draft, {"PROMOTE_SUM_", "adder before chain.promote.round", exact, *w.promote_sum});
  if (w.last_sum) add_sum(draft, {"LAST_SUM_", "adder before chain.c_round", exact, *w.last_sum});
}

}  // namespace widthwise::hdl
