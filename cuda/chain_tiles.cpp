#include "chain_tiles.hpp"

#include <fmt/format.h>

#include "chain_plan.hpp"
#include "kernels/chain_tile.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

bool draws(const std::optional<Round>& r) { return r && r->rm.stochastic(); }

template <class T>
class ChainTiles final : public Way {
 public:
  ChainTiles(const ProductTask& task, Device& device)
      : device_(device),
        unit_(task.unit),
        path_(task.unit),
        tile_(fmt::format("chain_{}{}_{}", unit_.product.round ? "rounded" : "fused",
                          draws(unit_.product.round) || draws(unit_.out) ? "_random" : "",
                          8 * sizeof(T))),
        unpack_(fmt::format("unpack_chain_{}", 8 * sizeof(T))) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const MatrixProduct& p = region.p;
    const Buffer a = unpacked(unit_.a, p.a, p.m * p.k),
                 b = unpacked(unit_.b, p.b, region.elements_of_b()),
                 c = unpacked(unit_.c, p.c, p.m * p.n);
    const ChainArgs<T> args{.path = path_,
                            .a = a.at<const ChainOperand<T>>(),
                            .b = b.at<const ChainOperand<T>>(),
                            .c = c.at<const ChainOperand<T>>(),
                            .b_places = region.places(),
                            .result = static_cast<std::byte*>(p.result),
                            .flags = p.flags,
                            .bytes = item_bytes(result_round(unit_).fmt.width()),
                            .m = static_cast<int>(p.m),
                            .n = static_cast<int>(p.n),
                            .k = static_cast<int>(p.k),
                            .seed = p.seed,
                            .keys = PhiloxKeys(p.seed),
                            .first = p.first_index,
                            .row_outputs = region.whole_columns};
    device_.launch({"chain_tile", tile_.c_str()}, grid(p.m, p.n), &args);
  }

 private:
  using AnyTile = ChainTile<T, false, false>;
  static Grid grid(std::size_t m, std::size_t n) {
    return {(n - 1) / AnyTile::columns + 1, (m - 1) / AnyTile::rows + 1, AnyTile::threads};
  }

  Buffer unpacked(const Operand& operand, const CodeMatrix& x, std::size_t count) const {
    if (!x.data) return {};
    Buffer z(device_, count * sizeof(ChainOperand<T>));
    const UnpackChainOperands<T> unpack{.operand = operand,
                                        .layout = Layout<T>(operand.fmt),
                                        .codes = static_cast<const std::byte*>(x.data),
                                        .count = count,
                                        .bytes = item_bytes(operand.fmt.width()),
                                        .unpacked = z.template at<ChainOperand<T>>()};
    launch_each(device_, {"chain_tile", unpack_.c_str()}, count, &unpack);
    return z;
  }

  Device& device_;
  Unit unit_;
  single::Path<Word<T>> path_;
  std::string tile_, unpack_;
};

}  // namespace

std::string why_no_chain_tiles(const ProductTask& task) { return chain_plan(task).refusal; }

std::unique_ptr<const Way> chain_tiles(const ProductTask& task, Device& device) {
  const ChainAnswer answer = chain_plan(task);
  if (!answer.refusal.empty()) return nullptr;
  if (answer.is_long) return std::make_unique<ChainTiles<std::uint64_t>>(task, device);
  return std::make_unique<ChainTiles<std::uint32_t>>(task, device);
}

}  // namespace widthwise::cuda
