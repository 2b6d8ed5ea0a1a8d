#include <bit>

#include "kernels.hpp"
#include "sim/dot/lane_order.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/tiled.hpp"

// Matrix products of tensor units: floats, with their exponents beside them.
namespace widthwise::tensor {
namespace {

// All bits of a float but those below its first `frac` fraction bits.
constexpr std::uint32_t mask_of(std::int64_t frac) {
  return ~std::uint32_t{0} << (23 - std::min<std::int64_t>(frac, 23));
}

Constants constants(const Plan& p, const Unit& u) {
  const float largest = p.finish == Finish::nearest ? 65504.0f : 0x1.fffffep127f;
  return {.lanes = static_cast<std::size_t>(p.lanes),
          .chunk = static_cast<std::size_t>(p.chunk),
          .may_overflow = p.may_overflow,
          .frac_bits = static_cast<std::int32_t>(p.frac_bits),
          .least = static_cast<std::int32_t>(p.least),
          .floor = static_cast<std::int32_t>(p.floor),
          .c_emin = static_cast<std::int32_t>(u.c.fmt.emin()),
          .kept = mask_of(p.kept),
          .c_kept = mask_of(std::min(p.kept, p.frac_bits)),
          .largest = std::bit_cast<std::int32_t>(largest),
          .c_telling = p.survives ? -1 : std::bit_cast<std::int32_t>(-0.0f)};
}

std::vector<std::size_t> order(const ProductTask& task) {
  if (!task.unit.chain.lane_permutation) return {};
  return lane_order(task.unit, task.k);
}

template <class Exponent>
class TensorProduct final : public TiledProduct<float, Lines<Exponent>> {
  using Base = TiledProduct<float, Lines<Exponent>>;
  using typename Base::Meeting, typename Base::Panel, typename Base::TileState,
      typename Base::Zeros;

 public:
  TensorProduct(const ProductTask& task, const Plan& plan)
      : Base(task, {.columns = tile_columns,
                    .depth = 256,
                    .block = static_cast<std::size_t>(plan.lanes),
                    .c_last = task.unit.chain.c_at == CAt::last,
                    .order = order(task)}),
        plan_(plan),
        constants_(constants(plan, task.unit)),
        kernel_(kernel<Exponent>(plan.finish)),
        exponents_(field_exponents<Exponent>()),
        add_halves_(add_halves()) {}

 private:
  void complete_rows(Panel& panel) const override { complete(panel, this->a_.format()); }
  void complete_columns(Panel& panel) const override { complete(panel, this->b_.format()); }
  void complete(Panel& panel, const Format& f) const {
    panel.beside.resize(panel.numbers.size());
    exponents_(panel.numbers.data(), panel.numbers.size(), static_cast<std::int32_t>(f.emin()),
               panel.beside.data());
  }

  bool multiply(const Meeting& m) const override {
    return kernel_({&m.a.numbers[m.a_first], &m.a.beside[m.a_first], m.depth, m.b.numbers.data(),
                    m.b.beside.data(), m.sum, m.columns, m.depth},
                   constants_);
  }

  void add_last(const float* c, std::size_t n, float* sum) const override {
    if (plan_.finish == Finish::nearest) return add_halves_(c, n, sum);
    Base::add_last(c, n, sum);
  }

  // Which sign a zero sum has is not always plain from the sum (docs/exactness.md, 11).
  Zeros doubtful_zeros(const TileState& tile) const override {
    if (plan_.finish == Finish::nearest) return Zeros::minus;
    return tile.minus || (!plan_.survives && tile.product_seen) ? Zeros::all : Zeros::none;
  }

  Plan plan_;
  Constants constants_;
  Kernel<Exponent> kernel_;
  FieldExponents<Exponent> exponents_;
  AddHalves add_halves_;
};

// Products a second of one core on AVX-512, measured: the end of a block costs as much as some more
// products.
double rate(const Plan& plan) {
  const auto lanes = static_cast<double>(plan.lanes);
  const double ending = plan.finish == Finish::nearest ? 6 : 4;
  return 16e9 * lanes / (lanes + ending) * (plan.wide ? 0.9 : 1);
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task.unit);
  if (!answer.plan) return {"tensor", false, answer.reason, 0};
  return {"tensor", true, answer.reason + "; " + target_name(), rate(*answer.plan)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  const Plan p = *plan(task.unit).plan;
  if (p.wide) return std::make_unique<TensorProduct<std::int16_t>>(task, p);
  return std::make_unique<TensorProduct<std::int8_t>>(task, p);
}

}  // namespace widthwise::tensor
