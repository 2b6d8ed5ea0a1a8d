#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/engine/code_copy.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/final_rounding.hpp"
#include "sim/engine/plain.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

// A segment is a chain of its own that begins at +0, and what moves its sum to the outer register
// is an addition of two numbers (docs/exactness.md, 58): both are left to those who know them.
namespace widthwise::promoted {
namespace {

// Products of a segment, of which the last one may have fewer.
std::size_t segment(const ProductTask& task) {
  return std::min(task.k, static_cast<std::size_t>(task.unit.chain.promote->interval));
}

// What it computes.
Unit unit_of_segment(const Unit& u) {
  Unit z = u;
  z.c = {.fmt = u.out.fmt};
  z.chain = {.compensation = u.chain.compensation};
  return z;
}
ProductTask task_of_segment(const ProductTask& task, std::size_t k) {
  return {unit_of_segment(task.unit), k, false, task.multiplier, task.outputs};
}

// Why x + y is not an elementwise addition that is rounded so; empty if it is.
std::string unlike_addition(const char* where, const Round& r) {
  if (r.rm.stochastic()) return fmt::format("{} rounds by random bits", where);
  if (!is_plain(r)) return fmt::format("{} does more than round to its format", where);
  return {};
}
// Where a +0 begins that has no code.
std::string no_zero(const char* where, const Format& f) {
  return f.zero ? std::string() : fmt::format("{} = {} has no zero", where, to_string(f));
}
bool draws(const std::optional<Round>& r) { return r && r->rm.stochastic(); }

// The addition that a final rounding follows.
const Round& last_sum(const Unit& u) {
  return u.chain.c_round ? *u.chain.c_round : u.chain.promote->round;
}

// Why segments are no units of their own; empty if they are.
std::string unlike_segments(const Unit& u) {
  const auto& chain = u.chain;
  if (!chain.promote) return "nothing is promoted";
  if (chain.lane_permutation) return "permuted lanes";
  if (draws(u.product.round) || draws(u.group_sum.node_round) || draws(u.block_sum.node_round) ||
      draws(u.c_sum.node_round) || u.out.rm.stochastic())
    return "random bits, which differ from segment to segment";
  if (u.scale && u.scale->block % chain.promote->interval != 0 &&
      chain.promote->interval % u.scale->block != 0)
    return "segments begin within a block of scales";
  if (!is_plain(u.c)) return "c is conditioned before use";
  if (chain.final && !FinalRounding::takes(last_sum(u).fmt, *chain.final))
    return "a final rounding of more than 64 digits";
  std::string why = unlike_addition("promote.round", chain.promote->round);
  if (why.empty()) why = no_zero("promote.round", chain.promote->round.fmt);
  if (!chain.c_round) return why;
  if (why.empty()) why = unlike_addition("c_round", *chain.c_round);
  return why.empty() ? no_zero("c", u.c.fmt) : why;
}

// Codes of x and y to those of x + y.
Elementwise addition(const Format& x, const Format& y, const Round& to, std::size_t outputs) {
  const Format operands[] = {x, y};
  return {Operation::add, to.fmt, {.rounding = to.rm}, operands, false, outputs};
}

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

class PromotedProduct final : public ProductEngine {
 public:
  explicit PromotedProduct(const ProductTask& task)
      : unit_(task.unit), k_(task.k), segment_(segment(task)) {
    const Format &sum = unit_.out.fmt, &c = unit_.c.fmt;
    const Round& outer = unit_.chain.promote->round;
    whole_ = prepare_here(task_of_segment(task, segment_)).product;
    if (const std::size_t rest = k_ % segment_)
      last_ = prepare_here(task_of_segment(task, rest)).product;
    promote_.emplace(addition(outer.fmt, sum, outer, task.outputs));
    if (unit_.chain.c_at == CAt::first) onto_c_.emplace(addition(c, sum, outer, task.outputs));
    if (const auto& round = unit_.chain.c_round)
      join_c_.emplace(addition(outer.fmt, c, *round, task.outputs));
    if (const auto& round = unit_.chain.final) final_.emplace(last_sum(unit_).fmt, *round);
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Buffers buffers;
    for (std::size_t row = first; row < last; row += most)
      for (std::size_t column = 0; column < p.n; column += most)
        outputs(
            tile(unit_, p, row, column, std::min(most, last - row), std::min(most, p.n - column)),
            buffers);
  }

 private:
  // Rows and columns of outputs at a time, whose codes lie near.
  static constexpr std::size_t most = 512;

  // Codes of outputs, row after row.
  using Codes = std::vector<std::byte>;
  struct Buffers {
    Codes c, inner, outer;
  };

  void outputs(const MatrixProduct& p, Buffers& x) const {
    const std::size_t n = p.m * p.n;
    x.inner.resize(n * bytes_of(unit_.out.fmt));
    load_addends(p, x.c);
    x.outer.assign(n * bytes_of(unit_.chain.promote->round.fmt), std::byte{0});
    for (std::size_t k = 0; k < k_; k += segment_) {
      const std::size_t length = std::min(segment_, k_ - k);
      MatrixProduct sums = stretch(unit_, p, k, length);
      sums.result = x.inner.data(), sums.flags = nullptr, sums.result_row = p.n;
      (length == segment_ ? whole_ : last_)->run(sums, 0, p.m);
      const bool is_onto_c = k == 0 && onto_c_ && p.c.data;
      add(is_onto_c ? *onto_c_ : *promote_, is_onto_c ? x.c : x.outer, x.inner, n, x.outer);
    }
    deliver(p, x);
  }

  static void add(const Elementwise& by, const Codes& x, const Codes& y, std::size_t n, Codes& to) {
    const void* const operands[] = {x.data(), y.data()};
    by.run(operands, n, to.data(), nullptr);
  }

  // Zeros where there is none.
  void load_addends(const MatrixProduct& p, Codes& to) const {
    const std::size_t bytes = bytes_of(unit_.c.fmt), row = p.n * bytes;
    to.assign(p.m * row, std::byte{0});
    if (!p.c.data) return;
    Codes held;
    for (std::size_t i = 0; i < p.m; ++i) {
      copy_by_rows(tile(unit_, p, i, 0, 1, p.n).c, static_cast<int>(bytes), 1, p.n, held);
      std::memcpy(&to[i * row], held.data(), row);
    }
  }

  void deliver(const MatrixProduct& p, Buffers& x) const {
    const Codes* sums = &x.outer;
    if (join_c_) {
      x.inner.resize(p.m * p.n * bytes_of(unit_.chain.c_round->fmt));
      add(*join_c_, x.outer, x.c, p.m * p.n, x.inner);
      sums = &x.inner;
    }
    const std::size_t from = sums->size() / p.m, bytes = bytes_of(result_round(unit_).fmt);
    for (std::size_t i = 0; i < p.m; ++i) {
      std::byte* const to = static_cast<std::byte*>(p.result) + p.output(i, 0) * bytes;
      if (final_)
        (*final_)(&(*sums)[i * from], p.n, p.where(i, 0), to);
      else
        std::memcpy(to, &(*sums)[i * from], from);
    }
  }

  Unit unit_;
  std::size_t k_, segment_;
  std::unique_ptr<ProductEngine> whole_, last_;  // segments; the last one, if it is shorter
  std::optional<Elementwise> onto_c_, promote_, join_c_;
  std::optional<FinalRounding> final_;
};

// Measured: by lanes, in integers of 64 bits, in longer ones.
double seconds_of_addition(const Unit& u) {
  const Round& outer = u.chain.promote->round;
  if (addition(outer.fmt, u.out.fmt, outer, 0).quick()) return 2e-9;
  const int digits = std::max(digits_needed(outer.fmt, outer.rm), digits_needed(u.out.fmt));
  return digits <= 64 ? 10e-9 : 50e-9;
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (const std::string why = unlike_segments(task.unit); !why.empty())
    return {"promoted", false, why, 0};
  const Opinion inner = opinion_here(task_of_segment(task, segment(task)));
  // Seconds a product, measured: of the segment, of the addition, and of what begins a segment.
  const auto products = static_cast<double>(segment(task));
  double seconds = 1 / inner.rate + seconds_of_addition(task.unit) / products;
  if (task.outputs) seconds += 2e-6 / (products * static_cast<double>(task.outputs));
  return {"promoted", true,
          fmt::format("segments of {} products by {}, whose sums are added number by number",
                      segment(task), inner.engine),
          1 / seconds};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<PromotedProduct>(task);
}

}  // namespace widthwise::promoted
