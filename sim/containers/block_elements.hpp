#pragma once
#include <cstdint>
#include <optional>

#include "widthwise/sim/blocks.hpp"

// How numbers under their block's scale become elements.
namespace widthwise::containers {

enum class ElementStep : std::uint8_t {
  multiplied,       // by a power of two
  divided_to_odd,   // by a scale and the tensor's, exactly
  multiplied_once,  // in binary32, as products of single steps are defined
  divided_once,     // in binary32, as divisions by scales in binary32 are
};
constexpr bool is_of_floats(ElementStep step) {
  return step == ElementStep::multiplied_once || step == ElementStep::divided_once;
}
// Throws std::invalid_argument where single steps are not for such scales, or where a double
// rounded to odd does not decide a rounding to the element.
ElementStep element_step(const BlockFormat& f, const BlockHow& how);

// Digits that decide how an element rounds, beside one that says that more follow.
int digits_wanted(const Format& element, const Rounding& r);

// Whether NaN and infinity stay in their elements, and a block's scale is that of the others.
bool keeps_specials(const BlockFormat& f);

// The codes of NaN and of an infinity that the element has not, by sign.
struct Spelled {
  std::uint64_t above, below;
  constexpr std::uint64_t of(bool negative) const { return negative ? below : above; }
};
// NaN where it stays in its element; of posits and takums the ends, as an infinity is a quotient.
std::optional<Spelled> spelled(const BlockFormat& f);

}  // namespace widthwise::containers
