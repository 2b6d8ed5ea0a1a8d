#include "taps.hpp"

#include <fmt/core.h>

#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

template <class T, class One>
std::string each(const std::vector<T>& all, const One& one) {
  std::string text;
  for (const T& x : all) text += (text.empty() ? "\n  " : ",\n  ") + one(x);
  return text;
}

std::string term(const TermTap& t) {
  return fmt::format(R"({{"name": "{}", "stage": {}, "lanes": {}, "fraction": {}}})", t.name,
                     t.stage, t.lanes, t.fraction);
}

// What a float's magnitude means, and the format of what is none.
std::string format_of(const RoundingTap& r) {
  const Format& f = r.fmt;
  if (!f.is_float()) return fmt::format(R"("format": "{}")", to_string(f));
  return fmt::format(R"("frac_bits": {}, "emin": {}, "all_normal": {})", f.frac_bits, f.emin(),
                     f.all_normal());
}

std::string rounding(const RoundingTap& r) {
  return fmt::format(
      R"({{"name": "{}", "slot": "{}", "step": {}, "lanes": {}, "normalise": {}, "denormalise": {}, )"
      R"("round": {}, "pack": {}, {}, "code": "{}"}})",
      r.name, r.slot, r.step, r.lanes, r.normalise, r.denormalise, r.round, r.pack, format_of(r),
      r.code);
}

}  // namespace

std::string taps_json(std::string_view module, bool clocked, const Taps& taps,
                      const std::vector<std::pair<std::string, int>>& stages) {
  const auto stage = [](const std::pair<std::string, int>& s) {
    return fmt::format(R"({{"name": "{}", "registers": {}}})", s.first, s.second);
  };
  return fmt::format(
      "{{\"module\": \"{}\", \"clocked\": {},\n\"stages\": [{}\n],\n\"terms\": [{}\n],\n"
      "\"roundings\": [{}\n]}}\n",
      module, clocked, each(stages, stage), each(taps.terms, term), each(taps.roundings, rounding));
}

}  // namespace widthwise::hdl
