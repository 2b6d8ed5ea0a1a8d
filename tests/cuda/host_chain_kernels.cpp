#include "cuda/kernels/chain_tile.hpp"
#include "host_kernels.hpp"

namespace tests {
namespace {

template <class T, bool rounded>
void add_chains(const std::string& name, Kernels& all) {
  using namespace widthwise::cuda;
  const std::string width = std::to_string(8 * sizeof(T));
  all[name + width] = phases<ChainArgs<T>, ChainTile<T, rounded, false>>();
  all[name + "random_" + width] = phases<ChainArgs<T>, ChainTile<T, rounded, true>>();
}
template <class T>
void add_chains_of(Kernels& all) {
  add_chains<T, true>("chain_rounded_", all);
  add_chains<T, false>("chain_fused_", all);
  all["unpack_chain_" + std::to_string(8 * sizeof(T))] =
      each_thread<widthwise::cuda::UnpackChainOperands<T>>();
}

}  // namespace

void add_chain_kernels(Kernels& all) {
  add_chains_of<std::uint32_t>(all);
  add_chains_of<std::uint64_t>(all);
}

}  // namespace tests
