#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/fuse.hpp"
#include "host_kernels.hpp"

namespace tests {

using namespace widthwise;
using namespace widthwise::cuda;

std::map<std::string, HostDevice::Body> element_kernels() {
  std::map<std::string, HostDevice::Body> all;
  all["elements_64"] = each_thread<Elements<std::uint64_t>>();
  all["elements_128"] = each_thread<Elements<uint128>>();
  all["elements_256"] = each_thread<Elements<Wide<4>>>();
#define WIDTHWISE_QUANTISE(name, From, Item, LongCodes, Rounded, ends) \
  all[#name] = each_thread<Quantise<From, Item, LongCodes, Rounded, Ends::ends>>();
  WIDTHWISE_QUANTISE_KERNELS(WIDTHWISE_QUANTISE)
#undef WIDTHWISE_QUANTISE
#define WIDTHWISE_DEQUANTISE(name, Item, T) all[#name] = each_thread<Dequantise<Item, T>>();
  WIDTHWISE_DEQUANTISE_KERNELS(WIDTHWISE_DEQUANTISE)
#undef WIDTHWISE_DEQUANTISE
#define WIDTHWISE_FUSE(name, Item, Rounded) all[#name] = each_thread<Fuse<Item, Rounded>>();
  WIDTHWISE_FUSE_KERNELS(WIDTHWISE_FUSE)
#undef WIDTHWISE_FUSE
  return all;
}

}  // namespace tests
