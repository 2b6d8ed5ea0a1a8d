#include "widthwise/sim/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "capacity.hpp"
#include "checked_product.hpp"
#include "lane_order.hpp"
#include "make.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

CodeMatrix moved(const Format& f, CodeMatrix x, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  if (x.data)
    x.data = static_cast<const std::byte*>(x.data) +
             (rows * x.row + columns * x.column) * item_bytes(f.width());
  return x;
}

}  // namespace

MatrixProduct tile(const Unit& u, const MatrixProduct& whole, std::size_t row, std::size_t column,
                   std::size_t m, std::size_t n) {
  const auto i = static_cast<std::ptrdiff_t>(row), j = static_cast<std::ptrdiff_t>(column);
  const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
  const std::size_t at = whole.output(row, column);
  MatrixProduct p = whole;
  p.m = m;
  p.n = n;
  p.result_row = whole.row_outputs();
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

MatrixProduct stretch(const Unit& u, const MatrixProduct& whole, std::size_t first, std::size_t k) {
  const auto t = static_cast<std::ptrdiff_t>(first);
  MatrixProduct p = whole;
  p.k = k;
  p.a = moved(u.a.fmt, p.a, 0, t);
  p.b = moved(u.b.fmt, p.b, t, 0);
  p.c = {};
  if (!u.scale) return p;
  const std::ptrdiff_t run = t / static_cast<std::ptrdiff_t>(u.scale->block);
  p.scale_a = moved(u.scale->fmt, p.scale_a, 0, run);
  p.scale_b = moved(u.scale->fmt, p.scale_b, run, 0);
  return p;
}

void check_multiplier(const Unit& u) {
  for (const Operand* op : {&u.a, &u.b})
    if (op->fmt.precision() > 64)
      throw std::invalid_argument(fmt::format(
          "multiplier: {} has {} significand digits, a supplied multiplier takes at most 64",
          to_string(op->fmt), op->fmt.precision()));
}

uint128 CheckedProduct::operator()(std::uint64_t a, std::uint64_t b) const {
  const uint128 product = multiply(a, b);
  if (bit_length(product) > digits_a + digits_b)
    refuse({a, b, bit_length(product)}, digits_a, digits_b);
  return product;
}

void refuse(const WideProduct& product, int digits_a, int digits_b) {
  throw std::invalid_argument(
      fmt::format("multiplier: {:#x} * {:#x} gave a product of {} bits; that of significands of "
                  "{} and {} digits has at most {}",
                  product.a, product.b, product.bits, digits_a, digits_b, digits_a + digits_b));
}

const Carriers& least_carriers(const Unit& unit, std::size_t k, bool multiplier) {
  Capacity need = capacity(unit, static_cast<std::int64_t>(k), multiplier);
  if (multiplier) need.magnitude_bits = std::max<std::int64_t>(need.magnitude_bits, 128);
  return *std::ranges::find_if(all_carriers, [&](const Carriers& c) { return c.hold(need); });
}

std::unique_ptr<ReferenceUnit> make_reference(const Unit& unit, std::size_t k,
                                              Multiplier multiplier) {
  check(unit);
  check_scale_groups(unit, k);
  if (multiplier) check_multiplier(unit);
  return least_carriers(unit, k, bool(multiplier)).make(unit, k, std::move(multiplier));
}

void check(const Unit& unit, const MatrixProduct& p) {
  if (bool(unit.scale) == (p.scale_a.data && p.scale_b.data) &&
      bool(p.scale_a.data) == bool(p.scale_b.data))
    return;
  throw std::invalid_argument(unit.scale
                                  ? "scale_a, scale_b: this unit scales its blocks, give both"
                                  : "scale_a, scale_b: this unit has no block scales, give none");
}

}  // namespace widthwise
