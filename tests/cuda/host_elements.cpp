#include "cuda/kernels/affine.hpp"
#include "cuda/kernels/blocks.hpp"
#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/fuse.hpp"
#include "host_kernels.hpp"

namespace tests {

using namespace widthwise;
using namespace widthwise::cuda;

Kernels element_kernels() {
  Kernels all;
#define WIDTHWISE_THREADS(name, Work) all[#name] = each_thread<Work>();
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, 64, std::uint64_t)
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, 128, uint128)
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, 256, Wide<4>)
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_64, std::uint64_t)
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_128, uint128)
  WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_256, Wide<4>)
  WIDTHWISE_BLOCK_KERNELS(WIDTHWISE_THREADS)
  WIDTHWISE_LISTED_BLOCK_KERNELS(WIDTHWISE_THREADS)
  WIDTHWISE_AFFINE_KERNELS(WIDTHWISE_THREADS)
#undef WIDTHWISE_THREADS
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
