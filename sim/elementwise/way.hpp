#pragma once
#include "widthwise/sim/elementwise.hpp"

// The ways to compute an operation that elementwise.hpp chooses from. All give the same bits.
namespace widthwise {

// What an operation is applied to.
struct ElementArrays {
  std::span<const void* const> operands;
  std::size_t count;
  void* result;
  std::uint8_t* flags;  // or null
  RandomSource random;
};

// The machine rounds to nearest and keeps subnormals while one is made and while it runs.
class Elementwise::Way {
 public:
  virtual ~Way() = default;
  virtual void run(const ElementArrays& x) const = 0;
  virtual const char* name() const = 0;
  virtual bool quick() const { return true; }
};

using ElementwiseWay = std::unique_ptr<const Elementwise::Way>;

// An operation on codes of formats, before any arrays.
struct ElementTask {
  Operation op;
  Format to;
  Env env;
  std::span<const Format> operands;
  bool flags;
  std::size_t expected;
};

// Throws std::invalid_argument where the operation does not take so many operands, or formats.
void check(const ElementTask& task);
// Or where a comparison does not take these formats.
void check(Comparison how, const Format& a, const Format& b);
// Digits of a carrier that holds its exact result.
int digits_needed(const ElementTask& task);
[[noreturn]] void refuse_digits(int wanted);  // more than any carrier has

ElementwiseWay integer_way(const ElementTask& task);
// Null where a condition fails.
ElementwiseWay lane_way(const ElementTask& task);
ElementwiseWay fixed_way(const ElementTask& task);
ElementwiseWay tapered_way(const ElementTask& task);
ElementwiseWay stairs_way(const ElementTask& task);
ElementwiseWay chance_way(const ElementTask& task);
ElementwiseWay long_codes_way(const ElementTask& task);
ElementwiseWay table_way(const ElementTask& task);

}  // namespace widthwise
