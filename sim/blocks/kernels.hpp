#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.hpp"

// Strips of outputs in double lanes: Highway compiles kernels.cpp once for every instruction set
// and picks when the program runs.
namespace widthwise::blocks {

inline constexpr std::size_t strip_columns = 64;

// Stand for the exponent of a zero, and of an infinity or a NaN: with any other they sum to less
// than all that vote.
inline constexpr std::int16_t no_exponent = -8192, special_exponent = -8191;

// Some rows of A and a strip of columns of B meet on whole blocks. Pointers are to the first row.
struct Meeting {
  std::size_t rows;
  const double* a;
  const std::int16_t* a_exponent;
  const double* b;  // k rows of strip_columns
  const std::int16_t* b_exponent;
  const float *a_single, *b_single;  // the same numbers, where `single`
  // Of every group, where it is groups that are scaled: numbers, and the powers that vote.
  const double *scale_a, *scale_a_power, *scale_b, *scale_b_power;
  std::size_t k, scales;     // of a row
  std::size_t first, total;  // where these blocks lie along k, of how many
  bool overflows;            // a product may
  bool special;              // a product or a scale may be infinite or NaN
  bool single;               // floats hold numbers and products, and there are no specials

  void to_next_row() {
    a += k, a_exponent += k, a_single += k;
    scale_a += scales, scale_a_power += scales;
  }
};

// A summand or a sum for every column, and the power of two with which it votes on an alignment: 0
// of an exact zero, an infinity or a NaN. A sum that cancelled votes.
struct Strip {
  alignas(64) double value[strip_columns], power[strip_columns];
};

// What a strip of outputs holds between blocks: the sum, and what promotion moves it to.
struct Registers {
  Strip sum;
  alignas(64) double outer[strip_columns];
};

// Room for one block: its products and one sum a group.
struct Scratch {
  std::vector<Strip> products, sums;
  std::vector<Strip*> terms;
  explicit Scratch(const Rules& r)
      : products(r.quick ? 0 : r.lanes), sums(r.group_count), terms(r.lanes + r.group_count + 1) {}
};

struct Kernels {
  void (*run)(const Meeting&, const Rules&, Registers* of_rows, Scratch&);
  // After the last block: adds C where it comes last, and rounds to the result.
  void (*finish)(const Rules&, const double* c, Registers&);
};
Kernels kernels();

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::blocks
