#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/operation.hpp"

// Operations on arrays of codes, element by element. The arrays are contiguous, of equal length,
// and laid out as codes.hpp says; results may overwrite operands of the same width.
namespace widthwise {

struct CodeArray {
  Format format;
  const void* data;
};

// Where the random bits of stochastic rounding come from: element i draws those of output
// first_index + i under the seed, or takes the caller's own, given[first_index + i].
struct RandomSource {
  std::uint64_t seed = 0;
  std::uint64_t first_index = 0;
  const std::uint64_t* given = nullptr;

  constexpr RandomSource from(std::uint64_t index) const { return {seed, index, given}; }
};

// result[i] = op(operands...[i]) in format `to`. flags, if not null, takes one byte an element.
// copysign, negate, abs, next_up and next_down need `to` to be the first operand's format.
void elementwise(Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random = {});

// The same made ready once, for arrays that come piece by piece.
class Elementwise {
 public:
  // `expected` elements in all: what takes long to make ready pays only for many.
  Elementwise(Operation op, const Format& to, const Env& env, std::span<const Format> operands,
              bool flags, std::size_t expected);

  // flags, if they are wanted, take one byte an element.
  void run(std::span<const void* const> operands, std::size_t count, void* result,
           std::uint8_t* flags, RandomSource random = {}) const;

  // The way it goes: "float lanes", "double lanes", "fixed lanes", "tapered lanes",
  // "stairs", "stairs by chance", "long codes", "table" or "integers".
  const char* way() const;
  bool quick() const;  // a few nanoseconds an element at most

  class Way;

 private:
  std::shared_ptr<const Way> way_;
};

// result[i] = a[i] * 2^n[i].
void scaleb(const Format& to, const Env& env, const CodeArray& a, const std::int64_t* n,
            std::size_t count, void* result, std::uint8_t* flags, RandomSource random = {});

// result[i] is 0 or 1. total_order and total_order_magnitude need one format.
void compare(Comparison how, const CodeArray& a, const CodeArray& b, std::size_t count,
             std::uint8_t* result, std::uint8_t* flags);

// Integers of 32 or 64 bits, sign extended to 64.
void to_integers(IntegerType type, const Env& env, const CodeArray& a, std::size_t count,
                 std::uint64_t* result, std::uint8_t* flags, RandomSource random = {});
void from_integers(IntegerType type, const Format& to, const Env& env, const std::uint64_t* a,
                   std::size_t count, void* result, std::uint8_t* flags, RandomSource random = {});

// IEEE 754-2019, 5.7.2: the values of NumberClass (op/scale.hpp).
void classify(const CodeArray& a, std::size_t count, std::uint8_t* result);

}  // namespace widthwise
