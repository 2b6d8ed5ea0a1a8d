#include "upload.hpp"

#include <cstring>

#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {
namespace {

const std::byte* place(const Part& p, std::size_t i, std::size_t j) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(p.row + i) * p.matrix.row +
                            static_cast<std::ptrdiff_t>(p.column + j) * p.matrix.column;
  return static_cast<const std::byte*>(p.matrix.data) + at * p.bytes;
}

// Of the codes of one row.
void gather_row(const Part& p, std::size_t i, std::byte* out) {
  const auto bytes = static_cast<std::size_t>(p.bytes);
  if (p.matrix.column == 1) {
    std::memcpy(out, place(p, i, 0), p.columns * bytes);
    return;
  }
  for (std::size_t j = 0; j < p.columns; ++j) std::memcpy(out + j * bytes, place(p, i, j), bytes);
}

bool is_dense(const Part& p) {
  return p.matrix.column == 1 &&
         (p.rows == 1 || p.matrix.row == static_cast<std::ptrdiff_t>(p.columns));
}

}  // namespace

Uploaded uploaded(Device& device, const Part& p) {
  if (!p.matrix.data) return {};
  const std::size_t row_bytes = p.columns * static_cast<std::size_t>(p.bytes);
  Buffer memory(device, std::max<std::size_t>(1, p.rows * row_bytes));
  if (is_dense(p)) {
    device.copy_in(memory.at(), place(p, 0, 0), p.rows * row_bytes);
  } else {
    std::vector<std::byte> rows(p.rows * row_bytes);
    for (std::size_t i = 0; i < p.rows; ++i) gather_row(p, i, &rows[i * row_bytes]);
    device.copy_in(memory.at(), rows.data(), rows.size());
  }
  const CodeMatrix matrix{memory.at(), static_cast<std::ptrdiff_t>(p.columns), 1};
  return {std::move(memory), matrix};
}

void brought_home(Device& device, const void* from, const Home& home, std::size_t rows,
                  std::size_t bytes_a_row) {
  if (rows == 0 || bytes_a_row == 0) return;
  if (home.row_bytes == bytes_a_row) return device.copy_out(home.at, from, rows * bytes_a_row);
  std::vector<std::byte> all(rows * bytes_a_row);
  device.copy_out(all.data(), from, all.size());
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(home.at + i * home.row_bytes, &all[i * bytes_a_row], bytes_a_row);
}

}  // namespace widthwise::cuda
