#pragma once
#include "widthwise/sim/vectors.hpp"

namespace widthwise {

bool delivers_truth(const VectorTask& task);
bool delivers_integer(const VectorTask& task);

// As lines write them, in bits; as arrays hold them, in bytes (integers and their results take 8).
int result_width(const VectorTask& task);
int operand_bytes(const VectorTask& task);
int result_bytes(const VectorTask& task);

// What the task makes of `count` operands each, and random bits where it takes some.
void compute(const VectorTask& task, const std::vector<std::vector<std::byte>>& operands,
             const std::vector<std::uint64_t>& random, std::size_t count, std::byte* result,
             std::uint8_t* flags);

}  // namespace widthwise
