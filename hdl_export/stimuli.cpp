#include "stimuli.hpp"

#include <algorithm>
#include <random>

#include "numbers.hpp"
#include "stand_in.hpp"
#include "stored_codes.hpp"
#include "widthwise/sim/operands.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::hdl {
namespace {

using Step = Dataflow::Kind;

constexpr int aimed = 128;  // vectors of each aim

bool chance(Random& random) { return random() % 2 == 0; }

// A significand of so many digits, the last one a one, in some code's place.
Code shortened(const Format& f, const Code& code, int digits) {
  const int dropped = std::clamp(f.precision() - digits, 0, f.frac_bits);
  const Code last = dropped < f.frac_bits ? bit<Code>(dropped) : Code();
  return ((code >> dropped) << dropped) | last;
}

Code power_of_two(const Format& f, const Code& code) {
  if (f.is_float()) return (code >> f.frac_bits) << f.frac_bits;
  constexpr Format powers = ieee_format(30, 0);
  return apply(Operation::convert, f, {apply(Operation::convert, powers, {{f, code}})}).code;
}

std::vector<Code> named(const Format& f) {
  std::vector<Code> all;
  for (const NamedCode which : named_codes)
    if (const auto limbs = find_code(f, which)) {
      Code code;
      std::ranges::copy(*limbs, code.limb);
      all.push_back(code);
      if (f.is_float() && f.is_signed()) all.push_back(within(f, code | sign_of(f)));
      if (!f.is_float()) all.insert(all.end(), {negated(f, code), code ^ ones<Code>(f.width())});
    }
  return all;
}

// A zero, a number, infinities of both signs and NaN, a signalling one too: those there are.
std::vector<Code> specials(const Format& f) {
  std::vector<Code> all;
  for (const NamedCode which :
       {NamedCode::zero, NamedCode::one, NamedCode::infinity, NamedCode::nan})
    if (const auto limbs = find_code(f, which)) {
      Code code;
      std::ranges::copy(*limbs, code.limb);
      all.push_back(code);
      if (which == NamedCode::infinity) all.push_back(within(f, code | sign_of(f)));
    }
  const Layout<Code> l(f);
  if (l.quiet_bit > Code(1)) all.push_back((l.nan_code ^ l.quiet_bit) | Code(1));
  return all;
}

// Numbers of one fraction bit more have the midpoints among them. All their codes are numbers, so
// that those past a format's largest number go on evenly.
Format finer(const Format& f) {
  if (f.is_fixed())
    return f.width() + 3 > max_precision ? f
                                         : fixed_format(f.width() + 3, 1 - f.least_digit(), true);
  const int wider = std::min(f.width() + 1, max_tapered_width);
  if (f.is_posit()) return posit_format(wider, f.exp_bits);
  if (f.is_tapered()) return takum_format(wider);
  Format g = f;
  g.frac_bits = std::min(f.frac_bits + 1, max_precision - 1);
  g.sign = Sign::magnitude;
  g.nan = NanCodes::none;
  g.inf = InfCodes::none;
  return g;
}

// Codes are integers, and those of g have one bit more below.
Number beside_integer(const Format& f, const Format& g, const Code& code, int halves) {
  const bool below_zero = f.is_signed() && (code & sign_of(f)) != Code();
  const Code whole = below_zero ? code | (ones<Code>(g.width()) ^ ones<Code>(f.width())) : code;
  const Code doubled = g == f ? whole : whole << 1;
  return {g, within(g, halves < 0 ? doubled - Code(-halves) : doubled + Code(halves))};
}

// The magnitude of a code in finer(f), and so many halves of a last place more.
Number beside(const Format& f, const Code& code, int halves) {
  const Format g = finer(f);
  if (!f.is_float()) return beside_integer(f, g, code, halves);
  const Code magnitude = (code & ones<Code>(f.magnitude_bits())) << (g.frac_bits - f.frac_bits);
  const Code moved = halves < 0 ? magnitude - Code(-halves) : magnitude + Code(halves);
  const bool below_zero = f.is_signed() && (code >> f.magnitude_bits()) != Code();
  return {g, (moved & ones<Code>(g.magnitude_bits())) | (below_zero ? sign_of(g) : Code())};
}

class Directed {
 public:
  Directed(const Dataflow& flow, std::uint64_t seed) : flow_(flow), random_(seed) {}

  std::vector<Stimulus> all() {
    named_squared();
    for (int i = 0; i < aimed; ++i) {
      towards(boundary());
      half_way();
      cancelling();
    }
    specials_met();
    return std::move(all_);
  }

 private:
  Code any(const Format& f) { return random_code(f, random_); }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void named_squared() {
    const std::vector<Code> first = named(flow_.a);
    const std::vector<Code> second =
        flow_.kind == Step::conversion ? std::vector<Code>{Code()} : named(flow_.b);
    const std::vector<Code> third = flow_.c ? named(*flow_.c) : std::vector<Code>{Code()};
    for (const Code& a : first)
      for (const Code& b : second) add(a, b, third[all_.size() % third.size()], chance(random_));
  }

  // Zero times infinity, infinities and NaN of either kind, each in the company of all others.
  void specials_met() {
    const std::vector<Code> none{Code()};
    const std::vector<Code> second = flow_.kind == Step::conversion ? none : specials(flow_.b),
                            third = flow_.c ? specials(*flow_.c) : none;
    for (const Code& a : specials(flow_.a))
      for (const Code& b : second)
        for (const Code& c : third) add(a, b, c);
  }

  Number boundary() {
    const NamedCode ends[] = {NamedCode::min_subnormal, NamedCode::min_normal,
                              NamedCode::max_finite};
    const auto limbs = find_code(flow_.y, ends[below(3)]);
    Code code;
    if (limbs) std::ranges::copy(*limbs, code.limb);
    if (chance(random_))
      code = flow_.y.is_float() ? code | sign_of(flow_.y) : negated(flow_.y, code);
    return beside(flow_.y, code, below(7) - 3);
  }

  // The operand that is found last makes the result what is asked for, or one beside it.
  void towards(const Number& y) {
    const Number a{flow_.a, any(flow_.a)};
    switch (flow_.kind) {
      case Step::conversion: return add(nudged(apply(Operation::convert, flow_.a, {y})), {}, {});
      case Step::sum:
      case Step::difference: {
        const Number near{flow_.a, close_to(y)};
        return add(near.code, nudged(other_term(near, y)), {});
      }
      case Step::product: {
        const Number x{flow_.a, chance(random_) ? a.code : power_of_two(flow_.a, a.code)};
        const bool with_c = flow_.c && chance(random_);
        const Code c = with_c ? close_to(y, *flow_.c) : Code();
        const Number rest = with_c ? apply(Operation::subtract, y.format, {y, {*flow_.c, c}}) : y;
        return add(x.code, nudged(apply(Operation::divide, flow_.b, {rest, x})), c);
      }
    }
  }

  // A code of about y's magnitude.
  Code close_to(const Number& y, const Format& f) {
    if (!f.is_float()) {
      const Code code =
          apply(Operation::convert, f, {y}).code ^ (any(f) & ones<Code>(below(f.width())));
      return chance(random_) ? negated(f, code) : code;
    }
    const Code code = apply(Operation::convert, f, {y}).code ^ (any(f) & ones<Code>(f.frac_bits));
    const Code binades = Code(below(4)) << f.frac_bits;
    return within(f, (chance(random_) ? code + binades : code - binades) ^
                         (chance(random_) ? sign_of(f) : Code()));
  }
  Code close_to(const Number& y) { return close_to(y, flow_.a); }

  Number other_term(const Number& a, const Number& y) {
    if (flow_.kind == Step::sum) return apply(Operation::subtract, flow_.b, {y, a});
    return apply(Operation::subtract, flow_.b, {a, y});
  }

  Code nudged(const Number& x) {
    const int by = below(8) < 5 ? 0 : below(5) - 2;
    return within(x.format, by < 0 ? x.code - Code(-by) : x.code + Code(by));
  }

  // Half way between two results of any size.
  void half_way() {
    if (flow_.kind == Step::conversion) return towards(beside(flow_.y, any(flow_.y), 1));
    if (flow_.kind == Step::product && !(flow_.c && chance(random_))) return short_product();
    const Format& f = flow_.kind == Step::product ? *flow_.c : flow_.a;
    const Number large{f, any(f)};
    const Number y = beside(flow_.y, apply(Operation::convert, flow_.y, {large}).code, 1);
    if (flow_.kind != Step::product) return add(large.code, other_term(large, y).code, {});
    const Number a{flow_.a, power_of_two(flow_.a, any(flow_.a))};
    const Number rest = apply(Operation::subtract, finer(flow_.y), {y, large});
    add(a.code, apply(Operation::divide, flow_.b, {rest, a}).code, large.code);
  }

  // Significands with one digit more between them than the result keeps.
  void short_product() {
    if (!flow_.a.is_float() || !flow_.b.is_float() || !flow_.y.is_float())
      return towards(beside(flow_.y, any(flow_.y), 1));
    const int digits = flow_.y.precision() + 1;
    const int of_a = 1 + below(std::min(flow_.a.precision(), digits));
    const Number a{flow_.a, shortened(flow_.a, any(flow_.a), of_a)};
    const Number y = beside(flow_.y, any(flow_.y), 0);
    const Code b = apply(Operation::divide, flow_.b, {y, a}).code;
    add(a.code, shortened(flow_.b, b, digits - of_a + below(2)), {});
  }

  void cancelling() {
    if (flow_.kind == Step::conversion) return;
    const Number a{flow_.a, any(flow_.a)};
    if (flow_.kind != Step::product)
      return add(a.code, nudged(other_term(a, {finer(flow_.y), Code()})), {});
    const Number b{flow_.b, any(flow_.b)};
    if (!flow_.c) return;
    const Number product = apply(Operation::multiply, *flow_.c, {a, b});
    add(a.code, b.code, nudged(negative(product)));
  }

  // Puts a product into one lane, or named ones into all. The others are zero, or cancel in pairs.
  void add(const Code& a, const Code& b, const Code& c, bool everywhere = false) {
    Stimulus s = others(everywhere ? a : Code(), everywhere ? b : Code());
    const auto lane = static_cast<std::size_t>(below(flow_.lanes));
    s.a[lane] = a;
    s.b[lane] = b;
    s.running = flow_.running && chance(random_);
    s.c = {s.running ? apply(Operation::convert, flow_.y, {{*flow_.c, c}}).code : c};
    all_.push_back(std::move(s));
  }

  Stimulus others(const Code& a, const Code& b) {
    const auto lanes = static_cast<std::size_t>(flow_.lanes);
    const auto scales = static_cast<std::size_t>(flow_.scales());
    Stimulus s{std::vector<Code>(lanes, a),
               std::vector<Code>(lanes, b),
               {},
               std::vector<Code>(scales),
               std::vector<Code>(scales)};
    if (a == Code() && chance(random_))
      for (std::size_t i = 0; i + 1 < lanes; i += 2) {
        s.a[i] = any(flow_.a);
        s.a[i + 1] = negated(flow_.a, s.a[i]);
        s.b[i] = s.b[i + 1] = any(flow_.b);
      }
    for (auto* scale : {&s.scale_a, &s.scale_b})
      for (Code& code : *scale) code = some_scale();
    return s;
  }

  Code some_scale() {
    const std::vector<Code> all = named(*flow_.scale);
    if (below(8) == 0) return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    Code one;
    if (const auto limbs = find_code(*flow_.scale, NamedCode::one))
      std::ranges::copy(*limbs, one.limb);
    return one;
  }

  const Dataflow& flow_;
  Random random_;
  std::vector<Stimulus> all_;
};

// Element `first` and following of a port's own stream, or of several ports' that go together.
void draw(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
          const std::vector<std::vector<Code>*>& ports) {
  std::vector<Bytes> bytes(ports.size(), stored(std::vector<Code>(count), f));
  std::vector<void*> at;
  for (auto& port : bytes) at.push_back(port.data());
  random_operands(f, seed, first, count, at);
  for (std::size_t i = 0; i < ports.size(); ++i) *ports[i] = loaded(bytes[i], f);
}

}  // namespace

std::vector<Stimulus> directed_stimuli(const Dataflow& flow, std::uint64_t seed) {
  const StandIn in(flow);
  std::vector<Stimulus> all = Directed(in.flow(), seed).all();
  for (Stimulus& s : all) s = in.in_tables(std::move(s));
  return all;
}

std::vector<Stimulus> random_stimuli(const Dataflow& flow, std::uint64_t seed, std::size_t first,
                                     std::size_t last) {
  const auto lanes = static_cast<std::size_t>(flow.lanes);
  const auto scales = static_cast<std::size_t>(flow.scales());
  std::vector<Stimulus> all(last - first);
  for (std::size_t i = first; i < last; ++i) {
    Stimulus& s = all[i - first];
    const auto stream = [&](std::uint64_t n, std::size_t elements) {
      return n << 40 | i * elements;
    };
    s.running = flow.running && i % 2;
    const Format c = s.running ? flow.y : flow.c.value_or(flow.a);
    const bool together = flow.a == flow.b, all_three = together && lanes == 1 && c == flow.a;
    std::vector<std::vector<Code>*> ports{&s.a};
    if (together) ports.push_back(&s.b);
    if (all_three) ports.push_back(&s.c);
    draw(flow.a, seed, stream(0, lanes), lanes, ports);
    if (!together) draw(flow.b, seed, stream(1, lanes), lanes, {&s.b});
    if (!all_three) draw(c, seed, stream(2, 1), 1, {&s.c});
    if (flow.scale) draw(*flow.scale, seed, stream(3, scales), scales, {&s.scale_a, &s.scale_b});
  }
  return all;
}

}  // namespace widthwise::hdl
