#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>

#include "ending.hpp"
#include "finish.hpp"
#include "kernels.hpp"
#include "panels.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/tiled.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/unit_text.hpp"

// Matrix products whose outputs are one sum each: in lanes of doubles wherever those lose nothing,
// else product by product in integers.
namespace widthwise::exact {
namespace {

constexpr std::size_t depth = 2048;  // steps along k that a panel holds

RoundingMode machine_mode(const Plan& p, RoundingMode terms) {
  if (p.terms == Terms::in_sum) return terms;
  if (p.terms != Terms::magnitude) return RoundingMode::rne;
  return terms == RoundingMode::rtz ? RoundingMode::rdn : RoundingMode::rup;
}

// All that is the same for every product of the task.
class ExactProduct final : public ProductEngine {
 public:
  ExactProduct(const ProductTask& task, const Plan& plan)
      : unit_(task.unit),
        plan_(plan),
        k_(task.k),
        a_(unit_.a, unit_.scale, plan.doubles),
        b_(unit_.b, unit_.scale, plan.doubles),
        ending_(unit_, plan),
        quick_finish_(unit_),
        ends_at_random_(unit_.chain.final && unit_.chain.final->rm.stochastic()),
        bytes_(static_cast<std::size_t>(item_bytes(result_round(unit_).fmt.width()))) {
    check(unit_);
    // A few megabytes of sums, about as many down as across.
    const std::size_t most = (std::size_t{1} << 23) / (sums().size() * sizeof(uint128));
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(most)));
    rows_ = std::clamp<std::size_t>(side, tile_rows, 256) / tile_rows * tile_rows;
    columns_ =
        std::clamp<std::size_t>(most / rows_, tile_columns, 1024) / tile_columns * tile_columns;
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override;

 private:
  class Work;

  const WordSums& sums() const { return ending_.sums(); }

  Unit unit_;
  Plan plan_;
  std::size_t k_;
  Reader a_, b_;
  Ending ending_;
  QuickFinish quick_finish_;
  bool ends_at_random_;         // numbers that took the place of infinities may draw
  std::size_t bytes_;           // of a result
  std::size_t rows_, columns_;  // of a block of outputs
};

// One thread's buffers.
class ExactProduct::Work {
 public:
  Work(const ExactProduct& engine, const MatrixProduct& p)
      : e_(engine), p_(p), panels_(e_.a_, e_.b_, e_.plan_, e_.unit_.scale, p) {}

  // Outputs of rows [row, row_end), columns [column, column_end).
  void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
    row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
    words_.assign(rows_ * columns_ * e_.sums().size(), 0);
    flags_.assign(rows_ * columns_, 0);
    panels_.start(row_, rows_, column_, columns_);
    for (std::size_t k = 0; k < e_.k_; k += panels_.steps()) {
      panels_.load_rows(k, std::min(depth, e_.k_ - k));
      const bool last = k + panels_.steps() == e_.k_;
      for (std::size_t first = 0; first < columns_; first += tile_columns) {
        panels_.load_columns(first, std::min(tile_columns, columns_ - first));
        for (std::size_t i = 0; i * tile_rows < rows_; ++i) {
          quick_ = false;
          if (!in_lanes(i)) in_integers(i);
          if (last) deliver(i);
        }
      }
    }
  }

 private:
  std::size_t rows_of(std::size_t i) const { return std::min(tile_rows, rows_ - i * tile_rows); }
  uint128* words(std::size_t r, std::size_t c) {
    return &words_[(r * columns_ + c) * e_.sums().size()];
  }

  // False where the lanes would lose digits.
  bool in_lanes(std::size_t i) {
    if (!e_.plan_.doubles) return false;
    const std::optional<Extent> products = panels_.products(i);
    if (!products) return true;
    const std::size_t steps = panels_.steps();
    const std::optional<Course> course =
        exact::course(e_.plan_, e_.unit_.group_sum, *products, steps);
    if (!course) return false;
    for (std::size_t t = 0; t < steps; t += course->levels.steps)
      add_tile(*course, i, t, std::min(course->levels.steps, steps - t));
    return true;
  }

  void add_tile(const Course& course, std::size_t i, std::size_t t, std::size_t steps) {
    const bool saturates = e_.plan_.reg == Register::saturates;
    for (int l = 0; l < course.levels.count; ++l)
      std::fill_n(&lanes_[static_cast<std::size_t>(l) * tile_size], tile_size, course.start[l]);
    const Tile tile{.a = panels_.row(i * tile_rows) + t,
                    .a_stride = panels_.steps(),
                    .b = panels_.step(t),
                    .k = steps,
                    .sum = lanes_,
                    .rounder = course.rounder,
                    .low = course.low,
                    .high = course.high};
    if (saturates) {
      const double digit = two_to(e_.plan_.last);
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
    if (!e_.quick_finish_.takes() || course.levels.count > 2) return false;
    if (p_.c.data && (!last || !open || of_one_digit(e_.plan_) || !e_.plan_.c_doubles))
      return false;
    double first[tile_size], second[tile_size];
    for (std::size_t j = 0; j < tile_size; ++j) {
      first[j] = lanes_[j] - course.start[0];
      second[j] = last ? 0 : lanes_[tile_size + j];
    }
    for (std::size_t r = 0; p_.c.data && r < rows_of(i); ++r)
      e_.ending_.c().numbers(c_codes(i * tile_rows + r, panels_.first()), panels_.columns(), held_,
                             second + r * tile_columns);
    const double limit = open ? std::numeric_limits<double>::infinity()
                              : two_to(*e_.unit_.group_sum.width - 1 + e_.plan_.last);
    e_.quick_finish_.codes(first, second, limit, tile_size, codes_, code_flags_, sure_);
    return true;
  }

  // The lanes' sums into the words.
  void drain(const Course& course, std::size_t i, bool saturates) {
    if (quick_ && std::ranges::all_of(sure_, std::identity{})) return;
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
          e_.sums().add(sum, value, digit);
      });
    }
  }
  // Every output of a tile, by its place there, with its words.
  template <class Visit>
  void each_output(std::size_t i, const Visit& visit) {
    const std::size_t n = panels_.columns(), size = e_.sums().size();
    for (std::size_t r = 0; r < rows_of(i); ++r) {
      uint128* const sums = words(i * tile_rows + r, panels_.first());
      for (std::size_t c = 0; c < n; ++c) visit(r * tile_columns + c, sums + c * size);
    }
  }

  void in_integers(std::size_t i) {
    for (std::size_t r = i * tile_rows; r < i * tile_rows + rows_of(i); ++r)
      for (std::size_t c = 0; c < panels_.columns(); ++c) {
        const std::size_t column = panels_.first() + c;
        Flags raised = 0;
        e_.sums().add_products(words(r, column), panels_.row_items(r), panels_.column_items(c),
                               panels_.steps(), raised);
        flags_[r * columns_ + column] |= static_cast<std::uint8_t>(raised);
      }
  }

  void deliver(std::size_t i) {
    for (std::size_t r = 0; r < rows_of(i); ++r)
      for (std::size_t c = 0; c < panels_.columns(); ++c) {
        const std::size_t row = i * tile_rows + r, column = panels_.first() + c,
                          at = r * tile_columns + c;
        if (panels_.special(row, column))
          again(row, column);
        else if (quick_ && sure_[at])
          put(place(row, column), codes_[at], code_flags_[at]);
        else if (!deliver(row, column))
          again(row, column);
      }
  }
  // An output that an infinity or NaN reaches, maybe C's. Those decide before anything is added, so
  // that two products do; and whatever the numbers beside them, so that like ones do once.
  void again(std::size_t r, std::size_t c) {
    const MatrixProduct whole = tile(e_.unit_, p_, row_ + r, column_ + c, 1, 1);
    const auto steps = e_.k_ > 2 ? panels_.deciding(r, c) : std::nullopt;
    if (!steps) return by_reference(all_, e_.unit_, whole);
    if (e_.ends_at_random_) return of_two(*steps, whole);
    if (decided_.size() == most_sorts) decided_.clear();
    const auto [like, is_new] = decided_.try_emplace(sorts(r, c, *steps));
    Decided& z = like->second;
    if (is_new) {
      MatrixProduct one = whole;
      one.result = z.code, one.flags = &z.flags;
      of_two(*steps, one);
    }
    put(place(r, c), load_code<std::uint64_t>(z.code, static_cast<int>(e_.bytes_)), z.flags);
  }
  std::uint64_t sorts(std::size_t r, std::size_t c, const Panels::Steps& steps) const {
    const auto addend = e_.ending_.addend(p_.c.data ? c_codes(r, c).at : nullptr);
    const std::uint64_t of_c = static_cast<std::uint64_t>(addend.kind()) << 1 | addend.negative;
    return of_c << 32 | std::uint64_t{panels_.sorts(r, c, steps.one)} << 16 |
           panels_.sorts(r, c, steps.other);
  }
  // The output that these two make, with scales of their own.
  void of_two(const Panels::Steps& steps, const MatrixProduct& whole) {
    Unit unit = e_.unit_;
    std::size_t scaled = 1;  // elements a scale
    if (unit.scale) scaled = static_cast<std::size_t>(std::exchange(unit.scale->block, 1));
    const Panels::Steps scales{steps.one / scaled, steps.other / scaled};
    MatrixProduct p = whole;
    p.k = 2;
    pick(steps, p.a.column, e_.a_.bytes(), p.a);
    pick(steps, p.b.row, e_.b_.bytes(), p.b);
    pick(scales, p.scale_a.column, e_.a_.scale_bytes(), p.scale_a);
    pick(scales, p.scale_b.row, e_.b_.scale_bytes(), p.scale_b);
    by_reference(two_, unit, p);
  }
  // `along` becomes the way from one to the other.
  static void pick(const Panels::Steps& steps, std::ptrdiff_t& along, int bytes, CodeMatrix& m) {
    const auto one = static_cast<std::ptrdiff_t>(steps.one),
               other = static_cast<std::ptrdiff_t>(steps.other);
    m.data = static_cast<const std::byte*>(m.data) + one * along * bytes;
    along *= other - one;
  }
  static void by_reference(std::unique_ptr<ReferenceUnit>& reference, const Unit& unit,
                           const MatrixProduct& p) {
    if (!reference) reference = make_reference(unit, p.k);  // long sums take room there
    reference->run(p, 0, 1);
  }
  std::size_t place(std::size_t r, std::size_t c) const { return p_.output(row_ + r, column_ + c); }
  void put(std::size_t at, std::uint64_t code, Flags flags) const {
    store_code(static_cast<std::byte*>(p_.result) + at * e_.bytes_, static_cast<int>(e_.bytes_),
               code);
    if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(flags);
  }
  // Row r of C from column c on, both of the block.
  Line c_codes(std::size_t r, std::size_t c) const {
    return line(p_.c, e_.ending_.c().bytes(), row_ + r, column_ + c);
  }
  // False where C is not finite.
  bool deliver(std::size_t r, std::size_t c) {
    const std::size_t at = place(r, c);
    const auto addend = e_.ending_.addend(p_.c.data ? c_codes(r, c).at : nullptr);
    if (addend.endless) return false;
    Progress progress{p_.where(row_ + r, column_ + c), flags_[r * columns_ + c]};
    const auto see = [&](Signs& all) { see_products(row_ + r, column_ + c, all); };
    const std::uint64_t code = e_.ending_.code(words(r, c), addend, see, progress);
    put(at, code, progress.flags);
    return true;
  }

  // The products' signs, until they tell no more.
  void see_products(std::size_t y, std::size_t x, Signs& all) const {
    const bool mixed = e_.ending_.asks_for_mixed();
    for (std::size_t t = 0; t < e_.k_ && !(all.plus && (all.minus || !mixed)); ++t)
      all.see(panels_.negative(y, x, t));
  }

  const ExactProduct& e_;
  const MatrixProduct& p_;
  Panels panels_;
  std::unique_ptr<ReferenceUnit> all_, two_;  // products of an output, where the lanes do not do
  static constexpr std::size_t most_sorts = 1 << 14;
  struct Decided {
    std::byte code[sizeof(std::uint64_t)];
    std::uint8_t flags;
  };
  std::unordered_map<std::uint64_t, Decided> decided_;  // by what decides them
  std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
  std::vector<uint128> words_;
  std::vector<std::uint8_t> flags_;
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
  if (of_one_digit(plan)) return 10e9;
  const Span products = plan.a * plan.b;
  const auto l = levels({products.last, products.top}, std::min(k, depth));
  return l && l->count == 1 ? 16e9 : 6e9;
}
// Of one core with AVX2, measured: a product, and what its digits ask for; all words of an output.
double words_rate(const Plan& plan, const Sum& sum, std::size_t k) {
  const bool by_itself = plan.terms == Terms::nearest || plan.terms == Terms::stepwise;
  const double product = by_itself ? 10e-9 : 5e-9;
  const std::size_t words = WordSums(plan, sum).size();
  const double output = words == 1 ? 0 : 150e-9 + 2.6e-9 * static_cast<double>(words);
  return 1 / (product + output / static_cast<double>(k));
}

Opinion refusal(const char* engine, const std::string& why) { return {engine, false, why, 0}; }

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task.unit, task.k, task.flags);
  if (!answer.plan) return refusal("exact", answer.reason);
  if (!answer.plan->doubles)
    return refusal("exact", "doubles do not hold its terms or its register");
  return {"exact", true, answer.reason + "; " + target_name(), rate(*answer.plan, task.k)};
}

Opinion opinion_of_words(const ProductTask& task) {
  const Answer answer = plan(task.unit, task.k, task.flags);
  if (!answer.plan) return refusal("words", answer.reason);
  return {"words", true, answer.reason + "; in integers",
          words_rate(*answer.plan, task.unit.group_sum, task.k)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<ExactProduct>(task, *plan(task.unit, task.k, task.flags).plan);
}

std::unique_ptr<ProductEngine> make_words(const ProductTask& task) {
  Plan p = *plan(task.unit, task.k, task.flags).plan;
  p.doubles = false;
  return std::make_unique<ExactProduct>(task, p);
}

}  // namespace widthwise::exact
