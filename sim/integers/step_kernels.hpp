#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "marks.hpp"

// Tiles of outputs in rows of integers: Highway compiles kernels.cpp once for every instruction set
// and picks when the program runs.
namespace widthwise::steps {

// Columns of a panel: whole rows on every machine.
inline constexpr std::size_t panel_columns = 64;
// Steps of a panel: random bits come eight steps at a time.
inline constexpr std::size_t panel_depth = 512;

// Numbers as lib's operations take them, normalised: (-1)^negative sig 2^exp.
template <class T>
struct Numbers {
  T* sig;
  std::make_signed_t<T>* exp;
  T* marks;

  Numbers at(std::size_t i) const { return {sig + i, exp + i, marks + i}; }
};

// Outputs under way: rows of panel_columns each.
template <class T>
struct Outputs {
  Numbers<T> sum;    // that the next product is added to
  Numbers<T> outer;  // where the unit promotes
  Numbers<T> c;      // where it is added last
  T* code;           // of the sum
  T* flags;
};

// rows of A and the columns of B meet on steps first … first + depth - 1.
template <class T>
struct Tile {
  Numbers<T> a;  // row r from r * depth on
  Numbers<T> b;  // depth rows of panel_columns
  Outputs<T> out;
  std::size_t rows, columns, first, depth;
  bool last;                  // the chain ends here
  std::uint64_t seed, index;  // of the output in the corner
  std::size_t next_row;       // from one row's index to the next one's
};

template <class T>
using Kernel = void (*)(const Unit&, const Tile<T>&);
template <class T>
Kernel<T> kernel();

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::steps
