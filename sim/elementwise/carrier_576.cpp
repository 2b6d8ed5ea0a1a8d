#include "kernels_impl.hpp"

namespace widthwise {
WIDTHWISE_INSTANTIATE_KERNELS(Wide<9>);
}  // namespace widthwise
