#include "widthwise/sim/multipliers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace widthwise {
namespace {

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

using Name = NamedMultiplier::Name;

Multiplier truncated_array(int columns) { return NamedMultiplier{Name::truncated_array, columns}; }
Multiplier mitchell() { return NamedMultiplier{Name::mitchell}; }
Multiplier drum(int width) { return NamedMultiplier{Name::drum, width}; }
Multiplier truncated_operands(int bits) { return NamedMultiplier{Name::truncated_operands, bits}; }

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

std::string product_source(std::string_view text) {
  return fmt::format(R"(typedef unsigned long long uint64;
typedef unsigned __int128 uint128;
#ifdef __CUDACC__
#define WIDTHWISE_DEVICE __device__
#else
#define WIDTHWISE_DEVICE
#endif

// Digits of x: 0 for 0.
static WIDTHWISE_DEVICE inline int bit_length(uint64 x) {{
  int n = 0;
  for (int half = 32; half; half /= 2)
    if (x >> half) n += half, x >>= half;
  return n + (x != 0);
}}

static WIDTHWISE_DEVICE inline void widthwise_text(uint64 ma, uint64 mb, uint128& mp) {{
#line 1 "product"
{}
}}

extern "C" WIDTHWISE_DEVICE void widthwise_product(uint64 ma, uint64 mb, uint128* result) {{
  uint128 mp = 0;
  widthwise_text(ma, mb, mp);
  *result = mp;
}}
)",
                     text);
}

Multiplier exchanged(Multiplier multiply) {
  if (!multiply || multiply.target<NamedMultiplier>()) return multiply;
  if (auto* text = multiply.target<TextProduct>()) {
    text->exchanged = !text->exchanged;
    return multiply;
  }
  return
      [multiply = std::move(multiply)](std::uint64_t a, std::uint64_t b) { return multiply(b, a); };
}

}  // namespace widthwise
