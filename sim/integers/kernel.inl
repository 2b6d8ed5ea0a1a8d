// The kernel of one width of codes and magnitudes: lib's datapath, whose carrier is a row of
// outputs. lib's templates know no instruction set, so each source (kernel_*.cpp) is compiled with
// the flags of one, once for each path that sim/meson.build lists; and so that nobody else gets a
// function that it shares with others, its are all local (-fno-weak).
#include "row_kernels.hpp"

#ifndef WIDTHWISE_ROWS_PATH
#define WIDTHWISE_ROWS_PATH baseline
#endif
#define WIDTHWISE_APART [[gnu::noinline]]
#define WIDTHWISE_WITHIN [[gnu::always_inline]]

#include <hwy/highway.h>

#include <memory>

#include "sim/engine/lines.hpp"
#include "sim/integers/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

using Word2 = Doubled<Word>;
using Word4 = Doubled<Word2>;

// What a row of outputs holds between two parts of k, word by word.
template <class C>
struct Held {
  std::uint64_t* at;
  std::size_t panel;

  ChainState<C> load() const { return {read(0), {read(1), read(2)}}; }
  void store(const ChainState<C>& s) const {
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

// A tile's rows, one after the other.
template <class M, class C>
class Rows {
 public:
  Rows(const Unit& unit, const Tile& t)
      : u_(unit),
        t_(t),
        lanes_(block_lanes(u_, t.lanes)),
        multiplier_{unit.a.fmt.precision(), unit.b.fmt.precision()},
        products_(lanes_ + 1),
        group_(lanes_ + 1),
        sums_(lanes_ + 1) {}

  // The outputs from (row, column) on.
  HWY_NOINLINE void outputs(std::size_t row, std::size_t column) {
    constexpr std::size_t words = words_of<C>, number = words + words_beside;
    constexpr std::size_t chain = registers * (words + number);
    const auto c = load_factors<C>(t_.c + row * number * t_.panel + column, t_.panel);
    const std::size_t at = row * t_.panel + column;
    const auto held = [&] {
      return Held<C>{t_.chains + row * chain * t_.panel + column, t_.panel};
    };

    draws_.begin(t_.seed, t_.index + row * t_.next_row + column);
    RowProgress progress{Count(0), Truth(false), &draws_, t_.codes_only};
    ChainState<C> s = t_.begins() ? start_chain(u_, c) : resumed(held().load());
    if (!t_.begins())
      progress.flags = Count(load(t_.flags + at)), progress.gone = load(t_.lost + at) != Word(0);
    advance_all(row, column, s, progress);
    if (t_.ends())
      store_words(end_chain(u_, s, c, progress, trace_), t_.code + row * words * t_.panel + column,
                  t_.panel);
    else
      held().store(s);
    store(Word(progress.flags), t_.flags + at);
    Word lost;
    fill(progress.gone, lost);
    store(lost, t_.lost + at);
  }

 private:
  // Where the last block began, and what promotion has left, follow from where the part lies.
  ChainState<C> resumed(ChainState<C> s) const {
    s.first = static_cast<std::int64_t>(t_.first - lanes_);
    s.pending = u_.promote && static_cast<std::int64_t>(t_.first) % u_.unit.chain.promote->interval;
    return s;
  }
  void advance_all(std::size_t row, std::size_t column, ChainState<C>& s, RowProgress& progress) {
    const bool scaled = t_.scale_of != nullptr;
    const Operands<C> all{t_.a + row * t_.lanes * Operands<C>::words,
                          scaled ? t_.scale_a + row * t_.scales * Operands<C>::words : nullptr,
                          t_.b + column,
                          scaled ? t_.scale_b + column : nullptr,
                          t_.scale_of,
                          t_.panel,
                          t_.lanes};
    const Scratch<M> scratch{products_, group_, sums_};
    for (std::size_t i = 0; i < t_.lanes && any(no(progress.gone)); i += lanes_) {
      advance(u_, s, all.block(i, lanes_), static_cast<std::int64_t>(t_.first + i), scratch,
              multiplier_, progress, trace_);
      if (t_.codes_only && !any(no(progress.gone | is_decided(u_, s)))) break;
    }
  }

  const Datapath<M, C> u_;
  const Tile& t_;
  std::size_t lanes_;  // of a block
  RowMultiplier<M> multiplier_;
  Lines<Term<M>> products_, group_, sums_;
  Draws draws_;
  NoTrace trace_;
};

template <class M, class C>
void tile(const Unit& unit, const Tile& t) {
  const auto rows = std::make_unique<Rows<M, C>>(unit, t);
  for (std::size_t row = 0; row < t.rows; ++row)
    for (std::size_t column = 0; column < t.columns; column += row_items)
      rows->outputs(row, column);
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace widthwise::rows::WIDTHWISE_ROWS_PATH {

Kernel WIDTHWISE_ROWS_KERNEL() {
  using namespace HWY_NAMESPACE;
  return &tile<WIDTHWISE_ROWS_MAGNITUDE, WIDTHWISE_ROWS_CODE>;
}

}  // namespace widthwise::rows::WIDTHWISE_ROWS_PATH
