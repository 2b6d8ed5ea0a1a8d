#include "words.hpp"

#include "sim/unit/bound.hpp"

namespace widthwise::exact {

Term<uint128> WordSums::leading(const uint128* words) const {
  std::vector<std::uint32_t> digits(size() + 3);  // base 2^32
  int128 carry = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i < size()) carry += static_cast<int128>(words[i]);
    digits[i] = static_cast<std::uint32_t>(carry);
    carry >>= digits_apart;
  }
  const bool negative = carry < 0;
  std::uint64_t borrow = negative;
  for (std::uint32_t& d : digits) {
    if (!negative) break;
    borrow += ~d;
    d = static_cast<std::uint32_t>(borrow);
    borrow >>= digits_apart;
  }
  constexpr std::size_t kept = 3;
  std::size_t top = digits.size();
  while (top > kept && digits[top - 1] == 0) --top;
  Term<uint128> z{.kind = Kind::finite, .negative = negative};
  z.q = plan_.last + static_cast<std::int64_t>(top - kept) * digits_apart;
  for (std::size_t i = 0; i < kept; ++i) z.m = z.m << digits_apart | digits[top - 1 - i];
  for (std::size_t i = 0; i < top - kept; ++i) z.m |= digits[i] != 0;
  return z;
}

}  // namespace widthwise::exact
