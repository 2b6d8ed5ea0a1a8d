#include "widthwise/sim/product_batch.hpp"

#include <utility>

namespace widthwise {
namespace {

CodeMatrix moved(const Format& f, CodeMatrix x, std::ptrdiff_t elements) {
  if (x.data) x.data = static_cast<const std::byte*>(x.data) + elements * item_bytes(f.width());
  return x;
}

// Whether an axis of this stride goes on where `size` elements of the other stride end.
bool continues(std::ptrdiff_t stride, std::ptrdiff_t other, std::size_t size) {
  return stride == other * static_cast<std::ptrdiff_t>(size);
}

bool become_rows(MatrixProduct& p, const BatchAxis& axis) {
  if (axis.b != 0 || axis.scale_b != 0) return false;
  if (p.m == 1)
    p.a.row = axis.a, p.c.row = axis.c, p.scale_a.row = axis.scale_a;
  else if (!continues(axis.a, p.a.row, p.m) || !continues(axis.c, p.c.row, p.m) ||
           !continues(axis.scale_a, p.scale_a.row, p.m))
    return false;
  p.m *= axis.size;
  return true;
}

bool become_columns(MatrixProduct& p, const BatchAxis& axis) {
  if (p.m != 1 || axis.a != 0 || axis.scale_a != 0) return false;
  if (p.n == 1)
    p.b.column = axis.b, p.c.column = axis.c, p.scale_b.column = axis.scale_b;
  else if (!continues(axis.b, p.b.column, p.n) || !continues(axis.c, p.c.column, p.n) ||
           !continues(axis.scale_b, p.scale_b.column, p.n))
    return false;
  p.n *= axis.size;
  return true;
}

CodeMatrix transposed(CodeMatrix x) {
  std::swap(x.row, x.column);
  return x;
}

// b' a' is (a b)'. A row of results lies as a column of them does.
void transpose(ProductBatch& batch) {
  MatrixProduct& p = batch.first;
  std::swap(p.m, p.n);
  p.a = transposed(std::exchange(p.b, transposed(p.a)));
  p.scale_a = transposed(std::exchange(p.scale_b, transposed(p.scale_a)));
  p.c = transposed(p.c);
  for (BatchAxis& axis : batch.axes) {
    std::swap(axis.a, axis.b);
    std::swap(axis.scale_a, axis.scale_b);
  }
}

}  // namespace

std::size_t ProductBatch::count() const {
  std::size_t n = 1;
  for (const BatchAxis& axis : axes) n *= axis.size;
  return n;
}

MatrixProduct ProductBatch::at(const Unit& u, std::size_t i) const {
  const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
  const std::size_t outputs = i * first.m * first.n;
  MatrixProduct p = first;
  for (std::size_t left = axes.size(); left-- > 0; i /= axes[left].size) {
    const BatchAxis& axis = axes[left];
    const auto step = static_cast<std::ptrdiff_t>(i % axis.size);
    p.a = moved(u.a.fmt, p.a, step * axis.a);
    p.b = moved(u.b.fmt, p.b, step * axis.b);
    p.c = moved(u.c.fmt, p.c, step * axis.c);
    p.scale_a = moved(scale, p.scale_a, step * axis.scale_a);
    p.scale_b = moved(scale, p.scale_b, step * axis.scale_b);
  }
  const auto bytes = static_cast<std::size_t>(item_bytes(result_round(u).fmt.width()));
  if (p.result) p.result = static_cast<std::byte*>(p.result) + outputs * bytes;
  if (p.flags) p.flags += outputs;
  p.first_index += outputs;
  return p;
}

ProductBatch merged(const Unit& u, ProductBatch batch, bool commutes) {
  MatrixProduct& p = batch.first;
  while (!batch.axes.empty()) {
    const BatchAxis& last = batch.axes.back();
    if (last.size != 1 && !become_columns(p, last) && !become_rows(p, last)) break;
    batch.axes.pop_back();
  }
  if (commutes && u.a == u.b && p.n == 1 && p.m > 1) transpose(batch);
  return batch;
}

}  // namespace widthwise
