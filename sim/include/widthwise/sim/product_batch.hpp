#pragma once
#include "widthwise/sim/dot.hpp"

// Many matrix products of one shape: batched products, and dot products, which are those of one row
// and one column.
namespace widthwise {

// How far apart the operands of neighbouring products lie, in elements. 0: they share them.
struct BatchAxis {
  std::size_t size;
  std::ptrdiff_t a = 0, b = 0, c = 0, scale_a = 0, scale_b = 0;
};

// The products at every place of the axes, in row-major order. Their results follow one another.
struct ProductBatch {
  MatrixProduct first;
  std::vector<BatchAxis> axes;

  std::size_t count() const;
  std::size_t outputs() const { return count() * first.m * first.n; }
  MatrixProduct at(const Unit& u, std::size_t i) const;
};

// The same outputs by fewer and larger products: axes along which products share an operand become
// rows or columns. Where a * b is b * a a single column becomes a row, which engines like better.
ProductBatch merged(const Unit& u, ProductBatch batch, bool commutes);

}  // namespace widthwise
