// Random bits of a unit's roundings for a row of outputs, a call of the generator at a time.
#if defined(WIDTHWISE_INTEGERS_DICE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_INTEGERS_DICE_INL
#undef WIDTHWISE_INTEGERS_DICE_INL
#else
#define WIDTHWISE_INTEGERS_DICE_INL
#endif

#include "sim/integers/words-inl.hpp"
#include "widthwise/datapath/rounding_slot.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// Words of 32 bits, each in a place of 64.
struct Spaced {
  Word word;

  Spaced() = default;
  HWY_INLINE explicit Spaced(std::uint64_t x) : word(x) {}
  HWY_INLINE explicit Spaced(Word x) : word(x) {}
  HWY_INLINE explicit operator Word() const { return word; }
  friend HWY_INLINE Spaced operator^(Spaced a, Spaced b) { return Spaced(a.word ^ b.word); }
  friend HWY_INLINE Spaced operator&(Spaced a, Spaced b) { return Spaced(a.word & b.word); }
  friend HWY_INLINE Spaced operator>>(Spaced x, int n) { return Spaced(x.word >> n); }
  friend HWY_INLINE Halves<Spaced> multiply_exact(Spaced a, Spaced b) {
    const Word z = multiplied_halves(a.word, b.word);
    return {Spaced(z >> 32), Spaced(z & Word(0xffffffff))};
  }
};

class Draws {
 public:
  // Those of output `index` and the ones beside it come next.
  void begin(std::uint64_t seed, std::uint64_t index) {
    HWY_ALIGN std::uint64_t low[row_items], high[row_items];
    for (int i = 0; i < row_items; ++i) {
      const std::uint64_t at = index + static_cast<std::uint64_t>(i);
      low[i] = at & 0xffffffff, high[i] = at >> 32;
    }
    low_ = Spaced(HWY_NAMESPACE::load(low)), high_ = Spaced(HWY_NAMESPACE::load(high));
    keys_ = PhiloxKeys(seed);
    for (Call& call : calls_) call.number = none;
  }
  Word bits(Slot slot, int random_bits, std::uint64_t step) {
    const RandomField field(random_bits);
    Call& call = calls_[static_cast<std::size_t>(slot)];
    if (const std::uint64_t number = step / field.steps_a_call(); number != call.number) {
      make_words(field, slot, step, call);
      call.number = number;
    }
    return field.of<Word>(call.words, step);
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Call {
    std::uint64_t number = none;  // whose words these are
    std::array<Spaced, 4> words;
  };

  HWY_NOINLINE void make_words(const RandomField& field, Slot slot, std::uint64_t step, Call& to) {
    to.words = random_words<Spaced>(field, keys_, low_, high_, slot, step);
  }

  PhiloxKeys keys_{0};
  Spaced low_, high_;
  Call calls_[static_cast<std::size_t>(Slot::compensated) + 1];
};

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
