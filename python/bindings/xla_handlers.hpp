#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What XLA calls by itself, where the build found jaxlib's headers (https://openxla.org/xla/ffi).
namespace widthwise {

struct XlaHandler {
  std::string name;
  void* call;  // an XLA_FFI_Handler
};

struct XlaBuffer {
  void* data;
  std::size_t bytes;
  std::vector<std::int64_t> shape;
};

// Runs what Python has under a name; returns what went wrong, or nothing.
using XlaCall = std::string (*)(std::string_view name, std::span<const XlaBuffer> arguments,
                                const XlaBuffer& result);

// widthwise_quantize computes by itself, widthwise_call by the function that is given here.
std::vector<XlaHandler> xla_handlers(XlaCall call);

}  // namespace widthwise
