#include "stages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "codes.hpp"
#include "format_constants.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

std::string decimal(int x) { return std::to_string(x); }

// The exponent of the top digit of sig, above the term's own.
int top_of(const Term& t) { return t.bus.width - 1 - t.fraction; }

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

// Registers inside ww_deliver, and the stages that they stand behind.
constexpr std::pair<std::string_view, std::string_view> register_places[] = {
    {"PIPE_NORMALISE", "normalise"}, {"PIPE_DENORMALISE", "denormalise"}, {"PIPE_ROUND", "round"}};

// What the rounder is built for.
void check_result(const Format& f) {
  if (!f.all_normal()) return;
  throw std::invalid_argument(fmt::format(
      "rtl: {} is rounded to and has no subnormals; formats with subnormals are built (ftz flushes "
      "them)",
      to_string(f)));
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

Term Stages::unpack(const std::string& name, const std::string& code, const Operand& operand,
                    int lanes, bool negate) {
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
  const Bus signaling = t.bus.part("signaling", 1), codes{code, f.width(), lanes};
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
                     std::string_view multiplier) {
  const int width = a.bus.width + b.bus.width;
  const bool leads =
      a.lead == Lead::at_exponent && b.lead == Lead::at_exponent && multiplier == exact_multiplier;
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

Term Stages::picked(const std::string& name, const Term& t, int lanes,
                    const std::function<std::string(const std::string& i)>& index) {
  const Term z = declared(name, lanes, t.bus.width, t.fraction, t.least, t.largest, t.lead);
  const std::pair<Bus, Bus> fields[] = {{z.nan(), t.nan()},   {z.inf(), t.inf()},
                                        {z.zero(), t.zero()}, {z.sign(), t.sign()},
                                        {exp(z), exp(t)},     {z.sig(), t.sig()}};
  out_.lanes(lanes, name + "_lane", [&](const std::string& i) {
    for (const auto& [to, from] : fields) out_.assign(to.lane(i), from.lane(index(i)));
  });
  return z;
}

// Its significands with so many digits above the point and below.
Bus Stages::shaped(const std::string& name, const Term& t, int above, int fraction) {
  const int high = above - (t.bus.width - t.fraction), low = fraction - t.fraction;
  if (high + low == 0) return t.sig();
  const Bus sig{name, above + fraction, t.bus.lanes};
  out_.wire(sig);
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.assign(sig.lane(i), padded(t.sig().lane(i), high, low));
  });
  return sig;
}

namespace {

// The shape that both have room in.
struct Shape {
  int above, fraction;
  Shape(const Term& x, const Term& y)
      : above(std::max(x.bus.width - x.fraction, y.bus.width - y.fraction)),
        fraction(std::max(x.fraction, y.fraction)) {}
};

Term both(const std::string& name, int lanes, const Term& x, const Term& y) {
  const Shape shape(x, y);
  return {{name, shape.above + shape.fraction, lanes},
          shape.fraction,
          std::min(x.least, y.least),
          std::max(x.largest, y.largest),
          Lead::anywhere};
}

}  // namespace

Term Stages::joined(const std::string& name, const Term& x, const Term& y) {
  const Shape shape(x, y);
  const Term t = both(name, x.bus.lanes + y.bus.lanes, x, y);
  const Bus low = shaped(name + "_low", x, shape.above, shape.fraction),
            high = shaped(name + "_high", y, shape.above, shape.fraction);
  const std::pair<Bus, std::pair<Bus, Bus>> fields[] = {
      {t.nan(), {x.nan(), y.nan()}},    {t.inf(), {x.inf(), y.inf()}},
      {t.zero(), {x.zero(), y.zero()}}, {t.sign(), {x.sign(), y.sign()}},
      {exp(t), {exp(x), exp(y)}},       {t.sig(), {low, high}}};
  for (const auto& [to, from] : fields)
    out_.wire(to, fmt::format("{{{}, {}}}", from.second.name, from.first.name));
  return t;
}

Term Stages::chosen(const std::string& name, const std::string& when, const Term& x,
                    const Term& y) {
  const Shape shape(x, y);
  const Term t = both(name, 1, x, y);
  const Bus yes = shaped(name + "_yes", x, shape.above, shape.fraction),
            no = shaped(name + "_no", y, shape.above, shape.fraction);
  const std::pair<Bus, std::pair<Bus, Bus>> fields[] = {{t.nan(), {x.nan(), y.nan()}},
                                                        {t.inf(), {x.inf(), y.inf()}},
                                                        {t.zero(), {x.zero(), y.zero()}},
                                                        {t.sign(), {x.sign(), y.sign()}},
                                                        {t.sig(), {yes, no}}};
  for (const auto& [to, from] : fields)
    out_.wire(to, fmt::format("{} ? {} : {}", when, from.first.name, from.second.name));
  out_.signed_wire(exp(t));
  out_.assign(exp(t).name, fmt::format("{} ? {} : {}", when, exp(x).name, exp(y).name));
  return t;
}

Term Stages::only(const std::string& name, const std::string& when, const Term& t,
                  const std::string& sign) {
  const Term z = declared(name, 1, t.bus.width, t.fraction, t.least, t.largest, t.lead);
  out_.assign(z.nan().name, fmt::format("{} & {}", when, t.nan().name));
  out_.assign(z.inf().name, fmt::format("{} & {}", when, t.inf().name));
  out_.assign(z.zero().name, fmt::format("!{} | {}", when, t.zero().name));
  out_.assign(z.sign().name, fmt::format("{} ? {} : {}", when, t.sign().name, sign));
  out_.assign(exp(z).name, exp(t).name);
  out_.assign(z.sig().name, fmt::format("{} ? {} : {}", when, t.sig().name, zeros(t.bus.width)));
  return z;
}

Term Stages::scaled(const std::string& name, const Term& sums, const Exponent& floor,
                    const Term& by_a, const Term& by_b) {
  Term g = declared(name + "_from", sums.bus.lanes, sums.bus.width,
                    sums.fraction - static_cast<int>(floor), 0, 0, Lead::anywhere);
  out_.lanes(g.bus.lanes, name + "_from_lane", [&](const std::string& i) {
    out_.assign(g.nan().lane(i), sums.nan().lane(i));
    out_.assign(g.inf().lane(i), sums.inf().lane(i));
    out_.assign(g.zero().lane(i), fmt::format("!(|{})", sums.sig().lane(i)));
    out_.assign(g.sign().lane(i), sums.sign().lane(i));
    out_.assign(exp(g).lane(i), out_.exponent(0));
    out_.assign(g.sig().lane(i), sums.sig().lane(i));
  });
  const Term p = product(name + "_product", product(name + "_by_a", g, by_a), by_b);
  const Term z = declared(name, p.bus.lanes, p.bus.width, p.fraction, p.least, p.largest, p.lead);
  out_.lanes(z.bus.lanes, name + "_lane", [&](const std::string& i) {
    const std::string mixed = sums.bus.part("mixed", 1).lane(i);
    out_.assign(z.nan().lane(i), p.nan().lane(i));
    out_.assign(z.inf().lane(i), p.inf().lane(i));
    // A sum that cancelled votes with its scales; one of zeros does not.
    out_.assign(z.zero().lane(i), fmt::format("{} | {} | {}", sums.zero().lane(i),
                                              by_a.zero().lane(i), by_b.zero().lane(i)));
    out_.assign(z.sign().lane(i), fmt::format("{} & !{}", p.sign().lane(i), mixed));
    out_.assign(exp(z).lane(i), exp(p).lane(i));
    out_.assign(z.sig().lane(i), p.sig().lane(i));
  });
  return z;
}

Term Stages::sum(const std::string& name, const Term& terms, int groups, const Grid& grid,
                 const SumStages& stages) {
  Term z{};
  const auto write = [&] { z = sum_module(name, terms, groups, grid, stages); };
  if (stages.accumulates)
    out_.across({name, "normalise"}, write);
  else if (stages.staged)
    out_.across({name}, write);
  else
    write();
  return z;
}

Term Stages::sum_module(const std::string& name, const Term& terms, int groups, const Grid& grid,
                        const SumStages& stages) {
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
  out_.reach(floor);
  out_.reach(largest - terms.least);
  out_.reach(terms.bus.width + static_cast<int>(grid.fraction) + 2);  // distances that matter
  const Bus created = t.bus.part("created", 1), mixed = t.bus.part("mixed", 1);
  out_.wire(created);
  out_.wire(mixed);
  const auto run = [&](const Bus& one, const std::string& i) {
    return Bus{one.name, one.width * each, groups}.lane(i);
  };
  out_.lanes(groups, name + "_group", [&](const std::string& i) {
    Connections ports{{"clk", stages.staged ? out_.clock() : "1'b0"},
                      {"enable", stages.staged ? out_.enable(name + "_align") : "1'b0"},
                      {"take", stages.accumulates ? out_.enable(name) : "1'b0"},
                      {"first", stages.accumulates ? "in_first" : "1'b0"},
                      {"t_nan", run(terms.nan(), i)},
                      {"t_inf", run(terms.inf(), i)},
                      {"t_zero", run(terms.zero(), i)},
                      {"t_sign", run(terms.sign(), i)},
                      {"t_exp", run(exp(terms), i)},
                      {"t_sig", run(terms.sig(), i)},
                      {"created", created.lane(i)},
                      {"mixed", mixed.lane(i)}};
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
                   {"BY_VALUE", truth(grid.by_value)},
                   {"SATURATE", truth(grid.saturates)},
                   {"FLOOR", out_.exponent(floor)},
                   {"PIPE_ALIGN", stages.staged ? out_.depth(name + "_align") : "0"},
                   {"ACCUMULATE", truth(stages.accumulates)}},
                  ports);
  });
  return t;
}

// The leading digit may stand anywhere in sig, and rounding asks how far it lies from the least
// exponent, either way.
void Stages::reach_of_rounding(const Term& t, const Format& f, int digits) {
  const int width = std::max(digits, t.bus.width);
  for (const Exponent e : {t.least - t.fraction - 2 * width, t.largest + top_of(t)}) {
    out_.reach(e);
    out_.reach(e - f.emin());
    out_.reach(Exponent(f.emin()) - e);
  }
  out_.reach(2 * width);
  out_.reach(f.top_field());
}

Connections Stages::rounding_parameters(const Term& t, const Round& round,
                                        const Rounder<Code>& to) const {
  const Format& f = round.fmt;
  const Endings end = endings(to);
  return {{"W", decimal(t.bus.width)},
          {"XW", decimal(out_.exponent_bits())},
          {"TOP", out_.exponent(top_of(t))},
          {"EXP", decimal(f.exp_bits)},
          {"FRAC", decimal(f.frac_bits)},
          {"SPARE", decimal(to.spare)},
          {"K", decimal(round.rm.random_bits)},
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
          {"NAN", literal(f.width(), to.nan_code)},
          {"INFINITY", literal(f.width(), end.infinity)},
          {"PAST", literal(f.width(), end.past)}};
}

void Stages::deliver(const std::string& name, const Term& t, const Round& round,
                     const RoundingPorts& ports) {
  const auto write = [&] { deliver_module(name, t, round, ports); };
  if (ports.staged)
    out_.across({"denormalise", "round", "pack"}, write);
  else
    write();
}

void Stages::deliver_module(const std::string& name, const Term& t, const Round& round,
                            const RoundingPorts& ports) {
  check_result(round.fmt);
  const Rounder<Code> to(round, tininess_);
  reach_of_rounding(t, round.fmt, to.precision + round.rm.random_bits + 2);
  const Bus code{name + "_code", round.fmt.width(), t.bus.lanes},
      flags{name + "_flags", 5, t.bus.lanes};
  out_.wire(code);
  out_.wire(flags);
  const auto own = [](const std::string& override, const std::string& lane) {
    return override.empty() ? lane : override;
  };
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    Connections parameters = rounding_parameters(t, round, to);
    for (const auto& [parameter, stage] : register_places)
      parameters.emplace_back(parameter, ports.staged ? out_.depth(stage) : "0");
    out_.instance("ww_deliver", name, parameters,
                  {{"clk", ports.staged ? out_.clock() : "1'b0"},
                   {"enable", ports.staged ? out_.enable("normalise") : "1'b0"},
                   {"rm", ports.rm},
                   {"random", ports.random},
                   {"nan", own(ports.nan, t.nan().lane(i))},
                   {"inf", own(ports.inf, t.inf().lane(i))},
                   {"sign", own(ports.sign, t.sign().lane(i))},
                   {"mixed", ports.mixed},
                   {"invalid", ports.invalid},
                   {"exp", exp(t).lane(i)},
                   {"sig", t.sig().lane(i)},
                   {"code", code.lane(i)},
                   {"flags", flags.lane(i)}});
  });
}

// Let E be the larger exponent, that of `high`, and `low` lose digits below 2^(E - F). Then low
// stands below 2^(E - F + its width - 1), high's leading digit at E - below or above, and with
// F >= below + width + 1 at most one leading digit cancels. So the sum's lies at E - below - 1 or
// above, and the jammed digit two or more (k + 2) below the last that is kept, where all numbers at
// which a rounding changes its mind, and high itself, are multiples of 2^(E - F + 1): low and its
// jammed stand-in put the sum strictly between the same two of those.
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
  g.by_value = true;
  return g;
}

}  // namespace widthwise::hdl
