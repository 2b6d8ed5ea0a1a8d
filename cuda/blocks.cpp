#include "blocks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/blocks.hpp"
#include "sim/containers/block_scale.hpp"
#include "sim/elementwise/way.hpp"
#include "tables.hpp"
#include "upload.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

using Count = unsigned long long;

std::size_t elements_of(const BlockGrid& g) { return g.outer * g.rows * g.columns; }

// Threads have integers of 64 digits for elements.
void check_element(const Format& f, const Rounding& r) {
  check(ElementTask{Operation::convert, f, {.rounding = r}, std::span(&binary64, 1), false, 0});
  constexpr int most = digits<std::uint64_t>;
  if (const int needed = digits_needed(f, r); needed > most)
    throw std::invalid_argument(fmt::format(
        "elements of {} need {} digits of working precision, and a GPU's threads have {} for "
        "blocks; x.to_device('cpu') brings the numbers here",
        said(f), needed, most));
}

Buffer zeros(Device& device, std::size_t words) {
  Buffer z(device, words * sizeof(Count));
  const Count zero = 0;
  const Buffer one = copied_in(device, std::span(&zero, 1));
  move_items(device, {one.at<std::byte>(), z.at<std::byte>(), sizeof zero, 1, {{words, 0, 1}}});
  return z;
}

// Some of a block that a thread looks at: no column is another block's.
BlockGrid pieces_of(BlockGrid g) {
  constexpr std::size_t length = 32;
  const std::size_t columns =
      g.block_columns < g.columns ? std::gcd(g.block_columns, length) : length;
  g.block_rows = columns == 1 ? std::gcd(g.block_rows, length) : 1;
  g.block_columns = columns;
  return g;
}

// What blocks' numbers amount to; the device's memory.
struct Found {
  enum { first, special, clamped, raised, counts };
  Buffer count, most, scale;

  Found(Device& device, std::size_t blocks)
      : count(zeros(device, counts)),
        most(zeros(device, blocks)),
        scale(device, blocks * sizeof(BlockScale)) {}
  Count* of(int which) const { return count.at<Count>() + which; }
};

template <class T>
ElementStep step_of(const BlockFormat& f, const BlockHow& how) {
  const ElementStep step = containers::element_step(f, how);
  if (sizeof(T) != sizeof(float) && containers::is_of_floats(step))
    throw std::logic_error("steps in binary32 take numbers of binary32");
  return step;
}

// An array made ready: its steps one after the other.
template <class T>
class Quantise {
 public:
  Quantise(Device& device, const BlockFormat& f, const BlockGrid& grid, const BlockHow& how)
      : device_(device),
        format_(f),
        grid_(grid),
        how_(how),
        scaler_(f, how),
        step_(step_of<T>(f, how)),
        to_(device, f.saturating(), {.rounding = how.rounding}),
        found_(device, grid.scales()) {}

  BlockTally run(const T* x, void* elements, void* scales) {
    find_maxima(x);
    find_scales();
    round(x, elements);
    store(scales);
    Count n[Found::counts];
    device_.copy_out(n, found_.of(0), sizeof n);
    BlockTally tally{n[Found::clamped], n[Found::special], {}};
    if (format_.refuses_specials() && n[Found::first]) tally.refused = ~n[Found::first];
    return tally;
  }

 private:
  const ScaleSteps& steps() const { return scaler_.steps(); }

  void find_maxima(const T* x) {
    const BlockMaxima<T> maxima{.blocks = grid_,
                                .pieces = pieces_of(grid_),
                                .x = x,
                                .finite = containers::keeps_specials(format_),
                                .most = found_.most.template at<Count>(),
                                .first = found_.of(Found::first)};
    launch_each(device_, kernel_of<T>("blocks", "block_maxima_single", "block_maxima_double"),
                maxima.pieces.scales(), &maxima);
  }

  void find_scales() {
    const BlockScales<T> scales{.steps = steps(),
                                .small = Rounder<std::uint64_t>(containers::small_scales, Env{}),
                                .from = Layout<std::uint64_t>(binary64),
                                .most = found_.most.template at<Count>(),
                                .count = grid_.scales(),
                                .found = found_.scale.template at<BlockScale>(),
                                .special = found_.of(Found::special)};
    launch_each(device_, kernel_of<T>("blocks", "block_scales_single", "block_scales_double"),
                scales.count, &scales);
  }

  // Elements under those scales, which rise if the format has it so.
  void round(const T* x, void* elements) {
    const Buffer carried =
        format_.raise_on_carry ? zeros(device_, (grid_.scales() + 7) / 8) : Buffer();
    const BlockElements<T> work = elements_of(x, elements, carried.at<std::uint8_t>());
    do {
      const Count none = 0;
      device_.copy_in(found_.of(Found::clamped), &none, sizeof none);
      launch_each(device_, elements_kernel(), cuda::elements_of(grid_), &work);
    } while (work.carried && raise(work.carried));
  }

  Kernel elements_kernel() const {
    if (format_.element.is_table())
      return kernel_of<T>("listed", "block_elements_listed_single", "block_elements_listed_double");
    return kernel_of<T>("blocks", "block_elements_single", "block_elements_double");
  }

  BlockElements<T> elements_of(const T* x, void* elements, std::uint8_t* carried) const {
    const bool power = steps().kind == ScaleSteps::Kind::power;
    const auto spelled = containers::spelled(format_);
    return {.grid = grid_,
            .x = x,
            .found = found_.scale.template at<BlockScale>(),
            .step = step_,
            .none = power ? steps().nan() : ~0u,
            .least = scaler_.least(),
            .most = steps().max,
            .end = format_.refuses_specials() ? std::numeric_limits<double>::infinity()
                                              : std::numeric_limits<double>::max(),
            .to = *to_,
            .from = Layout<std::uint64_t>(binary64),
            .has_inf = format_.element.has_inf(),
            .spells = spelled.has_value(),
            .spelled = spelled.value_or(Spelled{}),
            .random = how_.random,
            .elements = elements,
            .clamped = found_.of(Found::clamped),
            .carried = carried};
  }

  bool raise(std::uint8_t* carried) {
    Count raised = 0;
    device_.copy_in(found_.of(Found::raised), &raised, sizeof raised);
    const RaiseScales raise{steps(), carried, grid_.scales(),
                            found_.scale.template at<BlockScale>(), found_.of(Found::raised)};
    launch_each(device_, {"blocks", "raise_scales"}, raise.count, &raise);
    device_.copy_out(&raised, found_.of(Found::raised), sizeof raised);
    return raised > 0;
  }

  void store(void* scales) {
    const StoreScales store{found_.scale.template at<BlockScale>(), grid_.scales(), steps().bytes,
                            scales};
    launch_each(device_, {"blocks", "store_scales"}, store.count, &store);
  }

  Device& device_;
  const BlockFormat& format_;
  BlockGrid grid_;
  const BlockHow& how_;
  containers::BlockScaler scaler_;
  ElementStep step_;
  RounderThere<std::uint64_t> to_;
  Found found_;
};

}  // namespace

template <class T>
BlockTally quantise_blocks(Device& device, const BlockFormat& f, const BlockGrid& grid,
                           const BlockHow& how, const T* x, void* elements, void* scales) {
  check_element(f.element, how.rounding);
  return Quantise<T>(device, f, grid, how).run(x, elements, scales);
}

template <class T>
void read_blocks(Device& device, const BlockFormat& f, const BlockGrid& grid, float tensor_scale,
                 const void* elements, const void* scales, T* x) {
  check_element(f.element, {});
  const BlockHow how{.rounding = {}, .tensor_scale = tensor_scale};
  const LayoutThere<std::uint64_t> element(device, f.element);
  const ReadBlocks<T> read{.grid = grid,
                           .steps = containers::BlockScaler(f, how).steps(),
                           .element = *element,
                           .to = Rounder<std::uint64_t>(binary64, Env{}),
                           .elements = elements,
                           .scales = scales,
                           .x = x};
  const Kernel kernel =
      f.element.is_table()
          ? kernel_of<T>("listed", "read_blocks_listed_single", "read_blocks_listed_double")
          : kernel_of<T>("blocks", "read_blocks_single", "read_blocks_double");
  launch_each(device, kernel, elements_of(grid), &read);
}

template <class T>
double largest_magnitude(Device& device, const T* x, std::size_t count) {
  const BlockGrid all{1, 1, count, 1, count};
  const Buffer found = zeros(device, 2);
  const BlockMaxima<T> maxima{.blocks = all,
                              .pieces = pieces_of(all),
                              .x = x,
                              .finite = false,
                              .most = found.at<Count>(),
                              .first = found.at<Count>() + 1};
  launch_each(device, kernel_of<T>("blocks", "block_maxima_single", "block_maxima_double"),
              maxima.pieces.scales(), &maxima);
  Count most = 0;
  device.copy_out(&most, found.at(), sizeof most);
  return static_cast<double>(std::bit_cast<T>(static_cast<BitsOf<T>>(most)));
}

template BlockTally quantise_blocks(Device&, const BlockFormat&, const BlockGrid&, const BlockHow&,
                                    const float*, void*, void*);
template BlockTally quantise_blocks(Device&, const BlockFormat&, const BlockGrid&, const BlockHow&,
                                    const double*, void*, void*);
template void read_blocks(Device&, const BlockFormat&, const BlockGrid&, float, const void*,
                          const void*, float*);
template void read_blocks(Device&, const BlockFormat&, const BlockGrid&, float, const void*,
                          const void*, double*);
template double largest_magnitude(Device&, const float*, std::size_t);
template double largest_magnitude(Device&, const double*, std::size_t);

}  // namespace widthwise::cuda
