#include "bit_vectors.hpp"

#include <algorithm>
#include <cstring>

namespace widthwise::model {

void append_codes(std::vector<std::byte>& codes, const std::uint32_t* words, std::size_t count,
                  int width) {
  const auto bits = static_cast<std::size_t>(width);
  const auto bytes = static_cast<std::size_t>(item_bytes(width));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t low = 0; low < bits; low += 64) {
      const std::uint64_t limb =
          bits_at(words, i * bits + low, std::min<std::size_t>(64, bits - low));
      const auto* first = reinterpret_cast<const std::byte*>(&limb);
      codes.insert(codes.end(), first, first + std::min<std::size_t>(8, bytes));
    }
}

void store_words(std::uint32_t* words, const std::byte* code, int width) {
  const auto bytes = static_cast<std::size_t>(item_bytes(width));
  std::vector<std::uint32_t> all(std::max<std::size_t>(1, bytes / 4));
  std::memcpy(all.data(), code, bytes);
  std::copy_n(all.begin(), words_of(static_cast<std::size_t>(width)), words);
}

bool fit(const void* codes, std::size_t count, int width) {
  const int bytes = item_bytes(width), top = width % 64;
  if (bytes * 8 == width) return true;
  // The limb, or the whole of a narrow code, that has bits to spare.
  const auto stride = static_cast<std::size_t>(bytes);
  const auto* last = static_cast<const std::byte*>(codes) + (bytes > 8 ? bytes - 8 : 0);
  for (std::size_t i = 0; i < count; ++i)
    if (load_code<std::uint64_t>(last + i * stride, std::min(bytes, 8)) >> top) return false;
  return true;
}

}  // namespace widthwise::model
