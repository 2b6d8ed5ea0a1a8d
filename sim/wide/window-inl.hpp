// Exact sums of any number of terms, in a window of limbs that follows the largest of them
// (docs/exactness.md, 54). Included by word_kernel-inl.hpp, behind limbs-inl.hpp.
namespace widthwise::wide::words {

// Two's complement; limb i is worth 2^(64 (low + i)). Terms reach up to the limb below the highest
// one, which has the sign and room for carries. The sum lies between what stands here and `tails`
// units of limb 0 more, both excluded, or is that if there are no tails.
template <int N>
struct Window {
  static constexpr int limbs = window_limbs(N), top = limbs - 2;
  static constexpr std::int64_t nowhere = INT64_MIN / 4;  // below every term

  std::int64_t low;
  Limb tails;
  Limb plus, minus;  // ~0: some term, zeros among them, has that sign
  Limb limb[limbs];

  void clear() {
    low = nowhere, tails = plus = minus = 0;
    std::fill_n(limb, limbs, Limb{0});
  }
  bool empty() const { return (any_of(limb, limbs) | tails) == 0; }
  Limb sign() const { return mask_if<Limb>(limb[limbs - 1] >> 63 != 0); }
  void note(Limb sign) { minus |= sign, plus |= ~sign; }
};

// Up by so many limbs: what falls off at the lower end leaves a tail.
template <int N>
void raise(Window<N>& w, std::int64_t limbs) {
  constexpr int all = Window<N>::limbs;
  const int by = static_cast<int>(std::min<std::int64_t>(limbs, all));
  const Limb sign = w.sign();
  w.tails += any_of(w.limb, by) != 0;  // old ones come to less than one
  std::copy(w.limb + by, w.limb + all, w.limb);
  std::fill_n(w.limb + all - by, by, sign);
  w.low += limbs;
}

// Where a term of T limbs and a bit more starts, whose lowest one is `place` on the common grid;
// below 0 if it reaches below the window.
template <int N, int T>
[[gnu::noinline]] std::int64_t make_room(Window<N>& w, std::int64_t place) {
  constexpr int highest = Window<N>::top - T;
  if (w.empty()) w.low = place - highest;
  if (place - w.low > highest) raise(w, place - w.low - highest);
  return place - w.low;
}

// Adds limbs, or where sign is ~0 subtracts them if one is carried in, from limb `at` on. One more
// is done without asking: carries out of limbs are rare, but none can guess when a sum turns.
template <int N>
inline void add_limbs(Window<N>& w, int at, const Limb* limb, int count, Limb sign, Carry carry) {
#pragma GCC unroll 20
  for (int i = 0; i < count; ++i, ++at) w.limb[at] = add(w.limb[at], limb[i] ^ sign, carry);
  do w.limb[at] = add(w.limb[at], sign, carry);
  while (carry != (sign & 1) && ++at < Window<N>::limbs);
}

// One more term, of T limbs, the lowest bit worth 2^last.
template <int T, int N>
void add_term(Window<N>& w, const Limb* digits, std::int64_t last, Limb sign) {
  const int up = static_cast<int>(last & 63);
  Limb term[T + 1];
  for (int i = T; i >= 0; --i)
    term[i] = shifted_up(i < T ? digits[i] : 0, i > 0 ? digits[i - 1] : 0, up);

  std::int64_t at = (last >> 6) - w.low;
  if (static_cast<std::uint64_t>(at) > Window<N>::top - T) [[unlikely]]
    at = make_room<N, T>(w, last >> 6);
  if (at >= 0) [[likely]]
    return add_limbs(w, static_cast<int>(at), term, T + 1, sign, sign & 1);
  const int skip = static_cast<int>(std::min<std::int64_t>(-at, T + 1));
  const bool fallen = any_of(term, skip) != 0;
  w.tails += fallen;  // of what is subtracted the limbs are rounded down as well
  add_limbs(w, 0, term + skip, T + 1 - skip, sign, sign & Limb{!fallen});
}

// A term's limbs down by n digits, n > 0, rounded. With exponents of 62 bits n passes 2^63.
template <int T>
void cut_term(const RoundingRule& rule, std::uint64_t n, Limb sign, Limb* digits) {
  const bool sticky = move_down<T>(n - 1, digits);  // the first digit that is dropped comes lowest
  const unsigned row = static_cast<unsigned>((sign & 8) | (digits[0] & 2) << 1 |
                                             (digits[0] & 1) << 1 | Limb{sticky});
  Carry away = rule.table >> row & 1;
  for (int i = 0; i < T; ++i)
    digits[i] = add(shifted_down(i + 1 < T ? digits[i + 1] : 0, digits[i], 1), 0, away);
}

// The magnitude of the sum, jammed. False where too little of it stands above its tails to be
// rounded to so many digits, the one for all further ones included.
template <int N>
bool take_magnitude(const Window<N>& w, int digits, Limb* magnitude) {
  constexpr int all = Window<N>::limbs;
  const Limb sign = w.sign();
  Carry carry = sign & 1;
  for (int i = 0; i < all; ++i) magnitude[i] = add(w.limb[i] ^ sign, 0, carry);
  if (w.tails == 0) [[likely]]
    return true;
  int highest = all - 1;
  while (highest > 0 && magnitude[highest] == 0) --highest;
  if (64 * highest - std::countl_zero(magnitude[highest] | 1) < digits) return false;
  Limb borrow = sign & w.tails;
  for (int i = 0; i < all; ++i) {
    const Limb before = magnitude[i];
    magnitude[i] -= borrow;
    borrow = magnitude[i] > before;
  }
  if (magnitude[0] != 0 && 0 - magnitude[0] < w.tails) return false;
  magnitude[0] |= 1;
  return true;
}

// The sum before it is rounded; no limb is set if it is zero. False as above.
template <int N>
bool total(const Window<N>& w, int digits, Exact<N + 1>& z) {
  constexpr int all = Window<N>::limbs, below = N + 2;
  Limb magnitude[below + all] = {};
  if (!take_magnitude(w, digits, magnitude + below)) return false;
  z = {0, w.sign(), {}};
  int highest = below + all - 1;
  while (highest >= below && magnitude[highest] == 0) --highest;
  if (highest < below) return true;
  const int up = std::countl_zero(magnitude[highest]);
  const Limb* const from = magnitude + highest - N;
  for (int i = 0; i <= N; ++i) z.limb[i] = shifted_up(from[i], from[i - 1], up);
  z.limb[0] |= (from[-1] << up | any_of(magnitude, highest - N - 1)) != 0;
  z.exponent = 64 * (w.low + highest - below) + 63 - up;
  return true;
}

}  // namespace widthwise::wide::words
