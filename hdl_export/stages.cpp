#include "stages.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "format_constants.hpp"

namespace widthwise::hdl {
namespace {

std::string zeros(int n) { return fmt::format("{}'d0", n); }

// {zeros, sig, zeros}
std::string padded(const std::string& sig, int above, int below) {
  if (above + below == 0) return sig;
  return fmt::format("{{{}{}{}}}", above ? zeros(above) + ", " : "", sig,
                     below ? ", " + zeros(below) : "");
}

}  // namespace

Term Stages::declared(const std::string& name, int lanes, int width, int fraction, Exponent least,
                      Exponent largest, Lead lead) {
  const Term t{{name, width, lanes}, fraction, least, largest, lead};
  out_.reach(least);
  out_.reach(largest);
  out_.taps().terms.push_back({name, out_.making(), lanes, fraction});
  for (const Bus& bus : {t.nan(), t.inf(), t.zero(), t.sign()}) out_.wire(bus);
  out_.signed_wire(exp(t));
  out_.wire(t.sig());
  return t;
}

Term Stages::declared_like(const std::string& name, const Term& t, int lanes) {
  Term z = declared(name, lanes, t.bus.width, t.fraction, t.least, t.largest, t.lead);
  z.fixed = t.fixed;
  return z;
}

Connections Stages::term_ports(const Term& t, const std::string& index) const {
  return {{"nan", t.nan().lane(index)},   {"inf", t.inf().lane(index)},
          {"zero", t.zero().lane(index)}, {"sign", t.sign().lane(index)},
          {"exp", exp(t).lane(index)},    {"sig", t.sig().lane(index)}};
}

Connections Stages::moving_ports(Connections own, const Term& from, const Term& to, const Bus& zero,
                                 const std::string& index) const {
  for (Connection& c : Connections{{"exp", exp(from).lane(index)},
                                   {"sig", from.sig().lane(index)},
                                   {"zero", zero.lane(index)},
                                   {"exp_out", exp(to).lane(index)},
                                   {"sig_out", to.sig().lane(index)}})
    own.push_back(std::move(c));
  return own;
}

Term Stages::unpack(const std::string& name, const std::string& code, const Operand& operand,
                    int lanes, bool negate) {
  if (operand.keep_frac.value_or(operand.fmt.frac_bits) == operand.fmt.frac_bits)
    return unpacked(name, code, operand, lanes, negate);
  return conditioned(name, unpacked(name + "_whole", code, operand, lanes, negate), operand);
}

Term Stages::unpacked(const std::string& name, const std::string& code, const Operand& operand,
                      int lanes, bool negate) {
  if (!operand.fmt.is_float()) return unpacked_system(name, code, operand.fmt, lanes, negate);
  return unpacked_float(name, code, operand, lanes, negate);
}

Term Stages::unpacked_float(const std::string& name, const std::string& code,
                            const Operand& operand, int lanes, bool negate) {
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
  const int magnitude = f.magnitude_bits() + 1;
  write_unpack("ww_unpack",
               {{"EXP", decimal(f.exp_bits)},
                {"FRAC", decimal(f.frac_bits)},
                {"XW", decimal(out_.exponent_bits())},
                {"IS_SIGNED", truth(f.is_signed())},
                {"HAS_SUBNORMAL", truth(subnormal)},
                {"HAS_ZERO", truth(f.zero)},
                {"HAS_SIGNALING", truth(l.quiet_bit != Code())},
                {"NAN_IS_NEGATIVE_ZERO", truth(f.nan == NanCodes::sign_alone)},
                {"FLUSH", truth(flush != Flush::keep)},
                {"NEGATE", truth(negate)},
                {"ZERO_IS_PLUS", truth(operand.subnormals == Flush::flush_pos_zero)},
                {"BIAS", out_.exponent(f.bias)},
                {"FIRST_NAN", literal(magnitude, l.first_nan)},
                {"INFINITY", literal(magnitude, l.infinity)}},
               t, {code, f.width(), lanes});
  return t;
}

void Stages::write_unpack(std::string_view module, const Connections& parameters, const Term& t,
                          const Bus& codes) {
  const std::string& name = t.bus.name;
  const Bus signaling = t.bus.part("signaling", 1);
  out_.wire(signaling);
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    Connections ports = term_ports(t, i);
    ports.insert(ports.begin(), {"code", codes.lane(i)});
    ports.emplace_back("signaling", signaling.lane(i));
    out_.instance(module, t.bus.lanes == 1 ? "unpack_" + name : "unpack", parameters, ports);
  });
}

Term Stages::product(const std::string& name, const Term& a, const Term& b,
                     std::string_view multiplier) {
  const int width = a.bus.width + b.bus.width;
  const bool leads =
      a.lead == Lead::at_exponent && b.lead == Lead::at_exponent && multiplier == exact_multiplier;
  Term t = declared(name, a.bus.lanes, width, a.fraction + b.fraction, a.least + b.least,
                    a.largest + b.largest, leads ? Lead::at_exponent : Lead::anywhere);
  t.fixed = a.fixed && b.fixed;
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

Term Stages::conditioned(const std::string& name, const Term& t, const Operand& operand) {
  const int drop = t.fraction - *operand.keep_frac;
  const bool may_carry = operand.keep_rm.mode != RoundingMode::rtz;
  const Term z = declared(name, t.bus.lanes, t.bus.width - drop, t.fraction - drop, t.least,
                          t.largest + may_carry, t.lead);
  out_.assign(z.nan().name, t.nan().name);
  out_.assign(z.inf().name, t.inf().name);
  out_.assign(z.sign().name, t.sign().name);
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance(
        "ww_condition", t.bus.lanes == 1 ? "condition_" + name : "condition",
        {{"W", decimal(t.bus.width)},
         {"DROP", decimal(drop)},
         {"XW", decimal(out_.exponent_bits())},
         {"RM", fmt::format("4'd{}", rounding_code(operand.keep_rm).number)}},
        moving_ports(
            {{"nan", t.nan().lane(i)}, {"inf", t.inf().lane(i)}, {"sign", t.sign().lane(i)}}, t, z,
            z.zero(), i));
  });
  return z;
}

// LIMIT counts the digits below the exponent in, so that it is compared with that alone.
Term Stages::limited(const std::string& name, const Term& t, Exponent n) {
  const Term z = declared_like(name, t, t.bus.lanes);
  const Exponent limit = n + t.fraction;
  for (const Exponent x : {limit, limit - t.least, limit - t.largest}) out_.reach(x);
  for (const auto& [to, from] :
       {std::pair(z.nan(), t.nan()), std::pair(z.zero(), t.zero()), std::pair(z.sign(), t.sign()),
        std::pair(exp(z), exp(t)), std::pair(z.sig(), t.sig())})
    out_.assign(to.name, from.name);
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance("ww_limit", name + "_stage",
                  {{"W", decimal(t.bus.width)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"LIMIT", out_.exponent(limit)}},
                  {{"nan", t.nan().lane(i)},
                   {"inf", t.inf().lane(i)},
                   {"exp", exp(t).lane(i)},
                   {"sig", t.sig().lane(i)},
                   {"inf_out", z.inf().lane(i)}});
  });
  return z;
}

Term Stages::normalised(const std::string& name, const Term& t) {
  const int width = t.bus.width;
  const Term z = declared(name, t.bus.lanes, width, width - 1, t.least - t.fraction,
                          t.largest + t.top(), Lead::at_exponent);
  const Bus none = z.bus.part("none", 1);
  out_.wire(none);
  out_.reach(2 * width);
  for (const auto& [to, from] : {std::pair(z.nan(), t.nan()), std::pair(z.inf(), t.inf()),
                                 std::pair(z.zero(), t.zero()), std::pair(z.sign(), t.sign())})
    out_.assign(to.name, from.name);
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance("ww_normalise", name + "_stage",
                  {{"W", decimal(width)},
                   {"SW", decimal(width)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"TOP", out_.exponent(t.top())}},
                  moving_ports({}, t, z, none, i));
  });
  return z;
}

Term Stages::picked(const std::string& name, const Term& t, int lanes,
                    const std::function<std::string(const std::string& i)>& index) {
  const Term z = declared_like(name, t, lanes);
  const std::pair<Bus, Bus> fields[] = {{z.nan(), t.nan()},   {z.inf(), t.inf()},
                                        {z.zero(), t.zero()}, {z.sign(), t.sign()},
                                        {exp(z), exp(t)},     {z.sig(), t.sig()}};
  out_.lanes(lanes, name + "_lane", [&](const std::string& i) {
    for (const auto& [to, from] : fields) out_.assign(to.lane(i), from.lane(index(i)));
  });
  return z;
}

Term Stages::rescaled(const std::string& name, const Term& t, const std::string& scale,
                      Exponent most, const std::string& none) {
  const Term z = declared(name, t.bus.lanes, t.bus.width, t.fraction, t.least - most,
                          t.largest + most, t.lead);
  out_.lanes(z.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.assign(z.nan().lane(i), "1'b0");
    out_.assign(z.inf().lane(i), "1'b0");
    out_.assign(z.zero().lane(i), fmt::format("({}) | {}", none, t.zero().lane(i)));
    out_.assign(z.sign().lane(i), t.sign().lane(i));
    out_.instance("ww_rescale", name + "_stage",
                  {{"W", decimal(t.bus.width)}, {"XW", decimal(out_.exponent_bits())}},
                  {{"none", none},
                   {"exp", exp(t).lane(i)},
                   {"scale", scale},
                   {"sig", t.sig().lane(i)},
                   {"exp_out", exp(z).lane(i)},
                   {"sig_out", z.sig().lane(i)}});
  });
  return z;
}

Term Stages::negated(const std::string& name, const Term& t) {
  const Term z = declared_like(name, t, t.bus.lanes);
  for (const auto& [to, from] :
       {std::pair(z.nan(), t.nan()), std::pair(z.inf(), t.inf()), std::pair(z.zero(), t.zero()),
        std::pair(exp(z), exp(t)), std::pair(z.sig(), t.sig())})
    out_.assign(to.name, from.name);
  out_.assign(z.sign().name, "~" + t.sign().name);
  return z;
}

Term Stages::cleared(const std::string& name, const Format& f) {
  Term z = declared(name, 1, 1, 0, f.emin(), f.emin(), Lead::anywhere);
  z.fixed = f.is_fixed();
  for (const Bus& bus : {z.nan(), z.inf(), z.sign(), z.sig()}) out_.assign(bus.name, "1'b0");
  out_.assign(z.zero().name, "1'b1");
  out_.assign(exp(z).name, out_.exponent(f.emin()));
  return z;
}

void Stages::at_least(const std::string& name, const Term& x, const Term& y) {
  const int width = std::max(x.bus.width, y.bus.width);
  for (const Term* t : {&x, &y})
    for (const Exponent e : {t->least - t->fraction - 2 * width, t->largest + t->top()})
      out_.reach(e);
  out_.reach(2 * width);
  out_.wire({name, 1});
  out_.instance("ww_at_least", name + "_stage",
                {{"WX", decimal(x.bus.width)},
                 {"WY", decimal(y.bus.width)},
                 {"XW", decimal(out_.exponent_bits())},
                 {"TOP_X", out_.exponent(x.top())},
                 {"TOP_Y", out_.exponent(y.top())}},
                {{"x_nan", x.nan().name},
                 {"x_inf", x.inf().name},
                 {"x_exp", exp(x).name},
                 {"x_sig", x.sig().name},
                 {"y_nan", y.nan().name},
                 {"y_inf", y.inf().name},
                 {"y_exp", exp(y).name},
                 {"y_sig", y.sig().name},
                 {"at_least", name}});
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
          Lead::anywhere,
          x.fixed && y.fixed && x.largest == y.largest};
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
  const Term z = declared_like(name, t, 1);
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
  const Term z = declared_like(name, p, p.bus.lanes);
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

}  // namespace widthwise::hdl
