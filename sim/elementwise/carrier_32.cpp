#include "kernels_impl.hpp"

namespace widthwise {
WIDTHWISE_INSTANTIATE_KERNELS(std::uint32_t);
}  // namespace widthwise
