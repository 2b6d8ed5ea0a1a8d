#pragma once
#include <vector>

#include "device.hpp"
#include "kernels/move.hpp"
#include "widthwise/sim/dot.hpp"

// Matrices of codes on their way to a device: dense rows there, whatever they were before.
namespace widthwise::cuda {

// Where codes lie: in this machine's memory, or in the device's already.
enum class Memory { host, device };

// Rows and columns of a matrix, from one element on.
struct Part {
  CodeMatrix matrix;
  std::size_t row, column, rows, columns;
  int bytes;  // of an item
};

// What uploaded() takes of the device's memory for it.
std::size_t bytes_to_take(const Part& part, Memory lies);

// Dense there; as a matrix of the device's addresses. Dense parts of its own memory stay where they
// are.
struct Uploaded {
  Buffer memory;
  CodeMatrix matrix;
};
Uploaded uploaded(Device& device, const Part& part, Memory lies);

// From place to place on the device.
void move_items(Device& device, const MoveItems& items);

// Rows of results to where they belong.
struct Home {
  std::byte* at;          // of the part's first output
  std::size_t row_bytes;  // from one row of the whole to the next
  Memory lies;
};
void brought_home(Device& device, const void* from, const Home& home, std::size_t rows,
                  std::size_t bytes_a_row);

}  // namespace widthwise::cuda
