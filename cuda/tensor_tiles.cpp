#include "tensor_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>

#include "group_tiles.hpp"
#include "kernels/tensor_tile.hpp"
#include "lines_there.hpp"
#include "output_tiles.hpp"
#include "sim/dot/lane_order.hpp"
#include "tensor_plan.hpp"

namespace widthwise::cuda {
namespace {

// Whose shape all tiles have.
using AnyTile = TensorTile<JoinedEarly<tensor::Finish::truncate>, std::int32_t>;

int places(const Operand& x) { return static_cast<int>(x.keep_frac.value_or(x.fmt.frac_bits)); }

// How the products of a length lie in packed operands, in whole steps of a tile.
PackedBlocks packed_blocks(const TensorPlan& plan, std::size_t k) {
  PackedBlocks z{.groups = plan.groups,
                 .lanes = static_cast<std::size_t>(plan.sum.lanes),
                 .packed_group = std::bit_ceil(plan.groups.size),
                 .length = 0};
  z.length = rounded_up(z.count(k) * z.packed_lanes(), AnyTile::depth);
  return z;
}

const char* name_of(const TensorPlan& plan) {
  if (plan.late) return "late";
  return plan.sum.finish == tensor::Finish::truncate ? "truncate" : "nearest";
}

class TensorTiles final : public Way {
 public:
  TensorTiles(const ProductTask& task, const TensorPlan& plan, Device& device)
      : device_(device),
        unit_(task.unit),
        lines_(task, device),
        blocks_(packed_blocks(plan, task.k)),
        constants_(constants(plan, task.k)),
        tile_(fmt::format("tensor_{}_{}", name_of(plan),
                          constants_.chunk < constants_.group ? 64 : 32)),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const Lines lines = lines_.of_b(region.p);
    const Buffer a = packed(lines_.of_a(region.p), blocks_),
                 b = region.windows ? packed_elements(lines, *region.windows)
                                    : packed(lines, blocks_),
                 rows = region.windows ? packed_rows(*region.windows) : Buffer();
    TensorArgs args = constants_;
    args.a = a.at<const std::uint32_t>();
    args.b = b.at<const std::uint32_t>();
    args.b_places = {rows.at<const std::size_t>(), region.places().columns};
    compute_outputs(device_, unit_, {"tensor_tile", tile_.c_str()}, args, region, *definition_);
  }

 private:
  // But what depends on the operands.
  TensorArgs constants(const TensorPlan& plan, std::size_t k) const {
    const tensor::Plan& sum = plan.sum;
    TensorArgs z{};
    z.blocks = static_cast<int>(blocks_.count(k));
    z.lanes = static_cast<int>(blocks_.packed_lanes());
    z.group = static_cast<int>(blocks_.packed_group);
    z.chunk = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(sum.chunk)));
    if (sum.chunk >= sum.lanes) z.chunk = z.group;
    z.left = static_cast<int>(sum.frac_bits) - places(unit_.a) - places(unit_.b);
    z.interval = static_cast<int>(packed_interval(unit_, blocks_));
    z.join = plan.late ? late_join(sum) : early_join(sum);
    return z;
  }
  JoinArgs early_join(const tensor::Plan& sum) const {
    return {.frac_bits = static_cast<int>(sum.frac_bits),
            .floor = least_exponent(unit_.group_sum.align),
            .c_emin = static_cast<int>(unit_.out.fmt.emin()),
            .most_exponent = PackedOperand::most_exponent,
            .kept = ~std::uint32_t{0} << (23 - std::min<std::int64_t>(sum.kept, 23))};
  }
  JoinArgs late_join(const tensor::Plan& sum) const {
    const Align& align = unit_.c_sum.align;
    const LateFrac frac = unit_.late_frac.value_or(LateFrac{align.frac_bits, align.frac_bits});
    const auto number = [](std::int64_t x) { return static_cast<int>(x); };
    constexpr std::int64_t never = 1 << 20;  // no exponents lie so far apart
    const auto within = [&](std::int64_t x) { return std::clamp(x, -never, never); };
    const std::int64_t overflow = within(unit_.product.overflow_to_inf_at.value_or(never));
    return {
        .frac_bits = number(sum.frac_bits),
        .floor = least_exponent(align),
        .c_emin = number(unit_.c.fmt.emin()),
        // A product is less than 2^(E + 2).
        .most_exponent = number(std::min<std::int64_t>(PackedOperand::most_exponent, overflow - 2)),
        .kept = ~std::uint32_t{0},
        .sum_up = number(frac.F_sum - sum.frac_bits),
        .c_up = number(frac.F_C - binary32.frac_bits),
        .c_grid_up = number(frac.F_sum - frac.F_C),
        .drop_below = number(within(align.drop_c_below.value_or(never))),
        .cut_digits = number(unit_.out.post_norm_frac.value_or(63)) + 1};
  }

  // The elements of windows one by one, as they lie.
  Buffer packed_elements(Lines lines, const Windows& windows) const {
    lines.codes = {lines.codes.data, 0, 1};
    lines.count = 1, lines.length = windows.elements;
    lines.order = nullptr;
    return packed(lines, {group_shape(std::nullopt, 1), 1, 1, windows.elements});
  }
  // Where each row of operands that are packed as a block is, finds its elements.
  Buffer packed_rows(const Windows& windows) const {
    const std::vector<std::size_t> order = lane_order(unit_, windows.rows.size());
    std::vector<std::size_t> rows(blocks_.length, Places::none);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const std::size_t lane = blocks_.lane_at(i); lane < order.size())
        rows[i] = windows.rows[order[lane]];
    return copied_in(device_, std::span<const std::size_t>(rows));
  }

  Buffer packed(const Lines& lines, const PackedBlocks& blocks) const {
    const std::size_t count = blocks.length * lines.count;
    Buffer z(device_, count * sizeof(std::uint32_t));
    const PackOperands pack{lines, blocks, z.at<std::uint32_t>()};
    launch_each(device_, {"tensor_tile", "pack_operands"}, count, &pack);
    return z;
  }

  Device& device_;
  Unit unit_;
  LinesThere lines_;
  PackedBlocks blocks_;
  TensorArgs constants_;
  std::string tile_;
  std::unique_ptr<const Way> definition_;
};

bool scales_groups(const Unit& u) { return u.scale && u.scale->apply == ScaleApply::group; }

}  // namespace

std::string why_no_tensor_tiles(const ProductTask& task) {
  return scales_groups(task.unit) ? why_no_group_tiles(task) : tensor_plan(task).reason;
}

std::unique_ptr<const Way> tensor_tiles(const ProductTask& task, Device& device) {
  if (scales_groups(task.unit)) return group_tiles(task, device);
  const TensorAnswer answer = tensor_plan(task);
  if (!answer.plan) return nullptr;
  return std::make_unique<TensorTiles>(task, *answer.plan, device);
}

}  // namespace widthwise::cuda
