#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codes.hpp"
#include "draws.hpp"
#include "sequence.hpp"
#include "sim/engine/engines.hpp"
#include "way.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::wide {
namespace {

Shape shape(const Way& way, const Chain& chain) {
  const int limbs = way.limbs_for(chain), spare = way.spare(chain);
  const int leading = (spare ? chain.precision + spare : limbs * way.limb_bits) - 1;
  return {limbs, way.limb_bits, leading, way.lanes};
}

// Outputs block by block: rows of A and columns of B become numbers, part by part along k, and what
// outputs keep stays numbers between the parts. What the kernels cannot do, another engine does
// again.
class LimbProduct final : public ProductEngine {
 public:
  LimbProduct(const ProductTask& task, const Chain& chain, const Shape& shape, const Way& way)
      : unit_(task.unit),
        k_((task.k + chain.block - 1) / chain.block * chain.block),
        chain_(chain),
        shape_(shape),
        kernels_(way.kernels(chain, shape.limbs)),
        a_(codec({.fmt = unit_.a.fmt}, shape, wanted())),
        b_(codec({.fmt = unit_.b.fmt}, shape, wanted())),
        c_(codec({.fmt = unit_.c.fmt}, shape, wanted())),
        scale_(unit_.scale ? codec({.fmt = unit_.scale->fmt}, shape) : nullptr),
        out_(codec(unit_.chain.final.value_or(Round{.fmt = result_round(unit_).fmt}), shape)),
        fallback_(prepare_fallback(task)) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    const std::size_t size = block_size();
    for (std::size_t row = first; row < last; row += size)
      for (std::size_t column = 0; column < p.n; column += size)
        work.blocks(row, std::min(row + size, last), column, std::min(column + size, p.n));
  }

 private:
  // Terms are cut by the exponents in their fields, which subnormal ones share.
  Wanted wanted() const { return chain_.cut ? Wanted::normal_ones : Wanted::all_numbers; }

  // Rows and columns of a block, and steps of a part: 15 MB at 1,088 digits, 12 where an output is
  // up to three numbers, and eight columns of a part stay in the cache while all rows pass.
  std::size_t block_size() const {
    return chain_.of_multiply_adds() && !chain_.exact_sum && !chain_.promote ? 256 : 128;
  }
  std::size_t part_size() const {  // of whole blocks of products
    constexpr std::size_t most = 64;
    static_assert(most >= most_block);
    const bool goes_on = chain_.exact_sum && (!chain_.cut || chain_.surveyed());
    return goes_on ? most : most / chain_.block * chain_.block;
  }

  // One thread's buffers.
  class Work {
   public:
    Work(const LimbProduct& engine, const MatrixProduct& p)
        : e_(engine),
          p_(p),
          sequence_(e_.chain_, e_.shape_, e_.kernels_),
          draws_(e_.shape_.leading + 1 - e_.chain_.precision),
          lanes_(static_cast<std::size_t>(e_.shape_.lanes)),
          words_(e_.shape_.words()),
          scaled_(engine.unit_.scale ? static_cast<std::size_t>(engine.unit_.scale->block) : 1),
          scale_(words_),
          all_lanes_((1u << lanes_) - 1) {}

    // Outputs of rows [row, row_end), columns [column, column_end). At first, and once most of a
    // block was left to another engine, a few of them tell whether it takes all.
    void blocks(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      constexpr std::size_t few_rows = 4, few_columns = 32;
      const bool many = row_end - row > 8 * few_rows && column_end - column > few_columns;
      if (in_doubt_ && many && e_.fallback_.engine != "reference") {
        block(row, row + few_rows, column, column + few_columns);
        if (most_left()) return again(0, row_end - row, 0, column_end - column);
      }
      block(row, row_end, column, column_end);
      in_doubt_ = most_left();
    }

   private:
    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      groups_ = (columns_ + lanes_ - 1) / lanes_;
      start();
      if (e_.chain_.surveyed())
        for_each_part([&](std::size_t, std::size_t group) { survey(group); });
      for_each_part([&](std::size_t k, std::size_t group) { run_part(k, group); });
      finish();
      deliver();
    }

    // Of some lanes' columns all rows lie one after the other.
    std::size_t place(std::size_t i, std::size_t group) const { return group * rows_ + i; }
    Limb* number(Lines<Limb>& of, std::size_t i, std::size_t group) const {
      return of.empty() ? nullptr : &of[place(i, group) * words_ * lanes_];
    }
    std::size_t window_size() const { return window_words(e_.shape_.limbs) * lanes_; }
    Limb* window(std::size_t i, std::size_t group) {
      return windows_.empty() ? nullptr : &windows_[place(i, group) * window_size()];
    }
    Limb* largest(std::size_t i, std::size_t group) {
      return largest_.empty() ? nullptr : &largest_[place(i, group) * lanes_];
    }
    Outputs outputs(std::size_t group) {
      return {.rows = {.count = rows_,
                       .lost = &lost_[place(0, group) * lanes_],
                       .unusual = &unusual_[place(0, group)],
                       .where = where(0, group),
                       .row_outputs = p_.row_outputs(),
                       .step = 0,
                       .draws = &draws_},
              .sum = number(sums_, 0, group),
              .compensation = number(compensations_, 0, group),
              .outer = number(outers_, 0, group)};
    }
    Where where(std::size_t i, std::size_t group) const {
      return p_.where(row_ + i, column_ + group * lanes_);
    }
    // The column that a lane computes; past the last one it is that again.
    std::size_t column_of(std::size_t group, std::size_t lane) const {
      return std::min(group * lanes_ + lane, columns_ - 1);
    }
    static const std::byte* code(const Format& f, const CodeMatrix& m, std::size_t y,
                                 std::size_t x) {
      const auto at =
          static_cast<std::ptrdiff_t>(y) * m.row + static_cast<std::ptrdiff_t>(x) * m.column;
      return static_cast<const std::byte*>(m.data) + at * item_bytes(f.width());
    }

    void start() {
      lost_.assign(rows_ * groups_ * lanes_, 0);
      unusual_.assign(rows_ * groups_, 0);
      const std::size_t all = rows_ * groups_;
      clear(sums_, all);
      if (e_.chain_.compensation != Compensation::none) clear(compensations_, all);
      if (e_.chain_.promote) clear(outers_, all);
      if (e_.chain_.exact_sum) windows_.resize(all * window_size());
      if (e_.chain_.surveyed()) largest_.assign(all * lanes_, static_cast<Limb>(zero_exponent));
      if (e_.chain_.c_at_last) return;
      for (std::size_t group = 0; group < groups_; ++group)
        load_addends(group, e_.chain_.promote ? outputs(group).outer : outputs(group).sum);
    }
    void clear(Lines<Limb>& numbers, std::size_t count) const {
      numbers.resize(count * words_ * lanes_);
      wide::clear(e_.shape_, count, numbers.data());
    }
    // To where +0 is already, which stays where there is no C.
    void load_addends(std::size_t group, Limb* to) {
      if (!p_.c.data) return;
      for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t lane = 0; lane < lanes_; ++lane)
          if (!e_.c_->load(code(e_.unit_.c.fmt, p_.c, row_ + i, column_ + column_of(group, lane)),
                           to + i * words_ * lanes_ + lane, lanes_))
            unusual_[place(i, group)] |= 1u << lane;
    }

    // Of all steps and columns, loaded.
    template <class Run>
    void for_each_part(const Run& run) {
      for (std::size_t k = 0; k < e_.k_; k += e_.part_size()) {
        steps_ = std::min(e_.part_size(), e_.k_ - k);
        load_rows(k);
        for (std::size_t group = 0; group < groups_; ++group) {
          load_columns(k, group);
          run(k, group);
        }
      }
    }

    // A factor, with its scale; false where one of them is none.
    bool load(const Codec& of, const std::byte* code, const std::byte* scale, Limb* to,
              std::size_t stride) {
      const bool number = of.load(code, to, stride);
      if (!scale) return number;
      if (!read_scale(scale)) return false;
      Limb& exponent = to[(words_ - 2) * stride];
      if (exponent != static_cast<Limb>(zero_exponent)) exponent += scale_[words_ - 2];
      to[(words_ - 1) * stride] ^= scale_[words_ - 1];
      return number;
    }
    // Many steps after each other have the same one. False where it is zero, or no number.
    bool read_scale(const std::byte* code) {
      if (std::exchange(scale_code_, code) != code)
        scales_ = e_.scale_->load(code, scale_.data(), 1) &&
                  scale_[words_ - 2] != static_cast<Limb>(zero_exponent);
      return scales_;
    }
    bool load_a(std::size_t i, std::size_t k, Limb* to) {
      const std::size_t y = row_ + i;
      return load(*e_.a_, code(e_.unit_.a.fmt, p_.a, y, k), scale(p_.scale_a, y, k / scaled_), to,
                  1);
    }
    bool load_b(std::size_t k, std::size_t x, Limb* to) {
      return load(*e_.b_, code(e_.unit_.b.fmt, p_.b, k, x), scale(p_.scale_b, k / scaled_, x), to,
                  lanes_);
    }
    // Null where there are none.
    const std::byte* scale(const CodeMatrix& m, std::size_t y, std::size_t x) const {
      return e_.scale_ ? code(e_.unit_.scale->fmt, m, y, x) : nullptr;
    }

    // Past the last step there are zeros, to the end of a block.
    void load_rows(std::size_t k) {
      a_.resize(rows_ * steps_ * words_);
      const Shape one_lane{e_.shape_.limbs, e_.shape_.limb_bits, e_.shape_.leading, 1};
      for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t step = 0; step < steps_; ++step) {
          Limb* const to = &a_[(i * steps_ + step) * words_];
          if (k + step >= p_.k)
            wide::clear(one_lane, 1, to);
          else if (!load_a(i, k + step, to))
            for (std::size_t group = 0; group < groups_; ++group)
              unusual_[place(i, group)] = all_lanes_;
        }
    }

    void load_columns(std::size_t k, std::size_t group) {
      b_.resize(steps_ * words_ * lanes_);
      for (std::size_t step = 0; step < steps_; ++step) {
        Limb* const to = &b_[step * words_ * lanes_];
        if (k + step >= p_.k) {
          wide::clear(e_.shape_, 1, to);
          continue;
        }
        for (std::size_t lane = 0; lane < lanes_; ++lane)
          if (!load_b(k + step, column_ + column_of(group, lane), to + lane))
            for (std::size_t i = 0; i < rows_; ++i) unusual_[place(i, group)] |= 1u << lane;
      }
    }

    void survey(std::size_t group) {
      for (std::size_t i = 0; i < rows_; ++i)
        e_.kernels_.survey(&a_[i * steps_ * words_], b_.data(), steps_, largest(i, group));
    }

    // From one promotion to the next.
    void run_part(std::size_t k, std::size_t group) {
      const Chain& chain = e_.chain_;
      for (std::size_t from = 0, to = 0; from < steps_; from = to) {
        to = steps_;
        if (chain.promote)
          to = std::min(to, ((k + from) / chain.interval + 1) * chain.interval - k);
        if (chain.of_multiply_adds())
          for (std::size_t i = 0; i < rows_; ++i) multiply_add(k, from, to, i, group);
        else
          sequence_.run(outputs(group), {.a = &a_[from * words_],
                                         .a_row = steps_ * words_,
                                         .b = &b_[from * words_ * lanes_],
                                         .first = k + from,
                                         .count = to - from});
        if (chain.promote && ((k + to) % chain.interval == 0 || k + to == e_.k_))
          sequence_.promote(outputs(group), k + to - chain.block);
      }
    }
    void multiply_add(std::size_t k, std::size_t from, std::size_t to, std::size_t i,
                      std::size_t group) {
      unsigned& unusual = unusual_[place(i, group)];
      if (unusual == all_lanes_) return;
      unusual |= e_.kernels_.chain(e_.chain_, {.a = &a_[(i * steps_ + from) * words_],
                                               .b = &b_[from * words_ * lanes_],
                                               .sum = number(sums_, i, group),
                                               .lost = &lost_[place(i, group) * lanes_],
                                               .window = window(i, group),
                                               .largest = largest(i, group),
                                               .count = to - from,
                                               .where = where(i, group),
                                               .first = k + from,
                                               .draws = &draws_});
    }

    void finish() {
      for (std::size_t group = 0; group < groups_; ++group) {
        if (e_.chain_.c_at_last) {
          clear(addends_, rows_);
          load_addends(group, addends_.data());
        }
        sequence_.finish(outputs(group), e_.k_ - e_.chain_.block, addends_.data());
      }
    }

    bool usual(std::size_t i, std::size_t column) const {
      const std::size_t at = place(i, column / lanes_), lane = column % lanes_;
      if (unusual_[at] >> lane & 1) return false;
      return !e_.chain_.unsure_zeros || sums_[at * words_ * lanes_ + leading_limb() + lane] != 0;
    }
    std::size_t leading_limb() const {
      return (static_cast<std::size_t>(e_.shape_.limbs) - 1) * lanes_;
    }
    void deliver() {
      left_ = 0;
      for (std::size_t i = 0; i < rows_;) {
        const std::size_t begin = i;
        while (i < rows_ && is_mostly_left(i)) ++i;
        if (i > begin)
          again(begin, i, 0, columns_);
        else
          deliver(i++);
      }
    }
    void deliver(std::size_t i) {
      for (std::size_t column = 0; column < columns_;) {
        const std::size_t begin = column;
        if (usual(i, column)) {
          deliver(i, column++);
          continue;
        }
        while (column < columns_ && !usual(i, column)) ++column;
        again(i, i + 1, begin, column);
      }
    }
    bool most_left() const { return 3 * left_ > 2 * rows_ * columns_; }
    // For another engine, which if it is not the reference is faster where many outputs lie side
    // by side.
    bool is_mostly_left(std::size_t i) const {
      std::size_t left = 0;
      for (std::size_t column = 0; column < columns_; ++column) left += !usual(i, column);
      return 3 * left > columns_ && e_.fallback_.engine != "reference";
    }
    // Rows from i to end, columns from begin to column_end.
    void again(std::size_t i, std::size_t end, std::size_t begin, std::size_t column_end) {
      left_ += (end - i) * (column_end - begin);
      e_.fallback_.product->run(
          tile(e_.unit_, p_, row_ + i, column_ + begin, end - i, column_end - begin), 0, end - i);
    }
    void deliver(std::size_t i, std::size_t column) {
      const std::size_t group = column / lanes_, lane = column % lanes_;
      const std::size_t at = p_.output(row_ + i, column_ + column);
      const auto bytes = static_cast<std::size_t>(item_bytes(result_round(e_.unit_).fmt.width()));
      const Flags last = e_.out_->store(number(sums_, i, group) + lane, lanes_,
                                        p_.where(row_ + i, column_ + column),
                                        static_cast<std::byte*>(p_.result) + at * bytes);
      const Flags before = flags_of(lost_[place(i, group) * lanes_ + lane]);
      if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(before | last);
    }

    const LimbProduct& e_;
    const MatrixProduct& p_;
    Sequence sequence_;
    Draws draws_;
    std::size_t lanes_, words_;
    std::size_t scaled_;                     // elements a scale
    std::vector<Limb> scale_;                // the last one that was read
    const std::byte* scale_code_ = nullptr;  // its code
    bool scales_ = false;                    // it is a number other than zero
    unsigned all_lanes_;
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, groups_ = 0, steps_ = 0;
    std::size_t left_ = 0;  // outputs of the block, to the other engine
    bool in_doubt_ = true;
    Lines<Limb> a_, b_, sums_, compensations_, outers_, addends_, lost_, windows_, largest_;
    std::vector<unsigned> unusual_;  // of every group and row, a bit for every lane
  };

  Unit unit_;
  std::size_t k_;  // rounded up to whole blocks
  Chain chain_;
  Shape shape_;
  Kernels kernels_;
  std::unique_ptr<Codec> a_, b_, c_, scale_, out_;
  Prepared fallback_;
};

// Lanes want a limb below the digit where terms are cut.
Answer answer_of(const Way& way, const ProductTask& task) {
  Answer z = plan(task.unit, task.k);
  if (z.chain && z.chain->cut && way.lanes > 1)
    z.chain->precision = std::max(z.chain->precision, digits_for_places(z.chain->cut->places));
  return z;
}

Opinion opinion(const Way& way, const ProductTask& task) {
  const auto refuse = [&](const std::string& why) { return Opinion{way.name, false, why, 0}; };
  const Answer answer = answer_of(way, task);
  if (!answer.chain) return refuse(answer.reason);
  if (task.unit.scale && way.lanes > 1) return refuse("block scales");
  const int p = answer.chain->precision, limbs = way.limbs_for(*answer.chain);
  if (answer.chain->exact_sum && answer.chain->product && way.lanes > 1)
    return refuse("exact sums of rounded products");
  for (const auto& r : answer.chain->roundings())
    if (r && r->rule.rounding.random_bits > way.most_random_bits)
      return refuse(fmt::format("it rounds by {}", to_string(r->rule.rounding)));
  const int spare = way.spare(*answer.chain), most = most_digits - std::max(spare - below_kept, 0);
  if (p > most) return refuse(fmt::format("{} digits; there are limbs for {}", p, most));
  if (!way.kernels(*answer.chain, 1).chain)
    return refuse(fmt::format("this CPU has no {}", way.needs));
  if (!way.kernels(*answer.chain, limbs).chain)
    return refuse(fmt::format("{} digits, fused; of those there are limbs for {}", p,
                              most_fused_limbs * way.limb_bits - spare));
  double share = way.lanes > 1 ? share_of(task, outputs_under_way) : 1;
  if (task.unit.scale) share *= 0.85;  // rows of one word, which scale too, outdo their rate
  return {way.name, true, fmt::format("{} digits in {} {}", p, limbs, way.limbs),
          rate(way, *answer.chain, limbs) * share};
}

std::unique_ptr<ProductEngine> make(const Way& way, const ProductTask& task) {
  const Chain chain = *answer_of(way, task).chain;
  return std::make_unique<LimbProduct>(task, chain, shape(way, chain), way);
}

}  // namespace

Opinion opinion(const ProductTask& task) { return opinion(in_words, task); }
std::unique_ptr<ProductEngine> make(const ProductTask& task) { return make(in_words, task); }
Opinion opinion52(const ProductTask& task) { return opinion(in_lanes, task); }
std::unique_ptr<ProductEngine> make52(const ProductTask& task) { return make(in_lanes, task); }

}  // namespace widthwise::wide
