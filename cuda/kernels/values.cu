#include "cuda/kernels/marks.hpp"
#include "cuda/kernels/move.hpp"
#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/packing.hpp"
#include "cuda/kernels/pad_image.hpp"
#include "cuda/kernels/values.hpp"

// Codes to lanes' values and back, and from place to place.
using namespace widthwise::cuda;

#define WIDTHWISE_VALUES(T)                                        \
  extern "C" __global__ void __launch_bounds__(256)                \
      decode_##T(const __grid_constant__ DecodeValues<T> values) { \
    run_threads(values);                                           \
  }                                                                \
  extern "C" __global__ void __launch_bounds__(256)                \
      encode_##T(const __grid_constant__ EncodeValues<T> values) { \
    run_threads(values);                                           \
  }
WIDTHWISE_VALUES(float)
WIDTHWISE_VALUES(double)

extern "C" __global__ void __launch_bounds__(256)
    list_marks(const __grid_constant__ ListMarks marks) {
  run_threads(marks);
}
extern "C" __global__ void __launch_bounds__(256)
    move_items(const __grid_constant__ MoveItems items) {
  run_threads(items);
}
extern "C" __global__ void __launch_bounds__(256)
    pack_codes(const __grid_constant__ PackCodes codes) {
  run_threads(codes);
}
extern "C" __global__ void __launch_bounds__(256)
    unpack_codes(const __grid_constant__ UnpackCodes codes) {
  run_threads(codes);
}
extern "C" __global__ void __launch_bounds__(256)
    pad_image(const __grid_constant__ PadImage image) {
  run_threads(image);
}
