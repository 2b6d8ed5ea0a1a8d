#pragma once
#include <fmt/format.h>

#include "plan.hpp"

// Formats and roundings of a unit as the lanes have them.
namespace widthwise::blocks {

inline constexpr int double_digits = 53, float_digits = 24;
inline constexpr std::int64_t most_exponent = 900;  // of whatever is met, either way
inline constexpr int most_random_bits = 32;

// Why the lanes do not take a unit.
struct Refusal {
  std::string reason;
  bool of_range = false;  // of exponents, which might be watched
};
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
[[noreturn]] void refuse_range(fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{fmt::format(text, std::forward<Args>(args)...), true};
}

// Between which weights the digits of numbers lie.
struct Range {
  std::int64_t low, high;
};
inline Range operator*(const Range& x, const Range& y) { return {x.low + y.low, x.high + y.high}; }
inline Range both(const Range& x, const Range& y) {
  return {std::min(x.low, y.low), std::max(x.high, y.high)};
}

// Refuse what a double has not to spare.
Range range(const char* where, const Format& f);
Range range(const char* where, const Operand& x);
// The same of numbers that are watched: as far as the lanes have room for them.
inline constexpr int watched_reach = 400;
Range watched_range(const char* where, const Operand& x);
Range within_reach(const char* where, const Range& x);

// Whether every number of an operand is a double.
bool are_doubles(const Operand& x);

// To binary64, as the machine has it.
bool is_own(const Round& r);
// Whether lanes round so: by any mode, or by as many random bits as they draw.
bool is_made(const Round& r);
// By hand, where the machine rounds by another mode.
Slot own_slot(widthwise::Slot place, const Rounding& rm, RoundingMode machine = RoundingMode::rne);
// What a unit's numbers leave of the lanes' exponents (docs/exactness.md, 53).
enum class Room : std::uint8_t {
  bounded,  // all lie within bounds that plan() knows
  far,      // any doubles, up to 2^most_exponent
  near,     // multiples of 2^-watched_reach, up to 2^watched_reach
};
Slot slot(widthwise::Slot place, const char* where, const Round& r, Room room = Room::bounded);
std::optional<Slot> slot(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         Room room = Room::bounded);
// Where what it rounds is no double, and not two of them either.
void refuse_fine(const char* where, const Slot& s);
// Infinities and NaN pass a node without being rounded. It rounds the sum of two terms, or else a
// double.
std::optional<Slot> node(widthwise::Slot place, const char* where, const std::optional<Round>& r,
                         bool of_two, Room room = Room::bounded);

}  // namespace widthwise::blocks
