#include <algorithm>
#include <stdexcept>
#include <string>

#include "unit_sum.hpp"
#include "widthwise/sim/mpfr_unit.hpp"

namespace widthwise {

using namespace mpfr;

namespace {

// One pair of operands, conditioned, with the scales that belong to it.
struct Lane {
  Term a, b, scale_a, scale_b;
};

std::size_t limbs_of(const Format& f) { return static_cast<std::size_t>(code_bits(f) + 63) / 64; }

std::vector<Decoded> decoded(const Format& f, Limbs codes) {
  const std::size_t n = limbs_of(f);
  std::vector<Decoded> all;
  for (std::size_t i = 0; i + n <= codes.size(); i += n)
    all.push_back(decode(f, codes.subspan(i, n)));
  return all;
}

void set_zero(Decoded& x, bool negative) { mpfr_set_zero(x.value.x, negative ? -1 : 1); }

// Keeps the leading digits of an operand, a subnormal's too, as many as the field has above them.
void keep_digits(const widthwise::Operand& how, Decoded& x) {
  if (!how.keep_frac || *how.keep_frac >= how.fmt.frac_bits || !is_number(x.value)) return;
  const mpfr::Exponent lsb = x.field_exponent - *how.keep_frac;
  const bool negative = is_negative(x.value);
  const mpz_class sig = shorten(exactly(x.value), lsb, how.keep_rm, 0);
  if (sig == 0) return set_zero(x, negative);
  const bool carried =
      mpz_sizeinbase(sig.get_mpz_t(), 2) > static_cast<std::size_t>(*how.keep_frac + 1);
  Scaled v{Real(how.fmt.frac_bits + 2), lsb};
  mpfr_set_z(v.x, sig.get_mpz_t(), MPFR_RNDZ);
  mpfr_setsign(v.x, v.x, negative, MPFR_RNDZ);
  x.value = normalised(std::move(v));
  x.field_exponent += carried ? 1 : 0;
}

Decoded conditioned(const widthwise::Operand& how, Decoded x) {
  const bool flush = how.subnormals != Flush::keep;
  if (how.subnormals == Flush::flush_pos_zero && is_zero(x.value)) set_zero(x, false);
  if (flush && x.subnormal && is_number(x.value))
    set_zero(x, how.subnormals == Flush::flush_signed_zero && is_negative(x.value));
  keep_digits(how, x);
  return x;
}

// The value that scales stand for where a unit has none.
Term one() {
  Decoded x;
  mpfr_set_ui(x.value.x, 1, MPFR_RNDZ);
  x.value = normalised(std::move(x.value));
  return term_of(x, {.exp_bits = 1, .frac_bits = 0, .bias = 0}, 0);
}

std::vector<Lane> permuted(const std::optional<LanePermutation>& how, std::vector<Lane> lanes) {
  if (!how) return lanes;
  std::vector<Lane> dealt;
  for (std::int64_t stream = 0; stream < how->ways; ++stream)
    for (std::size_t i = 0; i < lanes.size(); ++i)
      if (static_cast<std::int64_t>(i) / how->run % how->ways == stream)
        dealt.push_back(std::move(lanes[i]));
  return dealt;
}

std::vector<Lane> lanes_of(const Unit& u, const UnitOperands& x) {
  const std::vector<Decoded> a = decoded(u.a.fmt, x.a), b = decoded(u.b.fmt, x.b);
  if (a.size() != b.size())
    throw std::invalid_argument("mpfr_dot: a has " + std::to_string(a.size()) +
                                " codes and b has " + std::to_string(b.size()));
  std::vector<Decoded> sa, sb;
  if (u.scale) sa = decoded(u.scale->fmt, x.scale_a), sb = decoded(u.scale->fmt, x.scale_b);
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Lane lane{term_of(conditioned(u.a, a[i]), u.a.fmt, i),
              term_of(conditioned(u.b, b[i]), u.b.fmt, i), one(), one()};
    if (u.scale) {
      const std::size_t block = i / static_cast<std::size_t>(u.scale->block);
      lane.scale_a = term_of(sa.at(block), u.scale->fmt, i);
      lane.scale_b = term_of(sb.at(block), u.scale->fmt, i);
    }
    lanes.push_back(std::move(lane));
  }
  return permuted(u.chain.lane_permutation, std::move(lanes));
}

class Dot {
 public:
  Dot(const Unit& unit, const UnitOperands& operands, std::uint64_t seed, std::uint64_t index)
      : u_(unit), seed_(seed), index_(index), lanes_(lanes_of(unit, operands)) {
    const std::vector<Decoded> c = decoded(u_.c.fmt, operands.c);
    if (c.size() != 1) throw std::invalid_argument("mpfr_dot: c is one code");
    c_ = term_of(conditioned(u_.c, c[0]), u_.c.fmt, 0, true);
    pad();
  }

  std::vector<std::uint64_t> code() {
    const Decoded d = chain();
    const Round& r = result_round(u_);
    const int width = code_bits(r.fmt);
    if (is_nan(d.value) && r.nan_bits) return limbs(integer({&*r.nan_bits, 1}), width);
    return limbs(d.code, width);
  }

 private:
  void pad() {
    length_ = u_.lanes != 0 ? static_cast<std::size_t>(u_.lanes)
                            : std::max<std::size_t>(lanes_.size(), 1);
    Lane empty{{}, {}, one(), one()};  // +0 times +0
    if (!lanes_.empty())
      empty.scale_a = lanes_.back().scale_a, empty.scale_b = lanes_.back().scale_b;
    while (lanes_.empty() || lanes_.size() % length_ != 0) lanes_.push_back(empty);
  }

  Place place(Slot slot, std::uint64_t step) const { return {seed_, index_, slot, step}; }
  SumPlace sum_place(Slot slot) const { return {slot, seed_, index_, {}}; }
  bool scales(ScaleApply where) const { return u_.scale && u_.scale->apply == where; }

  // --- products

  bool past_product_range(const Term& p) const {
    const Scaled& v = p.addends[0];
    return u_.product.overflow_to_inf_at && v.scale > *u_.product.overflow_to_inf_at;
  }

  Term product(const Lane& lane, std::uint64_t step) const {
    Term p = times(lane.a, lane.b);
    p.lane = step;
    const bool number = p.special == Special::none && !p.addends.empty();
    if (number && past_product_range(p))
      p = special_term(infinity_of(p.sign == ZeroIs::minus));
    else if (number && u_.product.exponent == ProductExponent::normalised)
      p.exponent = p.addends[0].scale - 1;
    if (u_.product.round) p = rounded_product(keeping_signs(*u_.product.round), p, step);
    if (scales(ScaleApply::term)) p = times(times(p, lane.scale_a), lane.scale_b);
    p.lane = step;
    return p;
  }

  // zero_sign is about sums.
  static Round keeping_signs(Round r) {
    r.zero_sign = ZeroSign::ieee;
    return r;
  }
  Term rounded_product(const Round& r, const Term& p, std::uint64_t step) const {
    if (p.special != Special::none) return term_of(settle(r, p.special), r.fmt, step);
    if (p.addends.empty()) return term_of(settle_zero(r, p.sign == ZeroIs::minus), r.fmt, step);
    return term_of(round_to(r, p, place(Slot::product, step)), r.fmt, step);
  }

  std::vector<Term> products(std::size_t first) const {
    std::vector<Term> p;
    for (std::size_t i = first; i < first + length_; ++i) {
      p.push_back(product(lanes_[i], i));
      const bool bad_scale =
          lanes_[i].scale_a.special == Special::nan || lanes_[i].scale_b.special == Special::nan;
      if (bad_scale) p.back().special = Special::nan;
    }
    return p;
  }

  // --- levels

  std::vector<std::vector<Term>> grouped(const std::vector<Term>& p) const {
    std::vector<std::vector<Term>> groups;
    for (std::size_t i = 0; i < p.size(); ++i) {
      std::size_t g = 0;
      if (u_.groups && u_.groups->strided) g = i % static_cast<std::size_t>(*u_.groups->strided);
      if (u_.groups && u_.groups->consecutive)
        g = i / static_cast<std::size_t>(*u_.groups->consecutive);
      if (g == groups.size()) groups.emplace_back();
      groups[g].push_back(p[i]);
    }
    return groups;
  }

  // A group's sum times its scales aligns at the scales' exponents alone.
  Term scaled_group(const Term& sum, const std::vector<Term>& group) const {
    const Lane& lane = lanes_[group[0].lane];
    Term z = times(times(sum, lane.scale_a), lane.scale_b);
    z.exponent = lane.scale_a.exponent + lane.scale_b.exponent;
    const bool any = std::any_of(group.begin(), group.end(), [](const Term& t) { return t.votes; });
    z.votes = any && lane.scale_a.votes && lane.scale_b.votes;
    z.lane = group[0].lane;
    return z;
  }

  Term block_sum(std::vector<Term> p, const Term& c) const {
    std::vector<std::vector<Term>> groups = grouped(p);
    if (u_.c_level == CLevel::group) groups[0].push_back(c);
    std::vector<Term> sums;
    for (const std::vector<Term>& g : groups) {
      sums.push_back(sum_of(u_.group_sum, g, sum_place(Slot::group_node)));
      if (scales(ScaleApply::group)) sums.back() = scaled_group(sums.back(), g);
    }
    if (u_.c_level == CLevel::block) sums.push_back(c);
    if (sums.size() == 1) return sums[0];
    return sum_of(u_.block_sum, sums, sum_place(Slot::block_node));
  }

  // One block: its products and c to a number of out's format.
  Decoded block(std::size_t first, Term c) const {
    c.lane = first;
    c.is_c = true;
    std::vector<Term> p = products(first), all = p;
    all.push_back(c);
    const Special s = special_sum(all);
    if (s != Special::none) return settle(u_.out, s);
    Term z = block_sum(std::move(p), c);
    if (u_.c_level == CLevel::late) {
      SumPlace at = sum_place(Slot::c_node);
      at.late = u_.late_frac;
      z = sum_of(u_.c_sum, {z, c}, at);
    }
    if (z.special != Special::none) return settle(u_.out, z.special);
    return round_to(u_.out, z, place(Slot::out, first));
  }

  // --- chain

  Decoded rounded_sum(const Round& r, const Term& x, const Term& y, const Place& at) const {
    const Term z = sum_of(Sum{}, {x, y}, sum_place(Slot::out));
    return z.special != Special::none ? settle(r, z.special) : round_to(r, z, at);
  }

  Decoded promoted(const Term& outer, const Decoded& acc, std::size_t first) const {
    return rounded_sum(u_.chain.promote->round, outer, term_of(acc, u_.out.fmt, 0),
                       place(Slot::promote, first));
  }

  // What a chain holds between blocks. Until the first it is an operand, and no number of out's.
  struct Registers {
    Term sum;
    Term compensation{};
    Decoded held{};
  };

  // A compensated sum rounds every operation as out does.
  Decoded operation(Slot slot, const Term& x, const Term& y, std::size_t step) const {
    return rounded_sum(u_.out, x, y, place(slot, step));
  }
  Term value(Slot slot, const Term& x, const Term& y, std::size_t step) const {
    return term_of(operation(slot, x, y, step), u_.out.fmt, step);
  }

  Registers kahan(const Registers& r, const Term& p, std::size_t i) const {
    const Term y = value(Slot::addend, p, negated(r.compensation), i);
    const Decoded held = operation(Slot::out, r.sum, y, i);
    const Term t = term_of(held, u_.out.fmt, i);
    const Term gained = value(Slot::difference, t, negated(r.sum), i);
    return {t, value(Slot::error, gained, negated(y), i), held};
  }

  Registers neumaier(const Registers& r, const Term& p, std::size_t i) const {
    const Decoded held = operation(Slot::out, r.sum, p, i);
    const Term t = term_of(held, u_.out.fmt, i);
    const bool p_first = is_less_or_unordered(r.sum, p);
    const Term rest = value(Slot::difference, p_first ? p : r.sum, negated(t), i);
    const Term error = value(Slot::error, rest, p_first ? r.sum : p, i);
    return {t, value(Slot::compensation, r.compensation, error, i), held};
  }

  Registers next(const Registers& r, std::size_t first) const {
    switch (u_.chain.compensation) {
      case Compensation::kahan: return kahan(r, products(first)[0], first);
      case Compensation::neumaier: return neumaier(r, products(first)[0], first);
      case Compensation::none: break;
    }
    const Decoded held = block(first, r.sum);
    return {term_of(held, u_.out.fmt, 0), {}, held};
  }

  Decoded result(const Registers& r, std::size_t last) const {
    if (u_.chain.compensation != Compensation::neumaier) return r.held;
    return operation(Slot::compensated, r.sum, r.compensation, last);
  }

  // The blocks in order. A promoted chain restarts from zero every interval.
  Decoded blocks(Term start) const {
    const std::optional<Promote>& promote = u_.chain.promote;
    Term outer = start;
    Registers inner{promote ? Term{} : start};
    Decoded held;
    for (std::size_t first = 0; first < lanes_.size(); first += length_) {
      inner = next(inner, first);
      const std::size_t end = first + length_;
      const bool ends = end >= lanes_.size();
      if (!promote && ends) return result(inner, first);
      if (!promote || (end % static_cast<std::size_t>(promote->interval) != 0 && !ends)) continue;
      held = promoted(outer, result(inner, first), first);
      outer = term_of(held, promote->round.fmt, 0);
      inner = {};
    }
    return held;
  }

  Decoded chain() const {
    const Chain& ch = u_.chain;
    Decoded d = blocks(ch.c_at == CAt::first ? c_ : Term{});
    const Format* held_in = ch.promote ? &ch.promote->round.fmt : &u_.out.fmt;
    if (ch.c_at == CAt::last) {
      d = rounded_sum(*ch.c_round, term_of(d, *held_in, 0), c_, place(Slot::c_round, 0));
      held_in = &ch.c_round->fmt;
    }
    if (!ch.final) return d;
    const Term last = term_of(d, *held_in, 0);
    if (last.special != Special::none) return settle(*ch.final, last.special);
    return round_to(*ch.final, last, place(Slot::final, 0));
  }

  const Unit& u_;
  std::uint64_t seed_, index_;
  std::vector<Lane> lanes_;
  std::size_t length_ = 1;
  Term c_;
};

}  // namespace

std::vector<std::uint64_t> mpfr_dot(const Unit& unit, const UnitOperands& operands,
                                    std::uint64_t seed, std::uint64_t index) {
  const WidestRange range;
  return Dot(unit, operands, seed, index).code();
}

}  // namespace widthwise
