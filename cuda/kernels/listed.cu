#include "widthwise/system/listed.hpp"
#include "widthwise/wide.hpp"

// Single operations and blocks on tables of values, which lie in the GPU's memory: here carriers
// look codes up, as they do on no other kernel's way.
namespace widthwise {
template <>
inline constexpr bool looks_up<std::uint64_t> = true;
template <>
inline constexpr bool looks_up<uint128> = true;
template <>
inline constexpr bool looks_up<Wide<4>> = true;
}  // namespace widthwise

#include "cuda/kernels/blocks.hpp"
#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

using namespace widthwise;
using namespace widthwise::cuda;

WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_64, std::uint64_t)
WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_128, uint128)
WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, listed_256, Wide<4>)
WIDTHWISE_LISTED_BLOCK_KERNELS(WIDTHWISE_THREADS)
