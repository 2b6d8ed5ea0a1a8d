#include "thresholds.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "numbers.hpp"
#include "simulator.hpp"
#include "stand_in.hpp"
#include "widthwise/sim/values.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {
namespace {

constexpr int furthest = 2;  // an aim lies so far from its threshold at most
constexpr int tries = 400;   // of each aim,
constexpr int kept = 2;      // and of those whose results tell

enum class Kind { floor, dropped, infinite, window, grid, end, digits };

// Where a unit does another thing, and the same unit with it so many places further.
struct Threshold {
  Kind kind;
  std::int64_t at;
  std::function<void(Unit&, std::int64_t)> move;
  // Of a floor and of an end: digits of the sum below 2^0, or below its largest exponent.
  std::int64_t fraction = 0;
  bool fixed = false;
};

using SumOf = Sum Unit::*;

void collect_sum(const Unit& u, SumOf which, std::vector<Threshold>& all) {
  const Sum& sum = u.*which;
  const Align& align = sum.align;
  const bool window = align.reference == Reference::max_exponent;
  const bool fixed = align.reference == Reference::fixed_lsb;
  if (window && align.e_floor)
    all.push_back({Kind::floor, *align.e_floor,
                   [=](Unit& v, std::int64_t by) { *(v.*which).align.e_floor += by; },
                   align.frac_bits});
  if (window && align.drop_c_below)
    all.push_back({Kind::dropped, *align.drop_c_below,
                   [=](Unit& v, std::int64_t by) { *(v.*which).align.drop_c_below += by; }});
  if (window || fixed)
    all.push_back({fixed ? Kind::grid : Kind::window, align.frac_bits,
                   [=](Unit& v, std::int64_t by) { (v.*which).align.frac_bits += by; }});
  if (sum.width)
    all.push_back({Kind::end, *sum.width,
                   [=](Unit& v, std::int64_t by) { *(v.*which).width += by; }, align.frac_bits,
                   fixed});
}

void collect_digits(std::vector<Threshold>& all, std::optional<int> digits,
                    std::function<void(Unit&, std::int64_t)> move) {
  if (digits) all.push_back({Kind::digits, *digits, std::move(move)});
}

std::vector<Threshold> thresholds(const Unit& u) {
  std::vector<Threshold> all;
  for (const SumOf which : {&Unit::group_sum, &Unit::block_sum, &Unit::c_sum})
    collect_sum(u, which, all);
  if (u.product.overflow_to_inf_at)
    all.push_back({Kind::infinite, *u.product.overflow_to_inf_at,
                   [](Unit& v, std::int64_t by) { *v.product.overflow_to_inf_at += by; }});
  if (u.late_frac) {
    all.push_back({Kind::window, u.late_frac->F_sum,
                   [](Unit& v, std::int64_t by) { v.late_frac->F_sum += by; }});
    all.push_back(
        {Kind::window, u.late_frac->F_C, [](Unit& v, std::int64_t by) { v.late_frac->F_C += by; }});
  }
  for (Operand Unit::*which : {&Unit::a, &Unit::b, &Unit::c})
    collect_digits(all, (u.*which).keep_frac, [=](Unit& v, std::int64_t by) {
      *(v.*which).keep_frac += static_cast<int>(by);
    });
  collect_digits(all, u.out.keep_frac,
                 [](Unit& v, std::int64_t by) { *v.out.keep_frac += static_cast<int>(by); });
  collect_digits(all, u.out.post_norm_frac,
                 [](Unit& v, std::int64_t by) { *v.out.post_norm_frac += static_cast<int>(by); });
  return all;
}

// Exponents of a format's numbers' leading digits.
ExponentRange leading_exponents(const Format& f) {
  if (f.is_fixed()) return {f.least_digit(), f.emax()};
  return exponents_of(f);
}

// Half of the last place of a result of that exponent.
std::int64_t half_place(const Format& f, std::int64_t e) {
  if (f.is_fixed()) return f.least_digit() - 1;
  if (f.is_tapered()) return e - f.digits();
  return std::max(e, f.emin()) - f.frac_bits - 1;
}

// Operands that meet a threshold, or miss it by so many places.
class Aimed {
 public:
  Aimed(const Dataflow& flow, std::uint64_t seed) : flow_(flow), random_(seed) {}

  Stimulus at(const Threshold& t, std::int64_t by) {
    Stimulus s = nothing();
    switch (t.kind) {
      case Kind::floor: meet_floor(s, t, t.at + by); break;
      case Kind::dropped: meet_drop(s, t.at + by); break;
      case Kind::infinite: product(s, whole(1, t.at), by); break;
      case Kind::window: meet_window(s, t.at + by); break;
      case Kind::grid: last_digit(s, -t.at + by); break;
      case Kind::end: meet_end(s, t, by); break;
      case Kind::digits: any_product(s); break;
    }
    return s;
  }

 private:
  bool chance() { return random_() % 2 == 0; }
  int below(std::int64_t n) {
    return n < 1 ? 0 : static_cast<int>(random_() % static_cast<std::uint64_t>(n));
  }
  std::size_t lane() { return static_cast<std::size_t>(below(flow_.lanes)); }
  std::size_t lanes() const { return static_cast<std::size_t>(flow_.lanes); }
  const Format& c_format(const Stimulus& s) const { return s.running ? flow_.y : *flow_.c; }

  Stimulus nothing() {
    const auto scales = static_cast<std::size_t>(flow_.scales());
    Code one;
    if (flow_.scale)
      if (const auto limbs = find_code(*flow_.scale, NamedCode::one))
        std::ranges::copy(*limbs, one.limb);
    Stimulus s{std::vector<Code>(lanes()),
               std::vector<Code>(lanes()),
               {Code()},
               std::vector<Code>(scales, one),
               std::vector<Code>(scales, one)};
    s.running = flow_.running && chance();
    return s;
  }

  Code converted_of_exponent(const Format& f, std::int64_t e) {
    const ExponentRange range = leading_exponents(f);
    if (e < range.min || e > range.max) return {};
    const int digits = 1 + below(std::min(f.digits(), 62));
    const Code code = apply(Operation::convert, f, {whole(odd(digits), e - digits + 1)}).code;
    return chance() ? negated(f, code) : code;
  }

  // A normal number of that exponent: random digits, none, or all; zero where there is no such one.
  Code of_exponent(const Format& f, std::int64_t e) {
    if (!f.is_float()) return converted_of_exponent(f, e);
    if (e < f.emin() || e > f.emax()) return {};
    const Code digits = below(4) == 0   ? Code()
                        : below(3) == 0 ? ones<Code>(f.frac_bits)
                                        : random_code(f, random_) & ones<Code>(f.frac_bits);
    const Code field(static_cast<std::uint64_t>(e + f.bias));
    return (field << f.frac_bits) | digits | (chance() ? sign_of(f) : Code());
  }

  // Of all exponents that the product of two such numbers may have.
  std::int64_t some_exponent() {
    const ExponentRange a = leading_exponents(flow_.a), b = leading_exponents(flow_.b);
    const std::int64_t least = a.min + b.min, most = a.max + b.max;
    return least + below(most - least + 1);
  }

  // Puts a product into a lane whose operands' exponents add up to e.
  void product_at(Stimulus& s, std::size_t i, std::int64_t e) {
    const ExponentRange a = leading_exponents(flow_.a), b = leading_exponents(flow_.b);
    const std::int64_t least = std::max(a.min, e - b.max), most = std::min(a.max, e - b.min);
    if (least > most) return;
    const std::int64_t of_a = least + below(most - least + 1);
    s.a[i] = of_exponent(flow_.a, of_a);
    s.b[i] = of_exponent(flow_.b, e - of_a);
  }

  // Two that cancel, where there are lanes for them: what they vote for stands, and is seen alone.
  void pair_at(Stimulus& s, std::int64_t e) {
    const std::size_t i = lane(), j = (i + 1) % lanes();
    product_at(s, i, e);
    if (i == j || below(4) == 0) return;
    s.a[j] = negated(flow_.a, s.a[i]);
    s.b[j] = s.b[i];
  }

  std::optional<std::size_t> free_lane(const Stimulus& s) {
    std::size_t i = lane();
    for (std::size_t n = 0; n < lanes(); ++n, i = (i + 1) % lanes())
      if (s.a[i] == Code()) return i;
    return std::nullopt;
  }

  void small_at(Stimulus& s, std::int64_t e) {
    if (const auto i = free_lane(s)) product_at(s, *i, e);
  }

  void c_at(Stimulus& s, std::int64_t e) {
    if (flow_.c) s.c[0] = of_exponent(c_format(s), e);
  }

  // An odd number of so many digits.
  std::int64_t odd(std::int64_t digits) {
    const std::int64_t top = std::int64_t{1} << (digits - 1);
    return top | (static_cast<std::int64_t>(random_()) & (top - 1)) | 1;
  }

  // C, or a product, half way between two results of exponent e: the least that is added, or cut
  // off, is seen.
  void half_way(Stimulus& s, std::int64_t e) {
    const std::int64_t half = half_place(flow_.y, e);
    const std::int64_t digits = e - half + 1;
    if (digits < 1 || digits > 62) return;
    if (flow_.c && below(3) == 0) {
      s.c[0] = apply(Operation::convert, c_format(s), {whole(odd(digits), half)}).code;
      return;
    }
    const std::int64_t of_a = 1 + below(std::min<std::int64_t>(digits, flow_.a.digits()));
    const std::int64_t of_b = std::min<std::int64_t>(digits + 1 - of_a, flow_.b.digits());
    const std::int64_t sum = half + of_a + of_b - 2;  // of both exponents
    const ExponentRange a = leading_exponents(flow_.a), b = leading_exponents(flow_.b);
    const std::int64_t least = std::max(a.min, sum - b.max), most = std::min(a.max, sum - b.min);
    if (least > most) return;
    const std::int64_t last = least + below(most - least + 1) - (of_a - 1);
    const std::size_t i = lane();
    s.a[i] = apply(Operation::convert, flow_.a, {whole(odd(of_a), last)}).code;
    s.b[i] = apply(Operation::convert, flow_.b, {whole(odd(of_b), half - last)}).code;
  }

  void meet_floor(Stimulus& s, const Threshold& t, std::int64_t e) {
    const int way = below(6);
    if (way > 3) {
      half_way(s, e);
      return last_digit(s, std::max(e, t.at) - t.fraction - below(2));
    }
    if (way == 0) return c_at(s, e);
    if (way == 1) return product_at(s, lane(), e);
    product_at(s, lane(), way == 2 ? e : e - below(12));
    c_at(s, way == 2 ? e - below(12) : e);
  }

  void meet_drop(Stimulus& s, std::int64_t distance) {
    const std::int64_t e = some_exponent();
    pair_at(s, e);
    c_at(s, e - distance);
  }

  // a * b is beside y.
  void product(Stimulus& s, const Number& y, std::int64_t by) {
    const std::size_t i = lane();
    const Format& f = flow_.a;
    const ExponentRange range = leading_exponents(f);
    const Number a{f, of_exponent(f, range.min + below(range.max - range.min + 1))};
    const Code b = apply(Operation::divide, flow_.b, {y, a}).code;
    const Code moved = by < 0 ? b - Code(static_cast<std::uint64_t>(-by))
                              : b + Code(static_cast<std::uint64_t>(by));
    s.a[i] = a.code;
    s.b[i] = within(flow_.b, moved);
    if (chance()) s.a[i] = negated(f, s.a[i]);
  }

  // The least digits of a product, or of C, lie where the window of so many digits ends.
  void meet_window(Stimulus& s, std::int64_t fraction) {
    const std::int64_t e = some_exponent();
    switch (below(3)) {
      case 0: pair_at(s, e); break;
      case 1: c_at(s, e); break;
      default: half_way(s, e);
    }
    last_digit(s, e - fraction);
  }

  void last_digit(Stimulus& s, std::int64_t weight) {
    const int digits = flow_.a.frac_bits + flow_.b.frac_bits;
    if (flow_.c && s.c[0] == Code() && below(3) == 0)
      return c_at(s, weight + below(c_format(s).frac_bits + 2));
    if (chance()) return small_at(s, weight + below(digits + 2));
    single_digit(s, weight);
  }

  // A product that is a power of two, of subnormal numbers perhaps.
  void single_digit(Stimulus& s, std::int64_t weight) {
    const auto lowest = [](const Format& f) {
      return f.is_float() && f.subnormals ? f.least_digit() : leading_exponents(f).min;
    };
    const std::int64_t least = std::max(lowest(flow_.a), weight - flow_.b.emax());
    const std::int64_t most = std::min(flow_.a.emax(), weight - lowest(flow_.b));
    const std::optional<std::size_t> i = free_lane(s);
    if (least > most || !i) return;
    const std::int64_t of_a = least + below(most - least + 1);
    s.a[*i] = apply(Operation::convert, flow_.a, {whole(1, of_a)}).code;
    s.b[*i] = apply(Operation::convert, flow_.b, {whole(1, weight - of_a)}).code;
  }

  // Sums beside the largest that a register holds, or the least: C near it, products for the rest.
  void meet_end(Stimulus& s, const Threshold& t, std::int64_t by) {
    const std::int64_t lowest = t.fixed ? -t.fraction : some_exponent() - t.fraction;
    const std::int64_t sign = chance() ? 1 : -1;
    Number rest = t.at > 62 ? whole(sign, lowest + t.at - 1)
                            : whole(sign * ((std::int64_t{1} << (t.at - 1)) + by), lowest);
    const Format precise = rest.format;
    if (flow_.c && chance()) {
      s.c[0] = apply(Operation::convert, c_format(s), {rest}).code;
      if (chance()) s.c[0] = s.c[0] - Code(1);
      if (!is_finite(c_format(s), s.c[0])) s.c[0] = {};
      rest = apply(Operation::subtract, precise, {rest, {c_format(s), s.c[0]}});
    }
    const bool large = chance();  // few lanes reach the ends of a long register with these alone
    for (std::size_t i = 0; i < lanes(); ++i) {
      const Number a{flow_.a, large || i % 2 ? largest(flow_.a) : of_exponent(flow_.a, 0)};
      Number b = apply(Operation::divide, flow_.b, {rest, a});
      if (!is_finite(flow_.b, b.code) || a.code == Code()) b.code = largest(flow_.b);
      s.a[i] = a.code;
      s.b[i] = b.code;
      rest =
          apply(Operation::subtract, precise, {rest, apply(Operation::multiply, precise, {a, b})});
    }
  }

  bool is_finite(const Format& f, const Code& code) const {
    const Number zero = apply(Operation::subtract, f, {{f, code}, {f, code}});
    if (!f.is_float()) return zero.code == Code();
    return (zero.code & ones<Code>(f.magnitude_bits())) == Code();
  }
  Code largest(const Format& f) const {
    Code code;
    if (const auto limbs = find_code(f, NamedCode::max_finite))
      std::ranges::copy(*limbs, code.limb);
    return code;
  }

  void any_product(Stimulus& s) {
    const std::size_t i = lane();
    s.a[i] = random_code(flow_.a, random_);
    s.b[i] = random_code(flow_.b, random_);
    if (flow_.c && chance()) s.c[0] = random_code(c_format(s), random_);
  }

  const Dataflow& flow_;
  Random random_;
};

// Units with a threshold one place off, which is what a wrong comparison makes of one.
class Neighbours {
 public:
  Neighbours(const Unit& unit, const Threshold& t, int lanes, const Multiplier& multiply) {
    for (const std::int64_t by : {-1, 1}) {
      Unit moved = unit;
      t.move(moved, by);
      try {
        others_.push_back(make_simulator(moved, lanes, multiply));
      } catch (const std::invalid_argument&) {
        // There is no such unit, so that nothing can be mistaken for it.
      }
    }
  }

  // Of the stimuli that `aim` makes some that tell each of them from the right one.
  template <class Aim>
  void tell(const Simulator& right, std::uint64_t seed, const Aim& aim,
            std::vector<Stimulus>& all) const {
    const RandomSource random{seed, 0};
    for (const auto& other : others_)
      for (int i = 0, found = 0; i < tries && found < kept; ++i) {
        Stimulus s = aim();
        const Answer due = right.answer(s, random), theirs = other->answer(s, random);
        if (due.y == theirs.y && due.flags == theirs.flags) continue;
        all.push_back(std::move(s));
        ++found;
      }
  }

 private:
  std::vector<std::unique_ptr<Simulator>> others_;
};

}  // namespace

std::vector<Stimulus> threshold_stimuli(const Unit& unit, const Dataflow& flow, std::uint64_t seed,
                                        const Multiplier& multiply) {
  std::vector<Stimulus> all;
  const auto right = make_simulator(unit, flow.lanes, multiply);
  const StandIn in(flow);
  Aimed aimed(in.flow(), seed);
  for (const Threshold& t : thresholds(unit)) {
    const Neighbours neighbours(unit, t, flow.lanes, multiply);
    for (int by = -furthest; by <= furthest; ++by)
      neighbours.tell(
          *right, seed, [&] { return in.in_tables(aimed.at(t, by)); }, all);
  }
  return all;
}

}  // namespace widthwise::hdl
