#pragma once

#include "kernels.hpp"
#include "operands.hpp"
#include "sim/engine/lines.hpp"

// The operands of one block of outputs, panel by panel: rows of A and columns of B over some steps
// along k, as doubles, and as items where they are asked for.
namespace widthwise::exact {

// A matrix from row y, column x on, along its row or down its column.
inline Line line(const CodeMatrix& m, int bytes, std::size_t y, std::size_t x, bool down = false) {
  const std::ptrdiff_t at =
      static_cast<std::ptrdiff_t>(y) * m.row + static_cast<std::ptrdiff_t>(x) * m.column;
  return {static_cast<const std::byte*>(m.data) + at * bytes, (down ? m.row : m.column) * bytes};
}

class Panels {
 public:
  Panels(const Reader& a, const Reader& b, const Plan& plan, const std::optional<Scale>& scale,
         const MatrixProduct& p)
      : of_a_(a),
        of_b_(b),
        plan_(plan),
        scaled_(scale ? static_cast<std::size_t>(scale->block) : 1),
        p_(p) {}

  void start(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
    row_ = row, rows_ = rows, column_ = column;
    special_rows_.assign(rows, {});
    special_columns_.assign(columns, {});
  }
  // All rows from step k on.
  void load_rows(std::size_t k, std::size_t steps);
  // At most tile_columns columns, over the same steps.
  void load_columns(std::size_t first, std::size_t columns);

  std::size_t steps() const { return steps_; }
  std::size_t first() const { return first_; }
  std::size_t columns() const { return columns_; }
  // Row r of A and step t of B, padded to whole tiles with zeros.
  const double* row(std::size_t r) const { return &a_[r * steps_]; }
  const double* step(std::size_t t) const { return &b_[t * tile_columns]; }
  // Row r of A and column c of the panel.
  const Item* row_items(std::size_t r);
  const Item* column_items(std::size_t c);

  // Whether an infinity or NaN reaches output (r, c) of the block, as far as was loaded. It stands
  // as 0 in the panels.
  bool special(std::size_t r, std::size_t c) const {
    return !special_rows_[r].empty() || !special_columns_[c].empty();
  }
  // Two steps, maybe the same, whose products by themselves make of that output, infinite or NaN,
  // what all of them do; none where too many are infinite to tell.
  struct Steps {
    std::size_t one, other;
  };
  std::optional<Steps> deciding(std::size_t r, std::size_t c) const;
  // Kinds and signs of all that is multiplied at a step.
  std::uint32_t sorts(std::size_t r, std::size_t c, std::size_t t) const;
  // What products a tile may have; none if they are all zero.
  std::optional<Extent> products(std::size_t tile) const;
  // Whether the product at step t of output (y, x) has a minus sign.
  bool negative(std::size_t y, std::size_t x, std::size_t t) const {
    return of_a_.item(a_codes(y, t), a_scales(y, t), 0).negative !=
           of_b_.item(b_codes(t, x), b_scales(t, x), 0).negative;
  }

 private:
  // Row y of A from step t on.
  Line a_codes(std::size_t y, std::size_t t) const { return line(p_.a, of_a_.bytes(), y, t); }
  Scales a_scales(std::size_t y, std::size_t t) const {
    return {line(p_.scale_a, of_a_.scale_bytes(), y, 0), t, scaled_};
  }
  // Step t of B from column x on.
  Line b_codes(std::size_t t, std::size_t x) const { return line(p_.b, of_b_.bytes(), t, x); }
  Scales b_scales(std::size_t t, std::size_t x) const {
    return {line(p_.scale_b, of_b_.scale_bytes(), t / scaled_, x), 0, 1};
  }

  // Of a special product at step t: infinite, by its sign, or NaN.
  enum class Special { minus, plus, nan };
  Special special_product(std::size_t y, std::size_t x, std::size_t t) const;

  void load_across();
  void load_down();
  void load_row_items();
  void load_column_items();

  const Reader &of_a_, &of_b_;
  const Plan& plan_;
  std::size_t scaled_;  // elements a scale
  const MatrixProduct& p_;
  std::size_t row_ = 0, rows_ = 0, column_ = 0;  // of the block
  std::size_t k_ = 0, steps_ = 0;                // of the panels
  std::size_t first_ = 0, columns_ = 0;          // of B's, in the block
  Lines<double> a_, b_, one_column_;
  std::vector<Range> a_ranges_;  // of the rows of each tile
  Range b_range_;
  std::vector<Item> a_items_, b_items_;
  // Where infinities and NaN stand along k, the first ones of them.
  static constexpr std::size_t most_special = 256;
  using Places = std::vector<std::size_t>;
  static void note(std::size_t step, Places& places) {
    if (places.size() < most_special) places.push_back(step);
  }
  std::vector<Places> special_rows_, special_columns_;
  std::vector<std::byte> held_;
};

}  // namespace widthwise::exact
