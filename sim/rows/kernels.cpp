#include "kernels.hpp"

#include "sim/engine/row_path.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/rows/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/rows/unit-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// The row of outputs from (row, column) on.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE void output_row(const Datapath<Rows<C>, Rows<C>>& u, const Tile& t,
                                            std::size_t row, std::size_t column,
                                            Scratch<M>& scratch) {
  constexpr std::size_t words = words_of<C>, number = words + words_beside;
  const bool scaled = t.scale_of != nullptr;
  const Operands from{t.a + row * t.lanes * number,
                      scaled ? t.scale_a + row * t.scales * number : nullptr,
                      t.b + column,
                      scaled ? t.scale_b + column : nullptr,
                      t.scale_of,
                      number,
                      t.panel};
  const auto c = load_factors<C>(t.c + row * number * t.panel + column, t.panel);
  UnitRow<M, C> unit(u, t, t.index + row * t.next_row + column, scratch);
  Fate fate{Count(0), Truth(false)};
  const C code = unit.run(from, c, fate);
  const std::size_t at = row * t.panel + column;
  for (std::size_t i = 0; i < words; ++i)
    store(word(code, static_cast<int>(i)), t.code + (row * words + i) * t.panel + column);
  store(Word(fate.flags), t.flags + at);
  Word lost;
  fill(fate.lost, lost);
  store(lost, t.lost + at);
}

template <class M, class C>
void tile(const Unit& unit, const Tile& t) {
  const auto u = row_path<Rows<C>>(unit);
  Scratch<M> scratch(block_lanes(*u, t.lanes));
  for (std::size_t row = 0; row < t.rows; ++row)
    for (std::size_t column = 0; column < t.columns; column += row_items)
      output_row<M, C>(*u, t, row, column, scratch);
}

Kernel choose(const Widths& w) {
  if (w.code_words == 1)
    return w.magnitude_words == 1   ? &tile<Word, Word>
           : w.magnitude_words == 2 ? &tile<Word2, Word>
           : w.magnitude_words == 4 ? &tile<Word4, Word>
                                    : &tile<Word8, Word>;
  return w.magnitude_words == 2   ? &tile<Word2, Word2>
         : w.magnitude_words == 4 ? &tile<Word4, Word2>
                                  : &tile<Word8, Word2>;
}
const char* name() { return hwy::TargetName(HWY_TARGET); }
std::size_t items() { return row_items; }

#undef WIDTHWISE_HERE

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::rows {

HWY_EXPORT(choose);
HWY_EXPORT(name);
HWY_EXPORT(items);

Kernel kernel(const Widths& w) { return HWY_DYNAMIC_DISPATCH(choose)(w); }
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }
std::size_t lanes_here() { return HWY_DYNAMIC_DISPATCH(items)(); }

}  // namespace widthwise::rows
#endif
