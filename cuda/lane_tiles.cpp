#include "lane_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <map>

#include "definition.hpp"
#include "kernels/random_tile.hpp"
#include "lane_plan.hpp"
#include "sim/lanes/bounds.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

lanes::Answer plan_of(const ProductTask& task) {
  if (task.flags) return {std::nullopt, "flags are wanted"};
  if (task.k == 0 || task.k > INT_MAX / 2) return {std::nullopt, "of a length that tiles have not"};
  return lane_plan(task.unit);
}

const char* name_of(lanes::Multiply multiply) {
  switch (multiply) {
    case lanes::Multiply::native: return "native";
    case lanes::Multiply::exact: return "exact";
    case lanes::Multiply::odd: return "odd";
    case lanes::Multiply::rounded: return "rounded";
    case lanes::Multiply::wide: break;  // lane_plan refuses those
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
    const Begun begun[] = {begin(region)};
    launch_together(device_, begun);
    begun->finish();
  }

  Begun begin(const RegionThere& region) const override {
    const MatrixProduct& p = region.p;
    auto there = std::make_shared<There>();
    there->a = decoded<T>(device_, unit_.a, p.a, p.m * p.k, scale());
    there->b = decoded<T>(device_, unit_.b, p.b, region.elements_of_b());
    there->c = decoded<T>(device_, unit_.c, p.c, p.m * p.n, scale());
    const lanes::Watch watch = watch_for(std::ldexp(there->a.most, -plan_.scale), there->b.most);
    if (watch.interval < least_interval() || (random() && !one_upper_half(region)))
      return definition_->begin(region);
    there->result = Buffer(device_, p.m * p.n * sizeof(T));
    there->redo = Buffer(device_, p.m * p.n);
    const bool special = random() && (there->a.special || there->b.special || there->c.special);
    return {.tile = special ? tile_ + "_special" : tile_,
            .grid = grid(p.m, p.n),
            .layer = layer(region, *there, watch),
            .alone = random(),
            .finish = [this, region, there] { finish(region, *there); }};
  }

 private:
  static constexpr const char* type = sizeof(T) == 4 ? "float" : "double";
  // Whose shape all tiles have.
  using AnyTile = LaunchedTile<T, NearestStep<T, lanes::Multiply::native, lanes::Add::native>>;
  using AnyRandomTile = RandomTile<lanes::Multiply::exact, false>;

  // What a product has on the device beside its codes.
  struct There {
    Values<T> a, b, c;
    Buffer result, redo;
  };

  std::vector<std::byte> layer(const RegionThere& region, const There& there,
                               const lanes::Watch& watch) const {
    const MatrixProduct& p = region.p;
    const TileArgs<T> args{.a = there.a.at(),
                           .b = there.b.at(),
                           .c = there.c.at(),
                           .b_places = region.places(),
                           .result = there.result.template at<T>(),
                           .redo = there.redo.template at<unsigned char>(),
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
    const auto* bytes = reinterpret_cast<const std::byte*>(&args);
    return {bytes, bytes + sizeof args};
  }

  void finish(const RegionThere& region, const There& there) const {
    const auto* redo = there.redo.template at<std::uint8_t>();
    encode(device_, unit_.out.fmt, there.result.template at<const T>(), redo, region.p, scale());
    definition_->compute(region, redo);
  }

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

void launch_together(Device& device, std::span<const Begun> products) {
  std::map<std::string, std::vector<const Begun*>> of_kernel;
  for (const Begun& b : products)
    if (!b.tile.empty()) of_kernel[b.tile].push_back(&b);
  constexpr std::size_t most = TileLayers<float>::most;
  static_assert(most == TileLayers<double>::most);
  for (const auto& [tile, all] : of_kernel) {
    const std::size_t room = all[0]->alone ? 1 : most;
    for (std::size_t first = 0; first < all.size(); first += room) {
      const std::size_t count = std::min(room, all.size() - first), bytes = all[0]->layer.size();
      std::vector<std::byte> layers(room * bytes);
      for (std::size_t i = 0; i < count; ++i)
        std::ranges::copy(all[first + i]->layer, &layers[i * bytes]);
      Grid grid = all[0]->grid;
      grid.blocks_z = count;
      device.launch({"product_tile", tile.c_str()}, grid, layers.data());
    }
  }
}

std::unique_ptr<const Way> lane_tiles(const ProductTask& task, Device& device) {
  const lanes::Answer answer = plan_of(task);
  if (!answer.plan) return nullptr;
  if (answer.plan->carrier.digits == lanes::in_float.digits)
    return std::make_unique<LaneTiles<float>>(task, *answer.plan, device);
  return std::make_unique<LaneTiles<double>>(task, *answer.plan, device);
}

}  // namespace widthwise::cuda
