#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "plan.hpp"
#include "sim/dot/gather.hpp"
#include "sim/dot/lane_order.hpp"
#include "sim/engine/lines.hpp"

namespace widthwise::rows {
namespace {

using Words = Lines<std::uint64_t>;

// A number's words, so far apart.
template <class H>
void put(const Factor<H>& x, std::uint64_t* to, std::size_t apart) {
  constexpr int words = digits<H> / 64;
  const bool is_endless = x.kind == Kind::infinite || x.kind == Kind::nan;
  for (int i = 0; i < words; ++i, to += apart)
    *to = is_endless ? 0 : static_cast<std::uint64_t>(x.m >> 32 * i >> 32 * i);
  *to = static_cast<std::uint64_t>(x.q), to += apart;
  *to = static_cast<std::uint64_t>(x.e), to += apart;
  *to = (x.negative ? negative : 0u) | (x.kind == Kind::zero || x.kind == Kind::nan ? zero : 0u) |
        (is_endless ? endless : 0u);
}

template <class H>
class RowsProduct final : public ProductEngine {
 public:
  RowsProduct(const ProductTask& task, const Widths& widths)
      : path_(task.unit),
        k_(task.k),
        lanes_(padded_lanes(path_, k_)),
        order_(lane_order(task.unit, k_)),
        code_words_(static_cast<std::size_t>(widths.code_words)),
        words_(static_cast<std::size_t>(number_words(widths))),
        reference_(make_reference(task.unit, k_)) {
    for (Widths w = widths; w.magnitude_words <= most_magnitude_words; w.magnitude_words *= 2)
      kernels_.push_back(kernel(w));
    panel_ = panel_words / (lanes_ * words_) / least_columns * least_columns;
    panel_ = std::clamp(panel_, least_columns, most_columns);
    if (path_.scale) share_scales(static_cast<std::size_t>(task.unit.scale->block));
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    const std::size_t most = std::clamp<std::size_t>(row_words / (lanes_ * words_), 1, 64);
    for (std::size_t row = first; row < last; row += most)
      work.rows(row, std::min(most, last - row));
  }

 private:
  // So many elements have one.
  void share_scales(std::size_t elements) {
    scale_lanes_.resize((k_ + elements - 1) / elements);
    for (std::size_t t = 0; t < lanes_; ++t) {  // padding takes the last element's
      scale_of_.push_back(order_[std::min(t, k_ - 1)] / elements);
      scale_lanes_[scale_of_[t]] = t;
    }
  }

  // Of A at a time, 4 MiB, and of B, 8 if those are columns enough.
  static constexpr std::size_t row_words = 1 << 19, panel_words = 1 << 20;

  // One thread's buffers.
  class Work {
   public:
    Work(const RowsProduct& engine, const MatrixProduct& p)
        : e_(engine),
          p_(p),
          from_{e_.path_, p, e_.k_, e_.order_.data()},
          width_(std::min(e_.panel_, (p.n + least_columns - 1) / least_columns * least_columns)) {}

    void rows(std::size_t row, std::size_t rows) {
      row_ = row, rows_ = rows;
      load_rows();
      for (column_ = 0; column_ < p_.n; column_ += width_) {
        columns_ = std::min(width_, p_.n - column_);
        load_columns();
        load_addends();
        panel();
      }
    }

   private:
    void load_rows() {
      const std::size_t words = e_.words_, scales = e_.scale_lanes_.size();
      a_.resize(rows_ * e_.lanes_ * words), scale_a_.resize(rows_ * scales * words);
      for (std::size_t r = 0; r < rows_; ++r) {
        for (std::size_t t = 0; t < e_.lanes_; ++t)
          put(from_.a(row_ + r, t), &a_[(r * e_.lanes_ + t) * words], 1);
        for (std::size_t s = 0; s < scales; ++s)
          put(from_.scale_a(row_ + r, e_.scale_lanes_[s]), &scale_a_[(r * scales + s) * words], 1);
      }
    }
    void load_columns() {
      const std::size_t number = e_.words_ * width_, scales = e_.scale_lanes_.size();
      b_.assign(e_.lanes_ * number, 0), scale_b_.assign(scales * number, 0);
      for (std::size_t t = 0; t < e_.lanes_; ++t)
        for (std::size_t j = 0; j < columns_; ++j)
          put(from_.b(t, column_ + j), &b_[t * number + j], width_);
      for (std::size_t s = 0; s < scales; ++s)
        for (std::size_t j = 0; j < columns_; ++j)
          put(from_.scale_b(e_.scale_lanes_[s], column_ + j), &scale_b_[s * number + j], width_);
    }
    void load_addends() {
      const std::size_t number = e_.words_ * width_;
      c_.assign(rows_ * number, 0);
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t j = 0; j < columns_; ++j)
          put(from_.addend(row_ + r, column_ + j), &c_[r * number + j], width_);
    }

    // Outputs of the panel: rows and columns from here on.
    struct Part {
      std::size_t row, rows, column, columns;
    };

    // Where most of the first row is lost, the other rows begin with the next kernel.
    void panel() {
      const std::size_t outputs = rows_ * width_;
      code_.resize(outputs * e_.code_words_), flags_.resize(outputs), lost_.resize(outputs);
      std::size_t way = 0;
      const auto loses_most = [&] {
        compute(way, {0, 1, 0, columns_});
        return 2 * lost_in(0, 0, columns_) > columns_;
      };
      while (way < e_.kernels_.size() && loses_most()) ++way;
      if (way == e_.kernels_.size()) return again({0, rows_, 0, columns_});
      if (rows_ > 1) compute(way, {1, rows_ - 1, 0, columns_});
      for (std::size_t r = 0; r < rows_; ++r) deliver(way, r, 0, columns_);
    }
    std::size_t lost_in(std::size_t r, std::size_t first, std::size_t last) const {
      const auto* lost = &lost_[r * width_];
      return last - first - static_cast<std::size_t>(std::count(lost + first, lost + last, 0));
    }

    void compute(std::size_t way, const Part& of) {
      const std::size_t words = e_.words_, first = of.row * width_, at = first + of.column;
      e_.kernels_[way](e_.path_.unit,
                       {.a = &a_[of.row * e_.lanes_ * words],
                        .scale_a = scale_a_.data() + of.row * e_.scale_lanes_.size() * words,
                        .b = &b_[of.column],
                        .scale_b = scale_b_.data() + of.column,
                        .c = &c_[first * words + of.column],
                        .scale_of = e_.scale_of_.data(),
                        .rows = of.rows,
                        .columns = of.columns,
                        .panel = width_,
                        .lanes = e_.lanes_,
                        .scales = e_.scale_lanes_.size(),
                        .code = &code_[first * e_.code_words_ + of.column],
                        .flags = &flags_[at],
                        .lost = &lost_[at],
                        .seed = p_.seed,
                        .index = p_.where(row_ + of.row, column_ + of.column).index,
                        .next_row = p_.row_outputs(),
                        .codes_only = !p_.flags});
    }

    // What this kernel lost in a row is the next one's, a row of outputs at a time.
    void deliver(std::size_t way, std::size_t r, std::size_t first, std::size_t last) {
      for (std::size_t j = first; j < last; j += least_columns) {
        const std::size_t end = std::min(last, j + least_columns);
        if (lost_in(r, j, end) == 0 || way + 1 == e_.kernels_.size()) {
          finish(r, j, end);
        } else {
          compute(way + 1, {r, 1, j, end - j});
          deliver(way + 1, r, j, end);
        }
      }
    }
    void finish(std::size_t r, std::size_t first, std::size_t last) const {
      if (4 * lost_in(r, first, last) > last - first) return again({r, 1, first, last - first});
      for (std::size_t j = first; j < last; ++j) {
        if (lost_[r * width_ + j])
          again({r, 1, j, 1});
        else
          store(r, j);
      }
    }
    void store(std::size_t r, std::size_t j) const {
      const std::size_t words = e_.code_words_;
      H code{};
      for (std::size_t i = words; i-- > 0;)
        code = static_cast<H>(code << 32 << 32) | H(code_[(r * words + i) * width_ + j]);
      from_.store(p_.output(row_ + r, column_ + j), code,
                  static_cast<Flags>(flags_[r * width_ + j]));
    }
    void again(const Part& of) const {
      e_.reference_->run(
          tile(e_.path_.unit, p_, row_ + of.row, column_ + of.column, of.rows, of.columns), 0,
          of.rows);
    }

    const RowsProduct& e_;
    const MatrixProduct& p_;
    Gather<H, H> from_;
    std::size_t width_;  // of a panel
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
    Words a_, b_, c_, scale_a_, scale_b_, code_, flags_, lost_;
  };

  Datapath<H, H> path_;
  std::size_t k_, lanes_;                      // lanes: whole blocks
  std::vector<std::size_t> order_, scale_of_;  // of every lane
  std::vector<std::size_t> scale_lanes_;       // of every scale a lane that has it
  std::size_t code_words_, words_, panel_;     // of a code, of a number; columns of a panel
  std::vector<Kernel> kernels_;                // of ever longer magnitudes
  std::unique_ptr<ReferenceUnit> reference_;
};

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task.unit, task.k);
  if (!answer.takes) return {"rows", false, answer.reason, 0};
  // Products a second of one core on AVX-512, measured.
  double rate = 100e6 / std::sqrt(answer.widths.code_words * answer.widths.magnitude_words);
  if (task.unit.chain.compensation != Compensation::none) rate /= 4;
  const std::size_t lanes = lanes_here();
  rate *= std::min(1.0, static_cast<double>(lanes) / 6);  // half the lanes do two thirds of it
  return {"rows", true, answer.reason + "; " + target_name(), rate * share_of(task, lanes)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  const Widths widths = plan(task.unit, task.k).widths;
  if (widths.code_words == 1) return std::make_unique<RowsProduct<std::uint64_t>>(task, widths);
  return std::make_unique<RowsProduct<uint128>>(task, widths);
}

}  // namespace widthwise::rows
