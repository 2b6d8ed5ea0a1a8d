#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "stages.hpp"
#include "unit_shape.hpp"

namespace widthwise::hdl {

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
  Term t = declared(name, groups, width, static_cast<int>(grid.fraction), least, largest,
                    Lead::anywhere);
  t.fixed = grid.fixed;
  out_.reach(floor);
  out_.reach(largest - terms.least);
  out_.reach(terms.bus.width + static_cast<int>(grid.fraction) + 2);  // distances that matter
  if (grid.drop_last) out_.reach(*grid.drop_last);
  const Bus created = t.bus.part("created", 1), mixed = t.bus.part("mixed", 1),
            overflowed = t.bus.part("overflowed", 1), nar = t.bus.part("nar", 1);
  for (const Bus& bus : {created, mixed, overflowed, nar}) out_.wire(bus);
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
                      {"mixed", mixed.lane(i)},
                      {"overflowed", overflowed.lane(i)},
                      {"nar", nar.lane(i)}};
    for (Connection& c : term_ports(t, i)) ports.push_back(std::move(c));
    out_.instance("ww_sum", name + "_stage",
                  {{"N", decimal(each)},
                   {"W", decimal(terms.bus.width)},
                   {"FT", decimal(terms.fraction)},
                   {"F", decimal(static_cast<int>(grid.fraction))},
                   {"FX", decimal(static_cast<int>(grid.late ? grid.late->F_sum : grid.fraction))},
                   {"FC", decimal(static_cast<int>(grid.late ? grid.late->F_C : grid.fraction))},
                   {"SW", decimal(grid.width)},
                   {"MW", decimal(width)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"RM", fmt::format("4'd{}", rounding_code(grid.rm).number)},
                   {"FIXED", truth(grid.fixed)},
                   {"HAS_FLOOR", truth(grid.floor.has_value())},
                   {"BY_VALUE", truth(grid.by_value)},
                   {"IN_ORDER", truth(grid.in_order)},
                   {"SATURATE", truth(grid.saturates)},
                   {"QUIRE", truth(grid.quire)},
                   {"STRICT", truth(grid.strict)},
                   {"DROPS_C", truth(grid.drop_last.has_value())},
                   {"DROP_C", out_.exponent(grid.drop_last.value_or(0))},
                   {"FLOOR", out_.exponent(floor)},
                   {"PIPE_ALIGN", stages.staged ? out_.depth(name + "_align") : "0"},
                   {"ACCUMULATE", truth(stages.accumulates)}},
                  ports);
  });
  return t;
}

// Let E be the larger exponent, that of `high`, and `low` lose digits below 2^(E - F). Then low
// stands below 2^(E - F + its width - 1), high's leading digit at E - below or above, and with
// F >= below + width + 1 at most one leading digit cancels. So the sum's lies at E - below - 1 or
// above, and the jammed digit two or more (k + 2) below the last that is kept, where all numbers at
// which a rounding changes its mind, and high itself, are multiples of 2^(E - F + 1): low and its
// jammed stand-in put the sum strictly between the same two of those.
Grid grid_of_two(const Term& x, const Term& y, std::int64_t reach) {
  const Exponent least = std::min(x.least - x.fraction, y.least - y.fraction);
  const Exponent largest = std::max(x.largest, y.largest);
  Exponent needed = std::max(x.fraction, y.fraction) + 1;
  const auto upper = [&](const Term& high, const Term& low) {
    const bool full = high.lead == Lead::at_exponent ||
                      (high.lead == Lead::above_least && low.least >= high.least);
    const int below = full ? 0 : high.fraction;  // where the leading digit may stand
    needed = std::max<Exponent>(needed, below + low.bus.width + 1);
    needed = std::max<Exponent>(needed, below + reach);
  };
  upper(x, y);
  upper(y, x);
  const int above = std::max(x.bus.width - x.fraction, y.bus.width - y.fraction);
  const bool exact = reach == 0 || needed >= largest - least;
  Grid g;
  if (reach == 0 && largest - least + above + 2 > widest_sum)
    refuse(
        fmt::format("a sum over {} digits whose low ones a result that wraps delivers", widest_sum),
        "overflow=saturate, or operands of fewer exponents, are");
  if (exact && x.fixed && y.fixed) g.fixed = true, g.floor = largest;
  g.fraction = exact ? largest - least : needed;
  g.rm = exact ? RoundingMode::rtz : RoundingMode::odd;
  g.width = above + static_cast<int>(g.fraction) + 2;
  g.by_value = true;
  return g;
}

}  // namespace widthwise::hdl
