#include "fixed.hpp"

#include <fmt/format.h>

#include "sim/engine/tiled.hpp"

namespace widthwise::lanes {
namespace {

// Whether every code of the operands is a number, so that there is nothing to look for.
bool numbers_alone(const Unit& u) {
  const auto special = [](const Format& f) { return f.has_nan() || f.has_inf(); };
  return !special(u.a.fmt) && !special(u.b.fmt) && !special(u.c.fmt);
}

template <class T>
class FixedProduct final : public TiledProduct<T, NothingBeside> {
  using Base = TiledProduct<T, NothingBeside>;
  using typename Base::Meeting, typename Base::TileState, typename Base::Zeros;

 public:
  FixedProduct(const ProductTask& task, const FixedPlan& plan)
      : Base(task, {.columns = tile_columns<T>,
                    .depth = 256,
                    .any_number = numbers_alone(task.unit),
                    .mode = plan.machine}),
        constants_(fixed_constants<T>(plan.carrier, task.unit)),
        wraps_(plan.unwrapped.has_value()),
        steps_(plan.unwrapped.value_or(task.k)),
        kernel_(fixed_kernel<T>(plan.steps)) {}

 private:
  // Sums lie beside the middle while the kernel runs, close to it at first.
  bool multiply(const Meeting& m) const override {
    if (m.step == 0 && !has_place(m.sum)) return false;
    T* const end = m.sum + tile_rows * tile_columns<T>;
    Tile<T> t = tile_of<T>(m);
    for (std::size_t left = m.depth; left > 0; left -= t.k) {
      t.k = std::min(left, steps_);
      for (T* x = m.sum; x != end; ++x) *x = near(*x) + constants_.sum.middle;
      kernel_(t, constants_);
      for (T* x = m.sum; x != end; ++x) *x -= constants_.sum.middle;
      t.a += t.k, t.b += t.k * tile_columns<T>;
    }
    return true;
  }
  // The same but for whole turns, if sums wrap.
  T near(T x) const { return wraps_ ? x - ((x + constants_.turns) - constants_.turns) : x; }
  // Whether C ends with sums' last digit or above, and lies where they do: they begin with it.
  bool has_place(const T* c) const {
    const T middle = constants_.sum.middle, most = middle / 3;
    return std::all_of(c, c + tile_rows * tile_columns<T>,
                       [&](T x) { return std::abs(x) <= most && (x + middle) - middle == x; });
  }
  // Fixed point has one zero.
  Zeros doubtful_zeros(const TileState&) const override { return Zeros::none; }

  FixedConstants<T> constants_;
  bool wraps_;
  std::size_t steps_;  // at a time
  FixedKernel<T> kernel_;
};

// Products a second of one core, measured on AVX2.
double rate(const FixedPlan& plan) {
  const FixedSteps& s = plan.steps;
  const double full = plan.carrier.digits == in_float.digits ? 1 : 0.5;
  if (!s.rounds_products) return (s.corrects_sums ? 3.6e9 : 19e9) * full;
  return (s.corrects_sums ? 0.7e9 : s.corrects_products ? 2.7e9 : 7.6e9) * full;
}

}  // namespace

Opinion opinion_in_fixed(const ProductTask& task) {
  const FixedAnswer answer = plan_in_fixed(task.unit);
  if (!answer.plan) return {"lanes", false, answer.reason, 0};
  return {"lanes", true, fmt::format("{}; {}", answer.reason, target_name()), rate(*answer.plan)};
}

std::unique_ptr<ProductEngine> make_in_fixed(const ProductTask& task) {
  const FixedPlan p = *plan_in_fixed(task.unit).plan;
  if (p.carrier.digits == in_float.digits) return std::make_unique<FixedProduct<float>>(task, p);
  return std::make_unique<FixedProduct<double>>(task, p);
}

}  // namespace widthwise::lanes
