// The kernel of one width of codes and magnitudes, once for every instruction set. Each width is a
// source of its own (kernel_*.cpp), so that they compile side by side.
#include "kernels.hpp"

#include "sim/engine/row_path.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/rows/kernel.inl"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/rows/unit-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// What a row of outputs holds between two parts of k, word by word.
template <class C>
struct Held {
  std::uint64_t* at;
  std::size_t panel;

  Chain<C> load() const { return {read(0), {read(1), read(2)}}; }
  void store(const Chain<C>& s) const {
    put(0, s.outer), put(1, s.inner.sum), put(2, s.inner.compensation);
  }

 private:
  static constexpr std::size_t code = words_of<C>, words = 2 * code + words_beside;

  std::uint64_t* place(std::size_t i) const { return at + i * words * panel; }
  Register<C> read(std::size_t i) const {
    const std::uint64_t* const from = place(i);
    return {load_words<C>(from, panel), load_factors<C>(from + code * panel, panel)};
  }
  void put(std::size_t i, const Register<C>& r) const {
    std::uint64_t* const to = place(i);
    store_words(r.code, to, panel), store_factors(r.value, to + code * panel, panel);
  }
};

// The row of outputs from (row, column) on.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE void output_row(UnitRow<M, C>& unit, const Tile& t, std::size_t row,
                                            std::size_t column) {
  constexpr std::size_t words = words_of<C>, number = words + words_beside;
  constexpr std::size_t chain = registers * (words + number);
  const bool scaled = t.scale_of != nullptr;
  const Operands from{t.a + row * t.lanes * number,
                      scaled ? t.scale_a + row * t.scales * number : nullptr,
                      t.b + column,
                      scaled ? t.scale_b + column : nullptr,
                      t.scale_of,
                      number,
                      t.panel};
  const auto c = load_factors<C>(t.c + row * number * t.panel + column, t.panel);
  const std::size_t at = row * t.panel + column;
  const auto held = [&] { return Held<C>{t.chains + row * chain * t.panel + column, t.panel}; };

  unit.begin(t.index + row * t.next_row + column);
  Chain<C> s = t.begins() ? unit.start(c) : held().load();
  Fate fate{Count(0), Truth(false)};
  if (!t.begins()) fate = {Count(load(t.flags + at)), load(t.lost + at) != Word(0)};
  unit.advance(from, s, fate);
  if (t.ends())
    store_words(unit.end(s, c, fate), t.code + row * words * t.panel + column, t.panel);
  else
    held().store(s);
  store(Word(fate.flags), t.flags + at);
  Word lost;
  fill(fate.lost, lost);
  store(lost, t.lost + at);
}

template <class M, class C>
void tile(const Unit& unit, const Tile& t) {
  const auto u = row_path<Rows<C>>(unit);
  Scratch<M> scratch(block_lanes(*u, t.lanes));
  UnitRow<M, C> outputs(*u, t, scratch);
  for (std::size_t row = 0; row < t.rows; ++row)
    for (std::size_t column = 0; column < t.columns; column += row_items)
      output_row(outputs, t, row, column);
}

Kernel WIDTHWISE_ROWS_KERNEL() { return &tile<WIDTHWISE_ROWS_MAGNITUDE, WIDTHWISE_ROWS_CODE>; }

#undef WIDTHWISE_HERE

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::rows {

HWY_EXPORT(WIDTHWISE_ROWS_KERNEL);

Kernel WIDTHWISE_ROWS_KERNEL() { return HWY_DYNAMIC_DISPATCH(WIDTHWISE_ROWS_KERNEL)(); }

}  // namespace widthwise::rows
#endif
