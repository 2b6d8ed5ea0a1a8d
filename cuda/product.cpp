#include "product.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "definition.hpp"
#include "lane_tiles.hpp"

namespace widthwise::cuda {
namespace {

// Region by region of what the device's memory holds.
class DeviceProduct final : public ProductEngine {
 public:
  DeviceProduct(const ProductTask& task, Device& device)
      : device_(device), unit_(task.unit), way_(lane_tiles(task, device)) {
    if (!way_) way_ = definition(task, device);
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    run({first, 0, last - first, p.n}, p, device_.free_bytes() / 3);
  }

 private:
  // What does not fit goes in halves: whole rows while there are some.
  void run(const Region& r, const MatrixProduct& p, std::size_t budget) const {
    if (r.outputs() == 0) return;
    if (RegionMemory::bytes(unit_, p, r) <= budget && fits(r, p)) return;
    if (r.outputs() == 1)
      throw std::runtime_error(fmt::format(
          "{}: its memory does not hold the operands of one output, of length {}; engine = 'auto' "
          "computes the same on the CPU",
          device_.name(), p.k));
    Region low = r, high = r;
    if (r.columns > r.rows)
      low.columns /= 2, high.columns -= low.columns, high.column += low.columns;
    else
      low.rows /= 2, high.rows -= low.rows, high.row += low.rows;
    run(low, p, budget);
    run(high, p, budget);
  }
  // Others may take memory meanwhile.
  bool fits(const Region& r, const MatrixProduct& p) const {
    try {
      const RegionMemory memory(device_, unit_, p, r);
      way_->compute(memory.there(), nullptr);
      memory.bring_home();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  Device& device_;
  Unit unit_;
  std::unique_ptr<const Way> way_;
};

}  // namespace

Opinion opinion(const ProductTask& task, std::string_view engine, const Device& device) {
  const auto processors = static_cast<double>(device.processors());
  try {
    const bool small = carriers_for(task) == Carriers::small;
    if (const std::string why = why_no_lane_tiles(task); why.empty())
      return {std::string(engine), true, "value lanes on a GPU's threads", 20e9 * processors};
    return {std::string(engine), true,
            fmt::format("the definition on threads, in integers of {} bits", small ? 128 : 768),
            (small ? 5e6 : 1e6) * processors};
  } catch (const std::invalid_argument& wrong) {
    return {std::string(engine), false, wrong.what(), 0};
  }
}

std::unique_ptr<ProductEngine> make(const ProductTask& task, Device& device) {
  return std::make_unique<DeviceProduct>(task, device);
}

}  // namespace widthwise::cuda
