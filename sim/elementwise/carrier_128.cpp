#include "kernels_impl.hpp"

namespace widthwise {
WIDTHWISE_INSTANTIATE_KERNELS(uint128);
}  // namespace widthwise
