#include "unit_sum.hpp"

#include <algorithm>

namespace widthwise::mpfr {
namespace {

constexpr Exponent widest_register = 1 << 22;

// A term's value as an integer multiple of 2^lsb, what lies below rounded off on its magnitude.
mpz_class on_grid(const Term& t, Exponent lsb, Rounding how) {
  const ExactSum sum(t.addends);
  if (sum.is_zero()) return 0;
  const Computation c = sum.computation();
  Real probe(2);
  c.into(probe, MPFR_RNDZ);
  const Exponent above = mpfr_get_exp(probe) + c.scale - lsb;
  if (above > widest_register) throw std::length_error("mpfr_dot: a term far above its register");
  const auto digits = static_cast<mpfr_prec_t>(std::max<Exponent>(above, 0) + 8);
  const Cut x = cut(c, digits);
  const mpz_class n = shorten(x, lsb, how, 0);
  return x.negative ? mpz_class(-n) : n;
}

mpz_class fit(const Sum& how, const mpz_class& v) {
  if (!how.width) return v;
  const mpz_class end = power(*how.width - 1);
  if (how.overflow == RegisterOverflow::saturate) {
    if (v < -end) return -end;
    return v >= end ? mpz_class(end - 1) : v;
  }
  mpz_class wrapped;
  mpz_fdiv_r_2exp(wrapped.get_mpz_t(), v.get_mpz_t(), static_cast<mp_bitcnt_t>(*how.width));
  return wrapped >= end ? mpz_class(wrapped - 2 * end) : wrapped;
}

// An integer multiple of 2^lsb as a term's value.
void set_value(Term& t, const mpz_class& n, Exponent lsb) {
  t.lsb = lsb;
  t.addends.clear();
  if (n == 0) return;
  Scaled v{Real(static_cast<mpfr_prec_t>(mpz_sizeinbase(n.get_mpz_t(), 2))), lsb};
  mpfr_set_z(v.x, n.get_mpz_t(), MPFR_RNDZ);
  t.addends.push_back(normalised(std::move(v)));
  t.sign = n < 0 ? ZeroIs::minus : ZeroIs::plus;
}

// The sign that a zero sum of these has. A zero that came by cancellation counts as +0 here.
ZeroIs shared_sign(const std::vector<Term>& terms) {
  const auto minus = std::count_if(terms.begin(), terms.end(),
                                   [](const Term& t) { return t.sign == ZeroIs::minus; });
  if (minus == 0) return ZeroIs::plus;
  return minus == static_cast<std::ptrdiff_t>(terms.size()) ? ZeroIs::minus : ZeroIs::mixed;
}

Term add_exactly(const Sum& how, const std::vector<Term>& terms, Term z) {
  z.lsb = std::min_element(terms.begin(), terms.end(), [](const Term& x, const Term& y) {
            return x.lsb < y.lsb;
          })->lsb;
  for (const Term& t : terms) z.addends.insert(z.addends.end(), t.addends.begin(), t.addends.end());
  if (how.width) {
    set_value(z, fit(how, on_grid(z, z.lsb, {})), z.lsb);
    return z;
  }
  const ExactSum sum(z.addends);
  if (sum.is_zero())
    z.addends.clear();
  else
    z.sign = sum.is_negative() ? ZeroIs::minus : ZeroIs::plus;
  return z;
}

// A quire shows 10...0, or is to hold a sum that it cannot.
bool is_nar(const Sum& how, const mpz_class& sum, const mpz_class& held) {
  return how.width &&
         (held == -power(*how.width - 1) || (how.overflow == RegisterOverflow::nar && held != sum));
}

// A register whose last digit stands still: it may wrap or saturate after every term. A quire
// begins with C.
Term accumulate(const Sum& how, std::vector<Term> terms, Term z) {
  const Exponent lsb = -Exponent{how.align.frac_bits};
  const bool quire = has_nar(how.overflow);
  if (quire) std::ranges::stable_partition(terms, [](const Term& t) { return t.is_c; });
  mpz_class v;
  for (const Term& t : terms) {
    const mpz_class sum = v + on_grid(t, lsb, how.align.rm);
    v = fit(how, sum);
    if (quire && is_nar(how, sum, v)) return special_term(Special::nan);
  }
  set_value(z, v, lsb);
  return z;
}

// Terms cut at F digits below the largest exponent, each port of a late join at its own.
Term add_aligned(const Sum& how, std::vector<Term> terms, const std::optional<LateFrac>& late,
                 Term z) {
  const Align& align = how.align;
  for (Term& t : terms)
    if (t.is_c && align.drop_c_below && t.exponent < z.exponent - *align.drop_c_below)
      t.addends.clear();
  const Exponent finest = late ? std::max(late->F_sum, late->F_C) : align.frac_bits;
  mpz_class v;
  for (const Term& t : terms) {
    const Exponent digits = !late ? Exponent{align.frac_bits} : t.is_c ? late->F_C : late->F_sum;
    v += on_grid(t, z.exponent - digits, align.rm) * power(finest - digits);
  }
  set_value(z, fit(how, v), z.exponent - finest);
  return z;
}

Term fused(const Sum& how, const std::vector<Term>& terms, const std::optional<LateFrac>& late) {
  const Special s = special_sum(terms);
  if (s != Special::none) return special_term(s);
  Term z;
  z.lane = terms.front().lane;
  z.sign = shared_sign(terms);
  const bool aligns = how.align.reference == Reference::max_exponent;
  bool any = aligns && how.align.e_floor;
  if (any) z.exponent = *how.align.e_floor;
  for (const Term& t : terms) {
    if (!t.votes) continue;
    z.exponent = any ? std::max(z.exponent, t.exponent) : t.exponent;
    any = z.votes = true;
  }
  if (!any) return z;
  if (aligns) return add_aligned(how, terms, late, z);
  if (how.align.reference == Reference::fixed_lsb) return accumulate(how, terms, z);
  return add_exactly(how, terms, z);
}

// Two inputs, rounded where the nodes are.
Term node(const Sum& how, const Term& x, const Term& y, const SumPlace& at) {
  Term z = fused(how, {x, y}, at.late);
  if (z.special != Special::none || !how.node_round) return z;
  const Decoded rounded = round_to(*how.node_round, z, {at.seed, at.index, at.slot, y.lane});
  return term_of(rounded, how.node_round->fmt, x.lane);
}

}  // namespace

Term sum_of(const Sum& how, std::vector<Term> terms, const SumPlace& at) {
  if (how.order == Order::fused || terms.size() == 1) return fused(how, terms, at.late);
  if (how.order == Order::sequential) {
    Term sum = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) sum = node(how, sum, terms[i], at);
    return sum;
  }
  while (terms.size() > 1) {
    std::vector<Term> half;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2)
      half.push_back(node(how, terms[i], terms[i + 1], at));
    if (terms.size() % 2 == 1) half.push_back(terms.back());
    terms = std::move(half);
  }
  return terms[0];
}

}  // namespace widthwise::mpfr
