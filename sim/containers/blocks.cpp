#include "widthwise/sim/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../engine/machine_rounding.hpp"
#include "block_elements.hpp"
#include "block_kernels.hpp"
#include "block_scale.hpp"
#include "few_passes.hpp"
#include "panels.hpp"

namespace widthwise {

class BlockQuantiser::Work {
 public:
  virtual ~Work() = default;
  virtual std::size_t panels() const = 0;
  virtual void run(std::size_t panel, const void* numbers, std::byte* elements, std::byte* scales,
                   BlockTally& tally) const = 0;
};

namespace containers {
namespace {

template <class T>
constexpr int digits_of = std::numeric_limits<T>::digits;
constexpr std::uint8_t overflow = 4;  // among the flags
template <class T>
constexpr Format format_of = sizeof(T) == 4 ? binary32 : binary64;

// Whether a float rounded to odd decides every rounding to the element.
bool fits_floats(const Format& element, const Rounding& r) {
  return digits_wanted(element, r) <= digits_of<float> &&
         element.least_digit() - r.random_bits > -120 && element.emax() < 120;
}

// What is past a number of that sign is past this one, and else is not.
template <class V>
V at_most(double most) {
  const auto v = static_cast<V>(most);
  return std::abs(static_cast<double>(v)) > std::abs(most) ? std::nextafter(v, V{0}) : v;
}

// Whether all that lies below half of the least number becomes zero.
bool small_is_zero(const Format& element, const Rounding& r) {
  return is_nearest(r.mode) && (element.is_float() || element.is_fixed());
}

// Of the element's roundings; no digits beyond where there are few of them, or where some borders
// are no normal floats.
Borders borders_of(const Format& element, const Rounding& r) {
  constexpr int least_digits = 5, bias = 127, fields = 128;
  if (!fits_floats(element, r)) return {};
  const int beyond = digits_of<float> + 1 - digits_wanted(element, r);
  if (beyond < least_digits) return {};
  const auto first = element.least_digit() - 1;
  const bool is_first = small_is_zero(element, r) && element.emax() - first < fields;
  return {(std::uint32_t{1} << beyond) - 1,
          is_first ? static_cast<std::uint32_t>(first + bias) : 0};
}

// Room for the rows of numbers between two steps.
struct Scratch {
  double wide[longest_piece], exact[longest_piece];
};

inline const double* doubles(const double* x, std::size_t, Scratch&) { return x; }
inline const double* doubles(const float* x, std::size_t n, Scratch& s) {
  widen(x, n, s.wide);
  return s.wide;
}

// Numbers of type T and scales to numbers of type V, which round to elements as the exact ones do;
// Few: of floats in few passes.
struct Multiplied {
  using Few = PowersOfTwo;
  template <class T, class V>
  using By = std::conditional_t<sizeof(T) + sizeof(V) == 8, float, double>;

  static void apply(const float* x, const float* by, std::size_t n, std::size_t group, Scratch&,
                    float* v) {
    multiply(x, by, n, group, v);
  }
  template <class T>
  static void apply(const T* x, const double* by, std::size_t n, std::size_t group, Scratch& s,
                    double* v) {
    multiply(doubles(x, n, s), by, n, group, v);
  }
  static void apply(const double* x, const double* by, std::size_t n, std::size_t group, Scratch& s,
                    float* v) {
    multiply(x, by, n, group, s.exact);
    narrow_to_odd(s.exact, n, v);
  }
};

struct DividedToOdd {
  using Few = SmallDivisors;
  template <class T, class V>
  using By = double;

  template <class T>
  static void apply(const T* x, const double* by, std::size_t n, std::size_t group, Scratch& s,
                    double* v) {
    divide_to_odd(doubles(x, n, s), by, n, group, v);
  }
  static void apply(const double* x, const double* by, std::size_t n, std::size_t group, Scratch& s,
                    float* v) {
    divide_to_odd(x, by, n, group, s.exact);
    narrow_to_odd(s.exact, n, v);
  }
  static void apply(const float* x, const double* by, std::size_t n, std::size_t group, Scratch&,
                    float* v) {
    divide_to_odd(x, by, n, group, v);
  }
};

// In binary32 alone.
template <void (*step)(const float*, const float*, std::size_t, std::size_t, float*), class Passes>
struct Once {
  using Few = Passes;
  template <class T, class V>
  using By = float;

  static void apply(const float* x, const float* by, std::size_t n, std::size_t group, Scratch&,
                    float* v) {
    step(x, by, n, group, v);
  }
};
using MultipliedOnce = Once<scale, SingleFactors>;  // as products of single steps are defined
using DividedOnce = Once<divide, WideDivisors>;     // as divisions by scales in binary32 are

// Whether few passes go over such groups.
bool are_few(std::size_t group) {
  return group == 1 || (whole_vectors(group) && group <= longest_piece);
}

template <class T, class V, class Step>
class Quantise final : public BlockQuantiser::Work {
 public:
  Quantise(const BlockFormat& f, const BlockGrid& grid, const BlockHow& how)
      : format_(f),
        random_(how.random),
        panels_(grid),
        scaler_(f, how),
        rounding_(Operation::convert, f.saturating(), {.rounding = how.rounding},
                  std::span(&from, 1), f.raise_on_carry, grid.outer * grid.rows * grid.columns),
        item_(static_cast<std::size_t>(item_bytes(f.element.width()))),
        maxima_(how.maxima),
        specials_(spelled(f)),
        bounds_{static_cast<float>(scaler_.steps().max), borders_of(f.element, how.rounding),
                small_is_zero(f.element, how.rounding)},
        plain_(is_plain(f)) {
    if (maxima_ && !maxima_->of_blocks.empty() && maxima_->of_blocks.size() != grid.scales())
      throw std::invalid_argument("maxima: they are of other blocks than the grid's " +
                                  std::to_string(grid.scales()));
  }

  std::size_t panels() const final { return panels_.count(); }

  void run(std::size_t i, const void* numbers, std::byte* elements, std::byte* scales,
           BlockTally& tally) const final {
    const Panels::Panel p = panels_.at(i);
    const T* x = static_cast<const T*>(numbers) + p.number;
    if (has_few_passes(p) && in_few_passes(p, x, elements, scales, tally)) return;
    const std::uint64_t special = tally.special;
    std::vector<BlockScale> found = scales_of(p, x, tally);
    if (tally.refused) return;
    tally.clamped += round(p, x, found, elements);
    if (tally.special > special) clear_special(p, found, elements);
    const int bytes = scaler_.steps().bytes;
    for (std::size_t g = 0; g < p.blocks; ++g)
      store_code(scales + (p.scale + g) * static_cast<std::size_t>(bytes), bytes, found[g].code);
  }

 private:
  static constexpr Format from = format_of<V>;
  using By = typename Step::template By<T, V>;

  // An infinity that came in stays one, or makes its block NaN; where none comes in, each is a
  // quotient that saturates.
  V last_clamped() const {
    using Limits = std::numeric_limits<V>;
    return format_.refuses_specials() ? Limits::infinity() : Limits::max();
  }

  struct Room {
    V v[longest_piece];
    Scratch steps;
  };

  // Whether blocks of floats are scaled by a rule alone.
  static constexpr bool has_few =
      std::is_same_v<T, float> && std::is_same_v<V, float> && !std::is_void_v<typename Step::Few>;
  bool is_plain(const BlockFormat& f) const {
    if (!has_few || scaler_.least() != -scaler_.steps().max) return false;
    if constexpr (!std::is_same_v<Step, Multiplied>)
      return scaler_.has_few_steps() && bounds_.borders.beyond > 0;
    return f.power_of_two() && !f.flush && !f.raise_on_carry && !f.specials_in_elements;
  }

  template <class Few>
  struct FewRoom {
    Few few;
    float most[most_groups + most_lanes], v[longest_piece];
  };

  bool has_few_passes(const Panels::Panel& p) const {
    return plain_ && p.columns % panels_.group() == 0 && are_few(panels_.group());
  }

  // Scales, numbers and elements piece by piece; false, and nothing counted, where a block needs
  // more (block_kernels.hpp says which).
  bool in_few_passes(const Panels::Panel& p, const T* x, std::byte* elements, std::byte* scales,
                     BlockTally& tally) const {
    if constexpr (has_few) {
      const std::size_t group = panels_.group();
      const auto bytes = static_cast<std::size_t>(scaler_.steps().bytes);
      FewRoom<typename Step::Few> room;
      std::size_t above = 0;
      bool whole = true;
      const auto piece = [&](std::size_t first, std::size_t n, std::size_t block) {
        const std::size_t scale = p.scale + block;
        whole = whole && in_few_passes({p.number + first, scale, p.rows, n, 0, p.stride}, x + first,
                                       elements, scales + scale * bytes, room, above);
      };
      for_pieces(p.columns, group, few_columns(p), piece);
      if (whole) tally.clamped += above;
      return whole;
    }
    return false;
  }

  // Of a piece, all of whose rows stay near the processor from one pass to the next.
  std::size_t few_columns(const Panels::Panel& p) const {
    constexpr std::size_t near = std::size_t{1} << 17, least = 256;
    const std::size_t group = panels_.group();
    return std::clamp(near / p.rows, std::max(group, least),
                      group == 1 ? most_groups : longest_piece);
  }

  // Whole groups of the rows of a piece.
  template <class Few>
  bool in_few_passes(const Panels::Panel& p, const float* x, std::byte* elements, std::byte* scales,
                     FewRoom<Few>& room, std::size_t& above) const {
    const std::size_t group = panels_.group(), count = p.columns / group;
    const Panels::Panel lines = group == 1 ? Panels::lengthened(p, most_groups) : p;
    const std::size_t times = lines.columns / p.columns;
    constexpr std::size_t narrow = 4 * most_lanes;  // shorter rows leave too many lanes idle
    if (maxima_ && !maxima_->of_blocks.empty()) {
      std::copy_n(maxima_->of_blocks.data() + p.scale, count, room.most);
    } else if (times == 1 || count >= narrow) {
      group_maxima(x, p.rows, p.stride, p.columns, group, room.most);
    } else {
      group_maxima(x, lines.rows, lines.stride, lines.columns, group, room.v);
      group_maxima(room.v, times, count, count, 1, room.most);
    }
    if (!room.few.find(scaler_, room.most, count, scales)) return false;
    if (group == 1) room.few.spread(count, times);
    const std::size_t together = lines.columns == lines.stride ? longest_piece / lines.columns : 1;
    for (std::size_t r = 0; r < lines.rows; r += together) {
      const std::size_t rows = std::min(together, lines.rows - r), at = r * lines.stride;
      for (std::size_t i = 0; i < rows; ++i)
        above += room.few.apply(x + at + i * lines.stride, lines.columns, group, bounds_,
                                room.v + i * lines.columns);
      round_row(p.number + at, room.v, rows * lines.columns, elements, nullptr);
    }
    return true;
  }

  std::vector<BlockScale> scales_of(const Panels::Panel& p, const T* x, BlockTally& tally) const {
    std::vector<Magnitude<T>> most(p.blocks);
    const bool finite = keeps_specials(format_);
    for (std::size_t r = 0; r < p.rows; ++r)
      raise_maxima(x + r * p.stride, p.columns, panels_.group(), finite, most.data());
    std::vector<double> amax(p.blocks);
    for (std::size_t g = 0; g < p.blocks; ++g) {
      amax[g] = static_cast<double>(std::bit_cast<T>(most[g]));
      if (amax[g] <= std::numeric_limits<double>::max()) continue;
      if (format_.refuses_specials()) tally.refused = first_special(p, x);
      ++tally.special;
    }
    std::vector<BlockScale> found(p.blocks);
    if (!tally.refused) scaler_.find(amax, found.data());
    return found;
  }

  static std::size_t first_special(const Panels::Panel& p, const T* x) {
    for (std::size_t r = 0; r < p.rows; ++r)
      for (std::size_t c = 0; c < p.columns; ++c)
        if (!(std::abs(x[r * p.stride + c]) <= std::numeric_limits<T>::max()))
          return p.number + r * p.stride + c;
    return p.number;
  }

  struct Rounded {
    std::uint64_t clamped = 0;
    std::vector<bool> carried;  // blocks in which an element rounded past the top
  };

  // Elements under those scales, which rise if the format has it so; how many were clamped.
  std::uint64_t round(const Panels::Panel& p, const T* x, std::vector<BlockScale>& found,
                      std::byte* elements) const {
    Rounded rounded;
    do rounded = round_once(p, x, found, elements);
    while (raise(rounded.carried, found));
    return rounded.clamped;
  }

  bool raise(const std::vector<bool>& carried, std::vector<BlockScale>& found) const {
    bool any = false;
    for (std::size_t g = 0; g < carried.size(); ++g)
      if (carried[g]) any |= scaler_.steps().raise(found[g]);
    return any;
  }

  Rounded round_once(const Panels::Panel& p, const T* x, const std::vector<BlockScale>& found,
                     std::byte* elements) const {
    Rounded rounded;
    std::vector<std::uint8_t> flags;
    if (format_.raise_on_carry) {
      rounded.carried.resize(p.blocks);
      flags.resize(longest_piece);
    }
    const auto room = std::make_unique_for_overwrite<Room>();
    const std::size_t group = panels_.group();
    std::vector<By> by(found.size());
    std::ranges::transform(found, by.begin(),
                           [](const BlockScale& s) { return static_cast<By>(s.by); });
    for_pieces(
        p.columns, group, longest_piece, [&](std::size_t first, std::size_t n, std::size_t block) {
          for (std::size_t r = 0; r < p.rows; ++r) {
            const std::size_t at = p.number + r * p.stride + first;
            rounded.clamped += scale_row(x + r * p.stride + first, by.data() + block, n, *room);
            round_row(at, room->v, n, elements, flags.empty() ? nullptr : flags.data());
            if (specials_) spell_specials(room->v, n, elements + at * item_);
            for (std::size_t c = 0; c < flags.size() && c < n; ++c)
              if (flags[c] & overflow) rounded.carried[block + c / group] = true;
          }
        });
    return rounded;
  }

  // Numbers that round to elements as the exact ones do; how many are past the elements' ends.
  std::size_t scale_row(const T* x, const By* by, std::size_t n, Room& room) const {
    const auto least = at_most<V>(scaler_.least()), most = at_most<V>(scaler_.steps().max);
    Step::apply(x, by, n, panels_.group(), room.steps, room.v);
    return count_outside(room.v, n, least, most, last_clamped());
  }

  void round_row(std::size_t at, const V* v, std::size_t n, std::byte* elements,
                 std::uint8_t* flags) const {
    const void* operand = v;
    rounding_.run({&operand, 1}, n, elements + at * item_, flags, random_.from(at));
  }

  // Elements of a block whose scale is NaN are 0.
  void clear_special(const Panels::Panel& p, const std::vector<BlockScale>& found,
                     std::byte* elements) const {
    const std::uint32_t none = scaler_.steps().nan();
    const std::size_t group = panels_.group();
    for (std::size_t g = 0; g < p.blocks; ++g) {
      if (found[g].code != none) continue;
      const std::size_t first = g * group, n = std::min(group, p.columns - first);
      for (std::size_t r = 0; r < p.rows; ++r)
        std::memset(elements + (p.number + r * p.stride + first) * item_, 0, n * item_);
    }
  }

  // NaN that stays in an element has all fraction bits set; infinity is one where there is none.
  void spell_specials(const V* v, std::size_t n, std::byte* elements) const {
    for (std::size_t c = 0; c < n; ++c)
      if (std::isnan(v[c]) || (std::isinf(v[c]) && !format_.element.has_inf()))
        store_code(elements + c * item_, static_cast<int>(item_), specials_->of(v[c] < 0));
  }

  BlockFormat format_;
  RandomSource random_;
  Panels panels_;
  BlockScaler scaler_;
  Elementwise rounding_;
  std::size_t item_;
  std::shared_ptr<const LargestMagnitudes> maxima_;
  std::optional<Spelled> specials_;
  FewBounds bounds_;
  bool plain_;
};

// --- Which step, on which numbers --------------------------------------------------------------

template <class T, class V, class Step>
std::shared_ptr<const BlockQuantiser::Work> quantise(const BlockFormat& f, const BlockGrid& grid,
                                                     const BlockHow& how) {
  return std::make_shared<const Quantise<T, V, Step>>(f, grid, how);
}

template <class T, class Step>
std::shared_ptr<const BlockQuantiser::Work> by_digits(const BlockFormat& f, const BlockGrid& grid,
                                                      const BlockHow& how) {
  return fits_floats(f.element, how.rounding) ? quantise<T, float, Step>(f, grid, how)
                                              : quantise<T, double, Step>(f, grid, how);
}

template <class T>
std::shared_ptr<const BlockQuantiser::Work> by_step(const BlockFormat& f, const BlockGrid& grid,
                                                    const BlockHow& how) {
  const ElementStep step = element_step(f, how);
  if (step == ElementStep::multiplied) return by_digits<T, Multiplied>(f, grid, how);
  if (step == ElementStep::divided_to_odd) return by_digits<T, DividedToOdd>(f, grid, how);
  if constexpr (std::is_same_v<T, float>)
    return step == ElementStep::multiplied_once
               ? quantise<float, float, MultipliedOnce>(f, grid, how)
               : quantise<float, float, DividedOnce>(f, grid, how);
  throw std::logic_error("steps in binary32 take numbers of binary32");
}

}  // namespace
}  // namespace containers

template <class T>
BlockQuantiser BlockQuantiser::of(const BlockFormat& f, const BlockGrid& grid,
                                  const BlockHow& how) {
  const MachineRounding mode(RoundingMode::rne);
  return BlockQuantiser(containers::by_step<T>(f, grid, how));
}
template BlockQuantiser BlockQuantiser::of<float>(const BlockFormat&, const BlockGrid&,
                                                  const BlockHow&);
template BlockQuantiser BlockQuantiser::of<double>(const BlockFormat&, const BlockGrid&,
                                                   const BlockHow&);

std::size_t BlockQuantiser::panels() const { return work_->panels(); }

void BlockQuantiser::run(std::size_t panel, const void* numbers, void* elements, void* scales,
                         BlockTally& tally) const {
  const MachineRounding mode(RoundingMode::rne);
  work_->run(panel, numbers, static_cast<std::byte*>(elements), static_cast<std::byte*>(scales),
             tally);
}

namespace {

template <class T>
double largest(const T* x, std::size_t n) {
  containers::Magnitude<T> most = 0;
  const MachineRounding mode(RoundingMode::rne);
  if (n > 0) containers::raise_maxima(x, n, n, false, &most);
  return static_cast<double>(std::bit_cast<T>(most));
}

}  // namespace

double largest_magnitude(const float* x, std::size_t n) { return largest(x, n); }
double largest_magnitude(const double* x, std::size_t n) { return largest(x, n); }

LargestMagnitudes largest_magnitudes(const BlockGrid& grid, const float* x) {
  using namespace containers;
  const Panels panels(grid);
  if (grid.columns % grid.block_columns != 0 || !are_few(panels.group()))
    return {largest(x, grid.outer * grid.rows * grid.columns), {}};
  std::vector<float> most(grid.scales());
  for (std::size_t i = 0; i < panels.count(); ++i) {
    const Panels::Panel p = panels.at(i);
    group_maxima(x + p.number, p.rows, p.stride, p.columns, panels.group(), most.data() + p.scale);
  }
  const double all = largest(most.data(), most.size());
  return {all, std::move(most)};
}
LargestMagnitudes largest_magnitudes(const BlockGrid& grid, const double* x) {
  return {largest(x, grid.outer * grid.rows * grid.columns), {}};
}

}  // namespace widthwise
