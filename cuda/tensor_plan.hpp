#pragma once
#include "sim/tensor/plan.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/engine.hpp"

// Which units tensor tiles compute. docs/exactness.md argues every condition.
namespace widthwise::cuda {

// The fused sum of a block's products, and what tiles do beside it.
struct TensorPlan {
  tensor::Plan sum;
  GroupShape groups;
  bool late;  // C joins after the products
};

struct TensorAnswer {
  std::optional<TensorPlan> plan;
  std::string reason;  // the condition that fails
};

TensorAnswer tensor_plan(const ProductTask& task);

// To nearest even, and nothing besides. Overflow is the definition's in any case.
bool rounds_plainly(const Round& r, const Format& f);

// Why the chain of blocks is not one that tiles have; empty if it is.
std::string unlike_a_tiled_chain(const Unit& u);

}  // namespace widthwise::cuda
