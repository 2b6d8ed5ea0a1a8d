#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "widthwise/format.hpp"
#include "widthwise/sim/operation.hpp"

// Operands for tests. Uniformly random bits almost never meet what arithmetic gets wrong; these
// are mixed with the named codes and their neighbours, fractions of long runs and single bits,
// exponents close together, and near copies that cancel; codes that are integers, with powers of
// two, the ends and their neighbours. Element i depends on (seed, i) alone.
namespace widthwise {

// Arrays of `count` codes, one for each operand of the same operation, laid out as codes.hpp says:
// elements first, first + 1, …
void random_operands(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
                     std::span<void* const> operands);

// Of a conversion from f to fixed point, a posit or a takum one operand in four moves to a border
// between two of its codes, or beside it.
void operands_to_borders(const Format& f, const Format& to, std::uint64_t seed, std::uint64_t first,
                         std::size_t count, void* operands);

// Integers of a type, sign extended to 64 bits.
void random_integers(IntegerType type, std::uint64_t seed, std::uint64_t first, std::size_t count,
                     std::uint64_t* result);

}  // namespace widthwise
