#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "engines.hpp"
#include "sim/dot/make.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise {
namespace {

// It says what is wrong with a unit when it is made.
Opinion reference_opinion(const ProductTask& task) {
  double rate = std::end(all_carriers)[-1].rate;
  try {
    rate = least_carriers(task.unit, task.k, bool(task.multiplier)).rate;
  } catch (const std::invalid_argument&) {
  }
  if (task.unit.chain.compensation != Compensation::none) rate /= 3;
  return {"reference", true, "the definition itself takes everything", rate};
}
std::unique_ptr<ProductEngine> reference(const ProductTask& task) {
  return make_reference(task.unit, task.k, task.multiplier);
}

// Work between two looks at whether somebody wants it stopped: so long at least, or up to the
// longer time for as many outputs as make it worth their operands' packing.
std::size_t products_at_once(double rate, std::size_t k) {
  constexpr double least_seconds = 0.02, most_seconds = 0.1, outputs = 1024;
  return static_cast<std::size_t>(
      std::clamp(outputs * static_cast<double>(k), rate * least_seconds, rate * most_seconds));
}

using Finder = std::function<std::vector<Engine>()>;
std::vector<Finder>& finders() {
  static std::vector<Finder> all;
  return all;
}

constexpr bool any_format = true;

// This room's.
std::vector<Engine> own_engines() {
  return {
      {"reference", true, true, &reference_opinion, &reference, {}, any_format},
      {"integers", true, false, &rows::opinion, &rows::make, {}, any_format},
      {"lanes", false, false, &lanes::opinion, &lanes::make, {}, any_format},
      {"halves", false, false, &lanes::opinion_of_halves, &lanes::make_halves, {}},
      {"tensor", false, false, &tensor::opinion, &tensor::make, {}},
      {"blocks", true, true, &blocks::opinion, &blocks::make, {}},
      {"wide", true, false, &wide::opinion, &wide::make, {}},
      {"wide52", true, false, &wide::opinion52, &wide::make52, {}},
      {"exact", true, false, &exact::opinion, &exact::make, {}},
      {"words", true, false, &exact::opinion_of_words, &exact::make_words, {}},
      {"bytes", false, false, &bytes::opinion, &bytes::make, {}, any_format},
      {"promoted", false, true, &promoted::opinion, &promoted::make, {}},
      {"narrowed", true, false, &narrowed::opinion, &narrowed::make, {}},
      {"recoded", true, false, &recoded::opinion, &recoded::make, {}, any_format},
  };
}
// What `integers` was called: wishes still, until the next release.
constexpr std::string_view old_names[] = {"chain", "rows"};

// Those of this room, and what others have added.
const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> found = own_engines();
    for (const Finder& find : finders()) std::ranges::move(find(), std::back_inserter(found));
    return found;
  }();
  return all;
}

// What an engine says, after what all but the reference refuse alike.
Opinion opinion_of(const Engine& e, const ProductTask& task) {
  const auto refuse = [&](const std::string& why) { return Opinion{e.name, false, why, 0}; };
  if (!e.why_unusable.empty()) return refuse(e.why_unusable);
  if (e.name != "reference" && task.k == 0) return refuse("there is nothing to multiply");
  if (const Format* f = other_than_float(task.unit); f && !e.takes_any_format)
    return refuse(fmt::format("{} is no float", said(*f)));
  if (has_quire(task.unit) && !e.takes_any_format) return refuse("a quire, which knows NaR");
  if (task.multiplier && !e.takes_multiplier) return refuse("products of the user's own");
  if (task.flags && !e.takes_flags) return refuse("flags are wanted");
  Opinion own = e.opinion(task);
  own.reason = said(own.reason);
  return own;
}

// Those that refuse have no rate.
Opinion faster(Opinion x, Opinion y) { return y.rate > x.rate ? std::move(y) : std::move(x); }

const Engine& named(std::string_view name) {
  if (std::ranges::find(old_names, name) != std::end(old_names)) name = "integers";
  const auto found = std::ranges::find(engines(), name, &Engine::name);
  if (found == engines().end())
    throw std::invalid_argument(
        fmt::format("engine = '{}': there is no such engine here; there are {}", name,
                    fmt::join(engine_names(), ", ")));
  return *found;
}

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto"};
  for (const Engine& e : engines())
    if (e.why_unusable.empty()) names.push_back(e.name);
  return names;
}

std::vector<std::string> old_engine_names() { return {std::begin(old_names), std::end(old_names)}; }

Opinion opinion(const ProductTask& task, std::string_view engine) {
  return opinion_of(named(engine), task);
}
std::vector<Opinion> opinions(const ProductTask& task) {
  std::vector<Opinion> all;
  for (const Engine& e : engines()) all.push_back(opinion_of(e, task));
  std::ranges::stable_sort(all, std::ranges::greater{}, &Opinion::rate);
  return all;
}

Prepared prepare(const ProductTask& task, std::string_view engine) {
  const Engine& chosen = named(engine == "auto" ? opinions(task).front().engine : engine);
  if (!chosen.why_unusable.empty())
    throw std::invalid_argument(
        fmt::format("engine = '{}' cannot be used here: {}; engine = 'auto' computes the same "
                    "without it",
                    engine, chosen.why_unusable));
  const Opinion opinion = opinion_of(chosen, task);
  if (!opinion.takes)
    throw std::invalid_argument(
        fmt::format("engine = '{}' does not take unit {}: {}; engine = 'auto' finds one that does",
                    engine, said(task.unit), opinion.reason));
  return {chosen.name, chosen.make(task), opinion.rate, products_at_once(opinion.rate, task.k)};
}

Prepared prepare_fallback(const ProductTask& task, std::string_view of) {
  Opinion best = opinion_of(named("reference"), task);
  for (const char* name : {"words", "integers", "blocks"}) {
    if (name == of) break;
    best = faster(std::move(best), opinion_of(named(name), task));
  }
  return prepare(task, best.engine);
}

Opinion opinion_here(const ProductTask& task) {
  Opinion best = opinion_of(named("reference"), task);
  for (const Engine& e : own_engines()) best = faster(std::move(best), opinion_of(e, task));
  return best;
}
Prepared prepare_here(const ProductTask& task) { return prepare(task, opinion_here(task).engine); }

void add_engines(std::function<std::vector<Engine>()> find) {
  finders().push_back(std::move(find));
}

std::vector<std::pair<std::string, std::string>> unusable_engines() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Engine& e : engines())
    if (!e.why_unusable.empty()) all.emplace_back(e.name, e.why_unusable);
  return all;
}

}  // namespace widthwise
