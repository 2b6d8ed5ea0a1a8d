#include <doctest/doctest.h>

#include <random>

#include "tests/lib/tally.hpp"
#include "widthwise/sim/product_batch.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_product_batch {

// Batches of matrix products: merged ones give the same outputs, random bits included.
namespace {

using namespace widthwise;
using tests::Tally;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t size = 2, axes = 3;  // of a batch
constexpr std::size_t m = 2, n = 3, k = 5;

// Stochastic, so that an output's place shows. A scale covers two elements.
Unit unit_of_bytes(bool scaled) {
  Unit u = parse_unit("fma(e5m2, sum=e5m2:sr7)");
  if (scaled) u.scale = Scale{e5m2, 2, ScaleApply::term};
  return u;
}

// Operands at a random place each, with strides of 0 where a bit of `shared` says so.
struct Trial {
  std::vector<Bytes> codes;
  ProductBatch batch;

  Trial(unsigned shared, std::size_t rows, std::size_t columns, bool scaled,
        std::mt19937_64& random) {
    MatrixProduct& p = batch.first;
    p.m = rows, p.n = columns, p.k = k;
    p.seed = 5;
    batch.axes.assign(axes, {size});
    p.a = operand(rows, k, shared, &BatchAxis::a, random);
    p.b = operand(k, columns, shared >> 3, &BatchAxis::b, random);
    p.c = operand(rows, columns, shared >> 6, &BatchAxis::c, random);
    if (!scaled) return;
    p.scale_a = operand(rows, 3, shared, &BatchAxis::scale_a, random);
    p.scale_b = operand(3, columns, shared >> 3, &BatchAxis::scale_b, random);
  }

  Bytes run(const ProductBatch& x, const Unit& u) const {
    Bytes result(x.outputs());
    const auto engine = make_reference(u, k);
    ProductBatch placed = x;
    placed.first.result = result.data();
    for (std::size_t i = 0; i < x.count(); ++i) {
      const MatrixProduct p = placed.at(u, i);
      engine->run(p, 0, p.m);
    }
    return result;
  }

 private:
  CodeMatrix operand(std::size_t rows, std::size_t columns, unsigned shared,
                     std::ptrdiff_t BatchAxis::*stride, std::mt19937_64& random) {
    auto step = static_cast<std::ptrdiff_t>(rows * columns);
    for (std::size_t i = axes; i-- > 0;) {
      if (shared >> i & 1) continue;
      batch.axes[i].*stride = step;
      step *= size;
    }
    Bytes& x = codes.emplace_back(static_cast<std::size_t>(step));
    for (std::uint8_t& code : x) code = static_cast<std::uint8_t>(random() % 0x80);
    return {x.data(), static_cast<std::ptrdiff_t>(columns), 1};
  }
};

struct Shape {
  std::size_t rows, columns;
};

}  // namespace

TEST_CASE("merged: every way of sharing operands gives the outputs of the products one by one") {
  std::mt19937_64 random(1);
  Tally tally;
  for (const bool scaled : {false, true})
    for (const bool commutes : {false, true})
      for (const Shape shape : {Shape{m, n}, Shape{m, 1}, Shape{1, n}, Shape{1, 1}})
        for (unsigned shared = 0; shared < 512; ++shared) {
          const Unit u = unit_of_bytes(scaled);
          const Trial x(shared, shape.rows, shape.columns, scaled, random);
          tally.check(x.run(merged(u, x.batch, commutes), u) == x.run(x.batch, u), [&] {
            return std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                   ", shared " + std::to_string(shared) + (scaled ? ", scaled" : "");
          });
        }
  tally.expect(2 * 2 * 4 * 512);
}

TEST_CASE("merged: an outer product, a shared right side and single columns are one product each") {
  std::mt19937_64 random(2);
  const Unit u = unit_of_bytes(false);
  constexpr unsigned a_on_last = 0b100, b_but_last = 0b011'000;
  const ProductBatch outer =
      merged(u, Trial(a_on_last | b_but_last, 1, 1, false, random).batch, true);
  CHECK(outer.axes.empty());
  CHECK(outer.first.m == 4);
  CHECK(outer.first.n == 2);
  const ProductBatch right = merged(u, Trial(0b111'000, m, n, false, random).batch, true);
  CHECK(right.axes.empty());
  CHECK(right.first.m == m * 8);
  const ProductBatch vector = merged(u, Trial(0b111'000, 1, 1, false, random).batch, true);
  CHECK(vector.first.n == 8);  // b times a
  const ProductBatch own = merged(u, Trial(0b111'000, 1, 1, false, random).batch, false);
  CHECK(own.first.m == 8);
}

}  // namespace test_product_batch
