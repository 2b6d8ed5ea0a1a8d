#include "kernels_impl.hpp"

namespace widthwise {
WIDTHWISE_INSTANTIATE_KERNELS(Wide<33>);
}  // namespace widthwise
