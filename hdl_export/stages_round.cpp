#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "format_constants.hpp"
#include "stages.hpp"
#include "widthwise/datapath/rounding_slot.hpp"

namespace widthwise::hdl {
namespace {

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

// What becomes of the signs of zeros: bit 0 of +, bit 1 of -.
struct ZeroSigns {
  bool plus, minus;

  bool operator==(const ZeroSigns&) const = default;
  std::string literal() const { return fmt::format("2'b{:d}{:d}", minus, plus); }
};
constexpr ZeroSigns kept{false, true};
ZeroSigns of_all(const Rounder<Code>& to) {
  return {delivered_sign(to, true, false), delivered_sign(to, true, true)};
}
// Of those of sums, whose addends had one sign.
ZeroSigns of_sums(const Round& r) {
  return {zero_is_negative(r, false, false), zero_is_negative(r, true, false)};
}

}  // namespace

bool keeps_sum_zeros(const Round& r) { return of_sums(r) == kept; }

// The leading digit may stand anywhere in sig, and rounding asks how far it lies from the least
// exponent, either way.
void Stages::reach_of_rounding(const Term& t, const Format& f, int digits) {
  const int width = std::max(digits, t.bus.width);
  for (const Exponent e : {t.least - t.fraction - 2 * width, t.largest + t.top()}) {
    out_.reach(e);
    out_.reach(e - f.emin());
    out_.reach(Exponent(f.emin()) - e);
  }
  out_.reach(2 * width);
  out_.reach(f.top_field());
}

Connections Stages::rounding_parameters(const Term& t, const Round& round, const Rounder<Code>& to,
                                        bool cut) const {
  const Format& f = round.fmt;
  const Endings end = endings(to);
  return {{"W", decimal(t.bus.width)},
          {"XW", decimal(out_.exponent_bits())},
          {"TOP", out_.exponent(t.top())},
          {"EXP", decimal(f.exp_bits)},
          {"FRAC", decimal(f.frac_bits)},
          {"SPARE", decimal(to.spare)},
          {"K", decimal(round.rm.random_bits)},
          {"VARIANT", decimal(static_cast<int>(round.rm.variant))},
          {"ALL_NORMAL", truth(f.all_normal())},
          {"TIES_TO_EVEN_CODE", truth(to.even_code)},
          {"TININESS_AFTER", truth(round.tininess == Tininess::after_rounding)},
          {"TININESS_DELIVERED", truth(round.tininess == Tininess::as_delivered)},
          {"EMIN", out_.exponent(f.emin())},
          {"IS_SIGNED", truth(f.is_signed())},
          {"HAS_ZERO", truth(f.zero)},
          {"HAS_NAN", truth(f.has_nan())},
          {"ZERO_SIGNS", of_all(to).literal()},
          {"FLUSH", truth(to.flush != Flush::keep && !f.all_normal())},
          {"FLUSH_TO_PLUS", truth(to.flush == Flush::flush_pos_zero)},
          {"OVERFLOW_STOPS", truth(to.overflow == Overflow::ieee)},
          {"SUM_ZERO_SIGNS", (cut ? kept : of_sums(round)).literal()},
          {"INFINITY_RAISES", truth(end.infinity_raises)},
          {"INFINITY_HAS_SIGN", truth(end.infinity_has_sign)},
          {"PAST_HAS_SIGN", truth(end.past_has_sign)},
          {"MAX_FINITE", literal(f.magnitude_bits(), to.layout.max_finite)},
          {"NAN", literal(f.width(), to.nan_code)},
          {"INFINITY", literal(f.width(), end.infinity)},
          {"PAST", literal(f.width(), end.past)}};
}

// To KEEP digits below the leading one. A zero that the cut makes keeps its sign here, whatever
// zero_sign says of sums (datapath 3.6).
Term Stages::cut(const std::string& name, const Term& t, const Round& round) {
  const int keep = *round.post_norm_frac;
  const Exponent emin = round.fmt.emin();
  const Term z = declared(name, t.bus.lanes, keep + 2, keep, emin,
                          std::max(emin, t.largest + t.top()), Lead::anywhere);
  reach_of_rounding(t, round.fmt, keep + 3);
  out_.assign(z.nan().name, t.nan().name);
  out_.assign(z.inf().name, t.inf().name);
  out_.assign(z.sign().name, keeps_sum_zeros(round) ? t.sign().name
                                                    : fmt::format("{} & ({} | ~{})", t.sign().name,
                                                                  t.inf().name, z.zero().name));
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance("ww_cut", name + "_stage",
                  {{"W", decimal(t.bus.width)},
                   {"KEEP", decimal(keep)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"TOP", out_.exponent(t.top())},
                   {"EMIN", out_.exponent(emin)},
                   {"RM", fmt::format("4'd{}", rounding_code(round.post_norm_rm).number)}},
                  moving_ports({{"sign", t.sign().lane(i)}}, t, z, z.zero(), i));
  });
  return z;
}

Stages::Delivery Stages::delivery(const Term& t, const Round& round, const RoundingPorts& ports) {
  require_rounded(round.fmt);
  if (round.fmt.is_fixed()) return fixed_delivery(t, round);
  if (round.fmt.is_tapered()) return tapered_delivery(t, round);
  const Rounder<Code> to(round, ports.made);
  reach_of_rounding(t, round.fmt, to.precision + round.rm.random_bits + 2);
  return {"ww_deliver",
          rounding_parameters(t, round, to, ports.cut),
          {{"normalise", "PIPE_NORMALISE"},
           {"denormalise", "PIPE_DENORMALISE"},
           {"round", "PIPE_ROUND"}}};
}

void Stages::deliver(const std::string& name, const Term& t, const Round& round,
                     const RoundingPorts& ports) {
  const Delivery how = delivery(t, round, ports);
  const auto write = [&] { deliver_module(name, t, round, how, ports); };
  if (!ports.stages) return write();
  std::vector<std::string> further;
  for (std::size_t i = 1; i < how.stages.size(); ++i)
    further.push_back(*ports.stages + how.stages[i].name);
  further.push_back(*ports.stages + "pack");
  out_.across({further.begin(), further.end()}, write);
}

void Stages::deliver_module(const std::string& name, const Term& t, const Round& round,
                            const Delivery& how, const RoundingPorts& ports) {
  const Bus code{name + "_code", round.fmt.width(), t.bus.lanes},
      flags{name + "_flags", 5, t.bus.lanes};
  out_.wire(code);
  out_.wire(flags);
  const std::size_t first = out_.reading(),
                    last = first + (ports.stages ? how.stages.size() - 1 : 0);
  out_.taps().roundings.push_back({name, first, ports.stages ? last - 1 : first, last,
                                   out_.making(), t.bus.lanes, round.fmt, code.name});
  Connections parameters = how.parameters;
  for (const auto& [stage, registers] : how.stages)
    parameters.emplace_back(registers, ports.stages ? out_.depth(*ports.stages + stage) : "0");
  const auto own = [](const std::string& override, const std::string& lane) {
    return override.empty() ? lane : override;
  };
  out_.lanes(t.bus.lanes, name + "_lane", [&](const std::string& i) {
    out_.instance(how.module, name, parameters,
                  {{"clk", ports.stages ? out_.clock() : "1'b0"},
                   {"enable", ports.stages ? out_.enable(*ports.stages + "normalise") : "1'b0"},
                   {"rm", ports.rm},
                   {"random", ports.random.lane(i)},
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

}  // namespace widthwise::hdl
