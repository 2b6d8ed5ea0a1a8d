#include "words.hpp"

#include "sim/unit/bound.hpp"

namespace widthwise::exact {

uint128 WordSums::cut(bool negative, uint128 m, std::int64_t digits) const {
  const Rounding& rule = sum_.align.rm;
  if (m >> 62 != 0) return round_magnitude(rule, negative, m, digits);
  return round_magnitude(rule, negative, static_cast<std::uint64_t>(m), digits);  // quicker
}

// As lib has it; most sums fit as they are.
void WordSums::keep_inside(uint128& word, Flags& flags) const {
  const uint128 limit = uint128{1} << (*sum_.width - 1);
  if (word + limit < limit << 1) return;
  const Signed<uint128> z = fit(sum_, magnitude(word), flags);
  word = signed_word(z.negative, z.m);
}

// Lane by lane, for saturation and flags depend on the order. A term past 2^124 passes every
// register, and is cut there.
void WordSums::step(uint128& word, bool negative, const Placed& v, Flags& flags) const {
  constexpr uint128 beyond = uint128{1} << 124;
  const bool large = v.m != 0 && bit_length(v.m) + v.up > 124;
  const uint128 m = large ? beyond : shift_left(v.m, v.m == 0 ? 0 : v.up);
  uint128 term = signed_word(negative, m);
  word += term;
  if (sum_.overflow == RegisterOverflow::flag) keep_inside(term, flags);
  keep_inside(word, flags);
}

void WordSums::add_products(uint128* words, const Item* a, const Item* b, std::size_t n,
                            Flags& flags) const {
  const auto each = [&](const auto& add) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool negative = a[i].negative != b[i].negative;
      add(negative, placed(negative, uint128{a[i].m} * b[i].m, std::int64_t{a[i].q} + b[i].q));
    }
  };
  if (!lone_) return each([&](bool negative, const Placed& v) { spread(words, negative, v); });
  uint128 word = *words;
  if (stepwise())
    each([&](bool negative, const Placed& v) { step(word, negative, v, flags); });
  else
    each([&](bool negative, const Placed& v) { accumulate(word, negative, v); });
  *words = word;
}

Term<uint128> WordSums::leading(uint128* words) const {
  constexpr std::uint64_t digit = ~std::uint32_t{0};
  const auto n = static_cast<std::ptrdiff_t>(size());
  int128 carry = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {  // a word becomes one digit to base 2^32
    carry += static_cast<int128>(words[i]);
    words[i] = static_cast<std::uint64_t>(carry) & digit;
    carry >>= digits_apart;
  }
  const bool negative = carry < 0;
  std::uint64_t borrow = 1;
  for (std::ptrdiff_t i = 0; negative && i < n; ++i) {
    borrow += static_cast<std::uint64_t>(words[i]) ^ digit;
    words[i] = borrow & digit;
    borrow >>= digits_apart;
  }
  constexpr std::ptrdiff_t kept = 3;
  std::ptrdiff_t bottom = n - kept;
  while (bottom > 0 && words[bottom + kept - 1] == 0) --bottom;
  Term<uint128> z{.kind = Kind::finite, .negative = negative};
  z.q = plan_.last + bottom * digits_apart;
  for (std::ptrdiff_t i = kept; i-- > 0;) z.m = z.m << digits_apart | words[bottom + i];
  for (std::ptrdiff_t i = 0; i < bottom; ++i) z.m |= words[i] != 0;
  return z;
}

}  // namespace widthwise::exact
