#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reader.hpp"
#include "row_kernels.hpp"
#include "row_plan.hpp"
#include "sim/dot/gather.hpp"
#include "sim/dot/lane_order.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/lines.hpp"

namespace widthwise::rows {
namespace {

using Words = Lines<std::uint64_t>;

// A part of k, of whole blocks.
struct Stretch {
  std::size_t first, lanes;
  std::vector<std::size_t> elements;  // of the lanes; after those there is padding
  std::vector<std::size_t> scales;    // blocks of elements that it meets
  std::vector<std::size_t> scale_of;  // of every lane, among those
};

// Parts of so many lanes at most; of k in this order, in scale blocks of so many elements, if any.
std::vector<Stretch> stretches(const std::vector<std::size_t>& order, std::size_t lanes,
                               std::size_t most, std::size_t scale_block) {
  std::vector<Stretch> all;
  for (std::size_t first = 0; first < lanes; first += most) {
    const std::size_t n = std::min(most, lanes - first);
    const auto elements = std::span(order).subspan(first, std::min(n, order.size() - first));
    Stretch& s = all.emplace_back(Stretch{first, n, {elements.begin(), elements.end()}, {}, {}});
    std::unordered_map<std::size_t, std::size_t> places;  // of blocks
    for (std::size_t t = 0; scale_block && t < n; ++t) {  // padding has the last element's
      const std::size_t block = elements[std::min(t, elements.size() - 1)] / scale_block;
      const auto [place, is_new] = places.try_emplace(block, s.scales.size());
      if (is_new) s.scales.push_back(block);
      s.scale_of.push_back(place->second);
    }
  }
  return all;
}

template <class H>
class RowsProduct final : public ProductEngine {
 public:
  RowsProduct(const ProductTask& task, const Widths& widths)
      : path_(task.unit),
        k_(task.k),
        lanes_(padded_lanes(path_, k_)),
        read_a_(task.unit.a),
        read_b_(task.unit.b),
        read_c_(task.unit.c),
        read_scale_({.fmt = task.unit.scale ? task.unit.scale->fmt : task.unit.a.fmt}),
        no_addend_(condition(task.unit.c, cleared<H>(task.unit.c.fmt))),
        code_words_(static_cast<std::size_t>(widths.code_words)),
        words_(static_cast<std::size_t>(number_words(widths))),
        chain_words_(static_cast<std::size_t>(chain_words(widths))),
        fallback_(prepare_fallback(task, "integers").product) {
    for (Widths w = widths; w.magnitude_words <= most_magnitude_words; w.magnitude_words *= 2)
      kernels_.push_back(kernel(w));
    const std::size_t block = std::max<std::size_t>(block_lanes(path_, lanes_), 1);
    depth_ = std::min(lanes_, std::max(depth / block, std::size_t{1}) * block);
    panel_ = panel_words / (depth_ * words_) / least_columns * least_columns;
    panel_ = std::clamp(panel_, least_columns, most_columns);
    const std::size_t scale_block =
        task.unit.scale ? static_cast<std::size_t>(task.unit.scale->block) : 0;
    stretches_ = stretches(lane_order(task.unit, k_), lanes_, depth_, scale_block);
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    const std::size_t most = std::clamp<std::size_t>(row_words / (depth_ * words_), 1, 64);
    for (std::size_t row = first; row < last; row += most)
      work.rows(row, std::min(most, last - row));
  }

 private:
  // Lanes at hand, or one block; of A at a time 4 MiB, and of B 8 if those are columns enough.
  static constexpr std::size_t depth = 1024, row_words = 1 << 19, panel_words = 1 << 20;

  // One thread's buffers.
  class Work {
   public:
    Work(const RowsProduct& engine, const MatrixProduct& p)
        : e_(engine),
          p_(p),
          outputs_{e_.path_, p, e_.k_, nullptr},
          width_(std::min(e_.panel_, (p.n + least_columns - 1) / least_columns * least_columns)) {}

    void rows(std::size_t row, std::size_t rows) {
      row_ = row, rows_ = rows, loaded_a_ = nullptr;
      for (column_ = 0; column_ < p_.n; column_ += width_) {
        columns_ = std::min(width_, p_.n - column_), loaded_b_ = nullptr;
        load_addends();
        panel();
      }
    }

   private:
    // A part of k, where the last one is another.
    void load(const Stretch& s) {
      if (std::exchange(loaded_a_, &s) != &s) load_rows(s);
      if (std::exchange(loaded_b_, &s) != &s) load_columns(s);
    }
    void load_rows(const Stretch& s) {
      const std::size_t words = e_.words_, scales = s.scales.size(), n = s.elements.size();
      a_.resize(rows_ * s.lanes * words), scale_a_.resize(rows_ * scales * words);
      for (std::size_t r = 0; r < rows_; ++r) {
        std::uint64_t* const to = &a_[r * s.lanes * words];
        for (std::size_t t = 0; t < n; ++t)
          e_.read_a_(p_.a, row_ + r, s.elements[t], to + t * words, 1);
        for (std::size_t t = n; t < s.lanes; ++t) put(no_factor<H>(), to + t * words, 1);
        for (std::size_t i = 0; i < scales; ++i)
          e_.read_scale_(p_.scale_a, row_ + r, s.scales[i], &scale_a_[(r * scales + i) * words], 1);
      }
    }
    void load_columns(const Stretch& s) {
      const std::size_t number = e_.words_ * width_, n = s.elements.size();
      b_.resize(s.lanes * number), scale_b_.resize(s.scales.size() * number);
      for (std::size_t t = 0; t < n; ++t)
        read_columns(e_.read_b_, p_.b, s.elements[t], &b_[t * number]);
      for (std::size_t t = n; t < s.lanes; ++t) put_columns(no_factor<H>(), &b_[t * number]);
      for (std::size_t i = 0; i < s.scales.size(); ++i)
        read_columns(e_.read_scale_, p_.scale_b, s.scales[i], &scale_b_[i * number]);
    }
    void load_addends() {
      const std::size_t number = e_.words_ * width_;
      c_.resize(rows_ * number);
      for (std::size_t r = 0; r < rows_; ++r)
        p_.c.data ? read_columns(e_.read_c_, p_.c, row_ + r, &c_[r * number])
                  : put_columns(e_.no_addend_, &c_[r * number]);
    }

    // Row i of a matrix, in this panel's columns.
    void read_columns(const Reader<H>& read, const CodeMatrix& x, std::size_t i,
                      std::uint64_t* to) const {
      if (columns_ < width_) std::fill_n(to, e_.words_ * width_, 0);
      for (std::size_t j = 0; j < columns_; ++j) read(x, i, column_ + j, to + j, width_);
    }
    void put_columns(const Factor<H>& x, std::uint64_t* to) const {
      for (std::size_t j = 0; j < width_; ++j) put(x, to + j, width_);
    }

    // Outputs of the panel: rows and columns from here on.
    struct Part {
      std::size_t row, rows, column, columns;
    };
    using Parts = std::vector<Part>;

    // What a kernel loses is the next one's. Where that is most of the first row, the other rows
    // begin with the next kernel.
    void panel() {
      const std::size_t outputs = rows_ * width_;
      code_.resize(outputs * e_.code_words_), flags_.resize(outputs), lost_.resize(outputs);
      chains_.resize(e_.stretches_.size() > 1 ? outputs * e_.chain_words_ : 0);
      const auto& stretches = e_.stretches_;
      std::size_t way = 0;
      const auto loses_most = [&] {
        advance(way, stretches[0], {0, 1, 0, columns_});
        return 2 * lost_in(0, 0, columns_) > columns_;
      };
      load(stretches[0]);
      while (way < e_.kernels_.size() && loses_most()) ++way;
      if (way == e_.kernels_.size()) return again({0, rows_, 0, columns_});
      if (rows_ > 1) advance(way, stretches[0], {1, rows_ - 1, 0, columns_});
      for (const Stretch& s : std::span(stretches).subspan(1))
        load(s), advance(way, s, {0, rows_, 0, columns_});
      const Parts all = pieces();
      for (Parts lost = losing(all); !lost.empty() && ++way < e_.kernels_.size();
           lost = losing(lost))
        compute(way, lost);
      for (const Part& of : all) deliver(of);
    }
    std::size_t lost_in(std::size_t r, std::size_t first, std::size_t last) const {
      const auto* lost = &lost_[r * width_];
      return last - first - static_cast<std::size_t>(std::count(lost + first, lost + last, 0));
    }
    // All of the panel, as little at a time as kernels compute.
    Parts pieces() const {
      Parts all;
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t j = 0; j < columns_; j += least_columns)
          all.push_back({r, 1, j, std::min(least_columns, columns_ - j)});
      return all;
    }
    Parts losing(const Parts& pieces) const {
      Parts some;
      std::ranges::copy_if(pieces, std::back_inserter(some), [&](const Part& x) {
        return lost_in(x.row, x.column, x.column + x.columns) > 0;
      });
      return some;
    }

    // All along k, part by part.
    void compute(std::size_t way, const Parts& outputs) {
      for (const Stretch& s : e_.stretches_) {
        load(s);
        for (const Part& of : outputs) advance(way, s, of);
      }
    }
    void advance(std::size_t way, const Stretch& s, const Part& of) {
      const std::size_t words = e_.words_, first = of.row * width_, at = first + of.column;
      e_.kernels_[way](
          e_.path_.unit,
          {.a = &a_[of.row * s.lanes * words],
           .scale_a = scale_a_.data() + of.row * s.scales.size() * words,
           .b = &b_[of.column],
           .scale_b = scale_b_.data() + of.column,
           .c = &c_[first * words + of.column],
           .scale_of = s.scale_of.data(),
           .rows = of.rows,
           .columns = of.columns,
           .panel = width_,
           .lanes = s.lanes,
           .scales = s.scales.size(),
           .first = s.first,
           .total = e_.lanes_,
           .chains = chains_.empty() ? nullptr : &chains_[first * e_.chain_words_ + of.column],
           .code = &code_[first * e_.code_words_ + of.column],
           .flags = &flags_[at],
           .lost = &lost_[at],
           .seed = p_.seed,
           .index = p_.where(row_ + of.row, column_ + of.column).index,
           .next_row = p_.row_outputs(),
           .codes_only = !p_.flags});
    }

    void deliver(const Part& of) const {
      const std::size_t r = of.row, first = of.column, last = first + of.columns;
      if (4 * lost_in(r, first, last) > of.columns) return again(of);
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
      outputs_.store(p_.output(row_ + r, column_ + j), code,
                     static_cast<Flags>(flags_[r * width_ + j]));
    }
    void again(const Part& of) const {
      e_.fallback_->run(
          tile(e_.path_.unit, p_, row_ + of.row, column_ + of.column, of.rows, of.columns), 0,
          of.rows);
    }

    const RowsProduct& e_;
    const MatrixProduct& p_;
    Gather<H, H> outputs_;
    std::size_t width_;  // of a panel
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
    const Stretch *loaded_a_ = nullptr, *loaded_b_ = nullptr;
    Words a_, b_, c_, scale_a_, scale_b_, chains_, code_, flags_, lost_;
  };

  Datapath<H, H> path_;
  std::size_t k_, lanes_;  // lanes: whole blocks
  Reader<H> read_a_, read_b_, read_c_, read_scale_;
  Factor<H> no_addend_;
  std::size_t code_words_, words_, chain_words_;
  std::size_t depth_ = 0, panel_ = 0;  // lanes and columns of a panel
  std::vector<Stretch> stretches_;
  std::vector<Kernel> kernels_;  // of ever longer magnitudes
  std::unique_ptr<ProductEngine> fallback_;
};

// Products a second of one core on AVX-512, measured. What a block takes is a fifth for each
// product, of long codes less, and the rest once; nodes round as often as there are products.
double rate(const Unit& u, std::size_t k, const Answer& plan) {
  double z = 88e6 / std::sqrt(plan.widths.code_words * plan.usual_words);
  if (plan.usual_words > plan.widths.magnitude_words) z /= 2;  // lost at first
  if (u.chain.compensation != Compensation::none) z /= 4;
  if (has_nodes(u.group_sum) || has_nodes(u.block_sum)) return z;
  const auto block = static_cast<double>(u.lanes ? u.lanes : k);
  const double each = plan.widths.code_words > 1 ? 0.15 : 0.2;
  return z / (each + (1 - each) / std::max(block, 1.0));
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task.unit, task.k);
  if (!answer.takes) return {"integers", false, answer.reason, 0};
  const std::size_t lanes = lanes_here();
  const double vectors = std::min(1.0, static_cast<double>(lanes) / 6);  // half: two thirds of it
  return {"integers", true, answer.reason + "; " + target_name(),
          rate(task.unit, task.k, answer) * vectors * share_of(task, lanes)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  const Widths widths = plan(task.unit, task.k).widths;
  if (widths.code_words == 1) return std::make_unique<RowsProduct<std::uint64_t>>(task, widths);
  return std::make_unique<RowsProduct<uint128>>(task, widths);
}

}  // namespace widthwise::rows
