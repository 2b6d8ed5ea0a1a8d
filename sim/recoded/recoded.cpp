#include <fmt/format.h>

#include <algorithm>

#include "plan.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/rewritten.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::recoded {
namespace {

// Rows and columns of outputs at a time: as many as make recoding their operands cheap.
constexpr std::size_t most_outputs = 256;

class RecodedProduct final : public ProductEngine {
 public:
  RecodedProduct(const ProductTask& task, const Plan& plan)
      : unit_(task.unit),
        k_(task.k),
        a_(unit_.a.fmt, plan.inner.a.fmt, expected),
        b_(unit_.b.fmt, plan.inner.b.fmt, expected),
        c_(unit_.c.fmt, plan.inner.c.fmt, expected),
        held_bytes_(bytes_of(plan.inner.out.fmt)),
        inner_(prepare_here({plan.inner, task.k, task.flags, {}, task.outputs}).product) {
    if (plan.result)
      deliver_.emplace(
          conversion(plan.inner.out.fmt, plan.result->fmt, plan.result->rm, task.flags, expected));
  }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Buffers x;
    for (std::size_t row = first; row < last; row += most_outputs) {
      const MatrixProduct band = tile(unit_, p, row, 0, std::min(most_outputs, last - row), p.n);
      const CodeMatrix a = a_.read(band.a, band.m, k_, x.held, x.a);
      for (std::size_t column = 0; column < p.n; column += most_outputs)
        outputs(tile(unit_, band, 0, column, band.m, std::min(most_outputs, p.n - column)), a, x);
    }
  }

 private:
  // As many as pay for a table of all codes, which panels of operands have.
  static constexpr std::size_t expected = std::size_t{1} << 20;

  struct Buffers {
    Codes held, a, b, c, result, flags;
  };

  void outputs(const MatrixProduct& p, const CodeMatrix& a, Buffers& x) const {
    MatrixProduct q = p;
    q.a = a;
    q.b = b_.read(p.b, k_, p.n, x.held, x.b);
    q.c = c_.read(p.c, p.m, p.n, x.held, x.c);
    if (!deliver_) return inner_->run(q, 0, q.m);
    x.result.resize(std::max(x.result.size(), p.m * p.n * held_bytes_));
    x.flags.resize(std::max(x.flags.size(), p.m * p.n));
    q.result = x.result.data(), q.result_row = p.n;
    q.flags = p.flags ? reinterpret_cast<std::uint8_t*>(x.flags.data()) : nullptr;
    inner_->run(q, 0, q.m);
    for (std::size_t i = 0; i < p.m; ++i) deliver(p, i, q);
  }

  // A row of sums as results, with the flags of both roundings: to odd is inexact where the second
  // one is.
  void deliver(const MatrixProduct& p, std::size_t i, const MatrixProduct& sums) const {
    const std::size_t at = p.output(i, 0), bytes = bytes_of(unit_.out.fmt);
    const void* const row[] = {static_cast<const std::byte*>(sums.result) + i * p.n * held_bytes_};
    std::uint8_t* const flags = p.flags ? p.flags + at : nullptr;
    deliver_->run(row, p.n, static_cast<std::byte*>(p.result) + at * bytes, flags);
    for (std::size_t j = 0; flags && j < p.n; ++j)
      flags[j] = static_cast<std::uint8_t>(flags[j] | sums.flags[i * p.n + j]);
  }

  Unit unit_;
  std::size_t k_;
  Rewritten a_, b_, c_;
  std::size_t held_bytes_;
  std::unique_ptr<ProductEngine> inner_;
  std::optional<Elementwise> deliver_;  // where results are no floats
};

}  // namespace

Opinion opinion(const ProductTask& task) {
  const auto refuse = [](std::string why) { return Opinion{"recoded", false, std::move(why), 0}; };
  if (!other_than_float(task.unit)) return refuse("all formats are floats");
  const Plan found = plan(task.unit, task.k);
  if (!found.unfit.empty()) return refuse(found.unfit);
  const Opinion inner = opinion_here({found.inner, task.k, task.flags, {}, task.outputs});
  // Seconds, measured: an operand's code by a table, and a result's in lanes or by integers.
  const bool in_lanes = !task.flags && found.inner.out.fmt == binary32 &&
                        task.unit.out.fmt.exponent != Exponent::takum;
  const double a_code = 2e-9, a_result = in_lanes ? 1e-9 : 40e-9;
  const double seconds = 1 / inner.rate + 2 * a_code / most_outputs +
                         (found.result ? a_result / static_cast<double>(task.k) : 0);
  return {
      "recoded", true,
      fmt::format("as {} by {}, operands written as floats", to_string(found.inner), inner.engine),
      1 / seconds};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<RecodedProduct>(task, plan(task.unit, task.k));
}

}  // namespace widthwise::recoded
