#include "lane_tiles.hpp"

#include <fmt/format.h>

#include <climits>

#include "definition.hpp"
#include "kernels/random_tile.hpp"
#include "sim/lanes/bounds.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

lanes::Answer plan_of(const ProductTask& task) {
  if (task.flags) return {std::nullopt, "flags are wanted"};
  if (task.k == 0 || task.k > INT_MAX / 2) return {std::nullopt, "of a length that tiles have not"};
  return lanes::plan(task.unit, true);
}

const char* name_of(lanes::Multiply multiply) {
  switch (multiply) {
    case lanes::Multiply::native: return "native";
    case lanes::Multiply::exact: return "exact";
    case lanes::Multiply::odd: return "odd";
    case lanes::Multiply::rounded: return "rounded";
  }
  return "";
}
const char* name_of(lanes::Add add, RoundingMode mode) {
  if (add == lanes::Add::native) return "native";
  if (add == lanes::Add::normal) return "normal";
  if (add == lanes::Add::rounded) return "rounded";
  if (add == lanes::Add::random) return "random";
  if (mode == RoundingMode::rna) return "rna";
  return mode == RoundingMode::rtz ? "rtz" : "rdn";  // up is down, negated
}

template <class T>
class LaneTiles final : public Way {
 public:
  LaneTiles(const ProductTask& task, const lanes::Plan& plan, Device& device)
      : device_(device),
        unit_(task.unit),
        plan_(plan),
        constants_(lanes::constants<T>(plan, task.unit)),
        bounds_(plan, task.unit, Codec<T>(task.unit.out.fmt)),
        tile_(fmt::format("tile_{}_{}_{}", type, name_of(plan.multiply),
                          name_of(plan.add, plan.mode))),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const MatrixProduct& p = region.p;
    const auto a = decoded<T>(device_, unit_.a, p.a, p.m * p.k, scale()),
               b = decoded<T>(device_, unit_.b, p.b, p.k * p.n),
               c = decoded<T>(device_, unit_.c, p.c, p.m * p.n, scale());
    const lanes::Watch watch = watch_for(std::ldexp(a.most, -plan_.scale), b.most);
    if (watch.interval < least_interval() || (random() && !one_upper_half(region)))
      return definition_->compute(region, nullptr);
    const Buffer result(device_, p.m * p.n * sizeof(T)), redo(device_, p.m * p.n);
    const TileArgs<T> args{.a = a.at(),
                           .b = b.at(),
                           .c = c.at(),
                           .result = result.at<T>(),
                           .redo = redo.at<unsigned char>(),
                           .m = static_cast<int>(p.m),
                           .n = static_cast<int>(p.n),
                           .k = static_cast<int>(p.k),
                           .start = scale().negated ? -T{0} : T{0},
                           .constants = constants_,
                           .interval = static_cast<int>(watch.interval),
                           .limit = static_cast<T>(std::ldexp(watch.limit, plan_.scale)),
                           .zeros_doubtful = zeros_doubtful(p.c.data),
                           .places = random() ? RandomPlaces(constants_) : RandomPlaces(),
                           .keys = PhiloxKeys(p.seed),
                           .first = p.first_index,
                           .row_outputs = region.whole_columns};
    const bool special = random() && (a.special || b.special || c.special);
    const std::string tile = special ? tile_ + "_special" : tile_;
    device_.launch({"product_tile", tile.c_str()}, grid(p.m, p.n), &args);
    encode(device_, unit_.out.fmt, result.at<const T>(), redo.at<std::uint8_t>(), p, scale());
    definition_->compute(region, redo.at<std::uint8_t>());
  }

 private:
  static constexpr const char* type = sizeof(T) == 4 ? "float" : "double";
  // Whose shape all tiles have.
  using AnyTile = LaunchedTile<T, NearestStep<T, lanes::Multiply::native, lanes::Add::native>>;
  using AnyRandomTile = RandomTile<lanes::Multiply::exact, false>;

  LaneScale scale() const { return {plan_.scale, plan_.mode == RoundingMode::rup}; }
  bool random() const { return plan_.add == lanes::Add::random; }
  Grid grid(std::size_t m, std::size_t n) const {
    const std::size_t rows = random() ? AnyRandomTile::rows : AnyTile::rows,
                      columns = random() ? AnyRandomTile::columns : AnyTile::columns;
    static_assert(std::size_t{AnyTile::threads} == AnyRandomTile::threads);
    return {(n - 1) / columns + 1, (m - 1) / rows + 1, AnyTile::threads};
  }
  // From one look to the next.
  std::size_t least_interval() const { return random() ? lanes::random_steps : 1; }

  // Of the indices of all outputs: what random bits are drawn by.
  static bool one_upper_half(const RegionThere& region) {
    const std::uint64_t first = region.p.first_index,
                        last = first + (region.p.m - 1) * region.whole_columns + region.p.n - 1;
    return first >> 32 == last >> 32;
  }

  lanes::Watch watch_for(double a, double b) const {
    if (plan_.add == lanes::Add::native) return {16, 0};  // nothing is looked at
    return bounds_.watch(a, b);
  }
  // Rounding by way of a larger number loses the sign of a zero (docs/exactness.md, 5).
  bool zeros_doubtful(const void* c) const {
    if (plan_.add == lanes::Add::rounded) return true;
    return (plan_.add == lanes::Add::normal || random()) && c;
  }

  Device& device_;
  Unit unit_;
  lanes::Plan plan_;
  lanes::Constants<T> constants_;
  lanes::Bounds bounds_;
  std::string tile_;
  std::unique_ptr<const Way> definition_;
};

}  // namespace

std::string why_no_lane_tiles(const ProductTask& task) {
  const lanes::Answer answer = plan_of(task);
  return answer.plan ? "" : answer.reason;
}

std::unique_ptr<const Way> lane_tiles(const ProductTask& task, Device& device) {
  const lanes::Answer answer = plan_of(task);
  if (!answer.plan) return nullptr;
  if (answer.plan->carrier.digits == lanes::in_float.digits)
    return std::make_unique<LaneTiles<float>>(task, *answer.plan, device);
  return std::make_unique<LaneTiles<double>>(task, *answer.plan, device);
}

}  // namespace widthwise::cuda
