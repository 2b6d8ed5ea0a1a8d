#include "walk.hpp"

#include <algorithm>
#include <stdexcept>

#include "result.hpp"

namespace oracle {
namespace {

using widthwise::inexact;
using widthwise::InfCodes;
using widthwise::invalid;
using widthwise::InvalidInteger;
using widthwise::NanCodes;
using widthwise::Overflow;
using widthwise::RoundingMode;
using widthwise::Tininess;
using widthwise::underflow;

// Where a finite result lies among the values of its format.
void locate(Outcome& x) {
  const std::vector<Point>& points = x.to->points();
  const auto above = std::partition_point(
      points.begin(), points.end(), [&](const Point& p) { return compare(x.exact, p.value) >= 0; });
  x.below_all = above == points.begin();
  if (!x.below_all) {
    x.lower = static_cast<std::size_t>(above - points.begin()) - 1;
    const Gap gap = x.to->gap(x.lower);
    x.at_lower = compare(x.exact, points[x.lower].value) == 0;
    x.half = compare(x.exact, middle(gap));
    x.past_end = above == points.end() && compare(x.exact, {gap.hi, gap.exp}) >= 0;
  }
  x.tiny = compare(x.exact, x.to->least_normal()) < 0;
  if (!x.tiny) return;
  const Gap last = x.to->gap_under_normal();
  x.may_grow = compare(x.exact, {last.lo, last.exp}) > 0;
  x.growth = compare(x.exact, middle(last));
}

Outcome place(const Values& to, const Result& z) {
  Outcome x{.to = &to, .kind = z.kind, .negative = z.negative, .cancelled = z.cancelled};
  x.flags = z.flags;
  x.exact = z.exact;
  if (z.kind == Kind::finite) locate(x);
  return x;
}

Outcome sealed(const Values& to, std::uint64_t code) {
  Outcome x{.to = &to};
  x.sealed = true;
  x.code = code;
  return x;
}

bool same_encoding(const Format& f, const Format& g) {
  return f.exp_bits == g.exp_bits && f.frac_bits == g.frac_bits && f.bias == g.bias &&
         f.is_signed() == g.is_signed() && f.nan == g.nan && f.inf == g.inf &&
         f.subnormals == g.subnormals && f.zero == g.zero;
}

// Subnormal operands are zero where their format says so.
Number read(const Coded& x) {
  if (!x.format->daz || !x.number.subnormal) return x.number;
  return {.kind = Kind::zero, .negative = x.number.negative, .code = x.number.code};
}

bool is_x86_choice(Operation op) { return op == Operation::min_x86 || op == Operation::max_x86; }

// One of the operands: b, unless a comes first. A code that the result's format has stays as it is
// (docs/semantics.md, E3).
Outcome chosen_by_x86(Operation op, const Values& to, const Coded& a, const Coded& b) {
  const Number x = read(a), y = read(b);
  const bool unordered = x.kind == Kind::nan || y.kind == Kind::nan;
  const int o = unordered ? 0 : order(x, y);
  const bool first = op == Operation::min_x86 ? o < 0 : o > 0;
  const Number& z = first ? x : y;
  const bool may_stay = z.kind == Kind::finite || z.kind == Kind::nan;
  Outcome chosen = may_stay && same_encoding(*(first ? a : b).format, to.format())
                       ? sealed(to, z.code)
                       : place(to, as_is(z));
  chosen.flags |= unordered ? invalid : 0;
  return chosen;
}

// negate, abs and copysign within one encoding: the sign bit moves and nothing is raised, whatever
// the rest stands for. What has no such sign is NaN, else +0.
Outcome with_sign(const Values& to, const Number& x, bool negative) {
  const bool zero_has_no_sign = to.format().nan == NanCodes::sign_alone;
  if (zero_has_no_sign && (x.kind == Kind::zero || x.kind == Kind::nan)) return sealed(to, x.code);
  if (to.format().is_signed()) return sealed(to, (x.code & ~to.sign(true)) | to.sign(negative));
  const bool below_zero = negative && x.kind != Kind::zero && x.kind != Kind::nan;
  return sealed(to, below_zero ? to.nan() : x.code);
}

bool moves_sign_only(Operation op) {
  return op == Operation::negate || op == Operation::abs || op == Operation::copysign;
}

bool new_sign(Operation op, const Number& x, const Number& y) {
  if (op == Operation::abs) return false;
  return op == Operation::negate ? !x.negative : y.negative;
}

// All codes that are not NaN from least to greatest, one of the zeros.
std::vector<std::uint64_t> ascending(const Values& v) {
  std::vector<std::uint64_t> codes;
  for (const Point& p : v.points()) codes.push_back(p.code);
  if (v.has(Kind::infinite)) codes.push_back(v.infinity(false));
  if (!v.format().is_signed()) return codes;
  std::vector<std::uint64_t> all;
  for (auto p = codes.rbegin(); p != codes.rend(); ++p)
    if (*p != 0 || !v.format().zero) all.push_back(*p | v.sign(true));
  all.insert(all.end(), codes.begin(), codes.end());
  return all;
}

// The code beside x, not rounded and not flushed; x itself at the end (docs/semantics.md, E9).
std::uint64_t beside(const Values& v, const Number& x, bool up) {
  const std::vector<std::uint64_t> all = ascending(v);
  const std::uint64_t code = x.kind == Kind::zero ? 0 : x.code;
  const auto at = std::find(all.begin(), all.end(), code);
  if (up) return at + 1 == all.end() ? *at : *(at + 1);
  return at == all.begin() ? *at : *(at - 1);
}

Outcome neighbour(Operation op, const Values& to, const Coded& operand) {
  if (!same_encoding(*operand.format, to.format()))
    throw std::invalid_argument("next_up, next_down: the operand is not of the result's format");
  const Number x = read(operand);
  if (x.kind == Kind::nan) {
    Outcome z{.to = &to};
    z.flags = x.signalling ? invalid : 0;
    return z;
  }
  const bool up = op == Operation::next_up;
  const std::uint64_t code = beside(to, x, up);
  // From below, zero is reached as -0 where there is one.
  const bool negative_zero =
      up && x.negative && code == 0 && to.format().zero && to.format().nan != NanCodes::sign_alone;
  return sealed(to, negative_zero && x.kind != Kind::zero ? to.sign(true) : code);
}

// --- delivery -----------------------------------------------------------------------------------

struct Delivery {
  const Outcome& x;
  const Env& env;
  std::uint64_t random;
  const Values& to = *x.to;
  const Format& f = to.format();

  Answer with(std::uint64_t code, Flags flags) const { return {code, x.flags | flags}; }

  Answer nan(Flags flags) const {
    if (to.has(Kind::nan)) return with(to.nan(), flags);
    return with(0, flags | invalid);  // +0, or the least number where there is no zero
  }

  Answer largest(Flags flags) const {
    return with(to.points().back().code | to.sign(x.negative), flags);
  }

  // A number below zero has no code in an unsigned format (docs/semantics.md, N2).
  Answer lost_sign() const { return nan(invalid); }

  Answer zero(bool negative, Flags flags) const {
    if (!f.zero) return to.has(Kind::nan) ? nan(invalid) : with(to.sign(negative), flags | invalid);
    const bool has_negative_zero = f.is_signed() && f.nan != NanCodes::sign_alone;
    return with(has_negative_zero ? to.sign(negative) : 0, flags);
  }

  // Past the largest number: what the format has, in the order the policy asks for (R7).
  Answer past(Overflow how, Flags flags) const {
    if (!f.is_signed() && x.negative) return lost_sign();
    const bool number_first = how == Overflow::max || how == Overflow::satfinite;
    const bool nan_first = how == Overflow::nan;
    if (number_first) return largest(flags);
    if (nan_first && to.has(Kind::nan)) return nan(flags);
    if (to.has(Kind::infinite)) return with(to.infinity(x.negative), flags);
    if (to.has(Kind::nan)) return nan(flags);
    return largest(flags);
  }

  Answer infinity() const {
    const bool saturates = f.overflow == Overflow::satfinite;
    if (f.inf != InfCodes::none && !saturates) return past(Overflow::inf, 0);
    return past(f.overflow, widthwise::overflow | inexact);
  }

  Answer overflowed() const {
    const RoundingMode m = env.rounding.mode;
    const bool towards_zero = m == RoundingMode::rtz || m == RoundingMode::odd ||
                              m == (x.negative ? RoundingMode::rup : RoundingMode::rdn);
    const bool stops = f.overflow == Overflow::ieee && towards_zero;
    return past(stops ? Overflow::max : f.overflow, widthwise::overflow | inexact);
  }

  bool up(const Gap& gap, std::strong_ordering half) const {
    if (env.rounding.stochastic()) return goes_up_at_random(env.rounding, x.exact, gap, random);
    return goes_up(env.rounding, x.negative, gap.lo_odd, half);
  }

  // i is the number that it is rounded to.
  bool tiny(std::size_t i) const {
    const bool past = i >= to.points().size();
    if (env.tininess == Tininess::as_delivered) return x.tiny && !past && is_below_normal(i);
    if (!x.tiny || env.tininess == Tininess::before_rounding || !x.may_grow) return x.tiny;
    return !up(to.gap_under_normal(), x.growth);
  }

  bool is_below_normal(std::size_t i) const {
    const Dyadic& value = to.points()[i].value;
    if (value.sig == 0) return true;
    return compare(Exact{.num = Big(value.sig), .exp = value.exp}, to.least_normal()) < 0;
  }

  Answer finite() const {
    const std::vector<Point>& points = to.points();
    Flags flags = x.below_all || !x.at_lower ? inexact : 0;
    std::size_t i = x.lower;
    if (!x.below_all && !x.at_lower && (x.past_end || up(to.gap(x.lower), x.half))) ++i;
    const bool is_tiny = tiny(i);
    if (flags != 0 && is_tiny) flags |= underflow;
    if (i == points.size() || x.past_end) return overflowed();
    if (points[i].value.sig == 0) return zero(x.negative, flags);
    const bool has_subnormals = f.subnormals && f.zero;
    if (f.ftz && has_subnormals && is_tiny) return zero(x.negative, underflow | inexact);
    if (!f.is_signed() && x.negative) return lost_sign();
    return with(points[i].code | to.sign(x.negative), flags);
  }
};

}  // namespace

Outcome outcome(Operation op, const Values& to, std::initializer_list<Coded> operands, Rounding how,
                std::uint64_t random) {
  if (static_cast<int>(operands.size()) != arity(op))
    throw std::invalid_argument("outcome(op): wrong number of operands");
  const Coded& a = *operands.begin();
  if (op == Operation::next_up || op == Operation::next_down) return neighbour(op, to, a);
  if (moves_sign_only(op) && same_encoding(*a.format, to.format()))
    return with_sign(to, a.number, new_sign(op, a.number, (operands.end() - 1)->number));

  if (is_x86_choice(op)) return chosen_by_x86(op, to, a, *(operands.begin() + 1));

  std::array<Number, 3> x{};
  std::transform(operands.begin(), operands.end(), x.begin(), read);
  Outcome z = place(to, exact_result(op, x, how, random));
  return z;
}

Outcome real(const Values& to, bool negative, const Exact& exact) {
  return place(to, {.kind = Kind::finite, .negative = negative, .exact = exact});
}

Outcome scaleb(const Values& to, const Coded& a, std::int64_t n) {
  const Number x = read(a);
  Result z = exact_result(Operation::convert, {x}, {}, 0);
  constexpr std::int64_t far = std::int64_t{1} << 62;  // past every result format
  z.exact.exp += std::clamp(n, -far, far);
  return place(to, z);
}

Outcome from_integer(const Values& to, IntegerType type, std::uint64_t integer_code) {
  const bool negative = type.is_signed && (integer_code >> (type.width - 1) & 1) != 0;
  const std::uint64_t mask =
      type.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.width) - 1;
  const std::uint64_t size = (negative ? 0 - integer_code : integer_code) & mask;
  Number x{.kind = size == 0 ? Kind::zero : Kind::finite, .negative = negative, .sig = size};
  return place(to, as_is(x));
}

Answer deliver(const Outcome& x, const Env& env, std::uint64_t random) {
  if (x.sealed) return {x.code, x.flags};
  const Delivery d{x, env, random};
  switch (x.kind) {
    case Kind::nan: return d.nan(0);
    case Kind::infinite: return d.infinity();
    case Kind::zero:
      return d.zero(x.negative || (x.cancelled && env.rounding.mode == RoundingMode::rdn), 0);
    case Kind::finite: break;
  }
  return d.finite();
}

Answer answer(Operation op, const Format& to, const Env& env, std::initializer_list<Coded> operands,
              std::uint64_t random) {
  return deliver(outcome(op, values(to), operands, env.rounding, random), env, random);
}

Answer to_integer(IntegerType type, Rounding how, const Coded& a, std::uint64_t random) {
  const Big most = (Big(1) << static_cast<unsigned>(type.width - (type.is_signed ? 1 : 0))) - 1;
  const Big least = type.is_signed ? Big(-most - 1) : Big(0);
  auto code = [&](const Big& n) {
    const Big wrapped = n < 0 ? Big(n + (Big(1) << static_cast<unsigned>(type.width))) : n;
    return static_cast<std::uint64_t>(wrapped);
  };
  const Number x = read(a);
  const auto lost = [&](const Big& end) {
    if (type.invalid == InvalidInteger::x86)
      return Answer{code(type.is_signed ? least : Big(most)), invalid};
    return Answer{code(end), invalid};
  };
  if (x.kind == Kind::nan) return lost(type.invalid == InvalidInteger::arm ? Big(0) : Big(most));
  const bool huge = x.kind == Kind::infinite || (x.kind == Kind::finite && exponent(x) > 64);
  if (huge) return lost(x.negative ? least : Big(most));
  if (x.kind == Kind::zero) return {0, 0};
  const Whole whole = nearest_integer(x, how, random);
  const Big n = x.negative ? Big(-whole.magnitude) : whole.magnitude;
  if (n < least || n > most) return lost(x.negative ? least : Big(most));
  return {code(n), whole.inexact ? inexact : 0};
}

namespace {

// Total order's coarse steps; within one, codes without their sign rise with the magnitude.
// A format whose only NaN is the code of -0 has no sign to give it: it stands above everything.
std::int64_t total_rank(const Format& f, const Number& x, bool magnitude_only) {
  const std::uint64_t sign = std::uint64_t{1} << (f.exp_bits + f.frac_bits);
  if (x.kind == Kind::nan && f.nan == NanCodes::sign_alone) return static_cast<std::int64_t>(sign);
  const auto magnitude = static_cast<std::int64_t>(x.code & (sign - 1));
  return x.negative && !magnitude_only ? -1 - magnitude : magnitude;
}

Answer total_order(const Coded& a, const Coded& b, bool magnitude_only) {
  if (!same_encoding(*a.format, *b.format))
    throw std::invalid_argument("total order: operands of two formats");
  return {total_rank(*a.format, a.number, magnitude_only) <=
              total_rank(*b.format, b.number, magnitude_only),
          0};
}

}  // namespace

Answer compare(Comparison what, const Coded& a, const Coded& b) {
  using enum Comparison;
  if (what == total_order || what == total_order_magnitude)
    return oracle::total_order(a, b, what == total_order_magnitude);

  const Number x = read(a), y = read(b);
  const bool unordered = x.kind == Kind::nan || y.kind == Kind::nan;
  const bool quiet = what == quiet_equal || what == quiet_less || what == quiet_less_equal ||
                     what == quiet_unordered;
  const bool complains = unordered && (!quiet || x.signalling || y.signalling);
  const Flags flags = complains ? invalid : 0;
  if (unordered) return {what == quiet_unordered, flags};
  const int o = order(x, y);
  switch (what) {
    case quiet_equal:
    case signaling_equal: return {o == 0, flags};
    case quiet_less:
    case signaling_less: return {o < 0, flags};
    case quiet_less_equal:
    case signaling_less_equal: return {o <= 0, flags};
    default: return {false, flags};
  }
}

int class_of(const Coded& a) {
  const Number x = read(a);
  if (x.kind == Kind::nan) return x.signalling ? 0 : 1;
  const int from_zero = x.kind == Kind::zero       ? 0
                        : x.kind == Kind::infinite ? 3
                        : x.subnormal              ? 1
                                                   : 2;
  return x.negative ? 5 - from_zero : 6 + from_zero;
}

}  // namespace oracle
