#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/blocks.hpp"

namespace test_packing {

// Codes side by side, on every instruction set, against one bit after the other.
using namespace widthwise;

namespace {

using namespace tests;
using Bytes = std::vector<std::byte>;

constexpr std::byte untouched{0xa5};
constexpr std::size_t behind = 80;  // bytes that stay as they are

std::size_t item_of(int width) { return static_cast<std::size_t>(item_bytes(width)); }

Bytes bit_by_bit(int width, const Bytes& codes, std::size_t rows, std::size_t n) {
  const auto w = static_cast<std::size_t>(width);
  Bytes bytes(rows * packed_bytes(n, width));
  for (std::size_t i = 0; i < rows * n; ++i) {
    const auto code = load_code<std::uint64_t>(&codes[i * item_of(width)], item_bytes(width));
    for (std::size_t k = 0; k < w; ++k) {
      const std::size_t bit = i % n * w + k;
      bytes[i / n * packed_bytes(n, width) + bit / 8] |= std::byte(code >> k & 1) << bit % 8;
    }
  }
  return bytes;
}

void check(int width, const Bytes& codes, std::size_t rows, std::size_t n, Tally& tally,
           std::uint64_t& expected) {
  Bytes wanted = bit_by_bit(width, codes, rows, n), taken = codes;
  wanted.resize(wanted.size() + behind, untouched);
  taken.resize(taken.size() + behind, untouched);
  on_every_target([&] {
    Bytes bytes(wanted.size(), untouched), back(taken.size(), untouched);
    pack_codes(width, codes.data(), rows, n, bytes.data());
    unpack_codes(width, bytes.data(), rows, n, back.data());
    const auto where = [&](const char* what) {
      return fmt::format("{} {} x {} codes of {} bits", what, rows, n, width);
    };
    tally.check(bytes == wanted, [&] { return where("packing"); });
    tally.check(back == taken, [&] { return where("unpacking"); });
    expected += 2;
  });
}

Bytes drawn(int width, std::size_t count) {
  std::mt19937_64 draw(count);
  Bytes codes(count * item_of(width));
  for (std::size_t i = 0; i < count; ++i)
    store_code(&codes[i * item_of(width)], item_bytes(width), draw() >> (64 - width));
  return codes;
}

}  // namespace

TEST_CASE("codes to 8 bits, every pair of neighbours at every place of a word") {
  Tally tally;
  std::uint64_t expected = 0;
  for (int width = 1; width <= 8; ++width) {
    const std::size_t all = std::size_t{1} << width;
    for (std::size_t shift = 0; shift < 8; ++shift) {
      Bytes codes(shift);
      for (std::size_t i = 0; i < 8 * all * all; ++i)
        codes.push_back(static_cast<std::byte>(i % 2 ? i / (8 * all) : i / 8 % all));
      check(width, codes, 1, codes.size(), tally, expected);
    }
  }
  tally.expect(expected);
}

TEST_CASE("codes of every width, rows of every length") {
  Tally tally;
  std::uint64_t expected = 0;
  for (int width = 1; width <= 64; ++width)
    for (std::size_t n = 0; n <= (width <= 8 ? 300 : 20); ++n)
      for (const std::size_t rows : {1, 3, 8})
        check(width, drawn(width, rows * n), rows, n, tally, expected);
  tally.expect(expected);
}

}  // namespace test_packing
