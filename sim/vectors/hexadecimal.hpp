#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace widthwise {

// Values of the characters of a hexadecimal number; 16 of all others.
inline constexpr auto hex_values = [] {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& v : values) v = 16;
  for (unsigned d = 0; d < 16; ++d) {
    values[static_cast<unsigned char>("0123456789abcdef"[d])] = static_cast<std::uint8_t>(d);
    values[static_cast<unsigned char>("0123456789ABCDEF"[d])] = static_cast<std::uint8_t>(d);
  }
  return values;
}();

// What came of reading a number.
enum class HexFault : std::uint8_t { none, not_hexadecimal, too_wide };

// A number of at most `width` bits into `bytes` little-endian bytes.
inline HexFault read_hex(std::string_view text, int width, std::byte* code, int bytes) {
  const auto room = static_cast<std::size_t>(width);
  std::size_t digits = 0;  // without leading zeros
  unsigned top = 0, bad = 0;
  std::uint64_t limb = 0;
  for (const char c : text) {
    const unsigned d = hex_values[static_cast<unsigned char>(c)];
    bad |= d;
    if (digits > 0 || d != 0) ++digits;
    if (digits == 1) top = d;
  }
  if (bad & 16 || text.empty()) return HexFault::not_hexadecimal;
  const std::size_t top_bits = top > 7 ? 4 : top > 3 ? 3 : top > 1 ? 2 : top;
  if (digits > 0 && 4 * (digits - 1) + top_bits > room) return HexFault::too_wide;

  // From the last digit on, sixteen at a time.
  int at = 0, filled = 0;
  const auto put = [&] {
    for (int i = 0; i < 8 && at < bytes; ++i, limb >>= 8)
      code[at++] = static_cast<std::byte>(limb & 0xff);
    limb = 0, filled = 0;
  };
  for (std::size_t i = text.size(); i-- > text.size() - digits;) {
    limb |= std::uint64_t{hex_values[static_cast<unsigned char>(text[i])]} << 4 * filled;
    if (++filled == 16) put();
  }
  while (at < bytes) put();
  return HexFault::none;
}

// The digits that `width` bits take, upper case as TestFloat has them.
inline void append_hex(std::string& text, const std::byte* code, int width) {
  for (int digit = (width + 3) / 4; digit-- > 0;) {
    const unsigned byte = std::to_integer<unsigned>(code[digit / 2]);
    text += "0123456789ABCDEF"[digit % 2 ? byte >> 4 : byte & 15];
  }
}

}  // namespace widthwise
