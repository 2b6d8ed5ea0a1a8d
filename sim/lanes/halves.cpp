#include "half_kernels.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/tiled.hpp"

// Matrix products in lanes that compute in binary16 itself: infinities, NaN, subnormals and the
// signs of zeros are the machine's (docs/exactness.md, 47).
namespace widthwise::lanes {
namespace {

// The numbers of A, each twice in a word: a word is what the machine spreads without a shuffle.
struct Twice {
  std::vector<std::uint32_t> a;
};

class HalfProduct final : public TiledProduct<Half, Twice> {
 public:
  HalfProduct(const ProductTask& task, const HalfPlan& plan)
      : TiledProduct(task, {.columns = half_columns, .depth = 256, .any_number = true}),
        kernel_(half_kernel(plan)) {}

 private:
  void complete_rows(Panel& panel) const override {
    panel.beside.a.resize(panel.numbers.size());
    for (std::size_t i = 0; i < panel.numbers.size(); ++i)
      panel.beside.a[i] = panel.numbers[i].code * 0x10001u;
  }
  bool multiply(const Meeting& m) const override {
    kernel_({&m.a.beside.a[m.a_first], m.b.numbers.data(), m.sum, m.depth});
    return true;
  }
  Zeros doubtful_zeros(const TileState&) const override { return Zeros::none; }

  HalfKernel kernel_;
};

}  // namespace

Opinion opinion_of_halves(const ProductTask& task) {
  const HalfAnswer answer = plan_in_halves(task.unit);
  if (!answer.plan) return {"halves", false, answer.reason, 0};
  if (!half_kernel(*answer.plan))
    return {"halves", false, "this CPU's lanes do not compute in binary16", 0};
  return {"halves", true, answer.reason, answer.plan->product ? 80e9 : 110e9};
}

std::unique_ptr<ProductEngine> make_halves(const ProductTask& task) {
  return std::make_unique<HalfProduct>(task, *plan_in_halves(task.unit).plan);
}

}  // namespace widthwise::lanes
