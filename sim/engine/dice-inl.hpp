// Random bits of a rounding for a row of outputs, a call of the generator at a time.
// Compiled once for every instruction set, within the kernels of engines.
#if defined(WIDTHWISE_ENGINE_DICE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ENGINE_DICE_INL
#undef WIDTHWISE_ENGINE_DICE_INL
#else
#define WIDTHWISE_ENGINE_DICE_INL
#endif

#include <hwy/highway.h>

#include "sim/engine/row_words.hpp"
#include "widthwise/datapath/rounding_slot.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

// U is a row of integers.
template <class U>
class Dice {
  static constexpr std::size_t items = std::extent_v<decltype(U::item)>;
  using Words = typename WordsOf<U>::type;

 public:
  Dice() = default;
  template <class H>
  HWY_INLINE Dice(const RoundingSlot<H>& s, std::uint64_t seed)
      : stochastic_(s.description.rm.stochastic()),
        field_(s.description.rm.random_bits),
        slot_(s.slot),
        keys_(seed) {}
  template <class H>
  HWY_INLINE Dice(const RoundingSlot<H>& s, std::uint64_t seed, std::uint64_t index)
      : Dice(s, seed) {
    begin(index);
  }
  // From now on for the outputs from this index on.
  HWY_INLINE void begin(std::uint64_t index) {
    if (!stochastic_) return;
    U low, high;
    for (std::size_t i = 0; i < items; ++i) {
      low.item[i] = static_cast<std::uint32_t>(index + i);
      high.item[i] = static_cast<std::uint32_t>((index + i) >> 32);
    }
    low_ = Words(low), high_ = Words(high);
    call_ = none;
  }
  HWY_INLINE bool stochastic() const { return stochastic_; }

  HWY_INLINE U bits(std::uint64_t step) {
    if (!stochastic_) return U(0);
    if (const std::uint64_t call = step / field_.steps_a_call(); call != call_) {
      make_words(step);
      call_ = call;
    }
    return field_.template of<U>(words_, step);
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // lib's generator knows no instruction set; taken into this, it is compiled for this one.
  [[gnu::flatten]] HWY_NOINLINE void make_words(std::uint64_t step) {
    words_ = random_words<Words>(field_, keys_, low_, high_, slot_, step);
  }

  bool stochastic_ = false;
  RandomField field_{0};
  Slot slot_{};
  PhiloxKeys keys_{0};
  Words low_{}, high_{};
  std::uint64_t call_ = none;  // whose words these are
  std::array<Words, 4> words_{};
};

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
