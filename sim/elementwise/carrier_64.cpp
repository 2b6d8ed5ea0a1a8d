#include "kernels_impl.hpp"

namespace widthwise {
WIDTHWISE_INSTANTIATE_KERNELS(std::uint64_t);
}  // namespace widthwise
