#pragma once
#include <functional>
#include <string_view>

#include "widthwise/sim/dot.hpp"

// Engines compute matrix products, each in its own way and all with the same bits. The planner
// takes the fastest of those whose conditions hold.
namespace widthwise {

// What is asked for, before there are operands.
struct ProductTask {
  Unit unit;
  std::size_t k = 0;
  bool flags = false;       // every output's flags are wanted
  Multiplier multiplier{};  // the user's own, or none
  std::size_t outputs = 0;  // in all, about, for engines that few do not pay for; 0: not known
};

// What an engine says to a task.
struct Opinion {
  std::string engine;
  bool takes;
  std::string reason;  // the condition that allows it, or the one that fails
  double rate;         // products a second of one core, about; 0 if refused
};

// Outputs that engines of vectors have under way together: in lanes, and in steps that overlap.
inline constexpr std::size_t outputs_under_way = 32;
// What is left of an engine's rate where there are fewer outputs than it computes at once.
inline double share_of(const ProductTask& task, std::size_t outputs_at_once) {
  const bool few = task.outputs != 0 && task.outputs < outputs_at_once;
  return few ? static_cast<double>(task.outputs) / static_cast<double>(outputs_at_once) : 1;
}

// Every engine's, the fastest first and refusals last.
std::vector<Opinion> opinions(const ProductTask& task);

// That of the engine of a name.
Opinion opinion(const ProductTask& task, std::string_view engine);

// "auto", and the names of the engines usable here.
std::vector<std::string> engine_names();
// Names that are taken for `integers` until the next release.
std::vector<std::string> old_engine_names();

struct Prepared {
  std::string engine;
  std::unique_ptr<ProductEngine> product;
  double rate;                   // products a second of one core, about
  std::size_t products_at_once;  // that a call to run should have, to be worth its packing
};

// The engine of that name, or the fastest. Refuses a name that is not there, and a task that the
// engine refuses, with its reason.
Prepared prepare(const ProductTask& task, std::string_view engine = "auto");

// For what an engine's kernels cannot vouch for: the fastest of those that compute by themselves
// whatever they meet, or of those among them that this one's own work is never left to.
Prepared prepare_fallback(const ProductTask& task, std::string_view of = {});

// The fastest of this machine's processors, for engines that leave parts of their work to others.
Opinion opinion_here(const ProductTask& task);
Prepared prepare_here(const ProductTask& task);

// An engine of another room.
struct Engine {
  std::string name;
  bool takes_flags, takes_multiplier;
  std::function<Opinion(const ProductTask&)> opinion;
  std::function<std::unique_ptr<ProductEngine>(const ProductTask&)> make;
  std::string why_unusable;       // here; empty if it can be used
  bool takes_any_format = false;  // fixed point, posits and takums beside floats
};
// The planner looks for them when it is first asked for anything, and from then on asks them, too.
void add_engines(std::function<std::vector<Engine>()> find);

// Engines that cannot be used here, and why.
std::vector<std::pair<std::string, std::string>> unusable_engines();

}  // namespace widthwise
