#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

// Sums of integer products brought to the next layer's codes: acc M rounded, + z, clamped
// (docs/semantics.md, A5).
namespace widthwise {

// How acc M is rounded, by the name of those who round so.
enum class Requantisation : std::uint8_t {
  rational,  // exactly, ties to even; or up: exact, rndnu, single
  gemmlowp,  // q 2^(h - 31): by half first with ties up, then by a power of two, ties away
  ruy,       // the same, ties up both times
  q31,       // the same of a 24-bit q, without saturation
  fp32,      // float(acc) times a float, ties to even
};

// M, as a rule takes it: significand / divisor * 2^exponent, and as a float.
struct SumScale {
  std::uint64_t significand = 0;
  std::uint64_t divisor = 1;  // below 2^62
  int exponent = 0;
  float real = 0;
};

struct RequantiseRule {
  Requantisation how = Requantisation::rational;
  bool ties_up = false;
  std::int64_t qmin, qmax;
};

// Sums of shape (outer, channels, inner), in this order, a multiplier and a zero point a channel.
struct Channels {
  std::size_t count = 1, inner = 1;
};

// Sums [first, first + count) to the same places of codes.
void requantise(const RequantiseRule& rule, const Channels& channels,
                const std::vector<SumScale>& multipliers,
                const std::vector<std::int64_t>& zero_points, const std::int32_t* sums,
                std::size_t first, std::size_t count, std::int32_t* codes);

}  // namespace widthwise
