#include "cuda/kernels/affine.hpp"
#include "cuda/kernels/blocks.hpp"
#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/fuse.hpp"
#include "host_kernels.hpp"

namespace tests {

using namespace widthwise;
using namespace widthwise::cuda;

template <class U>
void add_elements(const std::string& digits, Kernels& all) {
  all["elements_" + digits] = each_thread<Elements<U>>();
  all["compare_" + digits] = each_thread<Comparisons<U>>();
  all["classify_" + digits] = each_thread<Classes<U>>();
  all["to_integers_" + digits] = each_thread<ToIntegers<U>>();
  all["from_integers_" + digits] = each_thread<FromIntegers<U>>();
}

Kernels element_kernels() {
  Kernels all;
  add_elements<std::uint64_t>("64", all);
  add_elements<uint128>("128", all);
  add_elements<Wide<4>>("256", all);
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
#define WIDTHWISE_BLOCKS(name, Work) all[#name] = each_thread<Work>();
  WIDTHWISE_BLOCK_KERNELS(WIDTHWISE_BLOCKS)
#undef WIDTHWISE_BLOCKS
#define WIDTHWISE_AFFINE(name, Work) all[#name] = each_thread<Work>();
  WIDTHWISE_AFFINE_KERNELS(WIDTHWISE_AFFINE)
#undef WIDTHWISE_AFFINE
  return all;
}

}  // namespace tests
