#pragma once
#include "widthwise/sim/engine.hpp"

// The engines of this room, beside the reference. An opinion says why one takes a task or does not,
// and how fast; what makes an engine needs an opinion that takes.
namespace widthwise {

// Any unit, in rows of integers: the definition for a row of outputs at a time.
namespace rows {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace rows

// Chains of one product a step, in lanes of floats and doubles; and of binary16, where the machine
// computes in it.
namespace lanes {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
Opinion opinion_of_halves(const ProductTask& task);
std::unique_ptr<ProductEngine> make_halves(const ProductTask& task);
}  // namespace lanes

// Tensor units that truncate below the largest exponent.
namespace tensor {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace tensor

// Blocks of any shape, in lanes of doubles.
namespace blocks {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace blocks

// Chains, compensated sums and trees with significands of up to 1,088 digits: in limbs of 64 bits,
// one output after the other, and of 52, eight outputs side by side (AVX-512 IFMA).
namespace wide {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
Opinion opinion52(const ProductTask& task);
std::unique_ptr<ProductEngine> make52(const ProductTask& task);
}  // namespace wide

// One exact sum: in lanes of doubles, and integers where doubles lose digits; in integers alone.
namespace exact {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
Opinion opinion_of_words(const ProductTask& task);
std::unique_ptr<ProductEngine> make_words(const ProductTask& task);
}  // namespace exact

// Exact sums of products of integers of up to 8 bits, modulo 2^32, by the machine's dot
// instructions for bytes (docs/exactness.md, 75).
namespace bytes {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace bytes

// Units that promote what a number of products comes to: by the engine of such a segment.
namespace promoted {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace promoted

// Units with more exponents than a double has: where no number needs them, by the engine of the
// same unit with fewer.
namespace narrowed {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace narrowed

// Units over fixed point, posits and takums by the engine of a unit over floats: operands are
// written as floats on the way in, and a result that is rounded once as such a number on the way
// out.
namespace recoded {
Opinion opinion(const ProductTask& task);
std::unique_ptr<ProductEngine> make(const ProductTask& task);
}  // namespace recoded

}  // namespace widthwise
