#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recode.hpp"
#include "sim/engine/engines.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "window.hpp"

namespace widthwise::narrowed {
namespace {

// Rows and columns of outputs at a time, at most: as many as make reading their operands cheap.
constexpr std::size_t most_outputs = 256;
// What copies of operands take, and those of results; of an output's row and column at the longest.
constexpr std::size_t most_bytes = 16 << 20, code_bytes = 8,
                      longest = most_bytes / (2 * code_bytes);

ProductTask with_fewer(const ProductTask& task) {
  return {narrowed(task.unit), task.k, task.flags, {}, task.outputs};
}

class NarrowedProduct final : public ProductEngine {
 public:
  explicit NarrowedProduct(const ProductTask& task)
      : unit_(task.unit),
        k_(task.k),
        window_(unit_, k_),
        a_(unit_.a.fmt),
        b_(unit_.b.fmt),
        c_(unit_.c.fmt),
        inside_(prepare_here(with_fewer(task)).product),
        outside_(prepare_fallback(task).product) {
    const Format& result = result_round(unit_).fmt;
    if (holds_window(result)) result_.emplace(result);
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Buffers x;
    // A row of A, and a column of B with what its copy has beside it (Recoding::narrow).
    const std::size_t each = 3 * k_ * code_bytes, result_row = p.row_outputs() * code_bytes;
    const std::size_t side = std::clamp<std::size_t>(most_bytes / each, 1, most_outputs);
    const std::size_t rows =
        result_ ? std::clamp<std::size_t>(most_bytes / result_row, 1, side) : side;
    for (std::size_t row = first; row < last; row += rows) {
      const MatrixProduct band = tile(unit_, p, row, 0, std::min(rows, last - row), p.n);
      const Recoding::Part a = a_.read(band.a, band.m, k_, x.a);
      for (std::size_t column = 0; column < p.n; column += side)
        outputs(tile(unit_, band, 0, column, band.m, std::min(side, p.n - column)), a, x);
    }
  }

 private:
  using Codes = std::vector<std::byte>;
  struct Buffers {
    Codes a, b, c, result;
  };

  // An operand, narrowed with the span of its numbers, or as it lies with that of its format.
  class Source {
   public:
    explicit Source(const Format& f) : any_{f.emin(), f.emax()} {
      if (holds_window(f)) recoding_.emplace(f);
    }
    // Of an absent C: zero, or the least number of a format without one.
    Recoding::Part none() const { return {{}, recoding_ ? Span{} : any_}; }
    Recoding::Part read(const CodeMatrix& x, std::size_t rows, std::size_t columns,
                        Codes& to) const {
      return recoding_ ? recoding_->narrow(x, rows, columns, to) : Recoding::Part{x, any_};
    }

   private:
    Span any_;
    std::optional<Recoding> recoding_;
  };

  void outputs(const MatrixProduct& p, const Recoding::Part& a, Buffers& x) const {
    const Recoding::Part b = b_.read(p.b, k_, p.n, x.b);
    const Recoding::Part c = p.c.data ? c_.read(p.c, p.m, p.n, x.c) : c_.none();
    if (!window_.holds(a.span, b.span, c.span)) return outside_->run(p, 0, p.m);
    MatrixProduct q = p;
    q.a = a.codes, q.b = b.codes, q.c = c.codes;
    if (!result_) return inside_->run(q, 0, q.m);
    // Rows as far apart as ever, for random bits go by an output's place.
    const auto bytes = static_cast<std::size_t>(result_->narrow_bytes());
    x.result.resize(std::max(x.result.size(), (p.output(p.m - 1, 0) + p.n) * bytes));
    q.result = x.result.data();
    inside_->run(q, 0, q.m);
    deliver(p, x.result);
  }

  void deliver(const MatrixProduct& p, const Codes& narrow) const {
    const auto from = static_cast<std::size_t>(result_->narrow_bytes());
    const auto to = static_cast<std::size_t>(item_bytes(result_round(unit_).fmt.width()));
    for (std::size_t i = 0; i < p.m; ++i) {
      const std::size_t at = p.output(i, 0);
      result_->widen(&narrow[at * from], p.n, static_cast<std::byte*>(p.result) + at * to);
    }
  }

  Unit unit_;
  std::size_t k_;
  Window window_;
  Source a_, b_, c_;
  std::optional<Recoding> result_;                   // where the result's format is narrowed
  std::unique_ptr<ProductEngine> inside_, outside_;  // of the window
};

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (const std::string why = unfit(task.unit); !why.empty()) return {"narrowed", false, why, 0};
  if (task.k > longest)
    return {"narrowed", false,
            fmt::format("sums of {} products, of which it reads {} at a time", task.k, longest), 0};
  const ProductTask inner = with_fewer(task);
  const Opinion best = opinion_here(inner);
  // Seconds an operand's code takes, measured: each row and column once for a tile's outputs.
  constexpr double a_code = 3e-9;
  const double side = std::sqrt(task.outputs ? static_cast<double>(task.outputs) : 1e9);
  const double codes = 2 / std::min(side, static_cast<double>(most_outputs));
  return {"narrowed", true,
          fmt::format("as {} by {}, while no number leaves 2^{} to 2^{}", to_string(inner.unit),
                      best.engine, least, most),
          1 / (1 / best.rate + a_code * codes)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<NarrowedProduct>(task);
}

}  // namespace widthwise::narrowed
