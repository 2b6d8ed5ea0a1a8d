#pragma once
#include <span>
#include <string>

// PTX that tests bring themselves, on GPU 0.
namespace tests {

int compute_capability();  // 10 times: 90

// Runs the entry `tensor_core` of a text on so many blocks of so many threads, and waits. The
// driver compiles the text for the GPU that it finds; what names it in an error.
void launch_text(const std::string& ptx, const char* what, std::span<void* const> operands,
                 unsigned blocks, unsigned threads);

}  // namespace tests
