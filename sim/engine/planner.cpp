#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "sim/blocks/blocks.hpp"
#include "sim/chain/chain.hpp"
#include "sim/exact/exact.hpp"
#include "sim/lanes/lanes.hpp"
#include "sim/tensor/tensor.hpp"
#include "sim/wide/wide.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

Opinion reference_opinion(const ProductTask& task) {
  const double digits = std::max(24, task.unit.out.fmt.precision());
  return {"reference", true, "the definition itself takes everything", 10e6 * 24 / digits};
}
std::unique_ptr<ProductEngine> reference(const ProductTask& task) {
  return make_reference(task.unit, task.k, task.multiplier);
}

struct Entry {
  std::string_view name;
  bool takes_flags, takes_multiplier;
  Opinion (*opinion)(const ProductTask&);
  std::unique_ptr<ProductEngine> (*make)(const ProductTask&);
};

// Of work between two looks at whether somebody wants it stopped.
constexpr double seconds_at_once = 0.02;

constexpr Entry entries[] = {
    {"reference", true, true, &reference_opinion, &reference},
    {"chain", true, false, &chain::opinion, &chain::make},
    {"lanes", false, false, &lanes::opinion, &lanes::make},
    {"tensor", false, false, &tensor::opinion, &tensor::make},
    {"blocks", true, true, &blocks::opinion, &blocks::make},
    {"wide", true, false, &wide::opinion, &wide::make},
    {"wide52", true, false, &wide::opinion52, &wide::make52},
    {"exact", true, false, &exact::opinion, &exact::make},
    {"words", true, false, &exact::opinion_of_words, &exact::make_words},
};

// What an engine says, after what all but the reference refuse alike.
Opinion opinion_of(const Entry& e, const ProductTask& task) {
  const auto refuse = [&](const char* why) { return Opinion{std::string(e.name), false, why, 0}; };
  if (e.opinion != &reference_opinion && task.k == 0) return refuse("there is nothing to multiply");
  if (task.multiplier && !e.takes_multiplier) return refuse("products of the user's own");
  if (task.flags && !e.takes_flags) return refuse("flags are wanted");
  return e.opinion(task);
}

const Entry& entry(std::string_view name) {
  const auto* found = std::ranges::find(entries, name, &Entry::name);
  if (found == std::end(entries))
    throw std::invalid_argument(
        fmt::format("engine = '{}': there is no such engine here; there are {}", name,
                    fmt::join(engine_names(), ", ")));
  return *found;
}

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto"};
  for (const Entry& e : entries) names.emplace_back(e.name);
  return names;
}

std::vector<Opinion> opinions(const ProductTask& task) {
  std::vector<Opinion> all;
  for (const Entry& e : entries) all.push_back(opinion_of(e, task));
  std::ranges::stable_sort(all, std::ranges::greater{}, &Opinion::rate);
  return all;
}

Prepared prepare(const ProductTask& task, std::string_view engine) {
  const Entry& chosen = entry(engine == "auto" ? opinions(task).front().engine : engine);
  const Opinion opinion = opinion_of(chosen, task);
  if (!opinion.takes)
    throw std::invalid_argument(
        fmt::format("engine = '{}' does not take unit {}: {}; engine = 'auto' finds one that does",
                    engine, to_string(task.unit), opinion.reason));
  return {std::string(chosen.name), chosen.make(task),
          static_cast<std::size_t>(opinion.rate * seconds_at_once)};
}

}  // namespace widthwise
