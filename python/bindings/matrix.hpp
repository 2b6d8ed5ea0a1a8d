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

// Codes along a last axis, at each place of leading axes whose strides may be 0.
class Rows {
 public:
  Rows(const Format& f, const py::object& codes) : format_(f) {
    if (codes.is_none()) return;
    const auto a = py::cast<py::array>(codes);
    const int bytes = item_bytes(f.width());
    const bool wide = limbs(f) > 1;
    if (a.ndim() < 1 + wide || a.itemsize() * limbs(f) != bytes ||
        (wide && a.strides(a.ndim() - 1) != a.itemsize()))
      throw std::logic_error("codes have to be an array of " + to_string(f) + "'s items");
    data_ = static_cast<const std::byte*>(a.data());
    for (py::ssize_t i = 0; i < a.ndim() - wide; ++i) {
      if (a.strides(i) % bytes != 0) throw std::logic_error("codes have to lie at whole items");
      shape_.push_back(static_cast<std::size_t>(a.shape(i)));
      strides_.push_back(a.strides(i));
    }
  }

  std::size_t length() const { return shape_.back(); }
  std::size_t count() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i + 1 < shape_.size(); ++i) n *= shape_[i];
    return n;
  }
  // Row i, counted as the leading axes lie in order: its elements are columns.
  CodeMatrix row(std::size_t i) const {
    if (!data_) return {};
    std::ptrdiff_t at = 0;
    for (std::size_t axis = shape_.size() - 1; axis-- > 0; i /= shape_[axis])
      at += static_cast<std::ptrdiff_t>(i % shape_[axis]) * strides_[axis];
    return {data_ + at, 0, strides_.back() / item_bytes(format_.width())};
  }

 private:
  Format format_;
  const std::byte* data_ = nullptr;
  std::vector<std::size_t> shape_;
  std::vector<std::ptrdiff_t> strides_;
};

// Dot products along the last axis: a and b are (..., k), c (..., 1), and scales (..., blocks), the
// leading axes alike. Output i as a product of one row and one column.
class DotBatch {
 public:
  DotBatch(const Unit& u, const Operands& x)
      : a_(u.a.fmt, x.a),
        b_(u.b.fmt, x.b),
        c_(u.c.fmt, x.c),
        scale_a_(u.scale ? u.scale->fmt : u.a.fmt, x.scale_a),
        scale_b_(u.scale ? u.scale->fmt : u.a.fmt, x.scale_b) {}

  std::size_t count() const { return a_.count(); }
  std::size_t k() const { return a_.length(); }

  MatrixProduct output(std::size_t i) const {
    MatrixProduct p;
    p.m = p.n = 1;
    p.k = k();
    p.first_index = i;
    p.a = a_.row(i);
    p.b = upright(b_.row(i));
    p.c = c_.row(i);
    p.scale_a = scale_a_.row(i);
    p.scale_b = upright(scale_b_.row(i));
    return p;
  }

 private:
  static CodeMatrix upright(CodeMatrix x) { return {x.data, x.column, x.row}; }

  Rows a_, b_, c_, scale_a_, scale_b_;
};

}  // namespace widthwise
