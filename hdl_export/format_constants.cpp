#include "format_constants.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/widths.hpp"
#include "widthwise/system/fixed.hpp"

namespace widthwise::hdl {
namespace {

// The code of 1, where the format has it.
std::optional<Code> one(Format f) {
  f.ftz = false;  // the code is there, whatever becomes of results
  const std::uint64_t integer = 1;
  std::array<std::byte, sizeof(Code)> code{};
  std::uint8_t flags = 0;
  from_integers({.width = 64, .is_signed = false}, f, {}, &integer, 1, code.data(), &flags);
  if (flags != 0) return {};
  return load_code<Code>(code.data(), item_bytes(f.width()));
}

void add_float_widths(Entries& x, const Format& f) {
  x.integer("EXP_WIDTH", f.exp_bits);
  x.integer("FRAC_WIDTH", f.frac_bits, "without the hidden bit");
  x.integer("SIG_WIDTH", f.precision(), "with it");
  x.integer("BIAS", f.bias);
  x.integer("EMIN", f.emin(), "least exponent");
  x.integer("EMAX", f.emax(), "exponent of the largest finite number");
  x.integer("LSB_EXP", f.least_digit(), "exponent of the last fraction bit at EMIN");
}

// A code is an integer, times 2^LSB_EXP.
void add_fixed_widths(Entries& x, const Format& f) {
  x.integer("INT_WIDTH", f.width() + f.least_digit(), "bits above the point, the sign's included");
  x.integer("FRAC_WIDTH", -f.least_digit(), "bits below it");
  x.integer("SIG_WIDTH", f.digits(), "of a magnitude");
  x.integer("LSB_EXP", f.least_digit(), "exponent of the last bit");
  x.policy("OVERFLOW", fixed_overflow(f.overflow));
}

void add_tapered_widths(Entries& x, const Format& f) {
  if (f.is_posit()) x.integer("ES", f.exp_bits, "exponent bits behind the regime");
  x.integer("FRAC_WIDTH", f.digits() - 1, "at most");
  x.integer("SIG_WIDTH", f.digits(), "with the leading one");
  x.integer("EMIN", exponents_of(f).min, "least exponent");
  x.integer("EMAX", f.emax(), "exponent of the largest number");
  x.integer("LSB_EXP", f.least_digit(), "exponent of the last bit that a number may have");
}

void add_table_widths(Entries& x, const Format& f) {
  x.integer("COUNT", f.table->count, "values that a code looks up");
  x.integer("SIG_WIDTH", f.digits(), "of the longest value");
  x.integer("EMAX", f.emax(), "exponent of the largest value");
  x.integer("LSB_EXP", f.least_digit(), "exponent of the last bit that a value may have");
}

void add_widths(Entries& x, const Format& f) {
  x.integer("WIDTH", f.width(), "bits of a code");
  if (f.is_float()) return add_float_widths(x, f);
  x.flag("IS_FIXED", f.is_fixed(), "an integer times a power of two");
  x.flag("IS_POSIT", f.is_posit());
  x.flag("IS_TAKUM", f.is_tapered() && !f.is_posit());
  x.flag("IS_TABLE", f.is_table());
  if (f.is_fixed()) return add_fixed_widths(x, f);
  f.is_table() ? add_table_widths(x, f) : add_tapered_widths(x, f);
}

// A table's codes have no order of their own.
void add_listed_ends(Entries& x, const Format& f) {
  const Table& t = *f.table;
  if (t.has_zero) x.pattern("POS_ZERO", f.width(), Code(t.zero));
  x.pattern("MAX_FINITE", f.width(), Code(t.largest().code));
  x.pattern("MIN_FINITE", f.width(), Code(t.least().code), "the least number");
  if (const auto code = one(f)) x.pattern("ONE", f.width(), *code);
  if (t.has_nan) x.pattern("QNAN", f.width(), Code(t.nan));
}

void add_ends(Entries& x, const Layout<Code>& l) {
  const Format& f = l.format;
  const Rounder<Code> to(f);
  const Code least =
      f.is_fixed() ? complemented(l, true, least_integer(to)) : complemented(l, true, l.max_finite);
  x.pattern("POS_ZERO", f.width(), Code());
  if (l.max_finite != Code()) x.pattern("MIN_POSITIVE", f.width(), Code(1));
  x.pattern("MAX_FINITE", f.width(), l.max_finite);
  if (f.is_signed()) x.pattern("MIN_FINITE", f.width(), least, "the number furthest below zero");
  if (const auto code = one(f)) x.pattern("ONE", f.width(), *code);
  if (f.has_nan()) x.pattern("QNAN", f.width(), l.nan_code, "NaR, not a real");
}

// Subnormals lie between the codes 0 and `hidden`. Without them the least number follows on zero.
void add_finite(Entries& x, const Layout<Code>& l, bool has_subnormal) {
  const Format& f = l.format;
  const auto pattern = [&](std::string_view name, const Code& code) {
    x.pattern(name, f.width(), code);
  };
  if (f.zero) pattern("POS_ZERO", Code());
  if (f.zero && f.is_signed() && f.nan != NanCodes::sign_alone) pattern("NEG_ZERO", l.sign);
  if (has_subnormal) {
    pattern("MIN_SUBNORMAL", Code(1));
    pattern("MAX_SUBNORMAL", l.max_finite < l.hidden ? l.max_finite : l.hidden - Code(1));
  }
  const Code least_normal = f.all_normal() ? Code(f.zero ? 1 : 0) : l.hidden;
  if (least_normal <= l.max_finite) pattern("MIN_NORMAL", least_normal);
  pattern("MAX_FINITE", l.max_finite);
  if (const auto code = one(f)) pattern("ONE", *code);
}

// A table has numbers below zero without a bit that says so.
bool has_sign(const Format& f) { return f.is_table() ? f.table->least().negative : f.is_signed(); }

void add_codes(Entries& x, const Layout<Code>& l, const Code& nan_code) {
  const Format& f = l.format;
  const bool has_subnormal = f.is_float() && !f.all_normal() && f.frac_bits > 0;
  x.flag("HAS_SIGN", has_sign(f));
  x.flag("HAS_ZERO", f.zero);
  x.flag("HAS_INF", f.has_inf());
  x.flag("HAS_NAN", f.has_nan());
  x.flag("HAS_SUBNORMAL", has_subnormal);
  if (f.is_table()) return add_listed_ends(x, f);
  if (!f.is_float()) return add_ends(x, l);
  add_finite(x, l, has_subnormal);
  if (f.has_nan()) x.pattern("QNAN", f.width(), nan_code);
  if (f.has_inf()) x.pattern("POS_INF", f.width(), l.infinity);
  if (f.has_inf() && f.is_signed()) x.pattern("NEG_INF", f.width(), l.infinity | l.sign);
}

}  // namespace

Flush flush_of(const Operand& operand) {
  if (operand.subnormals != Flush::keep) return operand.subnormals;
  return operand.fmt.daz ? Flush::flush_signed_zero : Flush::keep;
}

void require_known(const Format& f) {
  constexpr int most_bits = 10;  // of a code that a module looks up
  if (!f.is_table() || f.width() <= most_bits) return;
  throw std::invalid_argument(
      fmt::format("{}: its codes have {} bits, and exported hardware looks up codes to {}; write "
                  "operands in a float or in fixed point with astype, or leave it to the simulator",
                  said(f), f.width(), most_bits));
}

void require_rounded(const Format& f) {
  if (!f.is_table()) return;
  throw std::invalid_argument(fmt::format(
      "{}: exported hardware reads tables and rounds to floats, fixed point, posits and takums; "
      "name one of these for results, or leave it to the simulator",
      said(f)));
}

void add_format(Entries& x, const Format& f) {
  require_known(f);
  const Layout<Code> l(f);
  add_widths(x, f);
  add_codes(x, l, l.nan_code);
}

void add_operand(Entries& x, const Operand& operand) {
  add_format(x, operand.fmt);
  if (!operand.fmt.is_float()) return;
  x.integer("KEEP_FRAC", operand.keep_frac.value_or(operand.fmt.frac_bits),
            "fraction bits that are used");
  if (operand.keep_frac) x.rounding("KEEP_RM", operand.keep_rm);
  x.policy("FLUSH", flush_of(operand));
}

void add_round(Entries& x, const Round& r, NanResult nan) {
  require_rounded(r.fmt);
  const Rounder<Code> rounder(r, nan);
  add_widths(x, r.fmt);
  add_codes(x, rounder.layout, rounder.nan_code);
  x.rounding("RM", r.rm);
  if (r.rm.stochastic()) {
    x.integer("SR_WIDTH", r.rm.random_bits, "random bits of a rounding");
    x.policy("SR", r.rm.variant);
  }
  if (!r.fmt.is_float()) return;
  x.integer("KEEP_FRAC", rounder.precision - 1, "fraction bits that are kept");
  if (r.post_norm_frac) {
    x.integer("POST_NORM_FRAC", *r.post_norm_frac, "fraction bits that normalising keeps");
    x.rounding("POST_NORM_RM", r.post_norm_rm);
  }
  x.policy("FLUSH", rounder.flush);
  x.policy("OVERFLOW", rounder.overflow);
  x.flag("ZERO_IS_PLUS", !zero_is_negative(r, true, false), "exact zeros are never -0");
  x.flag("KEEPS_ZERO_SIGN", rounder.keeps_zero_sign, "what is rounded to zero may be -0");
}

}  // namespace widthwise::hdl
