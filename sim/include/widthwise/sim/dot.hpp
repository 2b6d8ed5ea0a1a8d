#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "widthwise/datapath/term.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/trace.hpp"

// Dot products and matrix products of codes, as one unit computes them.
namespace widthwise {

// A multiplier the user supplies: significands with their hidden ones in, a product in units of
// their last places out. Both operand formats need at most 64 digits.
using Multiplier = std::function<uint128(std::uint64_t, std::uint64_t)>;

// Codes of a matrix; element (i, j) lies at data + (i * row + j * column) * item_bytes.
struct CodeMatrix {
  const void* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;  // strides, in elements
};

// result = c + a * b: a (m, k), b (k, n), c and result (m, n). Scales have one column, or row, for
// every unit.scale.block elements along k. Without c the sum starts at +0.
struct MatrixProduct {
  std::size_t m = 0, n = 0, k = 0;
  CodeMatrix a, b, c, scale_a, scale_b;  // data of c, scale_*: null where absent
  void* result = nullptr;                // rows of result codes, apart from c's
  std::uint8_t* flags = nullptr;  // one byte an output, or null: all that was raised on its way
  std::size_t result_row = 0;     // of results and flags, from one row to the next; 0: n
  std::uint64_t seed = 0;
  std::uint64_t first_index =
      0;  // of output (0, 0), where this product is a part of a larger array

  std::size_t row_outputs() const { return result_row ? result_row : n; }
  // The place of output (i, j) in result and flags; with first_index, its index in the array.
  std::size_t output(std::size_t i, std::size_t j) const { return i * row_outputs() + j; }
  Where where(std::size_t i, std::size_t j) const { return {seed, first_index + output(i, j)}; }
};

// Outputs [row, row + m) x [column, column + n) of a product, where they stand.
MatrixProduct tile(const Unit& u, const MatrixProduct& whole, std::size_t row, std::size_t column,
                   std::size_t m, std::size_t n);
// Elements [first, first + k) along k of every output, onto no C. Where the unit has scales, whole
// blocks of them lie before the first element, or one block holds all.
MatrixProduct stretch(const Unit& u, const MatrixProduct& whole, std::size_t first, std::size_t k);

// One wire of a trace: what stood there while one output was computed.
struct TraceRow {
  Stage stage;
  std::string slot;   // the rounding that a normalise … pack row belongs to, else empty
  std::int64_t lane;  // position along k; -1 for C
  Kind kind;
  bool negative;
  std::string significand;  // hexadecimal, unsigned; at pack the code
  std::int64_t exponent;    // weight of its bit 0
};

// What computes products of length k of one unit. Const calls may run side by side.
class ProductEngine {
 public:
  virtual ~ProductEngine() = default;
  // Outputs of rows first … last - 1 of the product.
  virtual void run(const MatrixProduct& p, std::size_t first, std::size_t last) const = 0;
};

// One output whose elements along k come little by little.
class RunningDot {
 public:
  virtual ~RunningDot() = default;
  // One block more: as many elements as the unit has lanes, those from `at` on of a product whose
  // scales begin with its first element.
  virtual void advance(const MatrixProduct& p, std::size_t at) = 0;
  // What the unit delivers, into p.result and p.flags, if the elements from `at` on are the last.
  virtual void deliver(const MatrixProduct& p, std::size_t at) const = 0;
};

// Random bits of the caller's own for one slot of a unit: an output's words lie side by side, that
// for the rounding at a step at place[step].
struct SuppliedWords {
  Slot slot;
  std::vector<std::int32_t> place;  // -1: nothing rounds at that step
  std::size_t each;                 // words of an output
  const std::uint64_t* words;       // outputs one after the other, as MatrixProduct::where counts
};

// The definition at work.
class ReferenceUnit : public ProductEngine {
 public:
  // The results over the first 1, 2, … k elements of each output in rows first … last - 1: those of
  // output (i, j) from output(i, j) * k on in result and flags. Not for every unit: see
  // running.hpp.
  virtual void run_running(const MatrixProduct& p, std::size_t first, std::size_t last) const = 0;
  // An output with p's C and random bits and no element yet, for the same units; this has to last
  // as long.
  virtual std::unique_ptr<RunningDot> start(const MatrixProduct& p) const = 0;
  // Every stage of output (row, column).
  virtual std::vector<TraceRow> trace(const MatrixProduct& p, std::size_t row,
                                      std::size_t column) const = 0;
  // "uint128 magnitudes of 126 bits": which carriers were chosen, and why.
  virtual std::string carriers() const = 0;
  // Output (row, column) by the caller's random bits, words for each slot that draws some.
  virtual void run_supplied(const MatrixProduct& p, std::size_t row, std::size_t column,
                            std::span<const SuppliedWords> random) const = 0;
  // Its every stage.
  virtual std::vector<TraceRow> trace_supplied(const MatrixProduct& p, std::size_t row,
                                               std::size_t column,
                                               std::span<const SuppliedWords> random) const = 0;
};

// Refuses a unit, or a unit at this k, whose exact sums pass the limit of 2^20 bits.
std::unique_ptr<ReferenceUnit> make_reference(const Unit& unit, std::size_t k,
                                              Multiplier multiplier = {});

// Checks that scales are there where the unit wants them and only there.
void check(const Unit& unit, const MatrixProduct& p);

}  // namespace widthwise
