#pragma once
#include "block_lane.hpp"
#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/values.hpp"
#include "sim/containers/block_elements.hpp"
#include "sim/containers/scale_steps.hpp"

// Numbers to blocks and back on threads: the definition's own steps, pass by pass.
namespace widthwise::cuda {

using containers::BlockScale;
using containers::ElementStep;
using containers::ScaleSteps;
using containers::Spelled;

// The place of an element's block among the scales.
constexpr std::size_t block_of(const BlockGrid& g, std::size_t element) {
  const std::size_t column = element % g.columns, line = element / g.columns;
  const std::size_t band = line / g.rows * g.row_blocks() + line % g.rows / g.block_rows;
  return band * g.column_blocks() + column / g.block_columns;
}

// f(element) of all in a block.
template <class F>
constexpr void for_block(const BlockGrid& g, std::size_t block, const F& f) {
  const std::size_t band = block / g.column_blocks();
  const std::size_t row = band % g.row_blocks() * g.block_rows,
                    column = block % g.column_blocks() * g.block_columns;
  const std::size_t rows = std::min(g.block_rows, g.rows - row),
                    columns = std::min(g.block_columns, g.columns - column);
  std::size_t line = (band / g.row_blocks() * g.rows + row) * g.columns + column;
  for (std::size_t r = 0; r < rows; ++r, line += g.columns)
    for (std::size_t c = 0; c < columns; ++c) f(line + c);
}

// The largest magnitude of each block, as the integer that spells it: these order alike, NaN above
// infinity. A thread looks at pieces of a block, and what it finds raises the block's.
template <class T>
struct BlockMaxima {
  BlockGrid blocks, pieces;  // of the same array
  const T* x;
  bool finite;                // whether others are left out
  unsigned long long* most;   // one a block
  unsigned long long* first;  // the complement of the first place of a number that is not finite

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    constexpr auto infinity = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
    for (std::size_t p = thread; p < pieces.scales(); p += threads) {
      unsigned long long largest = 0, place = 0;
      std::size_t last = 0;
      for_block(pieces, p, [&](std::size_t i) {
        const BitsOf<T> m = bits_of(x[i]) << 1 >> 1;
        const bool special = m >= infinity;
        if (special && place == 0) place = ~i;
        if (m > largest && !(special && finite)) largest = m;
        last = i;
      });
      raise_to(&most[block_of(blocks, last)], largest);
      raise_to(first, place);
    }
  }
};

// Those to scales.
template <class T>
struct BlockScales {
  ScaleSteps steps;
  Rounder<std::uint64_t> small;  // to E4M3
  Layout<std::uint64_t> from;    // binary64
  const unsigned long long* most;
  std::size_t count;
  BlockScale* found;
  unsigned long long* special;  // how many blocks' scales are NaN

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    unsigned long long none = 0;
    for (std::size_t i = thread; i < count; i += threads) {
      const auto amax = static_cast<double>(std::bit_cast<T>(static_cast<BitsOf<T>>(most[i])));
      found[i] = scale(amax);
      none += steps.kind == ScaleSteps::Kind::power && found[i].code == steps.nan();
    }
    add_to(special, none);
  }

 private:
  WIDTHWISE_BOTH_INLINE BlockScale scale(double amax) const {
    switch (steps.kind) {
      case ScaleSteps::Kind::power: return steps.power(amax);
      case ScaleSteps::Kind::wide: return steps.wide(amax);
      default: break;
    }
    const double wanted = steps.kind == ScaleSteps::Kind::stepwise
                              ? double{steps.stepwise(amax)}
                              : divided_to_odd(Lane<double>(), amax, steps.divisor());
    const std::uint64_t code = convert(small, from, std::uint64_t{bits_of(wanted)}).code;
    return steps.small(static_cast<std::uint32_t>(code), amax);
  }
};

// Elements under those scales, an element a thread.
template <class T>
struct BlockElements {
  BlockGrid grid;
  const T* x;
  const BlockScale* found;
  ElementStep step;
  std::uint32_t none;       // a scale whose block's elements are code 0
  double least, most, end;  // of the element's numbers; beyond `end` nothing counts
  Rounder<std::uint64_t> to;
  Layout<std::uint64_t> from;  // binary64
  bool has_inf, spells;
  Spelled spelled;  // codes of NaN, and of an infinity that is no code, if it spells them
  RandomSource random;
  void* elements;
  unsigned long long* clamped;
  std::uint8_t* carried;  // 1 of a block in which one rounded past the top, where that is asked for

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t count = grid.outer * grid.rows * grid.columns;
    unsigned long long outside = 0;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::size_t block = block_of(grid, i);
      const BlockScale s = found[block];
      const double v = scaled(x[i], s.by);
      outside += (v > most || v < least) && std::fabs(v) <= end;
      const int bytes = item_bytes(to.layout.format.width());
      store_code(static_cast<std::byte*>(elements) + i * bytes, bytes,
                 s.code == none ? std::uint64_t{0} : code(v, i, block));
    }
    add_to(clamped, outside);
  }

 private:
  // A number that rounds to an element as the exact one does.
  WIDTHWISE_BOTH_INLINE double scaled(T number, double by) const {
    switch (step) {
      case ElementStep::multiplied: return multiplied(Lane<double>(), double{number}, by);
      case ElementStep::divided_to_odd: return divided_to_odd(Lane<double>(), double{number}, by);
      case ElementStep::multiplied_once:
        return hn::Mul(static_cast<float>(number), static_cast<float>(by));
      default: return hn::Div(static_cast<float>(number), static_cast<float>(by));
    }
  }
  WIDTHWISE_BOTH_INLINE std::uint64_t code(double v, std::size_t i, std::size_t block) const {
    if (spells && (v != v || (!has_inf && std::fabs(v) > std::numeric_limits<double>::max())))
      return spelled.of(v < 0);
    const auto bits = draw<std::uint64_t>(to.env.rounding, random, i);
    const Result<std::uint64_t> z = convert(to, from, std::uint64_t{bits_of(v)}, bits);
    if (carried && (z.flags & overflow)) carried[block] = 1;
    return z.code;
  }
};

// One exponent more for blocks in which an element was carried past the top.
struct RaiseScales {
  ScaleSteps steps;
  std::uint8_t* carried;
  std::size_t count;
  BlockScale* found;
  unsigned long long* raised;  // how many

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    unsigned long long some = 0;
    for (std::size_t i = thread; i < count; i += threads) {
      some += carried[i] && steps.raise(found[i]);
      carried[i] = 0;
    }
    add_to(raised, some);
  }
};

// Scales as they are stored.
struct StoreScales {
  const BlockScale* found;
  std::size_t count;
  int bytes;
  void* scales;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads)
      store_code(static_cast<std::byte*>(scales) + i * bytes, bytes, std::uint64_t{found[i].code});
  }
};

// What blocks stand for, rounded once to T.
template <class T>
struct ReadBlocks {
  BlockGrid grid;
  ScaleSteps steps;
  Layout<std::uint64_t> element;
  Rounder<std::uint64_t> to;  // binary64
  const void *elements, *scales;
  T* x;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t count = grid.outer * grid.rows * grid.columns;
    for (std::size_t i = thread; i < count; i += threads) {
      const std::uint64_t number = convert(to, element, code_at(element, elements, i)).code;
      const auto* scale = static_cast<const std::byte*>(scales) + block_of(grid, i) * steps.bytes;
      const double by = steps.value(load_code<std::uint32_t>(scale, steps.bytes));
      // The one NaN that there is on this machine, whichever the GPU's operations make.
      const auto product = static_cast<T>(hn::Mul(std::bit_cast<double>(number), by));
      x[i] = product == product ? product : std::numeric_limits<T>::quiet_NaN();
    }
  }
};

// All that are built, by name: KERNEL(name, Work).
#define WIDTHWISE_BLOCK_KERNELS(KERNEL)                \
  KERNEL(block_maxima_single, BlockMaxima<float>)      \
  KERNEL(block_maxima_double, BlockMaxima<double>)     \
  KERNEL(block_scales_single, BlockScales<float>)      \
  KERNEL(block_scales_double, BlockScales<double>)     \
  KERNEL(block_elements_single, BlockElements<float>)  \
  KERNEL(block_elements_double, BlockElements<double>) \
  KERNEL(raise_scales, RaiseScales)                    \
  KERNEL(store_scales, StoreScales)                    \
  KERNEL(read_blocks_single, ReadBlocks<float>)        \
  KERNEL(read_blocks_double, ReadBlocks<double>)

// And of elements that are a table's.
#define WIDTHWISE_LISTED_BLOCK_KERNELS(KERNEL)                \
  KERNEL(block_elements_listed_single, BlockElements<float>)  \
  KERNEL(block_elements_listed_double, BlockElements<double>) \
  KERNEL(read_blocks_listed_single, ReadBlocks<float>)        \
  KERNEL(read_blocks_listed_double, ReadBlocks<double>)

}  // namespace widthwise::cuda
