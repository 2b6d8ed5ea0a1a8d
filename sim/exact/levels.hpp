#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>

#include "plan.hpp"

// How many sums of doubles, each of its own last digit, add the products of a tile without loss.
namespace widthwise::exact {

inline constexpr int most_levels = 3;

// What is known of numbers: multiples of 2^last, below 2^top in magnitude.
struct Extent {
  std::int64_t last, top;
};
constexpr Extent operator*(const Extent& x, const Extent& y) {
  return {x.last + y.last, x.top + y.top};
}

// The largest and smallest magnitude of doubles, zeros aside, as their bits; 0 and all ones if all
// are zero.
struct Range {
  std::uint64_t most = 0, least = ~std::uint64_t{0};
};

// Of an operand's numbers.
constexpr Extent extent(const Range& x, const Span& span) {
  const auto exponent = [](std::uint64_t bits) {
    return static_cast<std::int64_t>(bits >> 52) - 1023;
  };
  return {std::max(span.last, exponent(x.least) - span.digits + 1), exponent(x.most) + 1};
}

struct Levels {
  int count;
  std::size_t steps;                // that may be added before the sums are emptied
  std::int64_t digit[most_levels];  // the last digit of each sum, the first one's the largest
};

constexpr int log2_ceil(std::size_t n) { return static_cast<int>(std::bit_width(n - 1)); }

// The first sum takes a product's multiple of 2^digit[0], the next what is left of it in multiples
// of 2^digit[1], and so on; the last takes all (docs/exactness.md, 17). None where three do not do.
constexpr std::optional<Levels> levels(const Extent& products, std::size_t depth) {
  // From the last digit of the least product to the largest; `count` less for every doubling of
  // steps.
  constexpr std::int64_t reach[] = {53, 104, 155};
  const std::int64_t range = products.top - products.last;
  const int wanted = log2_ceil(depth);
  for (int count = 1; count <= most_levels; ++count) {
    const std::int64_t doublings = (reach[count - 1] - range) / count;
    if (range > reach[count - 1] || doublings < std::min(wanted, 7)) continue;
    const auto n = static_cast<int>(std::min<std::int64_t>(doublings, wanted));
    Levels z{count, std::min(depth, std::size_t{1} << n), {}};
    z.digit[count - 1] = products.last;
    if (count > 1) z.digit[count - 2] = products.last + 54 - n;
    if (count > 2) z.digit[0] = z.digit[1] + 51 - n;
    return z;
  }
  return std::nullopt;
}

// The steps for which one sum may round every product to multiples of 2^digit, started at half its
// room at most; 0 where a single one may be too large.
constexpr std::size_t rounded_steps(const Extent& products, std::int64_t digit, std::size_t depth) {
  const std::int64_t doublings = 49 + digit - std::max(products.top, digit);
  if (doublings < 0) return 0;
  return std::min(depth, std::size_t{1} << std::min<std::int64_t>(doublings, 48));
}

}  // namespace widthwise::exact
