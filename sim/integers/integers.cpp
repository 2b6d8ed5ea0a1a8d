#include "integers.hpp"

#include <fmt/format.h>

#include "rows.hpp"
#include "steps.hpp"

namespace widthwise::integers {

Opinion opinion(const ProductTask& task) {
  const Opinion steps = chain::opinion(task), rows = rows::opinion(task);
  if (!steps.takes && !rows.takes) return {"integers", false, rows.reason, 0};
  const bool stepwise = steps.rate > rows.rate;
  const Opinion& best = stepwise ? steps : rows;
  return {"integers", true,
          fmt::format("{}: {}", stepwise ? "step by step" : "whole blocks", best.reason),
          best.rate};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return chain::opinion(task).rate > rows::opinion(task).rate ? chain::make(task)
                                                              : rows::make(task);
}

}  // namespace widthwise::integers
