#include "draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/wide/draws.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::wide::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using widthwise::HWY_NAMESPACE::Philox;
constexpr std::size_t together = Draws::calls_together;

// Of the words of one call, the bits of every step that shares it: the first ones of its field.
// What a word has above, and in its other field, goes.
template <int width>
HWY_INLINE void place(int count, int up, const Philox::H (&words)[4], Limb* bits) {
  const Philox::Lanes d;
  const auto mask = hn::Set(d, ones<Limb>(count) << up);
  const auto put = [&](Philox::H field, int digits) {
    const auto first = hn::ShiftLeftSame(hn::ShiftRightSame(field, digits - count), up);
    hn::StoreU(hn::And(first, mask), d, bits);
    bits += Draws::lanes;
  };
  if constexpr (width == 64) {
    for (int i = 0; i < 4; i += 2)
      put(hn::Or(hn::ShiftLeft<32>(words[i + 1]), hn::And(words[i], hn::Set(d, ones<Limb>(32)))),
          64);
  } else {
    for (const auto& word : words) {
      put(word, width);
      if constexpr (width == 16) put(word, 32);
    }
  }
}

template <int width>
HWY_INLINE void draw_fields(Slot slot, int count, int up, const Draws::Calls& calls, Limb* bits) {
  const Philox philox(calls.seed);
  const Philox::Lanes d;
  constexpr std::size_t words_of_call = 128 / width * Draws::lanes;
  for (std::size_t lane = 0; lane < Draws::lanes; lane += hn::Lanes(d)) {
    const Philox::H lanes = hn::Iota(d, lane);  // once: it takes its way through memory
    for (std::size_t i = 0; i < calls.count; i += together) {
      Philox::H words[together][4];
      for (std::size_t j = 0; j < together; ++j)
        Philox::count(hn::Add(lanes, hn::Set(d, calls.output + (i + j) * calls.next_output)),
                      calls.call + (i + j) * calls.next_call, slot, words[j]);
      philox(words);
      for (std::size_t j = 0; j < together; ++j)
        place<width>(count, up, words[j], bits + (i + j) * words_of_call + lane);
    }
  }
}
void draw(Slot slot, const RandomField& field, int up, const Draws::Calls& calls, Limb* bits) {
  switch (field.width) {
    case 16: return draw_fields<16>(slot, field.bits, up, calls, bits);
    case 32: return draw_fields<32>(slot, field.bits, up, calls, bits);
    default: return draw_fields<64>(slot, field.bits, up, calls, bits);
  }
}

}  // namespace widthwise::wide::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::wide {
namespace {

HWY_EXPORT(draw);

alignas(64) constexpr Limb nothing[Draws::lanes] = {};

}  // namespace

Drawn Draws::of(const RoundTo& to, const Steps& s) {
  const int count = to.rule.rounding.random_bits;
  if (count == 0) return {nothing, 0};
  const std::uint64_t shared = RandomField(count).steps_a_call(), first = s.first / shared,
                      last = (s.first + s.count - 1) / shared;
  const Limb* const bits = draw(to, {.seed = s.where.seed,
                                     .output = s.where.index,
                                     .call = first,
                                     .next_output = 0,
                                     .next_call = 1,
                                     .count = last - first + 1});
  return {bits + s.first % shared * lanes, lanes};
}

Drawn Draws::of(const RoundTo& to, const Rows& rows) {
  const int count = to.rule.rounding.random_bits;
  if (count == 0) return {nothing, 0};
  const std::uint64_t shared = RandomField(count).steps_a_call();
  const Limb* const bits = draw(to, {.seed = rows.where.seed,
                                     .output = rows.where.index,
                                     .call = rows.step / shared,
                                     .next_output = rows.row_outputs,
                                     .next_call = 0,
                                     .count = rows.count});
  return {bits + rows.step % shared * lanes, shared * lanes};
}

const Limb* Draws::draw(const RoundTo& to, const Calls& calls) {
  Kept& kept = of_slot_[static_cast<std::size_t>(to.slot)];
  if (kept.calls == calls) return kept.bits.data();
  const RandomField field(to.rule.rounding.random_bits);
  kept.calls = calls;
  kept.bits.resize((calls.count + calls_together - 1) / calls_together * calls_together *
                   field.steps_a_call() * lanes);
  HWY_DYNAMIC_DISPATCH(draw)(to.slot, field, below_ - field.bits, calls, kept.bits.data());
  return kept.bits.data();
}

}  // namespace widthwise::wide
#endif
