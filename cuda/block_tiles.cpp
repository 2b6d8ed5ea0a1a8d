#include "block_tiles.hpp"

#include <fmt/format.h>

#include <climits>

#include "definition.hpp"
#include "kernels/block_tile.hpp"
#include "tensor_plan.hpp"
#include "values.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

// Whose shape all tiles have.
template <class T>
using AnyTile = BlockTile<std::conditional_t<sizeof(T) == 4, TreeBlock<2, false>, ExactBlock<2>>>;

// Why floats do not hold all numbers of an operand; empty if they do.
std::string unheld(const char* where, const Operand& x) {
  const Format& f = x.fmt;
  if (f.precision() <= binary32.precision() && f.emax() <= binary32.emax() &&
      f.least_digit() >= binary32.least_digit())
    return {};
  return fmt::format("{} = {} has digits or exponents that float has not", where, to_string(f));
}

// Why the unit is no chain of plain blocks onto binary32; empty if it is.
std::string unlike_plain_blocks(const Unit& u) {
  if (u.scale || u.groups) return "scales, or groups of products";
  static constexpr Chain plain{};
  if (u.chain != plain) return "more than a chain of blocks";
  if (u.c.fmt != binary32) return "C is not binary32";
  if (const std::string why = unheld("a", u.a); !why.empty()) return why;
  return unheld("b", u.b);
}

bool flushes(const Round& r) { return r.subnormals == Flush::flush_signed_zero; }
// By the machine, or so but for the flushing.
bool rounds_as(bool flushed, std::optional<Round> r) {
  if (!r || flushes(*r) != flushed) return false;
  // What the machine has rounded is all there is to look at.
  if (flushed && r->tininess != Tininess::as_delivered) return false;
  if (flushed) r->subnormals = Flush::keep;
  return rounds_plainly(*r, binary32);
}

std::string unlike_a_tree(const Unit& u) {
  const Sum& s = u.group_sum;
  const bool flushed = flushes(u.out);
  if (s.order != Order::pairwise_tree || u.c_level != CLevel::late || u.late_frac ||
      u.c_sum != Sum{} || s.width || s.align != Align{})
    return "no tree of products that C joins late";
  if (u.lanes != 2 && u.lanes != 4 && (u.lanes != 8 || flushed))
    return fmt::format("a tree of {} products", u.lanes);
  if (u.product.overflow_to_inf_at || !rounds_as(flushed, u.product.round) ||
      !rounds_as(flushed, s.node_round) || !rounds_as(flushed, u.out))
    return "a tree whose products, nodes and sum are not rounded alike, to binary32";
  return {};
}

std::string unlike_an_exact_sum(const Unit& u) {
  Round to = u.out;
  to.zero_sign = ZeroSign::ieee;
  if (u.group_sum != Sum{} || u.c_level != CLevel::group) return "no exact sum with C in it";
  if (u.lanes != 2 && u.lanes != 4) return fmt::format("an exact sum of {} products", u.lanes);
  if (u.product.round || u.product.overflow_to_inf_at) return "products are rounded or overflow";
  if (u.out.zero_sign != ZeroSign::plus || !rounds_plainly(to, binary32))
    return "an exact sum that is not rounded to binary32, zeros to +0";
  return {};
}

template <class T>
class BlockTiles final : public Way {
 public:
  BlockTiles(const ProductTask& task, Device& device)
      : device_(device),
        unit_(task.unit),
        tile_(name(task.unit)),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const MatrixProduct& p = region.p;
    const auto a = decoded<T>(device_, unit_.a, p.a, p.m * p.k),
               b = decoded<T>(device_, unit_.b, p.b, region.elements_of_b()),
               c = decoded<T>(device_, unit_.c, p.c, p.m * p.n);
    const Buffer result(device_, p.m * p.n * sizeof(T)), redo(device_, p.m * p.n);
    const TileArgs<T> args{.a = a.at(),
                           .b = b.at(),
                           .c = c.at(),
                           .b_places = region.places(),
                           .result = result.template at<T>(),
                           .redo = redo.at<unsigned char>(),
                           .m = static_cast<int>(p.m),
                           .n = static_cast<int>(p.n),
                           .k = static_cast<int>(p.k),
                           .start = T{0},
                           .constants = {},
                           .interval = 0,
                           .limit = std::numeric_limits<float>::max(),
                           .zeros_doubtful = false};
    device_.launch({"block_tile", tile_.c_str()}, grid(p.m, p.n), &args);
    encode(device_, binary32, result.template at<const T>(), redo.at<std::uint8_t>(), p);
    definition_->compute(region, redo.at<std::uint8_t>());
  }

 private:
  static std::string name(const Unit& u) {
    if (sizeof(T) == 8) return fmt::format("block_exact_{}", u.lanes);
    return fmt::format("block_tree_{}{}", u.lanes, flushes(u.out) ? "_flushed" : "");
  }
  static Grid grid(std::size_t m, std::size_t n) {
    return {(n - 1) / AnyTile<T>::columns + 1, (m - 1) / AnyTile<T>::rows + 1, AnyTile<T>::threads};
  }

  Device& device_;
  Unit unit_;
  std::string tile_;
  std::unique_ptr<const Way> definition_;
};

bool is_tree(const Unit& u) { return u.group_sum.order == Order::pairwise_tree; }

}  // namespace

std::string why_no_block_tiles(const ProductTask& task) {
  const Unit& u = task.unit;
  if (task.flags) return "flags are wanted";
  if (task.k == 0 || task.k > INT_MAX / 2) return "of a length that tiles have not";
  if (const std::string why = unlike_plain_blocks(u); !why.empty()) return why;
  return is_tree(u) ? unlike_a_tree(u) : unlike_an_exact_sum(u);
}

std::unique_ptr<const Way> block_tiles(const ProductTask& task, Device& device) {
  if (!why_no_block_tiles(task).empty()) return nullptr;
  if (is_tree(task.unit)) return std::make_unique<BlockTiles<float>>(task, device);
  return std::make_unique<BlockTiles<double>>(task, device);
}

}  // namespace widthwise::cuda
