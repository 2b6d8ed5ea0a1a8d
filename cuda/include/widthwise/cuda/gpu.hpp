#pragma once
#include <string>
#include <vector>

// GPUs, found when the program runs: whoever links this needs neither a GPU nor its driver.
namespace widthwise::cuda {

struct Gpus {
  std::vector<std::string> names;    // by index
  std::vector<std::string> why_not;  // of each: empty, or in words why it cannot be used
  std::string why_none;              // the same, where none can
};
// Looked for once. Never throws.
const Gpus& gpus();

// Offers the engine "cuda" to sim's planner, which looks for GPUs when it is first asked; a second
// call does nothing.
void offer_engine();

}  // namespace widthwise::cuda
