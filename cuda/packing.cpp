#include "packing.hpp"

#include "kernels/packing.hpp"

namespace widthwise::cuda {

void pack_codes(Device& device, int width, const void* codes, std::size_t rows, std::size_t n,
                void* bytes) {
  const PackCodes work{
      {rows, n, width}, static_cast<const std::byte*>(codes), static_cast<std::byte*>(bytes)};
  launch_each(device, {"values", "pack_codes"}, work.count(), &work);
}

void unpack_codes(Device& device, int width, const void* bytes, std::size_t rows, std::size_t n,
                  void* codes) {
  const UnpackCodes work{
      {rows, n, width}, static_cast<const std::byte*>(bytes), static_cast<std::byte*>(codes)};
  launch_each(device, {"values", "unpack_codes"}, work.count(), &work);
}

}  // namespace widthwise::cuda
