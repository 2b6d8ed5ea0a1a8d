#pragma once
#include "codes.hpp"
#include "widthwise/sim/product_batch.hpp"

namespace widthwise {

// What products work on: a (..., m, k), b (..., k, n), c (..., m, n), scale_a (..., m, blocks) and
// scale_b (..., blocks, n), their leading axes alike; None where c or the scales are absent.
struct Operands {
  py::array a, b;
  py::object c, scale_a, scale_b;
};

// Codes of matrices at every place of leading axes, by strides in elements.
struct Matrices {
  CodeMatrix first;
  std::vector<std::size_t> shape;
  std::vector<std::ptrdiff_t> lead;  // nothing where the operand is absent
};

inline Matrices matrices(const Format& f, const py::object& codes) {
  if (codes.is_none()) return {};
  const auto x = py::cast<py::array>(codes);
  const int bytes = item_bytes(f.width());
  const bool wide = limbs(f) > 1;
  const py::ssize_t axes = x.ndim() - wide;
  const bool some = x.size() > 0;  // else strides are what they like
  if (axes < 2 || x.itemsize() * limbs(f) != bytes ||
      (some && wide && x.strides(x.ndim() - 1) != x.itemsize()))
    throw std::logic_error("codes have to be matrices of " + to_string(f) + "'s items");
  Matrices m;
  for (py::ssize_t i = 0; i < axes; ++i) {
    const py::ssize_t stride = some ? x.strides(i) : 0;
    if (stride % bytes != 0) throw std::logic_error("codes have to lie at whole items");
    m.shape.push_back(static_cast<std::size_t>(x.shape(i)));
    m.lead.push_back(stride / bytes);
  }
  m.first = {x.data(), m.lead[m.lead.size() - 2], m.lead.back()};
  m.lead.resize(m.lead.size() - 2);
  return m;
}

inline ProductBatch product_batch(const Unit& u, const Operands& x) {
  const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
  const Matrices a = matrices(u.a.fmt, x.a), b = matrices(u.b.fmt, x.b), c = matrices(u.c.fmt, x.c),
                 scale_a = matrices(scale, x.scale_a), scale_b = matrices(scale, x.scale_b);
  ProductBatch batch;
  batch.first.m = a.shape[a.shape.size() - 2];
  batch.first.k = a.shape.back();
  batch.first.n = b.shape.back();
  batch.first.a = a.first, batch.first.b = b.first, batch.first.c = c.first;
  batch.first.scale_a = scale_a.first, batch.first.scale_b = scale_b.first;
  for (std::size_t i = 0; i < a.lead.size(); ++i) {
    const auto stride = [i](const Matrices& y) { return y.lead.empty() ? 0 : y.lead[i]; };
    batch.axes.push_back(
        {a.shape[i], stride(a), stride(b), stride(c), stride(scale_a), stride(scale_b)});
  }
  return batch;
}

// The same with places for what is computed, checked.
inline ProductBatch product_batch(const Unit& u, const Operands& x, py::array& result,
                                  py::object& flags, std::uint64_t seed) {
  ProductBatch batch = product_batch(u, x);
  MatrixProduct& p = batch.first;
  const std::size_t outputs = batch.outputs();
  p.result = place(result_round(u).fmt, result, outputs);
  p.flags = flags_place(flags, outputs);
  p.seed = seed;
  check(u, p);
  return batch;
}

}  // namespace widthwise
