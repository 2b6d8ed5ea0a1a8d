#include "widthwise/sim/running.hpp"

#include <cstring>

#include "sim/exact/running.hpp"

namespace widthwise {

bool runs_in_one_pass(const Unit& u) { return u.lanes != 0 && !u.chain.lane_permutation; }

RunningProducts::RunningProducts(const Unit& unit, std::size_t k, bool flags) : unit_(unit), k_(k) {
  auto reference = make_reference(unit, k);  // refuses what is too large
  if (runs_in_one_pass(unit))
    one_pass_ = std::move(reference);
  else
    sums_ = exact::RunningSums::of(unit, k, flags);
}

RunningProducts::~RunningProducts() = default;

void RunningProducts::run(const MatrixProduct& p, std::size_t first, std::size_t last,
                          std::size_t pass) const {
  if (one_pass_) return one_pass_->run_running(p, first, last);
  if (sums_) return sums_->run(p, first, last);
  for (std::size_t i = first; i < last; ++i) run_length(p, pass + 1, i);
}

// Row i of the products of that length, each result to its place among those of the others.
void RunningProducts::run_length(const MatrixProduct& p, std::size_t length, std::size_t i) const {
  const auto bytes = static_cast<std::size_t>(item_bytes(result_round(unit_).fmt.width()));
  std::vector<std::byte> codes(p.n * bytes);
  std::vector<std::uint8_t> flags(p.n);
  MatrixProduct row = tile(unit_, p, i, 0, 1, p.n);
  row.k = length;
  row.result = codes.data();
  row.flags = p.flags ? flags.data() : nullptr;
  make_reference(unit_, length)->run(row, 0, 1);
  for (std::size_t j = 0; j < p.n; ++j) {
    const std::size_t at = p.output(i, j) * k_ + length - 1;
    std::memcpy(static_cast<std::byte*>(p.result) + at * bytes, &codes[j * bytes], bytes);
    if (p.flags) p.flags[at] = flags[j];
  }
}

}  // namespace widthwise
