#include "host_kernels.hpp"

#include "cuda/kernels/block_tile.hpp"
#include "cuda/kernels/errors.hpp"
#include "cuda/kernels/exact_sums.hpp"
#include "cuda/kernels/exact_tile.hpp"
#include "cuda/kernels/group_tile.hpp"
#include "cuda/kernels/marks.hpp"
#include "cuda/kernels/move.hpp"
#include "cuda/kernels/packing.hpp"
#include "cuda/kernels/pad_image.hpp"
#include "cuda/kernels/pair_tile.hpp"
#include "cuda/kernels/random_tile.hpp"
#include "cuda/kernels/tensor_tile.hpp"
#include "cuda/kernels/values.hpp"
#include "cuda/product.hpp"

namespace tests {
namespace {

using namespace widthwise;

// Layer by layer.
template <class T, class Tile>
HostDevice::Body layers(RoundingMode mode) {
  return
      [one = phases<cuda::TileArgs<T>, Tile>(mode)](const void* argument, const cuda::Grid& grid) {
        const auto& all = *static_cast<const cuda::TileLayers<T>*>(argument);
        for (std::size_t z = 0; z < grid.blocks_z; ++z) one(&all.layer[z], grid);
      };
}

template <class T, class Step>
HostDevice::Body tile(RoundingMode mode) {
  return layers<T, cuda::LaunchedTile<T, Step>>(mode);
}

template <class T, lanes::Multiply multiply, lanes::Add add>
HostDevice::Body nearest() {
  return tile<T, cuda::NearestStep<T, multiply, add>>(RoundingMode::rne);
}
template <class T, lanes::Multiply multiply, RoundingMode mode>
HostDevice::Body cutting() {
  return tile<T, cuda::CutStep<T, multiply, mode>>(mode == RoundingMode::rdn ? mode
                                                                             : RoundingMode::rtz);
}

template <class T>
void add_tiles(const std::string& type, Kernels& all) {
  using enum lanes::Multiply;
  using lanes::Add;
  const std::string tile = "tile_" + type + "_";
  all[tile + "native_native"] = nearest<T, native, Add::native>();
  all[tile + "exact_native"] = nearest<T, exact, Add::native>();
  all[tile + "exact_normal"] = nearest<T, exact, Add::normal>();
  all[tile + "exact_rounded"] = nearest<T, exact, Add::rounded>();
  all[tile + "odd_rounded"] = nearest<T, odd, Add::rounded>();
  all[tile + "rounded_normal"] = nearest<T, rounded, Add::normal>();
  all[tile + "rounded_rounded"] = nearest<T, rounded, Add::rounded>();
  all[tile + "exact_rtz"] = cutting<T, exact, RoundingMode::rtz>();
  all[tile + "exact_rdn"] = cutting<T, exact, RoundingMode::rdn>();
  all[tile + "exact_rna"] = cutting<T, exact, RoundingMode::rna>();
  all[tile + "rounded_rtz"] = cutting<T, rounded, RoundingMode::rtz>();
  all[tile + "rounded_rdn"] = cutting<T, rounded, RoundingMode::rdn>();
  all[tile + "rounded_rna"] = cutting<T, rounded, RoundingMode::rna>();
  all["decode_" + type] = each_thread<cuda::DecodeValues<T>>();
  all["encode_" + type] = each_thread<cuda::EncodeValues<T>>();
}

template <lanes::Multiply multiply>
void add_random(const std::string& tile, Kernels& all) {
  using Args = cuda::TileArgs<float>;
  all[tile] = phases<Args, cuda::RandomTile<multiply, false>>(RoundingMode::rne);
  all[tile + "_special"] = phases<Args, cuda::RandomTile<multiply, true>>(RoundingMode::rne);
}

template <class Join, class Sum>
HostDevice::Body tensor_tile() {
  return phases<cuda::TensorArgs, cuda::TensorTile<Join, Sum>>(RoundingMode::rne);
}

template <class Block>
HostDevice::Body block_tile() {
  return phases<cuda::TileArgs<typename Block::Number>, cuda::BlockTile<Block>>(RoundingMode::rne);
}

template <class Step, bool saturates = false>
HostDevice::Body exact_tile(RoundingMode mode) {
  return phases<cuda::ExactArgs, cuda::ExactTile<Step, saturates>>(mode);
}

// Marks more outputs than the tiles did.
HostDevice::Body finish_sums() {
  return [all = each_thread<cuda::FinishSums>()](const void* argument, const cuda::Grid& grid) {
    const auto& sums = *static_cast<const cuda::FinishSums*>(argument);
    const auto marked = [&] {
      return static_cast<std::uint64_t>(
          std::count(sums.redo, sums.redo + sums.rows * sums.columns, 1));
    };
    tile_runs().redone -= marked();
    all(argument, grid);
    tile_runs().redone += marked();
  };
}

template <class P, bool fused>
HostDevice::Body pair_tile() {
  return phases<cuda::TileArgs<P>, cuda::PairTile<P, fused>>(RoundingMode::rne);
}

Kernels kernels() {
  Kernels all;
  add_tiles<float>("float", all);
  add_tiles<double>("double", all);
  using enum lanes::Multiply;
  add_random<exact>("tile_float_exact_random", all);
  add_random<rounded>("tile_float_rounded_random", all);
  using namespace cuda;
  using Truncated = JoinedEarly<tensor::Finish::truncate>;
  using Nearest = JoinedEarly<tensor::Finish::nearest>;
  all["tensor_truncate_32"] = tensor_tile<Truncated, std::int32_t>();
  all["tensor_truncate_64"] = tensor_tile<Truncated, std::int64_t>();
  all["tensor_nearest_32"] = tensor_tile<Nearest, std::int32_t>();
  all["tensor_nearest_64"] = tensor_tile<Nearest, std::int64_t>();
  all["tensor_late_32"] = tensor_tile<JoinedLate, std::int32_t>();
  all["group_tile"] = phases<GroupArgs, GroupTile>(RoundingMode::rne);
  all["pack_groups"] = each_thread<PackGroups>();
  all["block_tree_2"] = block_tile<TreeBlock<2, false>>();
  all["block_tree_4"] = block_tile<TreeBlock<4, false>>();
  all["block_tree_8"] = block_tile<TreeBlock<8, false>>();
  all["block_tree_2_flushed"] = block_tile<TreeBlock<2, true>>();
  all["block_tree_4_flushed"] = block_tile<TreeBlock<4, true>>();
  all["block_exact_2"] = block_tile<ExactBlock<2>>();
  all["block_exact_4"] = block_tile<ExactBlock<4>>();
  all["exact_one"] = exact_tile<IntoOne>(RoundingMode::rdn);
  all["exact_one_saturating"] = exact_tile<IntoOne, true>(RoundingMode::rdn);
  all["exact_nearest"] = exact_tile<NearestTerms>(RoundingMode::rne);
  all["exact_nearest_saturating"] = exact_tile<NearestTerms, true>(RoundingMode::rne);
  all["exact_magnitude"] = exact_tile<CutTerms>(RoundingMode::rdn);
  all["exact_magnitude_saturating"] = exact_tile<CutTerms, true>(RoundingMode::rdn);
  all["exact_two"] = exact_tile<SplitTerms<2>>(RoundingMode::rne);
  all["exact_three"] = exact_tile<SplitTerms<3>>(RoundingMode::rne);
  all["decode_lines"] = each_thread<DecodeLines>();
  all["finish_sums"] = finish_sums();
  all["pair_half_rounded"] = pair_tile<HalfPair, false>();
  all["pair_half_fused"] = pair_tile<HalfPair, true>();
  all["pair_brain_rounded"] = pair_tile<BrainPair, false>();
  all["pair_brain_fused"] = pair_tile<BrainPair, true>();
  all["pack_pairs"] = each_thread<PackPairs>();
  all["unpack_pairs"] = each_thread<UnpackPairs>();
  all["measure_errors"] = each_thread<MeasureErrors>();
  all["join_errors"] = each_thread<JoinErrors>();
  all["list_marks"] = each_thread<ListMarks>();
  all["move_items"] = each_thread<MoveItems>();
  all["pack_codes"] = each_thread<PackCodes>();
  all["unpack_codes"] = each_thread<UnpackCodes>();
  all["pad_image"] = each_thread<PadImage>();
  all["pack_operands"] = each_thread<cuda::PackOperands>();
  all.merge(element_kernels());
  add_chain_kernels(all);
  add_unit_kernels(all);
  return all;
}

const bool offered = [] {
  add_engines([] {
    const auto opinion = [](const ProductTask& task) {
      return cuda::opinion(task, cuda_on_the_cpu, host_device());
    };
    const auto make = [](const ProductTask& task) { return cuda::make(task, host_device()); };
    return std::vector<Engine>{{cuda_on_the_cpu, true, true, opinion, make, {}}};
  });
  return true;
}();

}  // namespace

TileRuns& tile_runs() {
  static TileRuns runs;
  return runs;
}

HostDevice& host_device() {
  static HostDevice device(kernels());
  return device;
}

}  // namespace tests
