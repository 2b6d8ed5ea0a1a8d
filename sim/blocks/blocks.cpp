#include <algorithm>
#include <bit>
#include <utility>

#include "panel.hpp"
#include "sim/dot/lane_order.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/tiled.hpp"
#include "widthwise/op/convert.hpp"

// Matrix products strip by strip: one row of A and 64 columns of B at a time.
namespace widthwise::blocks {
namespace {

// Scales of operands are read like operands.
Operand scale_operand(const Unit& u) { return {.fmt = u.scale ? u.scale->fmt : u.a.fmt}; }

// How results that have been rounded become codes: nothing is flushed any more, and no infinity
// saturates.
Round as_it_stands(const Round& r) {
  Round z{.fmt = r.fmt, .nan_bits = r.nan_bits};
  z.fmt.ftz = false;
  z.fmt.overflow = Overflow::ieee;
  return z;
}

class BlockProduct final : public ProductEngine {
 public:
  BlockProduct(const ProductTask& task, Rules rules)
      : unit_(task.unit),
        k_(task.k),
        rules_(std::move(rules)),
        read_a_(unit_.a),
        read_b_(unit_.b),
        read_c_(unit_.c),
        read_scale_(scale_operand(unit_)),
        products_(task.multiplier
                      ? std::make_unique<SignificandProducts>(
                            task.multiplier, unit_.a.fmt.precision(), unit_.b.fmt.precision())
                      : nullptr),
        kernels_(kernels()),
        order_(lane_order(unit_, k_)),
        in_order_(std::is_sorted(order_.begin(), order_.end())),
        result_(as_it_stands(result_round(unit_))),
        reference_(make_reference(unit_, k_, task.multiplier)),
        fallback_(prepare_fallback(task, "blocks")) {
    const Round& to = result_round(unit_);
    if (Codec<double>::slides({.fmt = to.fmt}) && !to.nan_bits) encoder_.emplace(to.fmt);
    for (std::size_t t = 0; unit_.scale && t < order_.size(); ++t)
      scale_blocks_.push_back(order_[t] / static_cast<std::size_t>(unit_.scale->block));
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const MachineRounding mode(rules_.mode);
    if (products_) products_->expect((last - first) * p.n * k_);
    Work work(*this, p);
    for (std::size_t row = first; row < last; row += work.most_rows())
      for (std::size_t column = 0; column < p.n; column += block_columns)
        work.block(row, std::min(row + work.most_rows(), last), column,
                   std::min(column + block_columns, p.n));
  }

 private:
  static constexpr std::size_t block_columns = 512, panel_steps = 512, panel_items = 1 << 18;

  std::size_t padded() const { return (k_ + rules_.lanes - 1) / rules_.lanes * rules_.lanes; }

  // One thread's buffers.
  class Work {
   public:
    Work(const BlockProduct& engine, const MatrixProduct& p)
        : e_(engine), p_(p), scratch_(e_.rules_) {
      const std::size_t lanes = e_.rules_.lanes;
      // Numbers of a short panel lie nearer together.
      const std::size_t most = e_.rules_.exact_tile ? 64 : panel_steps;
      steps_ = std::max(most / lanes, std::size_t{1}) * lanes;
    }

    std::size_t most_rows() const { return std::clamp<std::size_t>(panel_items / steps_, 16, 512); }

    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      panels_ = (columns_ + strip_columns - 1) / strip_columns;
      begin();
      for (std::size_t panel = 0; panel < panels_; ++panel)
        for (std::size_t r = 0; r < rows_; ++r) load_addends(r, panel);
      for (k_ = 0; k_ < e_.padded(); k_ += steps_) {
        depth_ = std::min(steps_, e_.padded() - k_);
        load_rows();
        for (std::size_t panel = 0; panel < panels_; ++panel) {
          load_columns(panel);
          for (std::size_t r = 0; r < rows_; r += tile_rows)
            multiply(r, std::min(tile_rows, rows_ - r), panel);
        }
      }
      for (std::size_t panel = 0; panel < panels_; ++panel)
        for (std::size_t r = 0; r < rows_; ++r) deliver(r, panel);
    }

   private:
    void begin() {
      const std::size_t strips = rows_ * panels_, outputs = strips * strip_columns;
      const Rules& u = e_.rules_;
      sums_.assign(strips, {});
      outer_.assign(u.promote ? outputs : 0, 0);
      compensation_.assign(u.compensation == Compensation::none ? 0 : outputs, 0);
      flags_.assign(p_.flags ? outputs : 0, 0);
      doubts_.assign(u.doubts ? outputs : 0, 0);
    }
    Registers registers(std::size_t r, std::size_t panel) {
      const std::size_t strip = panel * rows_ + r;
      const auto of = [&](auto& items) {
        return items.empty() ? nullptr : &items[strip * strip_columns];
      };
      return {&sums_[strip], of(compensation_), of(outer_), of(flags_), of(doubts_)};
    }
    std::size_t columns_of(std::size_t panel) const {
      return std::min(strip_columns, columns_ - panel * strip_columns);
    }
    // An output whose addend the lanes have no room for is in doubt.
    Numeral watched(const Numeral& c, const Registers& of, std::size_t j) const {
      const auto& watch = e_.rules_.watch;
      if (!watch || c.value == 0 || !std::isfinite(c.value)) return c;
      const double size = std::abs(c.value);
      if (size < watch->least || size > watch->most) of.doubts[j] = -1;
      return c;
    }

    // The addends of a row's outputs in this panel.
    void read_addends(std::size_t r, std::size_t panel) {
      const std::size_t y = row_ + r, x = column_ + panel * strip_columns, n = columns_of(panel);
      c_.resize(n, 0, 1, false);
      if (load(e_.read_c_, p_.c, y, x, p_.c.column, n, c_, 0)) return;
      for (std::size_t j = 0; j < n; ++j) c_.put(j, e_.read_c_(p_.c, y, x + j));
    }
    Numeral addend(const Registers& of, std::size_t j) const {
      return watched({c_.value[j], c_.exponent[j]}, of, j);
    }

    // Sums are zeros where there is none.
    void load_addends(std::size_t r, std::size_t panel) {
      if (e_.rules_.c_last || !p_.c.data) return;
      read_addends(r, panel);
      const Registers of = registers(r, panel);
      for (std::size_t j = 0; j < columns_of(panel); ++j) {
        const Numeral c = addend(of, j);
        if (of.outer)
          of.outer[j] = c.value;
        else
          of.sum->value[j] = c.value, of.sum->power[j] = c.power();
      }
    }

    Numeral read(const Reader& reader, const CodeMatrix& x, std::size_t row,
                 std::size_t column) const {
      return e_.products_ ? reader.taken_apart(x, row, column) : reader(x, row, column);
    }

    // Of what lies at position t of the unit's order; padding has the last element's scale.
    std::size_t scale_block(std::size_t t) const {
      return e_.scale_blocks_[std::min(t, e_.k_ - 1)];
    }
    // Every scale of this panel that stands by itself, and the first position that it is for.
    template <class Put>
    void for_each_scale(const Put& put) const {
      const Rules& u = e_.rules_;
      for (std::size_t i = 0; u.late_scale && i < depth_; ++i) put(i, k_ + i);
      for (std::size_t i = 0; i < depth_; i += u.lanes)
        for (std::size_t g = 0; u.group_scale && g < u.group_count; ++g)
          put(i / u.lanes * u.group_count + g, k_ + i + (u.strided ? g : g * u.group_size));
    }
    std::size_t blocks() const { return depth_ / e_.rules_.lanes; }
    std::size_t scales() const {
      if (e_.rules_.late_scale) return depth_;
      return e_.rules_.group_scale ? blocks() * e_.rules_.group_count : 0;
    }

    // n numbers of an operand at once, if they are plain ones.
    bool load(const Reader& reader, const CodeMatrix& x, std::size_t row, std::size_t column,
              std::ptrdiff_t stride, std::size_t n, Panel& panel, std::size_t first) {
      const auto at =
          static_cast<std::ptrdiff_t>(row) * x.row + static_cast<std::ptrdiff_t>(column) * x.column;
      double* const to = &panel.value[first];
      std::int16_t* const exponents = &panel.exponent[first];
      if (e_.products_) return false;
      if (!reader.numbers(x, at, stride, n, held_, to))
        return reader.look_up(x, at, stride, n, to, exponents);
      e_.kernels_.exponents(to, n, reader.emin(), exponents);
      return true;
    }

    void load_rows() {
      const std::size_t tiles = (rows_ + tile_rows - 1) / tile_rows;
      a_.resize(tiles * tile_rows * depth_, rows_ * scales(), rows_, e_.products_ != nullptr);
      const std::size_t n = std::min(depth_, e_.k_ - k_);  // without padding
      for (std::size_t r = 0; r < rows_; ++r) {
        const std::size_t y = row_ + r, first = r * depth_;
        if (!e_.in_order_ || !load(e_.read_a_, p_.a, y, k_, p_.a.column, n, a_, first))
          for (std::size_t i = 0; i < n; ++i)
            a_.put(first + i, read(e_.read_a_, p_.a, y, e_.order_[k_ + i]));
        for (std::size_t i = n; i < depth_; ++i) a_.put(first + i, {});
        if (e_.rules_.term_scale) scale_row(r);
        a_.complete(e_.kernels_, first, depth_, a_.spread[r]);
        for_each_scale([&](std::size_t at, std::size_t t) {
          a_.put_scale(r * scales() + at, e_.read_scale_(p_.scale_a, y, scale_block(t)));
        });
      }
      a_.pad(rows_ * depth_);
      if (e_.rules_.narrow_span >= 0) a_.measure_blocks(e_.rules_.lanes);
    }

    // Elements by their block's scale, which is read where a block begins.
    void scale_row(std::size_t r) {
      Numeral s;
      for (std::size_t i = 0; i < depth_; ++i) {
        if (begins_scale_block(i)) s = e_.read_scale_(p_.scale_a, row_ + r, scale_block(k_ + i));
        a_.scale_by(r * depth_ + i, s);
      }
    }
    void scale_step(std::size_t i, std::size_t x, std::size_t n) {
      const std::size_t block = scale_block(k_ + i);
      if (begins_scale_block(i))
        for (std::size_t j = 0; j < n; ++j)
          step_scales_[j] = e_.read_scale_(p_.scale_b, block, x + j);
      for (std::size_t j = 0; j < n; ++j) b_.scale_by(i * strip_columns + j, step_scales_[j]);
    }
    bool begins_scale_block(std::size_t i) const {
      return i == 0 || scale_block(k_ + i) != scale_block(k_ + i - 1);
    }

    void load_columns(std::size_t panel) {
      const std::size_t n = columns_of(panel), x = column_ + panel * strip_columns;
      // Columns that are no outputs are zeros, and stay so for panels of as many that are.
      if (std::exchange(filled_, n) != n && n < strip_columns) b_.clear();
      b_.resize(depth_ * strip_columns, strip_columns * scales(), 1, e_.products_ != nullptr);
      const Part part{k_, std::min(depth_, e_.k_ - k_), x, n};
      const CodeMatrix b =
          e_.in_order_ ? part_by_rows(p_.b, e_.read_b_.bytes(), part, turned_) : p_.b;
      for (std::size_t i = 0; i < depth_; ++i) {
        const std::size_t t = k_ + i, first = i * strip_columns;
        const bool is_padding = t >= e_.k_;
        const std::size_t row = e_.in_order_ || is_padding ? i : e_.order_[t];
        const std::size_t column = e_.in_order_ ? 0 : x;
        if (e_.in_order_ && i + rows_ahead < part.rows)
          fetch(b, e_.read_b_.bytes(), i + rows_ahead, n);
        if (is_padding)
          for (std::size_t j = 0; j < n; ++j) b_.put(first + j, {});
        else if (!load(e_.read_b_, b, row, column, b.column, n, b_, first))
          for (std::size_t j = 0; j < n; ++j)
            b_.put(first + j, read(e_.read_b_, b, row, column + j));
        if (e_.rules_.term_scale) scale_step(i, x, n);
        b_.complete(e_.kernels_, first, n, b_.spread[0]);
      }
      if (e_.rules_.narrow_span >= 0) b_.measure_blocks(e_.rules_.lanes * strip_columns);
      for_each_scale([&](std::size_t at, std::size_t t) {
        for (std::size_t j = 0; j < strip_columns; ++j) {
          const Numeral s = j < n ? e_.read_scale_(p_.scale_b, scale_block(t), x + j) : Numeral{};
          b_.put_scale(at * strip_columns + j, s);
        }
      });
    }

    Where where(std::size_t r, std::size_t panel) const {
      return p_.where(row_ + r, column_ + panel * strip_columns);
    }

    // Whether doubles hold sums of products of such numbers, none of which is past the limit.
    Exactly exactly(const Spread& of_a, const Spread& of_b, double limit) const {
      const int digit = of_a.least + of_b.least - e_.rules_.digits_below;
      if (!e_.rules_.exact_tile || of_a.special || of_b.special || limit == 0 || digit < -149)
        return {};
      const auto lanes = static_cast<double>(e_.rules_.lanes);
      return {std::ldexp(1.0, digit), std::ldexp(1.0, digit + 53) - lanes * limit};
    }

    // Whether products of finite numbers, up to the limit, may become infinite or NaN.
    static bool may_be_special(const Slot& product, double limit) {
      return limit >= product.largest || !product.is_signed || !product.has_zero;
    }

    // Whether an exact product, or one times its scales, may have a digit too low for the lanes, or
    // any be too large.
    bool is_faint(const Spread& of_a, const Spread& of_b, double limit) const {
      const Rules& u = e_.rules_;
      const int digit = of_a.least + of_b.least - u.digits_below;
      if (!u.watch)
        return u.plain_twofold && !u.product && (digit < least_digit || std::isinf(limit));
      double most = std::max({of_a.limit(), of_b.limit(), limit});
      int least = digit;
      if (u.late_scale) {
        least += a_.of_scales.lowers() + b_.of_scales.lowers();
        const double times = std::ldexp(1.0, a_.of_scales.lifts() + b_.of_scales.lifts());
        most = std::max(most, limit * times);
      }
      return least < u.watch->least_digit || most > u.watch->most ||
             std::min(of_a.least, of_b.least) < u.watch->least_factor;
    }

    // Rows r … r + n - 1.
    void multiply(std::size_t r, std::size_t n, std::size_t panel) {
      const Rules& u = e_.rules_;
      const Spread& of_b = b_.spread[0];
      Spread of_a;
      for (std::size_t i = r; i < r + n; ++i) of_a.meet(a_.spread[i]);
      const double limit = of_a.limit() * of_b.limit();  // of products
      const bool overflows = u.overflow_at > 0 && limit > u.overflow_at;
      const bool special = overflows || of_a.special || of_b.special || u.group_scale ||
                           u.late_scale || (u.product && may_be_special(*u.product, limit));
      const bool single = (u.chunk > 0 || u.float_tree || u.short_tree ||
                           u.compensated_tile != CompensatedTile::none) &&
                          !overflows && of_a.fits_floats_with(of_b);
      e_.kernels_.run({.rows = n,
                       .columns = columns_of(panel),
                       .a = &a_.value[r * depth_],
                       .a_exponent = &a_.exponent[r * depth_],
                       .b = b_.value.data(),
                       .b_exponent = b_.exponent.data(),
                       .a_single = &a_.single[r * depth_],
                       .b_single = b_.single.data(),
                       .scale_a = a_.scale.data() + r * scales(),
                       .scale_a_power = a_.scale_power.data() + r * scales(),
                       .scale_b = b_.scale.data(),
                       .scale_b_power = b_.scale_power.data(),
                       .k = depth_,
                       .blocks = blocks(),
                       .scales = scales(),
                       .first = k_,
                       .total = e_.padded(),
                       .overflows = overflows,
                       .special = special,
                       .limit = limit,
                       .faint = is_faint(of_a, of_b, limit),
                       .single = single,
                       .late = u.late_tile && !overflows && of_a.fits_floats_with(of_b, late_reach),
                       .exactly = exactly(of_a, of_b, limit),
                       .output = where(r, panel),
                       .row_outputs = p_.row_outputs(),
                       .products = e_.products_.get(),
                       .a_digits = a_.digits.empty() ? nullptr : &a_.digits[r * depth_],
                       .b_digits = b_.digits.data(),
                       .a_span = a_.span.empty() ? nullptr : &a_.span[r * blocks()],
                       .b_span = b_.span.data()},
                      u, registers(r, panel), scratch_);
    }

    void deliver(std::size_t r, std::size_t panel) {
      const Registers of = registers(r, panel);
      const std::size_t y = row_ + r, x = column_ + panel * strip_columns, n = columns_of(panel);
      double c[strip_columns] = {};
      if (e_.rules_.c_last && p_.c.data) {
        read_addends(r, panel);
        for (std::size_t j = 0; j < n; ++j) c[j] = addend(of, j).value;
      }
      e_.kernels_.finish(e_.rules_, where(r, panel), c, of, scratch_);
      encode(of.sum->value, n, p_.output(y, x));
      for (std::size_t j = 0; p_.flags && j < n; ++j)
        p_.flags[p_.output(y, x + j)] = static_cast<std::uint8_t>(of.flags[j]);
      leave_doubts(of, y, x, n);
    }
    // Few to the reference, many to another engine with all that lies beside them.
    void leave_doubts(const Registers& of, std::size_t y, std::size_t x, std::size_t n) {
      std::size_t doubts = 0;
      for (std::size_t j = 0; j < n; ++j) doubts += in_doubt(of, j);
      if (doubts > 2 && e_.fallback_.engine != "reference") {
        const MachineRounding nearest(RoundingMode::rne);
        return e_.fallback_.product->run(tile(e_.unit_, p_, y, x, 1, n), 0, 1);
      }
      for (std::size_t j = 0; doubts && j < n; ++j)
        if (in_doubt(of, j)) e_.reference_->run(tile(e_.unit_, p_, y, x + j, 1, 1), 0, 1);
    }
    bool in_doubt(const Registers& of, std::size_t j) const {
      return (of.doubts && of.doubts[j]) || (e_.rules_.doubtful_zero && of.sum->value[j] == 0);
    }

    // Rounded numbers to codes, from one of the result on.
    void encode(double* numbers, std::size_t n, std::size_t first) const {
      const int bytes = item_bytes(e_.result_.layout.format.width());
      auto* to = static_cast<std::byte*>(p_.result) + first * static_cast<std::size_t>(bytes);
      if (e_.encoder_) return e_.encoder_->encode(numbers, n, to);
      const Layout<std::uint64_t> doubles(binary64);
      for (std::size_t j = 0; j < n; ++j, to += bytes)
        store_code(to, bytes,
                   convert(e_.result_, doubles, std::bit_cast<std::uint64_t>(numbers[j])).code);
    }

    const BlockProduct& e_;
    const MatrixProduct& p_;
    std::size_t steps_ = 0;  // along k that a panel holds
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, panels_ = 0;
    std::size_t k_ = 0, depth_ = 0, filled_ = 0;  // filled_: columns of b_ that are outputs
    Panel a_, b_, c_;
    std::array<Numeral, strip_columns> step_scales_;  // of B's columns, at a step
    std::vector<std::byte> held_, turned_;
    Lines<Strip> sums_;
    Lines<double> outer_, compensation_;
    Lines<std::int64_t> flags_, doubts_;
    Scratch scratch_;
  };

  Unit unit_;
  std::size_t k_;
  Rules rules_;
  Reader read_a_, read_b_, read_c_, read_scale_;
  std::unique_ptr<SignificandProducts> products_;  // null: exact ones
  Kernels kernels_;
  std::vector<std::size_t> order_;         // in which elements of k are taken
  bool in_order_;                          // as they lie
  std::vector<std::size_t> scale_blocks_;  // that these are in
  Rounder<std::uint64_t> result_;
  std::optional<Codec<double>> encoder_;  // where fields slide back
  // Of outputs that the kernels are in doubt of: few, and many side by side.
  std::unique_ptr<ReferenceUnit> reference_;
  Prepared fallback_;
};

// Products a second of one core on AVX-512, measured.
double rate(CompensatedTile tile, const Slot& out) {
  if (tile == CompensatedTile::machine) return out.own ? 5e9 : 9e9;
  if (tile == CompensatedTile::any_mode)  // on AVX2
    return out.random_bits > 0 ? 0.13e9 : 0.22e9;
  return tile == CompensatedTile::short_products ? 6e9 : 4e9;
}
double rate(const Rules& r, const ProductTask& task) {
  const auto lanes = static_cast<double>(r.lanes);
  const auto draws = [](const auto& slot) { return slot && slot->random_bits > 0; };
  if (r.compensated_tile != CompensatedTile::none) return rate(r.compensated_tile, r.out);
  if (r.compensation != Compensation::none || task.multiplier) return 0.2e9;

  if (r.late_tile) return 13e9 * lanes / (lanes + 3);
  if (r.quick) return 5e9 * lanes / (lanes + (task.flags || r.out.random_bits > 0 ? 16 : 8));
  if (r.float_tree) return 6e9;
  if (r.short_tree) return 4e9;
  if (r.exact_tile) return 18e9 * lanes / (lanes + 2);
  const bool random =
      r.out.random_bits > 0 || draws(r.product) || draws(r.group.node) || draws(r.block.node);
  if (r.plain_twofold && lanes > 1 && !random) return 2e9 * lanes / (lanes + 2);
  const bool own = r.product && r.product->own && r.out.own;  // as the machine rounds
  const double of_chain = random       ? (r.product ? 0.24e9 : 0.28e9)
                          : !r.product ? 0.4e9
                                       : (own ? 0.5e9 : 0.27e9);
  if (r.group.node || r.block.node) return lanes > 1 ? 2 * of_chain : of_chain;
  return 2 * of_chain * lanes / (lanes + 1);
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task);
  if (!answer.rules) return {"blocks", false, answer.reason, 0};
  return {"blocks", true, answer.reason + "; " + target_name(),
          rate(*answer.rules, task) * share_of(task, outputs_under_way)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<BlockProduct>(task, *plan(task).rules);
}

}  // namespace widthwise::blocks
