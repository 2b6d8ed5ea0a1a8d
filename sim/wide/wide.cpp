#include "wide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codes.hpp"
#include "kernels.hpp"
#include "plan.hpp"
#include "sim/engine/lines.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::wide {
namespace {

// Outputs block by block: rows of A and columns of B become numbers, part by part along k, and the
// sums stay numbers between the parts. What the kernel cannot do, the reference does again.
class ChainProduct final : public ProductEngine {
 public:
  ChainProduct(const ProductTask& task, const Chain& chain, const Shape& shape, Kernel kernel)
      : unit_(task.unit),
        k_(task.k),
        chain_(chain),
        shape_(shape),
        kernel_(kernel),
        a_(codec({.fmt = unit_.a.fmt}, shape)),
        b_(codec({.fmt = unit_.b.fmt}, shape)),
        c_(codec({.fmt = unit_.c.fmt}, shape)),
        out_(codec(unit_.chain.final.value_or(Round{.fmt = unit_.out.fmt}), shape)),
        reference_(make_reference(unit_, k_)) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    for (std::size_t row = first; row < last; row += block_size)
      for (std::size_t column = 0; column < p.n; column += block_size)
        work.block(row, std::min(row + block_size, last), column,
                   std::min(column + block_size, p.n));
  }

 private:
  // Rows and columns of a block, and steps of a part: 15 MB at 1,088 digits, and eight columns of a
  // part stay in the cache while all rows pass.
  static constexpr std::size_t block_size = 256, part_size = 64;

  // One thread's buffers.
  class Work {
   public:
    Work(const ChainProduct& engine, const MatrixProduct& p)
        : e_(engine),
          p_(p),
          lanes_(static_cast<std::size_t>(e_.shape_.lanes)),
          words_(e_.shape_.words()),
          all_lanes_((1u << lanes_) - 1) {}

    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      groups_ = (columns_ + lanes_ - 1) / lanes_;
      lost_.assign(rows_ * groups_ * lanes_, 0);
      unusual_.assign(rows_ * groups_, 0);
      load_addends();
      for (std::size_t k = 0; k < e_.k_; k += part_size) {
        steps_ = std::min(part_size, e_.k_ - k);
        load_rows(k);
        for (std::size_t group = 0; group < groups_; ++group) {
          load_columns(k, group);
          for (std::size_t i = 0; i < rows_; ++i) multiply(k, i, group);
        }
      }
      for (std::size_t i = 0; i < rows_; ++i) deliver(i);
    }

   private:
    std::size_t place(std::size_t i, std::size_t group) const { return i * groups_ + group; }
    Limb* sums(std::size_t i, std::size_t group) {
      return &sums_[place(i, group) * words_ * lanes_];
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

    void load_addends() {
      sums_.assign(rows_ * groups_ * words_ * lanes_, 0);
      for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t group = 0; group < groups_; ++group)
          for (std::size_t lane = 0; lane < lanes_; ++lane) {
            Limb* const to = sums(i, group) + lane;
            if (!p_.c.data)
              to[(words_ - 2) * lanes_] = static_cast<Limb>(zero_exponent);
            else if (!e_.c_->load(
                         code(e_.unit_.c.fmt, p_.c, row_ + i, column_ + column_of(group, lane)), to,
                         lanes_))
              unusual_[place(i, group)] |= 1u << lane;
          }
    }

    void load_rows(std::size_t k) {
      a_.resize(rows_ * steps_ * words_);
      for (std::size_t i = 0; i < rows_; ++i)
        for (std::size_t step = 0; step < steps_; ++step)
          if (!e_.a_->load(code(e_.unit_.a.fmt, p_.a, row_ + i, k + step),
                           &a_[(i * steps_ + step) * words_], 1))
            std::fill_n(&unusual_[place(i, 0)], groups_, all_lanes_);
    }

    void load_columns(std::size_t k, std::size_t group) {
      b_.resize(steps_ * words_ * lanes_);
      for (std::size_t step = 0; step < steps_; ++step)
        for (std::size_t lane = 0; lane < lanes_; ++lane)
          if (!e_.b_->load(code(e_.unit_.b.fmt, p_.b, k + step, column_ + column_of(group, lane)),
                           &b_[step * words_ * lanes_ + lane], lanes_))
            for (std::size_t i = 0; i < rows_; ++i) unusual_[place(i, group)] |= 1u << lane;
    }

    void multiply(std::size_t k, std::size_t i, std::size_t group) {
      unsigned& unusual = unusual_[place(i, group)];
      if (unusual == all_lanes_) return;
      const std::size_t index = (row_ + i) * p_.n + column_ + group * lanes_;
      unusual |= e_.kernel_(e_.chain_, {.a = &a_[i * steps_ * words_],
                                        .b = b_.data(),
                                        .sum = sums(i, group),
                                        .lost = &lost_[place(i, group) * lanes_],
                                        .count = steps_,
                                        .where = {p_.seed, p_.first_index + index},
                                        .first = k});
    }

    bool usual(std::size_t i, std::size_t column) const {
      return (unusual_[place(i, column / lanes_)] >> column % lanes_ & 1) == 0;
    }
    void deliver(std::size_t i) {
      for (std::size_t column = 0; column < columns_;) {
        const std::size_t begin = column;
        if (usual(i, column)) {
          deliver(i, column++);
          continue;
        }
        while (column < columns_ && !usual(i, column)) ++column;
        e_.reference_->run(tile(e_.unit_, p_, row_ + i, column_ + begin, 1, column - begin), 0, 1);
      }
    }
    void deliver(std::size_t i, std::size_t column) {
      const std::size_t group = column / lanes_, lane = column % lanes_;
      const std::size_t at = (row_ + i) * p_.n + column_ + column;
      const auto bytes = static_cast<std::size_t>(item_bytes(result_round(e_.unit_).fmt.width()));
      const Flags last = e_.out_->store(sums(i, group) + lane, lanes_,
                                        static_cast<std::byte*>(p_.result) + at * bytes);
      const Flags before = lost_[place(i, group) * lanes_ + lane] ? inexact : 0;
      if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(before | last);
    }

    const ChainProduct& e_;
    const MatrixProduct& p_;
    std::size_t lanes_, words_;
    unsigned all_lanes_;
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, groups_ = 0, steps_ = 0;
    Lines<Limb> a_, b_, sums_, lost_;
    std::vector<unsigned> unusual_;  // of every row and group, a bit for every lane
  };

  Unit unit_;
  std::size_t k_;
  Chain chain_;
  Shape shape_;
  Kernel kernel_;
  std::unique_ptr<Codec> a_, b_, c_, out_;
  std::unique_ptr<ReferenceUnit> reference_;
};

// One of the two ways of computing chains.
struct Way {
  const char* name;
  const char* limbs;
  int limb_bits, spare;  // digits a number has below the kept ones
  int lanes;
  int most_random_bits;
  Kernel (*kernel)(const Chain& chain, int limbs);
  double (*nanoseconds)(double limbs);  // of a multiply-add, measured on a Zen 4

  int limbs_for(int precision) const { return (precision + spare + limb_bits - 1) / limb_bits; }
};

constexpr Way in_words{.name = "wide",
                       .limbs = "limbs of 64 bits",
                       .limb_bits = 64,
                       .spare = 0,
                       .lanes = 1,
                       .most_random_bits = most_random_bits,
                       .kernel = [](const Chain&, int limbs) { return word_kernel(limbs); },
                       .nanoseconds = [](double n) { return 15 + 4 * n + 0.45 * n * n; }};
constexpr Way in_lanes{.name = "wide52",
                       .limbs = "limbs of 52 bits in 8 lanes",
                       .limb_bits = 52,
                       .spare = below_kept,
                       .lanes = 8,
                       .most_random_bits = 0,
                       .kernel =
                           [](const Chain& chain, int limbs) {
                             return chain.product ? lane_kernel(limbs)
                                                  : fused_lane_kernel(limbs, chain.precision);
                           },
                       .nanoseconds = [](double n) { return 1.5 + 0.8 * n + 0.14 * n * n; }};

Shape shape(const Way& way, int precision) {
  const int limbs = way.limbs_for(precision);
  const int leading = way.spare ? precision + way.spare - 1 : limbs * way.limb_bits - 1;
  return {limbs, way.limb_bits, leading, way.lanes};
}

// Products a second of one core, about. In formats of few binades many results lie near an end and
// go to the reference; to round to fewer digits than others have takes as long as all else.
double rate(const Way& way, const Unit& u, const Chain& chain, int limbs) {
  const bool even = chain.sum.precision == chain.precision &&
                    (!chain.product || chain.product->precision == chain.precision);
  const auto few_binades = [](const Format& f) { return f.emax() - f.emin() < 100; };
  const bool narrow =
      few_binades(u.out.fmt) || (u.product.round && few_binades(u.product.round->fmt));
  return narrow ? 20e6 : (even ? 1e9 : 0.5e9) / way.nanoseconds(limbs);
}

Opinion opinion(const Way& way, const ProductTask& task) {
  const auto refuse = [&](const std::string& why) { return Opinion{way.name, false, why, 0}; };
  const Answer answer = plan(task.unit);
  if (!answer.chain) return refuse(answer.reason);
  const int p = answer.chain->precision, limbs = way.limbs_for(p);
  if (p > most_digits)
    return refuse(fmt::format("{} digits; there are limbs for {}", p, most_digits));
  for (const auto& r : {answer.chain->product, std::optional(answer.chain->sum)})
    if (r && r->rule.rounding.random_bits > way.most_random_bits)
      return refuse(fmt::format("it rounds by {}", to_string(r->rule.rounding)));
  if (!way.kernel(*answer.chain, limbs))
    return refuse(lane_kernel(1) ? fmt::format("{} digits, fused; of those there are limbs for {}",
                                               p, most_fused_limbs * way.limb_bits - way.spare)
                                 : "this CPU has no 52-bit multiply-add (AVX-512 IFMA)");
  return {way.name, true, fmt::format("{} digits in {} {}", p, limbs, way.limbs),
          rate(way, task.unit, *answer.chain, limbs)};
}

std::unique_ptr<ProductEngine> make(const Way& way, const ProductTask& task) {
  const Chain chain = *plan(task.unit).chain;
  const Shape s = shape(way, chain.precision);
  return std::make_unique<ChainProduct>(task, chain, s, way.kernel(chain, s.limbs));
}

}  // namespace

Opinion opinion(const ProductTask& task) { return opinion(in_words, task); }
std::unique_ptr<ProductEngine> make(const ProductTask& task) { return make(in_words, task); }
Opinion opinion52(const ProductTask& task) { return opinion(in_lanes, task); }
std::unique_ptr<ProductEngine> make52(const ProductTask& task) { return make(in_lanes, task); }

}  // namespace widthwise::wide
