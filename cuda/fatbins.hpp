#pragma once
#include <span>
#include <string>
#include <string_view>

// The compiled kernels. They are a library of their own, looked for when a GPU is first asked for,
// so that whoever has none need not wait for them to compile.
namespace widthwise::cuda {

// Empty, or why they are not there.
const std::string& why_no_kernels();

// The kernels of one source, compiled for some GPUs and as PTX for all others.
std::span<const unsigned char> fatbin(std::string_view source);

}  // namespace widthwise::cuda
