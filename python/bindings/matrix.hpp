#pragma once
#include "codes.hpp"

namespace widthwise {

// What a product or a batch of dot products works on; None where c or the scales are absent.
struct Operands {
  py::array a, b;
  py::object c, scale_a, scale_b;
};

// a (m, k), b (k, n), c and result (m, n), scale_a (m, blocks), scale_b (blocks, n).
inline MatrixProduct matrix_product(const Unit& u, const Operands& x) {
  MatrixProduct p;
  p.m = static_cast<std::size_t>(x.a.shape(0));
  p.k = static_cast<std::size_t>(x.a.shape(1));
  p.n = static_cast<std::size_t>(x.b.shape(1));
  p.a = code_matrix(u.a.fmt, x.a);
  p.b = code_matrix(u.b.fmt, x.b);
  p.c = code_matrix(u.c.fmt, x.c);
  if (u.scale) {
    p.scale_a = code_matrix(u.scale->fmt, x.scale_a);
    p.scale_b = code_matrix(u.scale->fmt, x.scale_b);
  }
  return p;
}

inline CodeMatrix moved(const Format& f, CodeMatrix x, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  if (x.data)
    x.data = static_cast<const std::byte*>(x.data) +
             (rows * x.row + columns * x.column) * item_bytes(f.width());
  return x;
}

// Outputs [row, row + m) x [column, column + n) of a product. The results of a tile lie in one
// piece, so it has one row or all columns.
inline MatrixProduct tile(const Unit& u, const MatrixProduct& whole, std::size_t row,
                          std::size_t column, std::size_t m, std::size_t n) {
  const auto i = static_cast<std::ptrdiff_t>(row), j = static_cast<std::ptrdiff_t>(column);
  const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
  const std::size_t at = row * whole.n + column;
  MatrixProduct p = whole;
  p.m = m;
  p.n = n;
  p.a = moved(u.a.fmt, p.a, i, 0);
  p.b = moved(u.b.fmt, p.b, 0, j);
  p.c = moved(u.c.fmt, p.c, i, j);
  p.scale_a = moved(scale, p.scale_a, i, 0);
  p.scale_b = moved(scale, p.scale_b, 0, j);
  p.result = static_cast<std::byte*>(p.result) +
             at * static_cast<std::size_t>(item_bytes(result_round(u).fmt.width()));
  if (p.flags) p.flags += at;
  p.first_index += at;
  return p;
}

// Dot products along the last axis: all arrays are (outputs, k), c (outputs, 1), and scales
// (outputs, blocks). Output i as a product of one row and one column.
class DotBatch {
 public:
  DotBatch(const Unit& u, const Operands& x)
      : u_(u),
        scale_(u.scale ? u.scale->fmt : u.a.fmt),
        a_(code_matrix(u.a.fmt, x.a)),
        b_(code_matrix(u.b.fmt, x.b)),
        c_(code_matrix(u.c.fmt, x.c)),
        scale_a_(u.scale ? code_matrix(u.scale->fmt, x.scale_a) : CodeMatrix{}),
        scale_b_(u.scale ? code_matrix(u.scale->fmt, x.scale_b) : CodeMatrix{}),
        k_(static_cast<std::size_t>(x.a.shape(1))),
        count_(static_cast<std::size_t>(x.a.shape(0))) {}

  std::size_t count() const { return count_; }
  std::size_t k() const { return k_; }

  MatrixProduct output(std::size_t i) const {
    const auto row = static_cast<std::ptrdiff_t>(i);
    MatrixProduct p;
    p.m = p.n = 1;
    p.k = k_;
    p.first_index = i;
    p.a = moved(u_.a.fmt, a_, row, 0);
    p.b = upright(moved(u_.b.fmt, b_, row, 0));
    p.c = moved(u_.c.fmt, c_, row, 0);
    p.scale_a = moved(scale_, scale_a_, row, 0);
    p.scale_b = upright(moved(scale_, scale_b_, row, 0));
    return p;
  }

 private:
  static CodeMatrix upright(CodeMatrix x) { return {x.data, x.column, x.row}; }

  const Unit& u_;
  Format scale_;
  CodeMatrix a_, b_, c_, scale_a_, scale_b_;
  std::size_t k_, count_;
};

}  // namespace widthwise
