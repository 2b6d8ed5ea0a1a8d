#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "sim/engine/significand_products.hpp"
#include "sim/engine/tile_rows.hpp"
#include "spread.hpp"

// Strips of outputs in double lanes: Highway compiles kernels.cpp once for every instruction set
// and picks when the program runs.
namespace widthwise::blocks {

inline constexpr std::size_t strip_columns = 64;

// Products are multiples of a digit, and doubles hold all sums of a block that begins with such a
// multiple of at most this; 0: nobody knows.
struct Exactly {
  double digit = 1, most = 0;
};

// Some rows of A and a strip of columns of B meet on whole blocks. Pointers are to the first row.
struct Meeting {
  std::size_t rows, columns;  // that are wanted
  const double* a;
  const std::int16_t* a_exponent;
  const double* b;  // k rows of strip_columns
  const std::int16_t* b_exponent;
  const float *a_single, *b_single;  // the same numbers, where `single`
  // Of every group or term that is scaled by itself: numbers, and the powers that vote.
  const double *scale_a, *scale_a_power, *scale_b, *scale_b_power;
  std::size_t k, blocks, scales;  // of a row
  std::size_t first, total;       // where these blocks lie along k, of how many
  bool overflows;                 // a product may
  bool special;                   // a product or a scale may be infinite or NaN
  double limit;                   // more than any exact product
  bool faint;                     // an exact product may have a digit or a size that no double has
  // Floats hold numbers and products, there are no specials, and they are aligned or in a tree.
  bool single;
  bool late;  // the same, near enough to one for a tile of whole sums that C joins late
  Exactly exactly;
  Where output;  // the first one of the strip; the next row's are row_outputs on
  std::size_t row_outputs;
  const SignificandProducts* products;       // the user's, or null
  const std::uint64_t *a_digits, *b_digits;  // what those multiply
  const std::int16_t *a_span, *b_span;  // how far apart the exponents of a block lie, if rules ask

  void to_next_row() {
    a += k, a_exponent += k, a_single += k;
    if (a_digits) a_digits += k;
    if (a_span) a_span += blocks;
    if (scales) scale_a += scales, scale_a_power += scales;
    output.index += row_outputs;
  }
};

// A summand or a sum for every column, and the power of two with which it votes on an alignment: 0
// of an exact zero, an infinity or a NaN. A sum that cancelled votes.
struct Strip {
  alignas(64) double value[strip_columns], power[strip_columns];
  std::uint64_t lane;  // position along k of its first product
};

// What a strip of outputs holds between blocks: the sum and what it has lost, what promotion moves
// it to, all flags raised so far, and which outputs are in doubt. Null where nobody asks.
struct Registers {
  Strip* sum;
  double *compensation, *outer;
  std::int64_t *flags, *doubts;

  void to_next_row() {
    ++sum;
    for (double** x : {&compensation, &outer})
      if (*x) *x += strip_columns;
    for (std::int64_t** x : {&flags, &doubts})
      if (*x) *x += strip_columns;
  }
};

// The generator's words for one rounding of a strip of outputs: one call of it serves some steps.
struct Draws {
  Where first;
  std::size_t columns = 0;
  std::uint64_t call = ~std::uint64_t{0};  // none yet
  alignas(64) std::uint64_t words[4][strip_columns];

  bool are_of(const Where& w, std::size_t wanted, std::uint64_t number) const {
    return call == number && first.index == w.index && first.seed == w.seed && wanted <= columns;
  }
};
using DrawsOfRow = std::array<Draws, static_cast<std::size_t>(widthwise::Slot::compensated) + 1>;

// Where a strip of outputs stands in its work, as lib's Progress has it for one.
struct Progress {
  Where first;                     // its first output
  std::size_t columns;             // of them, that are wanted
  DrawsOfRow* draws = nullptr;     // the last ones of every slot
  std::int64_t* flags = nullptr;   // raised by each; null where nobody asks
  std::int64_t* doubts = nullptr;  // not 0 where nobody can tell a sum; null where none can be
};

// Room for one block: its products and one sum a group; and for what every row has drawn.
struct Scratch {
  std::vector<Strip> products, sums;
  std::vector<Strip*> terms;
  std::vector<DrawsOfRow> draws{tile_rows};
  explicit Scratch(const Rules& r)
      : products(r.quick ? 0 : r.lanes), sums(r.group_count), terms(r.lanes + r.group_count + 1) {}
};

struct Kernels {
  // Of the fields of numbers of a format whose least one is emin.
  void (*exponents)(const double* numbers, std::size_t n, int emin, std::int16_t* out);
  // The same numbers as floats, and what exponents there are.
  void (*complete)(const double* numbers, const std::int16_t* exponents, std::size_t n,
                   float* singles, Spread& of);
  void (*run)(const Meeting&, const Rules&, const Registers& of_first_row, Scratch&);
  // After the last block: adds C where it comes last, and rounds to the result.
  void (*finish)(const Rules&, const Where& first, const double* c, const Registers&, Scratch&);
};
Kernels kernels();

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::blocks
