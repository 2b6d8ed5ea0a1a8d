#pragma once
#include <cstddef>
#include <cstdint>

#include "plan.hpp"

// Strips of outputs in double lanes: Highway compiles kernels.cpp once for every instruction set
// and picks when the program runs.
namespace widthwise::blocks {

inline constexpr std::size_t strip = 64;  // columns

// Stands for the exponent of a zero, an infinity or a NaN: with any other it sums to less than all
// that vote.
inline constexpr std::int16_t no_exponent = -8192;

// One row of A and a strip of columns of B meet on whole blocks.
struct Meeting {
  const double* a;
  const std::int16_t* a_exponent;
  const double* b;  // k rows of `strip`
  const std::int16_t* b_exponent;
  // Of every group, where it is groups that are scaled: numbers, and the powers that vote.
  const double *scale_a, *scale_a_power, *scale_b, *scale_b_power;
  std::size_t k;
  std::size_t first, total;  // where these blocks lie along k, of how many
  bool overflows;            // a product may
};

// The registers of a strip of outputs: the sum, the power with which it votes, and what promotion
// moves it to.
struct Registers {
  double sum[strip], power[strip], outer[strip];
};

struct Kernels {
  // `sums` has room for two strips a group.
  void (*run)(const Meeting&, const Rules&, Registers&, double* sums);
  // After the last block: adds C where it comes last, and rounds to the result.
  void (*finish)(const Rules&, const double* c, Registers&);
};
Kernels kernels();

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::blocks
