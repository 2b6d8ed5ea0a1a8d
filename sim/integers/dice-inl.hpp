// Random bits of a unit's roundings for a row of outputs, a call of the generator at a time.
#if defined(WIDTHWISE_INTEGERS_DICE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_INTEGERS_DICE_INL
#undef WIDTHWISE_INTEGERS_DICE_INL
#else
#define WIDTHWISE_INTEGERS_DICE_INL
#endif

#include "sim/engine/philox-inl.hpp"
#include "sim/integers/words-inl.hpp"
#include "widthwise/datapath/rounding_slot.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

class Draws {
 public:
  // Those of output `index` and the ones beside it come next.
  void begin(std::uint64_t seed, std::uint64_t index) {
    philox_ = Philox(seed);
    index_ = Word(hn::Iota(Words(), index));
    for (Call& call : calls_) call.number = none;
  }
  Word bits(Slot slot, int random_bits, std::uint64_t step) {
    const RandomField field(random_bits);
    Call& call = calls_[static_cast<std::size_t>(slot)];
    if (const std::uint64_t number = step / field.steps_a_call(); number != call.number) {
      make_words(slot, number, call);
      call.number = number;
    }
    return field.of<Word>(call.words, step);
  }

 private:
  using Philox = widthwise::HWY_NAMESPACE::Philox;
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Call {
    std::uint64_t number = none;  // whose words these are
    std::array<Word, 4> words;
  };

  HWY_NOINLINE void make_words(Slot slot, std::uint64_t number, Call& to) {
    Philox::H words[1][4];
    Philox::count(index_.v, number, slot, words[0]);
    philox_(words);
    for (std::size_t i = 0; i < to.words.size(); ++i)
      to.words[i] = Word(words[0][i]) & Word(0xffffffff);
  }

  Philox philox_{0};
  Word index_;
  Call calls_[static_cast<std::size_t>(Slot::compensated) + 1];
};

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
