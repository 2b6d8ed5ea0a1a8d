#include "widthwise/sim/multipliers.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <stdexcept>

namespace widthwise {
namespace {

int log2_floor(std::uint64_t x) { return 63 - std::countl_zero(x); }

// The leading `width` digits of x; below them a one, then zeros.
std::uint64_t leading(std::uint64_t x, int width) {
  const int drop = log2_floor(x) + 1 - width;
  return drop <= 0 ? x : (x >> drop | 1) << drop;
}

int number_after(std::string_view text, std::string_view name, int least, int most) {
  int n = 0;
  const std::string_view rest = text.substr(name.size());
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
  if (error != std::errc{} || end != rest.data() + rest.size() || n < least || n > most)
    throw std::invalid_argument(
        fmt::format("multiplier '{}': after {} comes a number from {} to {}, as in '{}{}'", text,
                    name, least, most, name, least));
  return n;
}

}  // namespace

Multiplier truncated_array(int columns) {
  return [columns](std::uint64_t a, std::uint64_t b) {
    uint128 sum = 0;
    for (int i = 0; i < 64; ++i) {
      if (!(b >> i & 1)) continue;
      const uint128 row = uint128{a} << i;
      sum += columns < 128 ? row >> columns << columns : 0;
    }
    return sum;
  };
}

Multiplier mitchell() {
  // log2 x is about k + f for x = 2^k (1 + f); the antilogarithm is the same line again.
  return [](std::uint64_t a, std::uint64_t b) -> uint128 {
    if (a == 0 || b == 0) return 0;
    const int ka = log2_floor(a), kb = log2_floor(b);
    const uint128 fa = uint128{a ^ std::uint64_t{1} << ka} << kb,
                  fb = uint128{b ^ std::uint64_t{1} << kb} << ka;
    const uint128 one = uint128{1} << (ka + kb), f = fa + fb;  // fractions in units of 2^-(ka + kb)
    return f < one ? one + f : f << 1;
  };
}

Multiplier drum(int width) {
  return [width](std::uint64_t a, std::uint64_t b) -> uint128 {
    if (a == 0 || b == 0) return 0;
    return uint128{leading(a, width)} * leading(b, width);
  };
}

Multiplier truncated_operands(int bits) {
  return [bits](std::uint64_t a, std::uint64_t b) {
    return uint128{a >> bits << bits} * (b >> bits << bits);
  };
}

Multiplier parse_multiplier(std::string_view text) {
  if (text == "exact") return {};
  if (text == "mitchell") return mitchell();
  if (text.starts_with("truncated_array"))
    return truncated_array(number_after(text, "truncated_array", 0, 127));
  if (text.starts_with("truncated_operands"))
    return truncated_operands(number_after(text, "truncated_operands", 0, 63));
  if (text.starts_with("drum")) return drum(number_after(text, "drum", 2, 64));
  throw std::invalid_argument(fmt::format("multiplier '{}' is not known; there are {}", text,
                                          fmt::join(multiplier_names(), ", ")));
}

std::vector<std::string> multiplier_names() {
  return {"exact", "mitchell", "drum<width>", "truncated_array<columns>",
          "truncated_operands<bits>"};
}

}  // namespace widthwise
