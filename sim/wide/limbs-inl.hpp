// Significands of a fixed number of 64-bit limbs, lowest first, their leading one at the top bit.
namespace widthwise::wide::words {

// x + y + carry, and the next carry.
#if HWY_ARCH_X86_64
using Carry = unsigned char;
inline Limb add(Limb x, Limb y, Carry& carry) {  // of 128-bit sums GCC makes twice the instructions
  unsigned long long z;
  carry = _addcarry_u64(carry, x, y, &z);
  return z;
}
#else
using Carry = Limb;
inline Limb add(Limb x, Limb y, Carry& carry) {
  const uint128 z = uint128{x} + y + carry;
  carry = static_cast<Limb>(z >> 64);
  return static_cast<Limb>(z);
}
#endif

// column += a * b, where column[count] is new.
template <int count>
inline void add_row(const Limb* a, Limb b, Limb* column) {
  Limb carry = 0;
#pragma GCC unroll 20
  for (int i = 0; i < count; ++i) {
    uint128 t = uint128{a[i]} * b;
    t += column[i];
    t += carry;
    column[i] = static_cast<Limb>(t);
    carry = static_cast<Limb>(t >> 64);
  }
  column[count] = carry;
}
// Out of line: of many rows in one piece GCC computes all products first, and has no registers for
// them. 16 limbs take 168 ns so, and 440 ns in line.
template <int count>
[[gnu::noinline]] void add_row_apart(const Limb* a, Limb b, Limb* column) {
  add_row<count>(a, b, column);
}

inline constexpr int many_limbs = 6;

// a * b, row by row; without the limb products that lie below limb `from`.
template <int N, int from = 0>
inline void multiply(const Limb* a, const Limb* b, Limb* product) {
  std::fill_n(product, N, Limb{0});
  const auto row = [&]<int i>(std::integral_constant<int, i>) {
    constexpr int first = std::max(from - i, 0), count = N - first;
    constexpr auto add = N < many_limbs ? &add_row<count> : &add_row_apart<count>;
    add(a + first, b[i], product + i + first);
  };
  [&]<int... i>(std::integer_sequence<int, i...>) { (row(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, N>());
}

// (high, low) << n, the upper limb of it; 0 <= n < 64.
constexpr Limb shifted_up(Limb high, Limb low, int n) { return high << n | (low >> 1) >> (63 - n); }
constexpr Limb shifted_down(Limb high, Limb low, int n) {
  return low >> n | (high << 1) << (63 - n);
}

// A number whose leading one is at the top of its limbs, or zero.
template <int N>
struct Number {
  std::int64_t exponent;
  Limb sign;
  Limb limb[N];

  Limb* number() { return limb; }
  Limb top() const { return limb[N - 1]; }
};

// An exact result before it is rounded, lost digits jammed into the lowest bit.
template <int N>
using Exact = Number<N>;

// What is added, with limbs of zeros around it: to be moved down by `skip` limbs is to be read from
// further up.
template <int N>
struct Addend {
  std::int64_t exponent;
  Limb sign;
  Limb limb[2 * N + 3];  // one of zeros below, N of the number, the others zeros

  Limb* number() { return limb + 1; }
  Limb top() const { return limb[N]; }
};
template <int N>
Addend<N> addend(const Number<N>& x) {
  Addend<N> z{.exponent = x.exponent, .sign = x.sign, .limb = {}};
  std::copy_n(x.limb, N, z.number());
  return z;
}

// Few limbs are kept in registers, which are not to be found by an index.
template <int N>
using Term = std::conditional_t<N <= few_limbs, Number<N>, Addend<N>>;

inline Limb any_of(const Limb* limb, int n) {
  Limb all = 0;
  for (int i = 0; i < n; ++i) all |= limb[i];
  return all;
}

// A sum before its leading one is looked for: a limb of zeros, one below those of the addends,
// they, and the carry.
template <int N>
struct Sum {
  std::int64_t exponent;  // of the top bit below the carry
  Limb sign;
  Limb limb[N + 3];

  Limb carry() const { return limb[N + 2]; }
  Limb top() const { return limb[N + 1]; }
};

template <int N>
inline void negate(Sum<N>& z) {
  Carry one = 1;
  for (int i = 1; i <= N + 1; ++i) z.limb[i] = add(~z.limb[i], 0, one);
  z.sign = ~z.sign;
}

// x + y; what falls off the smaller one is jammed.
template <int N>
inline Sum<N> aligned_sum(const Addend<N>& x, const Addend<N>& y) {
  const bool swap = x.exponent < y.exponent || (x.exponent == y.exponent && x.top() < y.top());
  const Addend<N>&high = swap ? y : x, &low = swap ? x : y;
  const auto apart = static_cast<std::uint64_t>(high.exponent - low.exponent);
  const int skip = static_cast<int>(std::min<std::uint64_t>(apart / 64, N + 1)),
            down = static_cast<int>(apart % 64);
  const Limb* const from = low.limb + skip;
  const Limb fallen = any_of(low.limb, skip) | (from[0] << 1) << (63 - down);

  Sum<N> z;
  z.exponent = high.exponent, z.sign = high.sign, z.limb[0] = 0;
  const Limb differ = x.sign ^ y.sign;
  Carry carry = differ & 1;
  for (int i = 0; i <= N; ++i) {
    Limb addend = shifted_down(from[i + 1], from[i], down);
    if (i == 0) addend |= fallen != 0;
    z.limb[i + 1] = add(high.limb[i], addend ^ differ, carry);
  }
  z.limb[N + 2] = carry & ~differ;
  if (differ && !carry) [[unlikely]]
    negate(z);  // the upper limbs agree, and `low` is the larger one
  return z;
}

// The leading one of a difference that cancelled goes up by whole limbs. Zero stays zero.
template <int N>
[[gnu::noinline]] Exact<N + 1> close_up(const Sum<N>& x) {
  Exact<N + 1> z{x.exponent, x.sign, {}};
  int empty = 0;
  while (empty <= N && x.limb[N + 1 - empty] == 0) ++empty;
  if (empty > N) return z;
  const int up = std::countl_zero(x.limb[N + 1 - empty]);
  for (int i = empty; i <= N; ++i)
    z.limb[i] = shifted_up(x.limb[i + 1 - empty], x.limb[i - empty], up);
  z.exponent -= 64 * empty + up;
  return z;
}

template <int N>
inline Exact<N + 1> normalised(const Sum<N>& x) {
  if ((x.top() | x.carry()) == 0) [[unlikely]]
    return close_up(x);
  const int zeros = std::countl_zero(x.top() | 1), up = x.carry() ? 63 : zeros;
  const Limb* const at = x.limb + x.carry();
  Exact<N + 1> z;
  for (int i = 0; i <= N; ++i) z.limb[i] = shifted_up(at[i + 1], at[i], up);
  z.limb[0] |= x.carry() & x.limb[1];
  z.exponent = x.exponent + (x.carry() ? 1 : -zeros);
  z.sign = x.sign;
  return z;
}

template <int N>
inline Exact<N + 1> exact_sum(const Addend<N>& x, const Addend<N>& y) {
  return normalised(aligned_sum(x, y));
}

// x + y where their leading ones are at most 63 digits apart and few cancel: a limb below has room
// for all digits, the top bit for a carry. Nothing is guessed, for half of the guesses were wrong.
template <int N>
inline bool near_sum(const Number<N>& x, const Number<N>& y, Exact<N + 1>& z) {
  const auto size = [](const Number<N>& of) {
    return uint128{static_cast<Limb>(of.exponent) ^ bit<Limb>(63)} << 64 | of.top();
  };
  const Limb swap = Limb{0} - (size(x) < size(y)), differ = x.sign ^ y.sign;
  const std::int64_t turn = (x.exponent ^ y.exponent) & static_cast<std::int64_t>(swap);
  const std::int64_t exponent = x.exponent ^ turn;
  const auto apart = static_cast<std::uint64_t>(exponent - (y.exponent ^ turn));
  const int down = static_cast<int>(apart % 64);

  Limb high[N + 2] = {}, low[N + 2] = {};  // between limbs of zeros
  for (int i = 0; i < N; ++i) {
    const Limb turned = (x.limb[i] ^ y.limb[i]) & swap;
    high[i + 1] = x.limb[i] ^ turned, low[i + 1] = y.limb[i] ^ turned;
  }
  Limb one[N + 1], other[N + 1];
  for (int i = 0; i <= N; ++i) {
    one[i] = shifted_up(high[i + 1], high[i], 63);
    other[i] = ((low[i] >> 1) >> down | low[i + 1] << (63 - down)) ^ differ;
  }
  one[0] |= differ & 1;  // its place is empty
  Carry carry = 0;
  for (int i = 0; i <= N; ++i) one[i] = add(one[i], other[i], carry);
  const bool negative = static_cast<std::int64_t>(one[N] & differ) < 0;  // the upper limbs agreed
  if (apart > 63 || one[N] == 0 || negative) [[unlikely]]
    return false;

  const int up = std::countl_zero(one[N]);
  for (int i = N; i > 0; --i) z.limb[i] = shifted_up(one[i], one[i - 1], up);
  z.limb[0] = one[0] << up;
  z.exponent = exponent + 1 - up;
  z.sign = x.sign ^ (differ & swap);
  return true;
}

template <int N>
[[gnu::noinline]] Exact<N + 1> far_sum(Number<N> x, Number<N> y) {
  return exact_sum(addend(x), addend(y));
}
template <int N>
inline Exact<N + 1> exact_sum(const Number<N>& x, const Number<N>& y) {
  Exact<N + 1> z;
  if (near_sum(x, y, z)) [[likely]]
    return z;
  // Limb by limb, lest z be where that is returned to, in memory.
  const Exact<N + 1> far = far_sum(x, y);
  z.exponent = far.exponent, z.sign = far.sign;
  for (int i = 0; i <= N; ++i) z.limb[i] = far.limb[i];
  return z;
}

// N limbs down by n digits, n up to 2^64. Returns whether any that was set fell off.
template <int N>
inline bool move_down(std::uint64_t n, Limb* limb) {
  const int skip = static_cast<int>(std::min<std::uint64_t>(n / 64, N)),
            down = static_cast<int>(n % 64);
  const auto above = [&](int i) { return i + skip < N ? limb[i + skip] : Limb{0}; };
  const Limb fallen = any_of(limb, skip) | (above(0) << 1) << (63 - down);
  for (int i = 0; i < N; ++i) limb[i] = shifted_down(above(i + 1), above(i), down);
  return fallen != 0;
}

// The same number with an exponent so much larger, jammed.
template <int N>
inline Exact<N> moved_down(Exact<N> x, std::uint64_t n) {
  x.limb[0] |= move_down<N>(n, x.limb);
  x.exponent += static_cast<std::int64_t>(n);
  return x;
}

// Where the last kept digit stands: in which limb, and above how many others of it.
struct LastKept {
  int limb, drop;
  LastKept(int limbs, int precision)
      : limb((64 * limbs - precision) / 64), drop((64 * limbs - precision) % 64) {}
};

// The part below a kept digit, to which `drop` digits of `last` belong and all below it, jammed.
// For random bits that is its lowest bit; else nobody asks where.
template <bool random>
inline Limb dropped(Limb last, Limb below, int drop) {
  const Limb fallen = random ? (below << 1) << (63 - drop) != 0 : below & ((Limb{1} << drop) - 1);
  return shifted_down(last, below, drop) | fallen;
}

// Rounds the upper N limbs to the digits kept from limb `lowest` on, as lib's rule has it. Returns
// the dropped part, 0 if it is exact.
template <int N, bool random, int M>
inline Limb round_from(int lowest, int drop, const RoundTo& to, const Exact<M>& x, Limb bits,
                       Limb* limb) {
  const Limb* const upper = x.limb + (M - N);
  const Limb last = upper[lowest],
             below = upper[lowest - 1] | (any_of(x.limb, M - N + lowest - 1) != 0);
  const Limb rest = dropped<random>(last, below, drop), kept = last >> drop;
  Carry away = 0;
  if constexpr (random)
    away = rounds_away<Limb>(to.rule, x.sign & 1, kept & 1, rest, bits);
  else
    add(rest, to.increments[(x.sign & 2) | (kept & 1)], away);
  for (int i = 0; i < lowest; ++i) limb[i] = 0;
  limb[lowest] = (kept + away) << drop;
  for (int i = lowest + 1; i < N; ++i) limb[i] = upper[i];
  return rest;
}

// A carry out of a limb, which is 0 now, goes on from the next. True where it leaves a power of
// two.
template <int N>
inline bool carry_on(Limb* limb, int next) {
  for (int i = next; i < N; ++i)
    if (++limb[i] != 0) return false;
  limb[N - 1] = Limb{1} << 63;
  return true;
}

}  // namespace widthwise::wide::words
