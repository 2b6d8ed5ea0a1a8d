#pragma once
#include <string>
#include <vector>

// What XLA calls by itself, where the build found jaxlib's headers (https://openxla.org/xla/ffi).
namespace widthwise {

struct XlaHandler {
  std::string name;
  void* call;  // an XLA_FFI_Handler
};

std::vector<XlaHandler> xla_handlers();

}  // namespace widthwise
