#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "widthwise/sim/elementwise.hpp"

// Numbers in floats that hold them: rounded to a format and back in their own floats, in one pass,
// as training does it.
namespace widthwise {

// What a format without them meets among an array's floats.
enum class Unheld : std::uint8_t { nothing, nan, infinity };

// Whether there are NaNs, where `to` has none, or infinities, which would be 0 in fixed point,
// among codes of a format of 16, 32 or 64 bits as IEEE 754 has them.
Unheld unheld(const Format& own, const Format& to, const void* x, std::size_t count);

class RoundedValues {
 public:
  // `own`, of 16, 32 or 64 bits as IEEE 754 has them, holds every number of `to`, of at most 64
  // bits. Refuses other widths, and other random bits than 1 to 64.
  RoundedValues(const Format& own, const Format& to, const Env& env, std::size_t expected);
  RoundedValues(RoundedValues&&) noexcept;
  ~RoundedValues();

  // y[i] = x[i], rounded. y may be x.
  void run(const void* x, std::size_t count, void* y, RandomSource random) const;
  bool quick() const;  // as Elementwise::quick

 private:
  struct Steps;
  std::unique_ptr<const Steps> steps_;
};

// y[i] = g[i], or 0 where x[i] lies outside of low … high, of which codes are given. NaN does not.
void pass_inside(const Format& own, const void* g, const void* x, std::uint64_t low,
                 std::uint64_t high, std::size_t count, void* y);

}  // namespace widthwise
