#pragma once
#include "widthwise/hdl/constants.hpp"
#include "widthwise/sim/single_operation.hpp"

// The tables of operations, and of whatever a text names: units or operations.
namespace widthwise::hdl {

// Operands A, B, C, as many as there are, and the result Y, under the names that a unit's have. The
// product's are there for multiply and fma.
ConstantTable operation_constants(const SingleOperation& s, std::string_view name,
                                  const Timing& timing = {});
// The operand A, the elements Y, SCALE, and what leads from the largest magnitude to it.
ConstantTable block_constants(const BlockQuantisation& q, std::string_view name,
                              const Timing& timing = {});
// The sum A, the code Y and the multiplier's digits.
ConstantTable requantise_constants(const SumRequantisation& s, std::string_view name,
                                   const Timing& timing = {});
ConstantTable design_constants(const Design& design, std::string_view name,
                               const Timing& timing = {});

// Of all but units: FNV-1a of its text.
std::uint64_t model_hash(const SingleOperation& s);
std::uint64_t model_hash(const BlockQuantisation& q);
std::uint64_t model_hash(const SumRequantisation& s);
std::uint64_t model_hash(const Design& design);

}  // namespace widthwise::hdl
