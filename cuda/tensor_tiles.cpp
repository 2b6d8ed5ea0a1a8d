#include "tensor_tiles.hpp"

#include <fmt/format.h>

#include <bit>
#include <climits>

#include "definition.hpp"
#include "kernels/tensor_tile.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

// Whose shape all tiles have.
using AnyTile = TensorTile<tensor::Finish::truncate, std::int32_t>;

int digits(const Operand& x) { return static_cast<int>(x.keep_frac.value_or(x.fmt.frac_bits)) + 1; }

tensor::Answer plan_of(const ProductTask& task) {
  const auto refuse = [](std::string why) { return tensor::Answer{std::nullopt, std::move(why)}; };
  if (task.flags) return refuse("flags are wanted");
  if (task.k == 0 || task.k > INT_MAX / 4) return refuse("of a length that tiles have not");
  tensor::Answer answer = tensor::plan(task.unit);
  if (!answer.plan) return answer;
  if (answer.plan->lanes > AnyTile::depth)
    return refuse(fmt::format("more than {} products a block", AnyTile::depth));
  if (std::max(digits(task.unit.a), digits(task.unit.b)) > PackedOperand::significand_bits)
    return refuse(
        fmt::format("significands of more than {} digits", PackedOperand::significand_bits));
  if (!answer.plan->survives) return refuse("products that lose digits whatever the exponents");
  return answer;
}

// How the products of a length lie in packed operands.
struct Blocks {
  std::size_t length, lanes, count, packed_lanes;

  Blocks(const tensor::Plan& plan, std::size_t k)
      : length(k),
        lanes(static_cast<std::size_t>(plan.lanes)),
        count((k - 1) / lanes + 1),
        packed_lanes(std::bit_ceil(lanes)) {}

  // Of whole steps of a tile.
  std::size_t packed_length() const {
    return ((count * packed_lanes - 1) / AnyTile::depth + 1) * AnyTile::depth;
  }
};

class TensorTiles final : public Way {
 public:
  TensorTiles(const ProductTask& task, const tensor::Plan& plan, Device& device)
      : device_(device),
        unit_(task.unit),
        blocks_(plan, task.k),
        constants_(constants(plan)),
        tile_(fmt::format("tensor_{}_{}",
                          plan.finish == tensor::Finish::truncate ? "truncate" : "nearest",
                          constants_.chunk < constants_.lanes ? 64 : 32)),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const MatrixProduct& p = region.p;
    const Buffer a = packed(unit_.a, p.a, {p.m, p.a.row, p.a.column}),
                 b = packed(unit_.b, p.b, {p.n, p.b.column, p.b.row});
    const auto c = decoded<float>(device_, unit_.c, p.c, p.m * p.n);
    const Buffer result(device_, p.m * p.n * sizeof(float)), redo(device_, p.m * p.n);
    TensorArgs args = constants_;
    args.a = a.at<const std::uint32_t>();
    args.b = b.at<const std::uint32_t>();
    args.c = c.at();
    args.result = result.at<float>();
    args.redo = redo.at<unsigned char>();
    args.m = static_cast<int>(p.m), args.n = static_cast<int>(p.n);
    device_.launch({"tensor_tile", tile_.c_str()}, grid(p.m, p.n), &args);
    encode(device_, unit_.out.fmt, result.at<const float>(), redo.at<std::uint8_t>(), p);
    definition_->compute(region, redo.at<std::uint8_t>());
  }

 private:
  // The rows of A or the columns of B: how many, and how far apart they and their elements are.
  struct Lines {
    std::size_t count;
    std::ptrdiff_t stride, length_stride;
  };

  // But what depends on the operands.
  TensorArgs constants(const tensor::Plan& plan) const {
    const int places = digits(unit_.a) + digits(unit_.b) - 2;  // of a product, after the point
    const auto F = static_cast<int>(plan.frac_bits);
    const Align& align = unit_.group_sum.align;
    const auto chunk = std::bit_floor(static_cast<std::uint64_t>(plan.chunk));
    TensorArgs z{};
    z.blocks = static_cast<int>(blocks_.count);
    z.lanes = static_cast<int>(blocks_.packed_lanes);
    z.chunk = plan.chunk < plan.lanes ? static_cast<int>(chunk) : z.lanes;
    z.frac_bits = F;
    z.floor = static_cast<int>(align.e_floor.value_or(INT_MIN / 2));
    z.c_emin = static_cast<int>(unit_.c.fmt.emin());
    z.left = F - places;
    z.kept = ~std::uint32_t{0} << (23 - std::min<std::int64_t>(plan.kept, 23));
    return z;
  }

  Buffer packed(const Operand& operand, const CodeMatrix& x, const Lines& lines) const {
    const std::size_t count = blocks_.packed_length() * lines.count;
    Buffer z(device_, count * sizeof(std::uint32_t));
    const PackOperands pack{.operand = operand,
                            .layout = Layout<std::uint64_t>(operand.fmt),
                            .codes = static_cast<const std::byte*>(x.data),
                            .bytes = item_bytes(operand.fmt.width()),
                            .lines = lines.count,
                            .length = blocks_.length,
                            .line_stride = lines.stride,
                            .length_stride = lines.length_stride,
                            .lanes = blocks_.lanes,
                            .packed_lanes = blocks_.packed_lanes,
                            .packed_length = blocks_.packed_length(),
                            .packed = z.at<std::uint32_t>()};
    launch_each(device_, {"tensor_tile", "pack_operands"}, count, &pack);
    return z;
  }

  static Grid grid(std::size_t m, std::size_t n) {
    return {(n - 1) / AnyTile::columns + 1, (m - 1) / AnyTile::rows + 1, AnyTile::threads};
  }

  Device& device_;
  Unit unit_;
  Blocks blocks_;
  TensorArgs constants_;
  std::string tile_;
  std::unique_ptr<const Way> definition_;
};

}  // namespace

std::string why_no_tensor_tiles(const ProductTask& task) {
  const tensor::Answer answer = plan_of(task);
  return answer.plan ? "" : answer.reason;
}

std::unique_ptr<const Way> tensor_tiles(const ProductTask& task, Device& device) {
  const tensor::Answer answer = plan_of(task);
  if (!answer.plan) return nullptr;
  return std::make_unique<TensorTiles>(task, *answer.plan, device);
}

}  // namespace widthwise::cuda
