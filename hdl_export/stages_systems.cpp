#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "stages.hpp"
#include "widthwise/sim/widths.hpp"
#include "widthwise/unpack.hpp"

// Stages of formats that are no floats: their codes taken apart, and their patterns rounded
// (lib/widthwise/system).
namespace widthwise::hdl {
namespace {

// What exponents of takums are compared with has to fit in, too.
constexpr Exponent takum_room = 511;

}  // namespace

// What a table's codes stand for, the last one first: NaN, zero, sign, exponent, significand.
std::string Stages::listed(const Format& f) const {
  const Layout<Code> layout(f);
  std::string rom;
  for (std::uint64_t code = std::uint64_t{1} << f.width(); code-- > 0;) {
    const Number<Code> x = widthwise::unpack(layout, Code(code));
    rom +=
        fmt::format("{}3'b{:d}{:d}{:d}, {}, {}", rom.empty() ? "{" : ", ", x.nan, x.zero,
                    x.negative, out_.exponent(x.exp + f.digits() - 1), literal(f.digits(), x.sig));
  }
  return rom + "}";
}

// Significands have as many digits as any number: those of fixed point stand at one exponent.
Term Stages::unpacked_system(const std::string& name, const std::string& code, const Format& f,
                             int lanes, bool negate) {
  const Bus codes{code, f.width(), lanes};
  Connections parameters{{"XW", decimal(out_.exponent_bits())}, {"NEGATE", truth(negate)}};
  if (f.is_fixed()) {
    Term t = declared(name, lanes, f.digits(), f.frac_bits, f.emin(), f.emin(), Lead::anywhere);
    t.fixed = true;
    parameters.emplace_back("W", decimal(f.width()));
    parameters.emplace_back("IS_SIGNED", truth(f.is_signed()));
    parameters.emplace_back("EXP", out_.exponent(f.emin()));
    write_unpack("ww_unpack_fixed", parameters, t, codes);
    return t;
  }
  const ExponentRange range = exponents_of(f);
  const Term t =
      declared(name, lanes, f.digits(), f.digits() - 1, range.min, range.max, Lead::at_exponent);
  parameters.emplace_back("N", decimal(f.width()));
  parameters.emplace_back("D", decimal(f.digits()));
  if (f.is_table()) {
    parameters.emplace_back("ROM", listed(f));
    write_unpack("ww_unpack_table", parameters, t, codes);
    return t;
  }
  out_.reach(f.width());  // the length of a regime
  if (!f.is_posit()) out_.reach(takum_room);
  if (f.is_posit()) parameters.emplace_back("ES", decimal(f.exp_bits));
  write_unpack(f.is_posit() ? "ww_unpack_posit" : "ww_unpack_takum", parameters, t, codes);
  return t;
}

Term Stages::widened(const std::string& name, const Term& t, int above, int fraction) {
  Term z = t;
  z.bus = {name, above + fraction, t.bus.lanes};
  z.fraction = fraction;
  const Bus sig = shaped(name + "_digits", t, above, fraction);
  for (const auto& [to, from] :
       {std::pair(z.nan(), t.nan()), std::pair(z.inf(), t.inf()), std::pair(z.zero(), t.zero()),
        std::pair(z.sign(), t.sign()), std::pair(z.sig(), sig)})
    out_.wire(to, from.name);
  out_.signed_wire(exp(z));
  out_.assign(exp(z).name, exp(t).name);
  return z;
}

Stages::Delivery Stages::fixed_delivery(const Term& t, const Round& round) {
  const Format& f = round.fmt;
  const int kept = f.width() + 1, moved = t.bus.width + kept + round.rm.random_bits + 2;
  const Exponent down = kept + t.bus.width - 1 + Exponent{f.least_digit()} - t.top();
  out_.reach(moved);
  for (const Exponent e : {down, down - t.least, down - t.largest}) out_.reach(e);
  return {"ww_deliver_fixed",
          {{"W", decimal(t.bus.width)},
           {"XW", decimal(out_.exponent_bits())},
           {"CODE", decimal(f.width())},
           {"IS_SIGNED", truth(f.is_signed())},
           {"OVERFLOW", fmt::format("3'd{}", static_cast<int>(fixed_overflow(f.overflow)))},
           {"K", decimal(round.rm.random_bits)},
           {"VARIANT", decimal(static_cast<int>(round.rm.variant))},
           {"DOWN", out_.exponent(down)}},
          {{"normalise", "PIPE_NORMALISE"}, {"round", "PIPE_ROUND"}}};
}

Stages::Delivery Stages::tapered_delivery(const Term& t, const Round& round) {
  const Format& f = round.fmt;
  const int spelt = f.width() + round.rm.random_bits + 2, width = std::max(spelt, t.bus.width);
  for (const Exponent e : {t.least - t.fraction - 2 * width, t.largest + t.top()}) out_.reach(e);
  out_.reach(2 * width);
  if (!f.is_posit()) out_.reach(takum_room);
  return {"ww_deliver_tapered",
          {{"W", decimal(t.bus.width)},
           {"XW", decimal(out_.exponent_bits())},
           {"TOP", out_.exponent(t.top())},
           {"N", decimal(f.width())},
           {"TAKUM", truth(!f.is_posit())},
           {"ES", decimal(f.exp_bits)},
           {"K", decimal(round.rm.random_bits)},
           {"VARIANT", decimal(static_cast<int>(round.rm.variant))}},
          {{"normalise", "PIPE_NORMALISE"}, {"pattern", "PIPE_PATTERN"}, {"round", "PIPE_ROUND"}}};
}

}  // namespace widthwise::hdl
