#include "pair_tiles.hpp"

#include <fmt/format.h>

#include <climits>

#include "kernels/pair_tile.hpp"
#include "lane_plan.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

// Whether every number of f is one of `of`, infinities and NaN among them.
bool holds(const Format& of, const Format& f) {
  return f.precision() <= of.precision() && f.emax() <= of.emax() &&
         f.least_digit() >= of.least_digit() && f.width() <= 64;
}

bool as_the_machine_rounds(const Round& r, const Format& f) {
  return r.fmt == f && r.rm == Rounding(RoundingMode::rne) && r.overflow == Overflow::ieee;
}

template <class P>
class PairTiles final : public Way {
 public:
  PairTiles(const ProductTask& task, Device& device)
      : device_(device),
        unit_(task.unit),
        tile_(fmt::format("pair_{}_{}", P::format == bfloat16 ? "brain" : "half",
                          task.unit.product.round ? "rounded" : "fused")) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const MatrixProduct& p = region.p;
    const Buffer a = packed(unit_.a.fmt, p.a, p.m, p.k, true),
                 b = packed(unit_.b.fmt, p.b, p.k, p.n, false),
                 c = packed(unit_.c.fmt, p.c, p.m, p.n, false);
    const std::size_t columns = (p.n + 1) / 2;
    const Buffer result(device_, p.m * columns * sizeof(P)), redo(device_, p.m * columns);
    const TileArgs<P> args{.a = a.at<const P>(),
                           .b = b.at<const P>(),
                           .c = c.at<const P>(),
                           .result = result.at<P>(),
                           .redo = redo.at<unsigned char>(),
                           .m = static_cast<int>(p.m),
                           .n = static_cast<int>(columns),
                           .k = static_cast<int>(p.k),
                           .start = P{0},
                           .constants = {},
                           .interval = 16,
                           .limit = P{0},
                           .zeros_doubtful = false};
    device_.launch({"pair_tile", tile_.c_str()}, grid(p.m, columns), &args);
    unpack(result.at<const std::uint32_t>(), p);
  }

 private:
  using AnyTile = PairTile<P, false>;
  static Grid grid(std::size_t m, std::size_t columns) {
    return {(columns - 1) / AnyTile::columns + 1, (m - 1) / AnyTile::rows + 1, AnyTile::threads};
  }

  Buffer packed(const Format& f, const CodeMatrix& x, std::size_t rows, std::size_t columns,
                bool twice) const {
    if (!x.data) return {};
    PackPairs pack{.from = Layout<std::uint64_t>(f),
                   .to = Rounder<std::uint64_t>(Round{.fmt = P::format}),
                   .codes = static_cast<const std::byte*>(x.data),
                   .rows = rows,
                   .columns = columns,
                   .bytes = item_bytes(f.width()),
                   .twice = twice,
                   .pairs = nullptr};
    const std::size_t count = rows * pack.pairs_of_row();
    Buffer pairs(device_, count * sizeof(std::uint32_t));
    pack.pairs = pairs.template at<std::uint32_t>();
    launch_each(device_, {"pair_tile", "pack_pairs"}, count, &pack);
    return pairs;
  }

  void unpack(const std::uint32_t* pairs, const MatrixProduct& p) const {
    const UnpackPairs unpack{.from = Layout<std::uint64_t>(P::format),
                             .to = Rounder<std::uint64_t>(Round{.fmt = P::format}),
                             .pairs = pairs,
                             .rows = p.m,
                             .columns = p.n,
                             .result = static_cast<std::byte*>(p.result)};
    launch_each(device_, {"pair_tile", "unpack_pairs"}, p.m * p.n, &unpack);
  }

  Device& device_;
  Unit unit_;
  std::string tile_;
};

}  // namespace

std::string why_no_pair_tiles(const ProductTask& task) {
  const Unit& u = task.unit;
  const Format& f = u.out.fmt;
  if (task.flags) return "flags are wanted";
  if (task.k == 0 || task.k > INT_MAX / 2) return "of a length that tiles have not";
  if (f != binary16 && f != bfloat16) return "sums of neither binary16 nor bfloat16";
  // A chain of plain multiply-adds, as lanes want it.
  if (const lanes::Answer chain = lane_plan(u); !chain.plan) return chain.reason;
  if (!as_the_machine_rounds(u.out, f)) return "sums that are not rounded as IEEE 754 has it";
  if (u.product.round && !as_the_machine_rounds(*u.product.round, f))
    return "products of another format or mode than their sum's";
  if (!holds(f, u.a.fmt) || !holds(f, u.b.fmt) || !holds(f, u.c.fmt))
    return "operands that the format of sums does not hold";
  return {};
}

std::unique_ptr<const Way> pair_tiles(const ProductTask& task, Device& device) {
  if (!why_no_pair_tiles(task).empty()) return nullptr;
  if (task.unit.out.fmt == bfloat16) return std::make_unique<PairTiles<BrainPair>>(task, device);
  return std::make_unique<PairTiles<HalfPair>>(task, device);
}

}  // namespace widthwise::cuda
