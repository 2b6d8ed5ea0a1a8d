#include "posit_codes.hpp"

#include <bit>
#include <cmath>

#include "widthwise/op/convert.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise {

bool PositCodes::decode(const std::byte* codes, int bytes, std::size_t n, double* numbers) const {
  bool has_nar = false;
  for (std::size_t i = 0; i < n; ++i, codes += bytes) {
    const auto x = unpack(layout_, load_code<std::uint64_t>(codes, bytes));
    const double size = std::ldexp(static_cast<double>(x.sig), static_cast<int>(x.exp));
    numbers[i] = x.negative ? -size : size;
    has_nar |= x.nan;
  }
  return has_nar;
}

void PositCodes::encode(const double* numbers, std::size_t n, int bytes, std::byte* codes) const {
  const Layout<std::uint64_t> doubles(binary64);
  for (std::size_t i = 0; i < n; ++i, codes += bytes)
    store_code(codes, bytes, convert(to_, doubles, std::bit_cast<std::uint64_t>(numbers[i])).code);
}

}  // namespace widthwise
