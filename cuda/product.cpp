#include "product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "block_tiles.hpp"
#include "chain_tiles.hpp"
#include "definition.hpp"
#include "exact_tiles.hpp"
#include "lane_tiles.hpp"
#include "pair_tiles.hpp"
#include "tensor_tiles.hpp"
#include "widthwise/sim/multipliers.hpp"

namespace widthwise::cuda {
namespace {

// Empty, or why the device does not multiply so.
std::string why_no_multiplier(const Multiplier& multiply, const Device& device) {
  if (!multiply || multiply.target<NamedMultiplier>()) return {};
  if (const auto* text = multiply.target<TextProduct>()) return device.why_not_with(text->source);
  return "its multiplier is a function of this process; a GPU takes those with a name, as "
         "'mitchell', and those given as text (ww.product)";
}

class Regions {
 public:
  Regions(Device& device, const Unit& unit, const Way& way, const WholeProduct& p)
      : device_(device), unit_(unit), way_(way), p_(p), budget_(device.free_bytes() / 3) {}

  // What does not fit, or passes a grid, goes in halves: whole rows while there are some.
  void run(const Region& r) const {
    if (r.outputs() == 0) return;
    const bool small = RegionMemory::bytes(unit_, p_, r) <= budget_;
    if (std::max(r.rows, r.columns) <= Grid::most_lines && small && fits(r)) return;
    if (r.outputs() == 1)
      throw std::runtime_error(fmt::format(
          "{}: its memory does not hold the operands of one output, of length {}; engine = 'auto' "
          "computes the same on the CPU",
          device_.name(), p_.p.k));
    Region low = r, high = r;
    if (r.columns > r.rows)
      low.columns /= 2, high.columns -= low.columns, high.column += low.columns;
    else
      low.rows /= 2, high.rows -= low.rows, high.row += low.rows;
    run(low);
    run(high);
  }

 private:
  // Others may take memory meanwhile.
  bool fits(const Region& r) const {
    try {
      const RegionMemory memory(device_, unit_, p_, r);
      way_.compute(memory.there(), nullptr);
      memory.bring_home();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  Device& device_;
  const Unit& unit_;
  const Way& way_;
  const WholeProduct& p_;
  std::size_t budget_;
};

class DeviceProduct final : public ProductEngine {
 public:
  DeviceProduct(const ProductTask& task, Device& device, Memory lies)
      : device_(device), unit_(task.unit), lies_(lies), way_(best_way(task, device)) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    run_in_regions(device_, unit_, *way_, {p, lies_}, first, last);
  }

 private:
  Device& device_;
  Unit unit_;
  Memory lies_;
  std::unique_ptr<const Way> way_;
};

// Estimated: products a second of a whole product, from this machine's memory and back, as if it
// were square.
double with_transfers(const ProductTask& task, double rate) {
  constexpr double launches = 3e-4, bytes_a_second = 10e9;
  const auto outputs = static_cast<double>(task.outputs ? task.outputs : std::size_t{1} << 20);
  const double k = static_cast<double>(task.k), products = outputs * k;
  const double bytes = 4 * (2 * std::sqrt(outputs) * k + outputs);
  return products / (products / rate + launches + bytes / bytes_a_second);
}

}  // namespace

Opinion opinion(const ProductTask& task, std::string_view engine, const Device& device) {
  const auto say = [&](std::string reason, double rate_of_processor) {
    const double rate = rate_of_processor * static_cast<double>(device.processors());
    return Opinion{std::string(engine), true, std::move(reason), with_transfers(task, rate)};
  };
  try {
    const bool small = carriers_for(task) == Carriers::small;
    if (const std::string why = why_no_multiplier(task.multiplier, device); !why.empty())
      return {std::string(engine), false, why, 0};
    if (!task.multiplier) {
      if (why_no_pair_tiles(task).empty())
        return say("a GPU's own 16-bit arithmetic, transfers counted", 100e9);
      if (why_no_lane_tiles(task).empty())
        return say("value lanes on a GPU's threads, transfers counted", 20e9);
      if (why_no_tensor_tiles(task).empty())
        return say("tensor tiles on a GPU's threads, transfers counted", 15e9);
      if (why_no_block_tiles(task).empty())
        return say("blocks of the machine's own operations on a GPU's threads, transfers counted",
                   10e9);
      if (why_no_exact_tiles(task).empty())
        return say("one exact sum of doubles on a GPU's threads, transfers counted", 15e9);
      if (why_no_chain_tiles(task).empty())
        return say("chains in integers on a GPU's threads, transfers counted", 1e9);
    }
    return say(fmt::format("the definition on a GPU's threads, in integers of {} bits, transfers "
                           "counted",
                           small ? 128 : 768),
               small ? 5e6 : 1e6);
  } catch (const std::invalid_argument& wrong) {
    return {std::string(engine), false, wrong.what(), 0};
  }
}

std::unique_ptr<const Way> best_way(const ProductTask& task, Device& device) {
  if (!task.multiplier)
    if (auto way = pair_tiles(task, device)) return way;
  return best_way_by_index(task, device);
}

std::unique_ptr<const Way> best_way_by_index(const ProductTask& task, Device& device) {
  if (task.multiplier) return definition(task, device);  // tiles multiply exactly
  if (auto way = lane_tiles(task, device)) return way;
  if (auto way = tensor_tiles(task, device)) return way;
  if (auto way = block_tiles(task, device)) return way;
  if (auto way = exact_tiles(task, device)) return way;
  if (auto way = chain_tiles(task, device)) return way;
  return definition(task, device);
}

void run_in_regions(Device& device, const Unit& unit, const Way& way, const WholeProduct& p,
                    std::size_t first, std::size_t last) {
  Regions(device, unit, way, p).run({first, 0, last - first, p.p.n});
}

std::unique_ptr<ProductEngine> make(const ProductTask& task, Device& device, Memory lies) {
  return std::make_unique<DeviceProduct>(task, device, lies);
}

}  // namespace widthwise::cuda
