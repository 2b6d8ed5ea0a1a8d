#include "exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "finish.hpp"
#include "kernels.hpp"
#include "operands.hpp"
#include "sim/engine/tiled.hpp"
#include "widthwise/sim/codes.hpp"

// Matrix products whose outputs are one sum each: in lanes of doubles wherever those lose nothing,
// else product by product in integers.
namespace widthwise::exact {
namespace {

constexpr std::size_t depth = 1024;  // steps along k that a panel holds

double two_to(std::int64_t e) { return std::ldexp(1.0, static_cast<int>(e)); }

RoundingMode machine_mode(const Plan& p, RoundingMode terms) {
  if (p.terms == Terms::in_sum) return terms;
  if (p.terms != Terms::magnitude) return RoundingMode::rne;
  return terms == RoundingMode::rtz ? RoundingMode::rdn : RoundingMode::rup;
}

// How the lanes add the products of one tile.
struct Course {
  Sequence sequence;
  Levels levels;
  double start[most_levels];  // of every sum
};

// All that is the same for every product of the task.
class ExactProduct final : public ProductEngine {
 public:
  ExactProduct(const ProductTask& task, const Plan& plan)
      : unit_(task.unit),
        plan_(plan),
        k_(task.k),
        a_(unit_.a, unit_.scale, plan.doubles),
        b_(unit_.b, unit_.scale, plan.doubles),
        c_(unit_.c, plan.c_doubles),
        sums_(plan, unit_.group_sum),
        finish_(unit_),
        bytes_(static_cast<std::size_t>(item_bytes(result_round(unit_).fmt.width()))),
        reference_(make_reference(unit_, k_)) {
    // A few megabytes of sums, about as many down as across.
    const std::size_t most = (std::size_t{1} << 23) / (sums_.size() * sizeof(uint128));
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(most)));
    rows_ = std::clamp<std::size_t>(side, tile_rows, 256) / tile_rows * tile_rows;
    columns_ =
        std::clamp<std::size_t>(most / rows_, tile_columns, 1024) / tile_columns * tile_columns;
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override;

 private:
  class Work;

  bool one_digit() const { return plan_.terms != Terms::whole || plan_.reg == Register::saturates; }

  // None where products may be too far apart, or too large for the register's lanes.
  std::optional<Course> course(const Extent& products, std::size_t steps) const {
    if (one_digit()) return in_register(products, steps);
    const std::optional<Levels> l = levels(products, steps);
    if (!l) return std::nullopt;
    Course z{Sequence::chain, *l, {}};
    if (l->count > 1) z.sequence = l->count == 2 ? Sequence::two : Sequence::three;
    for (int i = 0; i + 1 < l->count; ++i) z.start[i] = 1.5 * two_to(l->digit[i] + 52);
    return z;
  }
  std::optional<Course> in_register(const Extent& products, std::size_t steps) const {
    std::size_t n = rounded_steps(products, plan_.last, steps);
    if (n > 0 && plan_.reg == Register::saturates) n = steps;  // its sums do not grow
    if (n < std::min<std::size_t>(steps, 16)) return std::nullopt;
    Course z{Sequence::chain, {1, n, {plan_.last}}, {}};
    if (plan_.terms == Terms::nearest) z.sequence = Sequence::nearest;
    if (plan_.terms == Terms::magnitude) z.sequence = Sequence::magnitude;
    if (z.sequence == Sequence::chain) z.start[0] = rounder();
    return z;
  }
  double rounder() const { return 1.5 * two_to(plan_.last + 52); }

  Unit unit_;
  Plan plan_;
  std::size_t k_;
  Reader a_, b_;
  Coded c_;
  WordSums sums_;
  Finish finish_;
  std::size_t bytes_;  // of a result
  std::unique_ptr<ReferenceUnit> reference_;
  std::size_t rows_, columns_;  // of a block of outputs
};

// One thread's buffers.
class ExactProduct::Work {
 public:
  Work(const ExactProduct& engine, const MatrixProduct& p) : e_(engine), p_(p) {}

  // Outputs of rows [row, row_end), columns [column, column_end).
  void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
    row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
    tiles_down_ = (rows_ + tile_rows - 1) / tile_rows;
    words_.assign(rows_ * columns_ * e_.sums_.size(), 0);
    flags_.assign(rows_ * columns_, 0);
    special_rows_.assign(rows_, 0);
    special_columns_.assign(columns_, 0);
    for (k_ = 0; k_ < e_.k_; k_ += steps_) {
      steps_ = std::min(depth, e_.k_ - k_);
      load_rows();
      for (first_ = 0; first_ < columns_; first_ += tile_columns) {
        load_columns();
        for (std::size_t i = 0; i < tiles_down_; ++i) {
          quick_ = false;
          if (!in_lanes(i)) in_integers(i);
          if (k_ + steps_ == e_.k_) deliver(i);
        }
      }
    }
  }

 private:
  // A panel of an operand: numbers, and items where they are wanted.
  struct Panel {
    std::vector<double> numbers;
    std::vector<Item> items;
  };

  std::size_t rows_of(std::size_t i) const { return std::min(tile_rows, rows_ - i * tile_rows); }
  std::size_t panel_columns() const { return std::min(tile_columns, columns_ - first_); }
  uint128* words(std::size_t r, std::size_t c) {
    return &words_[(r * columns_ + c) * e_.sums_.size()];
  }

  static Line line(const CodeMatrix& m, int bytes, std::size_t y, std::size_t x, bool down) {
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(y) * m.row + static_cast<std::ptrdiff_t>(x) * m.column;
    return {static_cast<const std::byte*>(m.data) + at * bytes, (down ? m.row : m.column) * bytes};
  }
  std::size_t scaled_together() const {
    return e_.unit_.scale ? static_cast<std::size_t>(e_.unit_.scale->block) : 1;
  }
  // Row y of A from step k on.
  Line a_codes(std::size_t y, std::size_t k) const {
    return line(p_.a, e_.a_.bytes(), y, k, false);
  }
  Scales a_scales(std::size_t y, std::size_t k) const {
    return {line(p_.scale_a, e_.a_.scale_bytes(), y, 0, false), k, scaled_together()};
  }
  // Row k of B from column x on.
  Line b_codes(std::size_t k, std::size_t x) const {
    return line(p_.b, e_.b_.bytes(), k, x, false);
  }
  Scales b_scales(std::size_t k, std::size_t x) const {
    return {line(p_.scale_b, e_.b_.scale_bytes(), k / scaled_together(), x, false), 0, 1};
  }

  void load_rows() {
    a_.items.clear();
    if (!e_.plan_.doubles) return a_items();
    a_.numbers.assign(tiles_down_ * tile_rows * steps_, 0);
    a_ranges_.assign(tiles_down_, {});
    for (std::size_t r = 0; r < rows_; ++r) {
      double* const at = &a_.numbers[r * steps_];
      e_.a_.numbers(a_codes(row_ + r, k_), a_scales(row_ + r, k_), steps_, held_, at);
      Range found = range(at, steps_);
      if (found.most > infinite) {
        special_rows_[r] = 1;
        found = without_nans(at, steps_, [](std::size_t) {});
      }
      Range& whole = a_ranges_[r / tile_rows];
      whole = {std::max(whole.most, found.most), std::min(whole.least, found.least)};
    }
  }

  void load_columns() {
    b_.items.clear();
    if (!e_.plan_.doubles) return b_items();
    const std::size_t n = panel_columns();
    b_.numbers.resize(steps_ * tile_columns);
    for (std::size_t t = 0; t < steps_; ++t) {
      double* const at = &b_.numbers[t * tile_columns];
      const std::size_t x = column_ + first_;
      e_.b_.numbers(b_codes(k_ + t, x), b_scales(k_ + t, x), n, held_, at);
      std::fill(at + n, at + tile_columns, 0.0);
    }
    b_range_ = range(b_.numbers.data(), b_.numbers.size());
    if (b_range_.most > infinite)
      b_range_ = without_nans(b_.numbers.data(), b_.numbers.size(), [&](std::size_t i) {
        special_columns_[first_ + i % tile_columns] = 1;
      });
  }

  template <class Mark>
  static Range without_nans(double* numbers, std::size_t n, const Mark& mark) {
    for (std::size_t i = 0; i < n; ++i)
      if (std::isnan(numbers[i])) mark(i), numbers[i] = 0;
    return range(numbers, n);
  }

  void a_items() {
    a_.items.resize(rows_ * steps_);
    for (std::size_t r = 0; r < rows_; ++r) {
      const Line codes = a_codes(row_ + r, k_);
      const Scales scales = a_scales(row_ + r, k_);
      for (std::size_t t = 0; t < steps_; ++t) {
        a_.items[r * steps_ + t] = e_.a_.item(codes, scales, t);
        special_rows_[r] |= a_.items[r * steps_ + t].special;
      }
    }
  }
  void b_items() {
    const std::size_t n = panel_columns();
    b_.items.resize(n * steps_);
    for (std::size_t t = 0; t < steps_; ++t) {
      const Line codes = b_codes(k_ + t, column_ + first_);
      const Scales scales = b_scales(k_ + t, column_ + first_);
      for (std::size_t c = 0; c < n; ++c) {
        b_.items[c * steps_ + t] = e_.b_.item(codes, scales, c);
        special_columns_[first_ + c] |= b_.items[c * steps_ + t].special;
      }
    }
  }

  static std::int64_t exponent(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits >> 52) - 1023;
  }
  static Extent extent(const Range& x, const Span& span) {
    return {std::max(span.last, exponent(x.least) - span.digits + 1), exponent(x.most) + 1};
  }

  // False where the lanes would lose digits.
  bool in_lanes(std::size_t i) {
    if (!e_.plan_.doubles) return false;
    if (a_ranges_[i].most == 0 || b_range_.most == 0) return true;
    const Extent a = extent(a_ranges_[i], e_.plan_.a), b = extent(b_range_, e_.plan_.b);
    const auto course = e_.course({a.last + b.last, a.top + b.top}, steps_);
    if (!course) return false;
    for (std::size_t t = 0; t < steps_; t += course->levels.steps)
      add_tile(*course, i, t, std::min(course->levels.steps, steps_ - t));
    return true;
  }

  void add_tile(const Course& course, std::size_t i, std::size_t t, std::size_t steps) {
    const bool saturates = e_.plan_.reg == Register::saturates;
    for (int l = 0; l < course.levels.count; ++l)
      std::fill_n(&lanes_[static_cast<std::size_t>(l) * tile_size], tile_size, course.start[l]);
    Tile tile{.a = &a_.numbers[i * tile_rows * steps_ + t],
              .a_stride = steps_,
              .b = &b_.numbers[t * tile_columns],
              .k = steps,
              .sum = lanes_,
              .rounder = e_.one_digit() ? e_.rounder() : 0,
              .low = 0,
              .high = 0};
    if (saturates) {
      const double digit = two_to(e_.plan_.last);
      const double limit = two_to(*e_.unit_.group_sum.width - 1) * digit;
      tile.low = course.start[0] - limit, tile.high = course.start[0] + (limit - digit);
      each_output(i, [&](std::size_t at, const uint128* sum) {
        lanes_[at] += static_cast<double>(static_cast<std::int64_t>(*sum)) * digit;
      });
    }
    kernel(course.sequence, saturates)(tile);
    quick_ = steps == e_.k_ && take_quickly(course, i);
    drain(course, i, saturates);
  }

  // Whether the lanes hold all there is of the outputs, as sums of two doubles: their codes then,
  // where those are sure.
  bool take_quickly(const Course& course, std::size_t i) {
    const bool open = e_.plan_.reg == Register::open, last = course.levels.count == 1;
    if (!e_.finish_.quick() || course.levels.count > 2) return false;
    if (p_.c.data && (!last || !open || e_.one_digit() || !e_.plan_.c_doubles)) return false;
    double first[tile_size], second[tile_size];
    for (std::size_t j = 0; j < tile_size; ++j) {
      first[j] = lanes_[j] - course.start[0];
      second[j] = last ? 0 : lanes_[tile_size + j];
    }
    for (std::size_t r = 0; p_.c.data && r < rows_of(i); ++r)
      e_.c_.numbers(line(p_.c, e_.c_.bytes(), row_ + i * tile_rows + r, column_ + first_, false),
                    panel_columns(), held_, second + r * tile_columns);
    const double limit = open ? infinity : two_to(*e_.unit_.group_sum.width - 1 + e_.plan_.last);
    e_.finish_.codes(first, second, limit, tile_size, codes_, code_flags_, sure_);
    return true;
  }

  // The lanes' sums into the words.
  void drain(const Course& course, std::size_t i, bool saturates) {
    for (int l = 0; l < course.levels.count; ++l) {
      const std::int64_t digit = course.levels.digit[l];
      const double unit = two_to(-digit), start = course.start[l];
      const double* const lanes = &lanes_[static_cast<std::size_t>(l) * tile_size];
      each_output(i, [&](std::size_t at, uint128* sum) {
        if (quick_ && sure_[at]) return;
        const auto value = static_cast<std::int64_t>((lanes[at] - start) * unit);
        if (saturates)
          *sum = static_cast<uint128>(value);
        else
          e_.sums_.add(sum, value, digit);
      });
    }
  }
  // Every output of a tile, by its place there, with its words.
  template <class Visit>
  void each_output(std::size_t i, const Visit& visit) {
    const std::size_t n = panel_columns(), size = e_.sums_.size();
    for (std::size_t r = 0; r < rows_of(i); ++r) {
      uint128* const sums = words(i * tile_rows + r, first_);
      for (std::size_t c = 0; c < n; ++c) visit(r * tile_columns + c, sums + c * size);
    }
  }

  void in_integers(std::size_t i) {
    if (a_.items.empty()) a_items();
    if (b_.items.empty()) b_items();
    for (std::size_t r = i * tile_rows; r < i * tile_rows + rows_of(i); ++r)
      for (std::size_t c = 0; c < panel_columns(); ++c) {
        Flags raised = 0;
        e_.sums_.add_products(words(r, first_ + c), &a_.items[r * steps_], &b_.items[c * steps_],
                              steps_, raised);
        flags_[r * columns_ + first_ + c] |= static_cast<std::uint8_t>(raised);
      }
  }

  void deliver(std::size_t i) {
    for (std::size_t r = 0; r < rows_of(i); ++r)
      for (std::size_t c = 0; c < panel_columns(); ++c) {
        const std::size_t row = i * tile_rows + r, column = first_ + c, at = r * tile_columns + c;
        if (special_rows_[row] || special_columns_[column])
          again(row, column);
        else if (quick_ && sure_[at])
          put(place(row, column), codes_[at], code_flags_[at]);
        else if (!deliver(row, column))
          again(row, column);
      }
  }
  void again(std::size_t r, std::size_t c) const {
    e_.reference_->run(tile(e_.unit_, p_, row_ + r, column_ + c, 1, 1), 0, 1);
  }
  std::size_t place(std::size_t r, std::size_t c) const { return (row_ + r) * p_.n + column_ + c; }
  void put(std::size_t at, std::uint64_t code, Flags flags) const {
    store_code(static_cast<std::byte*>(p_.result) + at * e_.bytes_, static_cast<int>(e_.bytes_),
               code);
    if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(flags);
  }
  // C joins the sum, which is rounded. False where C is not finite.
  bool deliver(std::size_t r, std::size_t c) {
    const std::size_t y = row_ + r, x = column_ + c, at = place(r, c);
    const Factor<std::uint64_t> addend =
        p_.c.data ? e_.c_.factor(line(p_.c, e_.c_.bytes(), y, x, false).at)
                  : cleared<std::uint64_t>(e_.unit_.c.fmt);
    if (addend.kind == Kind::infinite || addend.kind == Kind::nan) return false;
    Progress progress{{p_.seed, p_.first_index + at}, flags_[r * columns_ + c]};
    uint128* const sum = words(r, c);
    if (addend.kind == Kind::finite)
      e_.sums_.add(sum, addend.negative, addend.m, addend.q, progress.flags);
    Term<uint128> total = e_.sums_.total(sum);
    if (total.m == 0) sign_zero(total, y, x, addend.negative);
    const std::uint64_t code = e_.finish_.code(total, progress);
    put(at, code, progress.flags);
    return true;
  }

  // A zero sum has the sign of its addends, if they agree.
  void sign_zero(Term<uint128>& total, std::size_t y, std::size_t x, bool c_negative) const {
    bool minus = c_negative, plus = !c_negative;
    const bool all = e_.finish_.asks_for_mixed();
    const Line a = a_codes(y, 0);
    const Scales scale_a = a_scales(y, 0);
    for (std::size_t t = 0; t < e_.k_ && !(plus && (minus || !all)); ++t) {
      const bool negative = e_.a_.item(a, scale_a, t).negative !=
                            e_.b_.item(b_codes(t, x), b_scales(t, x), 0).negative;
      (negative ? minus : plus) = true;
    }
    total.negative = minus && !plus;
    total.mixed = minus && plus;
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::uint64_t infinite = std::bit_cast<std::uint64_t>(infinity);

  const ExactProduct& e_;
  const MatrixProduct& p_;
  std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, tiles_down_ = 0;
  std::size_t k_ = 0, steps_ = 0, first_ = 0;  // the panels: from step k_, column first_ on
  std::vector<uint128> words_;
  std::vector<std::uint8_t> flags_, special_rows_, special_columns_;
  Panel a_, b_;
  std::vector<Range> a_ranges_;
  Range b_range_;
  std::vector<std::byte> held_;
  double lanes_[most_levels * tile_size];
  bool quick_ = false;  // these are the tile's codes, where they are sure
  std::uint64_t codes_[tile_size];
  std::uint8_t code_flags_[tile_size], sure_[tile_size];
};

void ExactProduct::run(const MatrixProduct& p, std::size_t first, std::size_t last) const {
  const MachineRounding mode(machine_mode(plan_, unit_.group_sum.align.rm.mode));
  Work work(*this, p);
  for (std::size_t row = first; row < last; row += rows_)
    for (std::size_t column = 0; column < p.n; column += columns_)
      work.block(row, std::min(row + rows_, last), column, std::min(column + columns_, p.n));
}

// Products a second of one core on AVX-512, measured, of ordinary data.
double rate(const Plan& plan, std::size_t k) {
  if (plan.terms != Terms::whole || plan.reg == Register::saturates) return 10e9;
  const Span products = plan.a * plan.b;
  const auto l = levels({products.last, products.top}, std::min(k, depth));
  return l && l->count == 1 ? 16e9 : 6e9;
}
constexpr double words_rate = 120e6;

Opinion refusal(const char* engine, const std::string& why) { return {engine, false, why, 0}; }

Answer answer_to(const ProductTask& task) {
  if (task.multiplier) return {std::nullopt, "products of the user's own"};
  if (task.k == 0) return {std::nullopt, "there is nothing to multiply"};
  return plan(task.unit, task.k, task.flags);
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = answer_to(task);
  if (!answer.plan) return refusal("exact", answer.reason);
  if (!answer.plan->doubles)
    return refusal("exact", "doubles do not hold its terms or its register");
  return {"exact", true, answer.reason + "; " + target_name(), rate(*answer.plan, task.k)};
}

Opinion opinion_of_words(const ProductTask& task) {
  const Answer answer = answer_to(task);
  if (!answer.plan) return refusal("words", answer.reason);
  return {"words", true, answer.reason + "; in integers", words_rate};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<ExactProduct>(task, *answer_to(task).plan);
}

std::unique_ptr<ProductEngine> make_words(const ProductTask& task) {
  Plan p = *answer_to(task).plan;
  p.doubles = false;
  return std::make_unique<ExactProduct>(task, p);
}

}  // namespace widthwise::exact
