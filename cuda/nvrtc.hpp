#pragma once
#include <string>

// NVIDIA's compiler for programs that run (NVRTC), found in its library when it is first asked for.
namespace widthwise::cuda {

// C++ as PTX that kernels of every GPU are linked with; or why there is none, in words.
struct Ptx {
  std::string ptx, why_not;
};
const Ptx& ptx_of(const std::string& source);  // compiled once

}  // namespace widthwise::cuda
