#pragma once
#include <vector>

#include "device.hpp"
#include "widthwise/sim/dot.hpp"

// Matrices of codes on their way to a device: dense rows there, whatever they were here.
namespace widthwise::cuda {

// Rows and columns of a matrix, from one element on.
struct Part {
  CodeMatrix matrix;
  std::size_t row, column, rows, columns;
  int bytes;  // of an item
};

// Dense there; as a matrix of the device's addresses.
struct Uploaded {
  Buffer memory;
  CodeMatrix matrix;
};
Uploaded uploaded(Device& device, const Part& part);

// n codes of every row back to where the results of `p` stand, whose items have so many bytes.
struct Home {
  std::byte* at;          // of the part's first output
  std::size_t row_bytes;  // from one row of the whole to the next
};
void brought_home(Device& device, const void* from, const Home& home, std::size_t rows,
                  std::size_t bytes_a_row);

}  // namespace widthwise::cuda
