#include "running.hpp"

#include "definition.hpp"
#include "kernels/unit_running.hpp"
#include "product.hpp"
#include "unit_threads.hpp"

namespace widthwise::cuda {
namespace {

template <class M, class H>
void in_one_pass(Device& device, const Unit& unit, const MatrixProduct& p, const char* kernel) {
  UnitThreads<M, H>(unit, p.k, device)
      .launch({"unit_running", kernel}, {p, p.n}, p.m * p.n, p.k,
              [](const UnitWork<M, H>& work) { return UnitRunning<M, H>{work}; });
}

// Items side by side to places k apart.
void spread(Device& device, const void* from, void* to, int bytes, const MatrixProduct& p) {
  const auto apart = static_cast<std::ptrdiff_t>(p.k);
  move_items(device, {static_cast<const std::byte*>(from),
                      static_cast<std::byte*>(to),
                      bytes,
                      1,
                      {{.size = p.m * p.n, .from = 1, .to = apart}}});
}

// The product of the first elements, each result to its place among those of other lengths.
void run_length(Device& device, const Unit& unit, const MatrixProduct& p, std::size_t length) {
  const int bytes = item_bytes(result_round(unit).fmt.width());
  const auto item = static_cast<std::size_t>(bytes);
  const Buffer codes(device, p.m * p.n * item), flags(device, p.flags ? p.m * p.n : 0);
  MatrixProduct first = p;
  first.k = length;
  first.result = codes.at();
  first.flags = flags.at<std::uint8_t>();
  make({.unit = unit, .k = length, .flags = p.flags != nullptr}, device, Memory::device)
      ->run(first, 0, p.m);
  const std::size_t at = length - 1;
  spread(device, codes.at(), static_cast<std::byte*>(p.result) + at * item, bytes, p);
  if (p.flags) spread(device, flags.at(), p.flags + at, 1, p);
}

}  // namespace

void run_running(Device& device, const Unit& unit, const MatrixProduct& p) {
  if (p.m * p.n * p.k == 0) return;
  const Carriers carriers = carriers_for({unit, p.k});
  if (!runs_in_one_pass(unit))
    for (std::size_t length = 1; length <= p.k; ++length) run_length(device, unit, p, length);
  else if (carriers == Carriers::small)
    in_one_pass<uint128, std::uint64_t>(device, unit, p, "running_small");
  else
    in_one_pass<Wide<12>, uint128>(device, unit, p, "running_medium");
}

}  // namespace widthwise::cuda
