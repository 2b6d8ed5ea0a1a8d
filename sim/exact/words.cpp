#include "words.hpp"

#include <algorithm>

namespace widthwise::exact {

template <WordSum::Cut how>
void WordSums::cut_products(uint128& word, const Item* a, const Item* b, std::size_t n,
                            Flags& flags) const {
  for (std::size_t i = 0; i < n; ++i) {
    const bool negative = a[i].negative != b[i].negative;
    const uint128 m = uint128{a[i].m} * b[i].m;
    const std::int64_t q = std::int64_t{a[i].q} + b[i].q;
    if (word_.is_cut(q)) [[likely]]
      word_.add_cut<how>(word, negative, m, q, flags);
    else
      word_.add(word, negative, m, q, flags);
  }
}

void WordSums::add_products(uint128* words, const Item* a, const Item* b, std::size_t n,
                            Flags& flags) const {
  const auto each = [&](const auto& add) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool negative = a[i].negative != b[i].negative;
      add(negative,
          word_.placed(negative, uint128{a[i].m} * b[i].m, std::int64_t{a[i].q} + b[i].q));
    }
  };
  if (!lone_) return each([&](bool negative, const Placed& v) { spread(words, negative, v); });
  uint128 word = *words;
  if (cut_ == WordSum::Cut::directed)
    cut_products<WordSum::Cut::directed>(word, a, b, n, flags);
  else if (cut_ == WordSum::Cut::nearest)
    cut_products<WordSum::Cut::nearest>(word, a, b, n, flags);
  else if (word_.stepwise())
    each([&](bool negative, const Placed& v) { word_.step(word, negative, v, flags); });
  else
    each([&](bool negative, const Placed& v) { WordSum::accumulate(word, negative, v); });
  *words = word;
}

Term<uint128> WordSums::leading(uint128* words) const {
  constexpr std::uint64_t digit = ~std::uint32_t{0};
  // Of long registers few words have met a term; all others are 0.
  std::ptrdiff_t first = 0, end = static_cast<std::ptrdiff_t>(size());
  while (end > 0 && words[end - 1] == 0) --end;
  while (first < end && words[first] == 0) ++first;
  int128 carry = 0;
  std::ptrdiff_t at = first;
  for (; at < end || carry > 0 || carry < -1; ++at) {
    carry += static_cast<int128>(words[at]);  // a word becomes one digit to base 2^32
    words[at] = static_cast<std::uint64_t>(carry) & digit;
    carry >>= digits_apart;
  }
  end = at;
  const bool negative = carry < 0;  // and -1 stands for more such digits without end
  std::uint64_t borrow = 1;
  for (std::ptrdiff_t i = first; negative && i < end; ++i) {
    borrow += static_cast<std::uint64_t>(words[i]) ^ digit;
    words[i] = borrow & digit;
    borrow >>= digits_apart;
  }
  if (negative && borrow != 0) words[end++] = 1;
  constexpr std::ptrdiff_t kept = 4;
  std::ptrdiff_t bottom = std::max<std::ptrdiff_t>(end - kept, 0);
  while (bottom > 0 && words[bottom + kept - 1] == 0) --bottom;
  Term<uint128> z = finite_term<uint128>(negative, 0, 0);
  z.q = plan_.last + bottom * digits_apart;
  for (std::ptrdiff_t i = kept; i-- > 0;) z.m = z.m << digits_apart | words[bottom + i];
  for (std::ptrdiff_t i = first; i < bottom; ++i) z.m |= words[i] != 0;
  constexpr int spare = 2;  // above a magnitude, which roundings want
  if (z.m >> (128 - spare) == 0) return z;
  z.m = z.m >> spare | ((z.m & 3) != 0), z.q += spare;
  return z;
}

}  // namespace widthwise::exact
