#include "stages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "codes.hpp"
#include "format_constants.hpp"
#include "widthwise/rounder.hpp"

namespace widthwise::hdl {
namespace {

std::string decimal(int x) { return std::to_string(x); }

std::string zeros(int n) { return fmt::format("{}'d0", n); }

// {zeros, sig, zeros}
std::string padded(const std::string& sig, int above, int below) {
  if (above + below == 0) return sig;
  return fmt::format("{{{}{}{}}}", above ? zeros(above) + ", " : "", sig,
                     below ? ", " + zeros(below) : "");
}

// Infinity, or what stands for it, by sign: whether the sign is part of the code.
struct Endings {
  Code past, infinity;
  bool past_has_sign, infinity_has_sign, infinity_raises;
};

Endings endings(const Rounder<Code>& to) {
  const auto past = [&](bool negative) { return infinity_code<Code>(to, to.overflow, negative); };
  const auto infinite = [&](bool negative) { return delivered_infinity<Code>(to, negative); };
  return {past(false), infinite(false).code, past(false) != past(true),
          infinite(false).code != infinite(true).code, infinite(false).flags != 0};
}

}  // namespace

Term Stages::declared(const std::string& name, int lanes, int width, int fraction, Exponent least,
                      Exponent largest, Lead lead) {
  const Term t{{name, width, lanes}, fraction, least, largest, lead};
  out_.reach(least);
  out_.reach(largest);
  for (const Bus& bus : {t.nan(), t.inf(), t.zero(), t.sign()}) out_.wire(bus);
  out_.signed_wire(exp(t));
  out_.wire(t.sig());
  return t;
}

Connections Stages::term_ports(const Term& t, const std::string& index) const {
  return {{"nan", t.nan().lane(index)},   {"inf", t.inf().lane(index)},
          {"zero", t.zero().lane(index)}, {"sign", t.sign().lane(index)},
          {"exp", exp(t).lane(index)},    {"sig", t.sig().lane(index)}};
}

Term Stages::unpack(const std::string& name, const Operand& operand, int lanes, bool negate) {
  const Format& f = operand.fmt;
  const Layout<Code> l(f);
  const Flush flush = flush_of(operand);
  const bool subnormal = !f.all_normal();
  const Term t =
      declared(name, lanes, f.precision(), f.frac_bits, f.emin(), f.emax(),
               subnormal && flush == Flush::keep ? Lead::above_least : Lead::at_exponent);
  out_.reach(f.top_field());
  out_.reach(f.top_field() - f.bias);  // of specials
  out_.reach(f.bias);
  const Bus signaling = t.bus.part("signaling", 1), codes{name, f.width(), lanes};
  out_.wire(signaling);
  const int magnitude = f.magnitude_bits() + 1;
  out_.lanes(lanes, name + "_lane", [&](const std::string& i) {
    Connections ports = term_ports(t, i);
    ports.insert(ports.begin(), {"code", codes.lane(i)});
    ports.emplace_back("signaling", signaling.lane(i));
    out_.instance("ww_unpack", lanes == 1 ? "unpack_" + name : "unpack",
                  {{"EXP", decimal(f.exp_bits)},
                   {"FRAC", decimal(f.frac_bits)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"IS_SIGNED", truth(f.is_signed)},
                   {"HAS_SUBNORMAL", truth(subnormal)},
                   {"HAS_ZERO", truth(f.zero)},
                   {"HAS_SIGNALING", truth(l.quiet_bit != Code())},
                   {"NAN_IS_NEGATIVE_ZERO", truth(f.nan == NanCodes::negative_zero)},
                   {"FLUSH", truth(flush != Flush::keep)},
                   {"NEGATE", truth(negate)},
                   {"ZERO_IS_PLUS", truth(operand.subnormals == Flush::flush_pos_zero)},
                   {"BIAS", out_.exponent(f.bias)},
                   {"FIRST_NAN", literal(magnitude, l.first_nan)},
                   {"INFINITY", literal(magnitude, l.infinity)}},
                  ports);
  });
  return t;
}

Term Stages::product(const std::string& name, const Term& a, const Term& b,
                     const std::string& multiplier) {
  const int width = a.bus.width + b.bus.width;
  const bool leads = a.lead == Lead::at_exponent && b.lead == Lead::at_exponent;
  const Term t = declared(name, a.bus.lanes, width, a.fraction + b.fraction, a.least + b.least,
                          a.largest + b.largest, leads ? Lead::at_exponent : Lead::anywhere);
  const Bus p = t.bus.part("p", width), created = t.bus.part("created", 1);
  out_.wire(p);
  out_.wire(created);
  out_.lanes(a.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance(multiplier, name + "_multiply",
                  {{"WA", decimal(a.bus.width)}, {"WB", decimal(b.bus.width)}},
                  {{"a", a.sig().lane(i)}, {"b", b.sig().lane(i)}, {"p", p.lane(i)}});
    Connections ports{{"a_nan", a.nan().lane(i)},
                      {"a_inf", a.inf().lane(i)},
                      {"a_zero", a.zero().lane(i)},
                      {"a_sign", a.sign().lane(i)},
                      {"a_exp", exp(a).lane(i)},
                      {"b_nan", b.nan().lane(i)},
                      {"b_inf", b.inf().lane(i)},
                      {"b_zero", b.zero().lane(i)},
                      {"b_sign", b.sign().lane(i)},
                      {"b_exp", exp(b).lane(i)},
                      {"p", p.lane(i)},
                      {"created", created.lane(i)}};
    for (Connection& c : term_ports(t, i)) ports.push_back(std::move(c));
    out_.instance("ww_product", name + "_stage",
                  {{"W", decimal(width)}, {"XW", decimal(out_.exponent_bits())}}, ports);
  });
  return t;
}

Term Stages::joined(const std::string& name, const Term& x, const Term& y) {
  const int fraction = std::max(x.fraction, y.fraction);
  const int above = std::max(x.bus.width - x.fraction, y.bus.width - y.fraction);
  const int width = above + fraction, lanes = x.bus.lanes + y.bus.lanes;
  const Term t{{name, width, lanes},
               fraction,
               std::min(x.least, y.least),
               std::max(x.largest, y.largest),
               Lead::anywhere};
  const auto both = [&](const Bus& all, const Bus& low, const Bus& high) {
    out_.wire(all, fmt::format("{{{}, {}}}", high.name, low.name));
  };
  both(t.nan(), x.nan(), y.nan());
  both(t.inf(), x.inf(), y.inf());
  both(t.zero(), x.zero(), y.zero());
  both(t.sign(), x.sign(), y.sign());
  both(exp(t), exp(x), exp(y));
  out_.wire(t.sig());
  int first = 0;
  for (const Term* part : {&x, &y}) {
    const Bus place{fmt::format("{}_sig[{} +: {}]", name, first * width, part->bus.lanes * width),
                    width, 1};
    const int top = above - (part->bus.width - part->fraction), low = fraction - part->fraction;
    out_.lanes(
        part->bus.lanes, fmt::format("{}_{}", name, part->bus.name), [&](const std::string& i) {
          const std::string at = part->bus.lanes == 1 ? place.name
                                                      : fmt::format("{}_sig[({} + {})*{} +: {}]",
                                                                    name, i, first, width, width);
          out_.assign(at, padded(part->sig().lane(i), top, low));
        });
    first += part->bus.lanes;
  }
  return t;
}

Term Stages::sum(const std::string& name, const Term& terms, int groups, const Grid& grid) {
  const int each = terms.bus.lanes / groups;
  const int width = grid.width - (grid.overflows ? 0 : 1);
  const Exponent floor = grid.floor.value_or(0);
  const Exponent least = grid.fixed   ? floor
                         : grid.floor ? std::max(floor, terms.least)
                                      : terms.least;
  const Exponent largest = grid.fixed   ? floor
                           : grid.floor ? std::max(floor, terms.largest)
                                        : terms.largest;
  const Term t = declared(name, groups, width, static_cast<int>(grid.fraction), least, largest,
                          Lead::anywhere);
  out_.reach(largest - terms.least);
  out_.reach(terms.bus.width + static_cast<int>(grid.fraction) + 2);  // distances that matter
  const Bus created = t.bus.part("created", 1), mixed = t.bus.part("mixed", 1);
  out_.wire(created);
  out_.wire(mixed);
  const auto run = [&](const Bus& one, const std::string& i) {
    return Bus{one.name, one.width * each, groups}.lane(i);
  };
  out_.lanes(groups, name + "_group", [&](const std::string& i) {
    Connections ports{{"t_nan", run(terms.nan(), i)},   {"t_inf", run(terms.inf(), i)},
                      {"t_zero", run(terms.zero(), i)}, {"t_sign", run(terms.sign(), i)},
                      {"t_exp", run(exp(terms), i)},    {"t_sig", run(terms.sig(), i)},
                      {"created", created.lane(i)},     {"mixed", mixed.lane(i)}};
    for (Connection& c : term_ports(t, i)) ports.push_back(std::move(c));
    out_.instance("ww_sum", name + "_stage",
                  {{"N", decimal(each)},
                   {"W", decimal(terms.bus.width)},
                   {"FT", decimal(terms.fraction)},
                   {"F", decimal(static_cast<int>(grid.fraction))},
                   {"SW", decimal(grid.width)},
                   {"MW", decimal(width)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"RM", fmt::format("4'd{}", rounding_code(grid.rm).number)},
                   {"FIXED", truth(grid.fixed)},
                   {"HAS_FLOOR", truth(grid.floor.has_value())},
                   {"SATURATE", truth(grid.saturates)},
                   {"FLOOR", out_.exponent(floor)}},
                  ports);
  });
  return t;
}

void Stages::deliver(const std::string& name, const Term& t, const Round& round,
                     const RoundingPorts& ports) {
  const Rounder<Code> to(round, tininess_);
  const Format& f = round.fmt;
  const int k = round.rm.random_bits, digits = to.precision + k + 2;
  const int top = t.bus.width - 1 - t.fraction;
  // The leading digit, and how far it lies from the least exponent, either way.
  for (const Exponent e :
       {t.least - t.fraction - 2 * std::max(digits, t.bus.width), t.largest + top}) {
    out_.reach(e);
    out_.reach(e - f.emin());
    out_.reach(Exponent(f.emin()) - e);
  }
  out_.reach(2 * std::max(digits, t.bus.width));
  out_.reach(f.top_field());
  const Endings end = endings(to);
  const Bus code{name + "_code", f.width()}, flags{name + "_flags", 5};
  out_.wire(code);
  out_.wire(flags);
  const int width = f.width();
  out_.instance("ww_deliver", name,
                {{"W", decimal(t.bus.width)},
                 {"XW", decimal(out_.exponent_bits())},
                 {"TOP", out_.exponent(top)},
                 {"EXP", decimal(f.exp_bits)},
                 {"FRAC", decimal(f.frac_bits)},
                 {"SPARE", decimal(to.spare)},
                 {"K", decimal(k)},
                 {"VARIANT", decimal(static_cast<int>(round.rm.variant))},
                 {"TIES_TO_EVEN_CODE", truth(to.even_code)},
                 {"TININESS_AFTER", truth(tininess_ == Tininess::after_rounding)},
                 {"EMIN", out_.exponent(f.emin())},
                 {"IS_SIGNED", truth(f.is_signed)},
                 {"HAS_ZERO", truth(f.zero)},
                 {"HAS_NAN", truth(f.has_nan())},
                 {"KEEPS_ZERO_SIGN", truth(to.keeps_zero_sign)},
                 {"FLUSH", truth(to.flush != Flush::keep)},
                 {"FLUSH_TO_PLUS", truth(to.flush == Flush::flush_pos_zero)},
                 {"OVERFLOW_STOPS", truth(to.overflow == Overflow::ieee)},
                 {"EXACT_ZEROS_ARE_PLUS", truth(round.zero_sign == ZeroSign::plus)},
                 {"INFINITY_RAISES", truth(end.infinity_raises)},
                 {"INFINITY_HAS_SIGN", truth(end.infinity_has_sign)},
                 {"PAST_HAS_SIGN", truth(end.past_has_sign)},
                 {"MAX_FINITE", literal(f.magnitude_bits(), to.layout.max_finite)},
                 {"NAN", literal(width, to.nan_code)},
                 {"INFINITY", literal(width, end.infinity)},
                 {"PAST", literal(width, end.past)}},
                {{"rm", ports.rm},
                 {"random", ports.random},
                 {"nan", ports.nan},
                 {"inf", ports.inf},
                 {"sign", ports.sign},
                 {"mixed", ports.mixed},
                 {"invalid", ports.invalid},
                 {"exp", exp(t).name},
                 {"sig", t.sig().name},
                 {"code", code.name},
                 {"flags", flags.name}});
}

Grid grid_of_two(const Term& x, const Term& y, int digits, int random_bits) {
  const Exponent least = std::min(x.least - x.fraction, y.least - y.fraction);
  const Exponent largest = std::max(x.largest, y.largest);
  Exponent needed = std::max(x.fraction, y.fraction) + 1;
  const auto upper = [&](const Term& high, const Term& low) {
    const bool full = high.lead == Lead::at_exponent ||
                      (high.lead == Lead::above_least && low.least >= high.least);
    const int below = full ? 0 : high.fraction;  // where the leading digit may stand
    needed = std::max<Exponent>(needed, below + low.bus.width + 1);
    needed = std::max<Exponent>(needed, below + digits + random_bits + 2);
  };
  upper(x, y);
  upper(y, x);
  const int above = std::max(x.bus.width - x.fraction, y.bus.width - y.fraction);
  const bool exact = needed >= largest - least;
  Grid g;
  g.fraction = exact ? largest - least : needed;
  g.rm = exact ? RoundingMode::rtz : RoundingMode::odd;
  g.width = above + static_cast<int>(g.fraction) + 2;
  return g;
}

}  // namespace widthwise::hdl
