#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "arithmetic.hpp"
#include "integral.hpp"
#include "target.hpp"

namespace widthwise {

using namespace mpfr;

namespace {

using Operands = std::array<Decoded, 3>;

// Those an operation does not have are zero.
Operands decoded(std::span<const OracleOperand> operands) {
  Operands x;
  for (Decoded& a : x) mpfr_set_zero(a.value.x, 1);
  std::transform(operands.begin(), operands.end(), x.begin(),
                 [](const OracleOperand& a) { return decode(a.format, a.code); });
  return x;
}

bool infinity_times_zero(const Scaled& a, const Scaled& b) {
  return (is_infinite(a) && is_zero(b)) || (is_zero(a) && is_infinite(b));
}

// Of fma: infinity times zero, whatever is added. On x86 a NaN that is added has its way.
bool product_makes_nan(Operation op, NanResult how, const Operands& x) {
  const bool gives_way = how == NanResult::x86 && mpfr::is_nan(x[2].value);
  return op == Operation::fma && infinity_times_zero(x[0].value, x[1].value) && !gives_way;
}

// An operand's NaN as one of `to`: its code's sign, and its fraction's leading digits below the
// point, the first of which says that it is quiet.
mpz_class carried_nan(const Format& from, const mpz_class& code, const Format& to,
                      const mpz_class& canonical) {
  mpz_class z = canonical;
  const auto sign_place = static_cast<mp_bitcnt_t>(code_bits(from) - 1);
  const bool negative = from.is_signed() && mpz_tstbit(code.get_mpz_t(), sign_place) != 0;
  if (negative && to.is_signed() && to.nan != NanCodes::sign_alone)
    z |= mpz_class(1) << static_cast<mp_bitcnt_t>(to.exp_bits + to.frac_bits);
  if (to.nan != NanCodes::ieee) return z;
  const mpz_class one = mpz_class(1) << static_cast<mp_bitcnt_t>(from.frac_bits);
  mpz_class fraction = code % one;
  fraction <<= static_cast<mp_bitcnt_t>(to.frac_bits);
  fraction >>= static_cast<mp_bitcnt_t>(from.frac_bits);
  return z | fraction;
}

// A result with the NaN that `how` wants in place of the canonical one.
Delivered with_nan(Operation op, const Format& to, NanResult how, const Operands& x,
                   std::span<const OracleOperand> operands, Delivered z) {
  if (how == NanResult::canonical || !to.is_float()) return z;
  const Landmarks marks(to);
  if (!marks.has_nan || z.code != marks.nan) return z;
  for (std::size_t i = 0; i < operands.size() && propagates(how); ++i)
    if (mpfr::is_nan(x[i].value) && !product_makes_nan(op, how, x)) {
      z.code = carried_nan(operands[i].format, x[i].code, to, marks.nan);
      return z;
    }
  const bool has_sign = to.is_signed() && to.nan != NanCodes::sign_alone;
  if (has_sign && makes_negative(how)) z.code |= marks.sign;
  return z;
}

// A NaN made of operands that were none, a signalling operand, or infinity times zero.
Flags invalid_flag(Operation op, NanResult how, const Operands& x, bool result_is_nan) {
  const bool operand_nan =
      std::any_of(x.begin(), x.end(), [](const Decoded& a) { return mpfr::is_nan(a.value); });
  const bool signals =
      std::any_of(x.begin(), x.end(), [](const Decoded& a) { return a.signalling; });
  const bool product_fails = product_makes_nan(op, how, x);
  return signals || product_fails || (result_is_nan && !operand_nan) ? invalid : 0;
}

Computation computation(Operation op, const Operands& x) {
  const Scaled &a = x[0].value, &b = x[1].value, &c = x[2].value;
  switch (op) {
    case Operation::add: return sum(a, b);
    case Operation::subtract: return difference(a, b);
    case Operation::multiply: return product(a, b);
    case Operation::divide: return quotient(a, b);
    case Operation::remainder: return mpfr::remainder(a, b);
    case Operation::sqrt: return square_root(a);
    case Operation::fma: return multiply_add(a, b, c);
    case Operation::convert: return itself(a);
    default:
      throw std::invalid_argument(
          "MPFR checks add, subtract, multiply, divide, remainder, sqrt, fma, convert, "
          "round_to_integral and round_to_integral_exact; a file's lines check any operation");
  }
}

OracleResult round_to_integral(Operation op, const Target& to, NanResult how, const Operands& x,
                               std::span<const OracleOperand> operands) {
  const Decoded& a = x[0];
  const Integral n = to_integral(a.value, to.round.rm, to.random);
  Flags flags = a.signalling ? invalid : 0;
  if (n.inexact && op == Operation::round_to_integral_exact) flags |= inexact;
  const Delivered z = delivered(to, itself(n.value));
  return packed(to.round.fmt, with_nan(op, to.round.fmt, how, x, operands, z), flags);
}

}  // namespace

OracleResult mpfr_compute(Operation op, const Format& to, const Env& env,
                          std::span<const OracleOperand> operands, std::uint64_t random) {
  if (operands.size() != static_cast<std::size_t>(arity(op)))
    throw std::invalid_argument("mpfr_compute(op, operands): the operation has " +
                                std::to_string(arity(op)) + " operands, not " +
                                std::to_string(operands.size()));
  const WidestRange range;
  const Target t = target(to, env, random);
  const Operands x = decoded(operands);
  if (op == Operation::round_to_integral || op == Operation::round_to_integral_exact)
    return round_to_integral(op, t, env.nan, x, operands);

  const Computation c = computation(op, x);
  mpfr_clear_flags();
  Scaled probe{Real(2)};
  c.into(probe.x, MPFR_RNDZ);
  Flags flags = invalid_flag(op, env.nan, x, mpfr::is_nan(probe));
  if (mpfr_divby0_p()) flags |= divide_by_zero;
  return packed(to, with_nan(op, to, env.nan, x, operands, delivered(t, c)), flags);
}

OracleResult mpfr_to_integer(IntegerType type, Rounding how, const OracleOperand& a,
                             std::uint64_t random) {
  const WidestRange range;
  const mpz_class span = mpz_class(1) << static_cast<mp_bitcnt_t>(type.width);
  const mpz_class most = (type.is_signed ? span / 2 : span) - 1;
  const mpz_class least = type.is_signed ? mpz_class(-span / 2) : mpz_class(0);
  auto packed_integer = [&](const mpz_class& n, Flags flags) {
    return OracleResult{limbs(n < 0 ? mpz_class(n + span) : n, 64), flags};
  };
  const Decoded x = decode(a.format, a.code);
  const Integral n = to_integral(x.value, how, random);
  const bool one_code = type.invalid == InvalidInteger::x86, is_nan = mpfr::is_nan(n.value);
  mpz_class nearest_end = is_nan || !is_negative(n.value) ? most : least;
  if (one_code) nearest_end = type.is_signed ? least : most;
  if (is_nan && type.invalid == InvalidInteger::arm) nearest_end = 0;
  if (a.format.is_tapered()) nearest_end = type.is_signed ? least : mpz_class(span / 2);  // NaR's
  if (is_nan) return packed_integer(nearest_end, invalid);
  if (is_infinite(n.value) || (is_number(n.value) && n.value.scale > type.width + 1))
    return packed_integer(nearest_end, invalid);
  const Cut cut = exactly(n.value);
  mpz_class whole = split(cut, 0).kept;
  if (cut.negative) whole = -whole;
  if (whole < least || whole > most) return packed_integer(nearest_end, invalid);
  return packed_integer(whole, n.inexact ? inexact : 0);
}

OracleResult mpfr_from_integer(IntegerType type, std::uint64_t integer_code, const Format& to,
                               const Env& env, std::uint64_t random) {
  const WidestRange range;
  const mpz_class span = mpz_class(1) << static_cast<mp_bitcnt_t>(type.width);
  mpz_class n = integer({&integer_code, 1}) % span;
  if (type.is_signed && n >= span / 2) n -= span;
  Scaled v{Real(type.width)};
  mpfr_set_z(v.x, n.get_mpz_t(), MPFR_RNDZ);
  return packed(to, delivered(target(to, env, random), itself(normalised(v))), 0);
}

}  // namespace widthwise
