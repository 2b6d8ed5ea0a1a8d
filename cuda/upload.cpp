#include "upload.hpp"

#include <algorithm>
#include <cstring>

namespace widthwise::cuda {
namespace {

const std::byte* place(const Part& p, std::size_t i, std::size_t j) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(p.row + i) * p.matrix.row +
                            static_cast<std::ptrdiff_t>(p.column + j) * p.matrix.column;
  return static_cast<const std::byte*>(p.matrix.data) + at * p.bytes;
}

std::size_t bytes_of(const Part& p) {
  return p.rows * p.columns * static_cast<std::size_t>(p.bytes);
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
  return (p.columns == 1 || p.matrix.column == 1) &&
         (p.rows == 1 || p.matrix.row == static_cast<std::ptrdiff_t>(p.columns));
}

void copy_in(Device& device, void* to, const Part& p) {
  if (is_dense(p)) return device.copy_in(to, place(p, 0, 0), bytes_of(p));
  std::vector<std::byte> rows(bytes_of(p));
  for (std::size_t i = 0; i < p.rows; ++i)
    gather_row(p, i, &rows[i * p.columns * static_cast<std::size_t>(p.bytes)]);
  device.copy_in(to, rows.data(), rows.size());
}

// Bytes, as they are all that a row is made of.
void scatter_there(Device& device, const void* from, const Home& home, std::size_t rows,
                   std::size_t bytes_a_row) {
  const auto dense = static_cast<std::ptrdiff_t>(bytes_a_row),
             whole = static_cast<std::ptrdiff_t>(home.row_bytes);
  move_items(device, {static_cast<const std::byte*>(from),
                      home.at,
                      1,
                      2,
                      {{.size = rows, .from = dense, .to = whole},
                       {.size = bytes_a_row, .from = 1, .to = 1}}});
}

void gather_there(Device& device, void* to, const Part& p) {
  const auto columns = static_cast<std::ptrdiff_t>(p.columns);
  move_items(device, {place(p, 0, 0),
                      static_cast<std::byte*>(to),
                      p.bytes,
                      2,
                      {{.size = p.rows, .from = p.matrix.row, .to = columns},
                       {.size = p.columns, .from = p.matrix.column, .to = 1}}});
}

void copy_out(Device& device, const void* from, const Home& home, std::size_t rows,
              std::size_t bytes_a_row) {
  if (home.row_bytes == bytes_a_row) return device.copy_out(home.at, from, rows * bytes_a_row);
  std::vector<std::byte> all(rows * bytes_a_row);
  device.copy_out(all.data(), from, all.size());
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(home.at + i * home.row_bytes, &all[i * bytes_a_row], bytes_a_row);
}

}  // namespace

void move_items(Device& device, const MoveItems& items) {
  launch_each(device, {"values", "move_items"}, items.count(), &items);
}

std::size_t bytes_to_take(const Part& p, Memory lies) {
  if (!p.matrix.data || (lies == Memory::device && is_dense(p))) return 0;
  return std::max<std::size_t>(1, bytes_of(p));
}

Uploaded uploaded(Device& device, const Part& p, Memory lies) {
  if (!p.matrix.data) return {};
  const auto columns = static_cast<std::ptrdiff_t>(p.columns);
  if (bytes_to_take(p, lies) == 0) return {{}, {place(p, 0, 0), columns, 1}};
  Buffer memory(device, bytes_to_take(p, lies));
  lies == Memory::host ? copy_in(device, memory.at(), p) : gather_there(device, memory.at(), p);
  const CodeMatrix matrix{memory.at(), columns, 1};
  return {std::move(memory), matrix};
}

void brought_home(Device& device, const void* from, const Home& home, std::size_t rows,
                  std::size_t bytes_a_row) {
  if (rows == 0 || bytes_a_row == 0) return;
  if (home.lies == Memory::host) return copy_out(device, from, home, rows, bytes_a_row);
  scatter_there(device, from, home, rows, bytes_a_row);
}

}  // namespace widthwise::cuda
