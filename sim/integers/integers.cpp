#include "integers.hpp"

#include <fmt/format.h>

#include "rows.hpp"
#include "steps.hpp"

namespace widthwise::integers {

Opinion opinion(const ProductTask& task) {
  const Opinion by_step = steps::opinion(task), by_row = rows::opinion(task);
  if (!by_step.takes && !by_row.takes) return {"integers", false, by_row.reason, 0};
  const bool stepwise = by_step.rate > by_row.rate;
  const Opinion& best = stepwise ? by_step : by_row;
  return {"integers", true,
          fmt::format("{}: {}", stepwise ? "step by step" : "whole blocks", best.reason),
          best.rate};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return steps::opinion(task).rate > rows::opinion(task).rate ? steps::make(task)
                                                              : rows::make(task);
}

}  // namespace widthwise::integers
