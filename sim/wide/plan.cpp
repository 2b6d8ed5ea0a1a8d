#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/engine/unusual.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::wide {
namespace {

Round bare(const Round& r) { return {.fmt = r.fmt, .rm = r.rm, .overflow = r.overflow}; }

// The unit's formats and roundings with nothing else about them, but for the final rounding.
Unit multiply_add(const Unit& u) {
  Unit plain{.a = {.fmt = u.a.fmt},
             .b = {.fmt = u.b.fmt},
             .c = {.fmt = u.c.fmt},
             .lanes = 1,
             .c_level = u.c_level,
             .out = bare(u.out),
             .chain = {.final = u.chain.final}};
  if (u.product.round) plain.product.round = bare(*u.product.round);
  return plain;
}

const char* unfit(const Format& f) {
  if (const char* why = unusual(f)) return why;
  return f.emax() <= f.emin() ? "has one binade of normal numbers" : nullptr;
}

std::array<Format, 5> formats(const Unit& u) {
  return {u.a.fmt, u.b.fmt, u.c.fmt, u.product.round.value_or(u.out).fmt, u.out.fmt};
}
std::string unfit(const Unit& u) {
  for (const Format& f : formats(u))
    if (const char* why = unfit(f)) return fmt::format("{} {}", to_string(f), why);
  return {};
}

// Past the top binade a rounding could overflow, so it is left out.
RoundTo round_to(const Round& r, Slot slot) {
  return {RoundingRule(r.rm), slot, r.fmt.precision(), r.fmt.emin(),
          static_cast<std::uint64_t>(r.fmt.emax() - 1 - r.fmt.emin())};
}

}  // namespace

Answer plan(const Unit& u) {
  const auto refuse = [](const std::string& why) { return Answer{std::nullopt, why}; };
  if (u.lanes != 1) return refuse("more than one product a block");
  if (u != multiply_add(u))
    return refuse("its operands, sums or roundings are more than those of a multiply-add");
  if (const std::string why = unfit(u); !why.empty()) return refuse(why);
  int p = 0;
  for (const Format& f : formats(u)) p = std::max(p, f.precision());
  if (const auto& last = u.chain.final) {
    if (last->rm.stochastic() || last->post_norm_frac)
      return refuse("chain.final cuts twice or by random bits");
    if (last->fmt.precision() > p) return refuse("chain.final has more digits than all else");
  }
  Chain chain{p, std::nullopt, round_to(u.out, Slot::out)};
  if (u.product.round) chain.product = round_to(*u.product.round, Slot::product);
  return {chain, {}};
}

}  // namespace widthwise::wide
