#include "panels.hpp"

#include <algorithm>
#include <bit>

namespace widthwise::exact {
namespace {

constexpr std::uint64_t infinite =
    std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());

// Range of the numbers without NaNs, which become 0; each is told to `mark` by its place.
template <class Mark>
Range finite_range(double* numbers, std::size_t n, const Mark& mark) {
  const Range all = range(numbers, n);
  if (all.most < infinite) return all;
  for (std::size_t i = 0; i < n; ++i)
    if (std::isnan(numbers[i])) mark(i), numbers[i] = 0;
  return range(numbers, n);
}

}  // namespace

void Panels::load_rows(std::size_t k, std::size_t steps) {
  k_ = k, steps_ = steps;
  a_items_.clear();
  if (!plan_.doubles) return load_row_items();
  const std::size_t tiles = (rows_ + tile_rows - 1) / tile_rows;
  a_.assign(tiles * tile_rows * steps, 0);
  a_ranges_.assign(tiles, {});
  for (std::size_t r = 0; r < rows_; ++r) {
    double* const at = &a_[r * steps];
    of_a_.numbers(a_codes(row_ + r, k), a_scales(row_ + r, k), steps, held_, at);
    const Range found =
        finite_range(at, steps, [&](std::size_t t) { note(k + t, special_rows_[r]); });
    Range& whole = a_ranges_[r / tile_rows];
    whole = {std::max(whole.most, found.most), std::min(whole.least, found.least)};
  }
}

void Panels::load_columns(std::size_t first, std::size_t columns) {
  first_ = first, columns_ = columns;
  b_items_.clear();
  if (!plan_.doubles) return load_column_items();
  constexpr std::size_t few = 4;
  b_.assign(steps_ * tile_columns, 0);
  if (columns > few)
    load_across();
  else
    load_down();
  b_range_ = finite_range(b_.data(), b_.size(), [&](std::size_t i) {
    note(k_ + i / tile_columns, special_columns_[first + i % tile_columns]);
  });
}

void Panels::load_across() {
  const std::size_t x = column_ + first_;
  const CodeMatrix codes{b_codes(k_, x).at, p_.b.row, p_.b.column};
  for (std::size_t t = 0; t < steps_; ++t) {
    if (t + rows_ahead < steps_) fetch(codes, of_b_.bytes(), t + rows_ahead, columns_);
    of_b_.numbers(b_codes(k_ + t, x), b_scales(k_ + t, x), columns_, held_, &b_[t * tile_columns]);
  }
}

void Panels::load_down() {
  one_column_.resize(steps_);
  for (std::size_t c = 0; c < columns_; ++c) {
    const std::size_t x = column_ + first_ + c;
    const Scales scales{line(p_.scale_b, of_b_.scale_bytes(), 0, x, true), k_, scaled_};
    of_b_.numbers(line(p_.b, of_b_.bytes(), k_, x, true), scales, steps_, held_,
                  one_column_.data());
    for (std::size_t t = 0; t < steps_; ++t) b_[t * tile_columns + c] = one_column_[t];
  }
}

std::optional<Extent> Panels::products(std::size_t tile) const {
  const Range& of_a = a_ranges_[tile];
  if (of_a.most == 0 || b_range_.most == 0) return std::nullopt;
  return extent(of_a, plan_.a) * extent(b_range_, plan_.b);
}

const Item* Panels::row_items(std::size_t r) {
  if (a_items_.empty()) load_row_items();
  return &a_items_[r * steps_];
}
const Item* Panels::column_items(std::size_t c) {
  if (b_items_.empty()) load_column_items();
  return &b_items_[c * steps_];
}

Panels::Special Panels::special_product(std::size_t y, std::size_t x, std::size_t t) const {
  const Kind kind = product_kind(of_a_.kind(a_codes(y, t), a_scales(y, t), 0),
                                 of_b_.kind(b_codes(t, x), b_scales(t, x), 0));
  if (kind == Kind::nan) return Special::nan;
  return negative(y, x, t) ? Special::minus : Special::plus;
}

std::optional<Panels::Steps> Panels::deciding(std::size_t r, std::size_t c) const {
  std::optional<std::size_t> one;
  Special sort{};
  bool all_known = true;
  for (const Places* places : {&special_rows_[r], &special_columns_[c]}) {
    all_known &= places->size() < most_special;
    for (const std::size_t t : *places) {
      const Special product = special_product(row_ + r, column_ + c, t);
      if (!one) one = t, sort = product;
      if (product == Special::nan) return Steps{t, t};
      if (product != sort) return Steps{*one, t};
    }
  }
  if (!all_known) return std::nullopt;
  return Steps{one.value_or(0), one.value_or(0)};
}

std::uint32_t Panels::sorts(std::size_t r, std::size_t c, std::size_t t) const {
  const std::size_t y = row_ + r, x = column_ + c;
  return of_a_.sorts(a_codes(y, t), a_scales(y, t), 0) << 8 |
         of_b_.sorts(b_codes(t, x), b_scales(t, x), 0);
}

void Panels::load_row_items() {
  a_items_.resize(rows_ * steps_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const Line codes = a_codes(row_ + r, k_);
    const Scales scales = a_scales(row_ + r, k_);
    for (std::size_t t = 0; t < steps_; ++t) {
      const Item x = of_a_.item(codes, scales, t);
      a_items_[r * steps_ + t] = x;
      if (x.special) note(k_ + t, special_rows_[r]);
    }
  }
}

void Panels::load_column_items() {
  b_items_.resize(columns_ * steps_);
  for (std::size_t t = 0; t < steps_; ++t) {
    const Line codes = b_codes(k_ + t, column_ + first_);
    const Scales scales = b_scales(k_ + t, column_ + first_);
    for (std::size_t c = 0; c < columns_; ++c) {
      const Item x = of_b_.item(codes, scales, c);
      b_items_[c * steps_ + t] = x;
      if (x.special) note(k_ + t, special_columns_[first_ + c]);
    }
  }
}

}  // namespace widthwise::exact
