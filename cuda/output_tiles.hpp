#pragma once
#include <algorithm>
#include <climits>

#include "definition.hpp"
#include "kernels/output_tile.hpp"
#include "kernels/packed_lines.hpp"
#include "values.hpp"

// What the ways by output tiles have in common.
namespace widthwise::cuda {

inline Grid grid_of_outputs(std::size_t m, std::size_t n) {
  using Tile = OutputTile<OutputArgs>;
  return {(n - 1) / Tile::columns + 1, (m - 1) / Tile::rows + 1, Tile::threads};
}

// Of a sum, or one below all.
inline int least_exponent(const Align& align) {
  return static_cast<int>(std::max<std::int64_t>(align.e_floor.value_or(INT64_MIN), INT_MIN / 2));
}

// Of promotion, in products as packed; 0: there is none. No length is more than the largest int.
inline std::size_t packed_interval(const Unit& u, const PackedBlocks& blocks) {
  if (!u.chain.promote) return 0;
  return std::min<std::size_t>(blocks.packed(static_cast<std::size_t>(u.chain.promote->interval)),
                               INT_MAX);
}

// Runs the kernel, whose operands the arguments have, and leaves to the definition what it marks.
template <class Args>
void compute_outputs(Device& device, const Unit& unit, const Kernel& kernel, Args args,
                     const RegionThere& region, const Way& definition) {
  const MatrixProduct& p = region.p;
  const auto c = decoded<float>(device, unit.c, p.c, p.m * p.n);
  const Buffer result(device, p.m * p.n * sizeof(float)), redo(device, p.m * p.n);
  args.c = c.at();
  args.result = result.at<float>();
  args.redo = redo.at<unsigned char>();
  args.m = static_cast<int>(p.m), args.n = static_cast<int>(p.n);
  args.c_last = unit.chain.c_at == CAt::last;
  device.launch(kernel, grid_of_outputs(p.m, p.n), &args);
  encode(device, result_round(unit).fmt, result.at<const float>(), redo.at<std::uint8_t>(), p);
  definition.compute(region, redo.at<std::uint8_t>());
}

}  // namespace widthwise::cuda
