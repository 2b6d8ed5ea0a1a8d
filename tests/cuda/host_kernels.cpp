#include "host_kernels.hpp"

#include "cuda/kernels/pair_tile.hpp"
#include "cuda/kernels/random_tile.hpp"
#include "cuda/kernels/tensor_tile.hpp"
#include "cuda/kernels/unit_outputs.hpp"
#include "cuda/kernels/values.hpp"
#include "cuda/product.hpp"

namespace tests {
namespace {

using namespace widthwise;

template <class T, class Step>
HostDevice::Body tile(RoundingMode mode) {
  return phases<cuda::TileArgs<T>, cuda::LaunchedTile<T, Step>>(mode);
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
  all[tile] = phases<cuda::TileArgs<float>, cuda::RandomTile<multiply, false>>(RoundingMode::rne);
  all[tile + "_special"] =
      phases<cuda::TileArgs<float>, cuda::RandomTile<multiply, true>>(RoundingMode::rne);
}

template <tensor::Finish finish, class Sum>
HostDevice::Body tensor_tile() {
  return phases<cuda::TensorArgs, cuda::TensorTile<finish, Sum>>(RoundingMode::rne);
}

template <class P, bool fused>
HostDevice::Body pair_tile() {
  return phases<cuda::TileArgs<P>, cuda::PairTile<P, fused>>(RoundingMode::rne);
}

Kernels kernels() {
  Kernels all;
  all["unit_small"] = each_thread<cuda::UnitOutputs<uint128, std::uint64_t>>();
  all["unit_medium"] = each_thread<cuda::UnitOutputs<Wide<12>, uint128>>();
  add_tiles<float>("float", all);
  add_tiles<double>("double", all);
  using enum lanes::Multiply;
  add_random<exact>("tile_float_exact_random", all);
  add_random<rounded>("tile_float_rounded_random", all);
  using enum tensor::Finish;
  all["tensor_truncate_32"] = tensor_tile<truncate, std::int32_t>();
  all["tensor_truncate_64"] = tensor_tile<truncate, std::int64_t>();
  all["tensor_nearest_32"] = tensor_tile<nearest, std::int32_t>();
  all["tensor_nearest_64"] = tensor_tile<nearest, std::int64_t>();
  using namespace cuda;
  all["pair_half_rounded"] = pair_tile<HalfPair, false>();
  all["pair_half_fused"] = pair_tile<HalfPair, true>();
  all["pair_brain_rounded"] = pair_tile<BrainPair, false>();
  all["pair_brain_fused"] = pair_tile<BrainPair, true>();
  all["pack_pairs"] = each_thread<PackPairs>();
  all["unpack_pairs"] = each_thread<UnpackPairs>();
  all["pack_operands"] = each_thread<cuda::PackOperands>();
  add_chain_kernels(all);
  return all;
}

const bool offered = [] {
  add_engines([] {
    const auto opinion = [](const ProductTask& task) {
      return cuda::opinion(task, cuda_on_the_cpu, host_device());
    };
    const auto make = [](const ProductTask& task) { return cuda::make(task, host_device()); };
    return std::vector<Engine>{{cuda_on_the_cpu, true, false, opinion, make, {}}};
  });
  return true;
}();

}  // namespace

HostDevice& host_device() {
  static HostDevice device(kernels());
  return device;
}

}  // namespace tests
