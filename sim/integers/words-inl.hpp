// Integers of a row of outputs in vectors: words, longer ones of two halves, exponents and truths.
#if defined(WIDTHWISE_INTEGERS_WORDS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_INTEGERS_WORDS_INL
#undef WIDTHWISE_INTEGERS_WORDS_INL
#else
#define WIDTHWISE_INTEGERS_WORDS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "widthwise/side_by_side.hpp"
#include "widthwise/wide.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint64_t>;
using Integers = hn::ScalableTag<std::int64_t>;
inline constexpr int row_items = HWY_MAX_BYTES / 8;

struct alignas(8) Truth {
  hn::Mask<Words> mask;

  Truth() = default;
  // GCC 12 copies what lies between masks of a byte and the vectors beside them along, all at once:
  // right after a mask was stored that stalls for tens of cycles. Not what has a copy of its own.
  Truth(const Truth& x) : mask(x.mask) {}
  Truth& operator=(const Truth& x) {
    mask = x.mask;
    return *this;
  }
  HWY_INLINE explicit Truth(hn::Mask<Words> m) : mask(m) {}
  HWY_INLINE Truth(bool all) : mask{} {
    if (all) mask = hn::Not(mask);
  }
  friend HWY_INLINE Truth operator&(Truth a, Truth b) { return Truth(hn::And(a.mask, b.mask)); }
  friend HWY_INLINE Truth operator|(Truth a, Truth b) { return Truth(hn::Or(a.mask, b.mask)); }
  friend HWY_INLINE Truth operator^(Truth a, Truth b) { return Truth(hn::Xor(a.mask, b.mask)); }
  friend HWY_INLINE Truth operator==(Truth a, Truth b) {
    return Truth(hn::Not(hn::Xor(a.mask, b.mask)));
  }
};
HWY_INLINE Truth no(Truth x) { return Truth(hn::Not(x.mask)); }
HWY_INLINE bool any(Truth x) { return !hn::AllFalse(Words(), x.mask); }

// Exponents, counts and flags.
struct Count {
  hn::Vec<Integers> v;

  Count() = default;
  HWY_INLINE explicit Count(hn::Vec<Integers> x) : v(x) {}
  HWY_INLINE explicit Count(const struct Word& x);
  HWY_INLINE Count(std::int64_t x) : v(hn::Set(Integers(), x)) {}
  friend HWY_INLINE Count operator+(Count a, Count b) { return Count(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Count operator-(Count a, Count b) { return Count(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Count operator&(Count a, Count b) { return Count(hn::And(a.v, b.v)); }
  friend HWY_INLINE Count operator>>(Count a, Count n) { return Count(a.v >> n.v); }
  friend HWY_INLINE Count operator|(Count a, Count b) { return Count(hn::Or(a.v, b.v)); }
  friend HWY_INLINE Truth operator<(Count a, Count b) {
    return Truth(hn::RebindMask(Words(), hn::Lt(a.v, b.v)));
  }
  friend HWY_INLINE Truth operator>(Count a, Count b) { return b < a; }
  friend HWY_INLINE Truth operator<=(Count a, Count b) { return no(b < a); }
  friend HWY_INLINE Truth operator>=(Count a, Count b) { return no(a < b); }
  friend HWY_INLINE Truth operator==(Count a, Count b) {
    return Truth(hn::RebindMask(Words(), hn::Eq(a.v, b.v)));
  }
  friend HWY_INLINE Truth operator!=(Count a, Count b) {
    return Truth(hn::RebindMask(Words(), hn::Ne(a.v, b.v)));
  }
};
HWY_INLINE Count lesser(Count a, Count b) { return Count(hn::Min(a.v, b.v)); }
HWY_INLINE Count greater(Count a, Count b) { return Count(hn::Max(a.v, b.v)); }
// Of exponents of at most 54 bits.
HWY_INLINE Count distance(Count a, Count b) { return a - b; }
HWY_INLINE Count wrapped_sum(Count a, Count b) { return a + b; }

struct Word {
  hn::Vec<Words> v;

  Word() = default;
  HWY_INLINE explicit Word(hn::Vec<Words> x) : v(x) {}
  HWY_INLINE explicit Word(std::uint64_t x) : v(hn::Set(Words(), x)) {}
  HWY_INLINE explicit Word(Count x) : v(hn::BitCast(Words(), x.v)) {}
  // Of a row that holds one value throughout.
  explicit operator std::int64_t() const { return static_cast<std::int64_t>(hn::GetLane(v)); }
  friend HWY_INLINE Word operator+(Word a, Word b) { return Word(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Word operator-(Word a, Word b) { return Word(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Word operator&(Word a, Word b) { return Word(hn::And(a.v, b.v)); }
  friend HWY_INLINE Word operator|(Word a, Word b) { return Word(hn::Or(a.v, b.v)); }
  friend HWY_INLINE Word operator^(Word a, Word b) { return Word(hn::Xor(a.v, b.v)); }
  friend HWY_INLINE Truth operator==(Word a, Word b) { return Truth(hn::Eq(a.v, b.v)); }
  friend HWY_INLINE Truth operator!=(Word a, Word b) { return Truth(hn::Ne(a.v, b.v)); }
  friend HWY_INLINE Truth operator<(Word a, Word b) { return Truth(hn::Lt(a.v, b.v)); }
  friend HWY_INLINE Truth operator>(Word a, Word b) { return b < a; }
  friend HWY_INLINE Truth operator<=(Word a, Word b) { return no(b < a); }
  friend HWY_INLINE Truth operator>=(Word a, Word b) { return no(a < b); }
  // Whether a has this digit.
  friend HWY_INLINE Truth has(Word a, Word digit) { return Truth(hn::TestBit(a.v, digit.v)); }
  friend HWY_INLINE Word operator<<(Word a, Count n) {
    return Word(a.v << hn::BitCast(Words(), n.v));
  }
  friend HWY_INLINE Word operator>>(Word a, Count n) {
    return Word(a.v >> hn::BitCast(Words(), n.v));
  }
  friend HWY_INLINE Word operator<<(Word a, int n) { return Word(hn::ShiftLeftSame(a.v, n)); }
  friend HWY_INLINE Word operator>>(Word a, int n) { return Word(hn::ShiftRightSame(a.v, n)); }
};

HWY_INLINE Count::Count(const Word& x) : v(hn::BitCast(Integers(), x.v)) {}

HWY_INLINE Word load(const std::uint64_t* from) { return Word(hn::LoadU(Words(), from)); }
HWY_INLINE void store(Word x, std::uint64_t* to) { hn::StoreU(x.v, Words(), to); }

HWY_INLINE Word select(Truth c, Word a, Word b) { return Word(hn::IfThenElse(c.mask, a.v, b.v)); }
HWY_INLINE Count select(Truth c, Count a, Count b) {
  return Count(hn::IfThenElse(hn::RebindMask(Integers(), c.mask), a.v, b.v));
}
HWY_INLINE Truth select(Truth c, Truth a, Truth b) {
  return Truth(hn::Or(hn::And(c.mask, a.mask), hn::AndNot(c.mask, b.mask)));
}
// All digits set where c holds.
HWY_INLINE void fill(Truth c, Word& x) { x = Word(hn::VecFromMask(Words(), c.mask)); }

// The low halves, which are numbers of up to 32 digits.
HWY_INLINE Word multiplied_halves(Word a, Word b) {
#if HWY_TARGET == HWY_SCALAR
  const Word half(0xffffffff);
  return Word(hn::Mul((a & half).v, (b & half).v));
#else
  const hn::Repartition<std::uint32_t, Words> d;
  return Word(hn::MulEven(hn::BitCast(d, a.v), hn::BitCast(d, b.v)));
#endif
}
// A product of up to 64 digits.
HWY_INLINE Word operator*(Word a, Word b) { return Word(hn::Mul(a.v, b.v)); }
HWY_INLINE Halves<Word> multiply_exact(Word a, Word b) {
  const Word half(0xffffffff), a1 = a >> 32, b1 = b >> 32;
  const Word low = multiplied_halves(a, b);
  const Word cross = multiplied_halves(a1, b) + (low >> 32);
  const Word other = multiplied_halves(a, b1) + (cross & half);
  return {multiplied_halves(a1, b1) + (cross >> 32) + (other >> 32), other << 32 | (low & half)};
}

// The exponent of a double tells. Without the digit below the leading one none rounds up to a
// power of two. Of 0 it is what keeps a shift defined.
HWY_INLINE Count leading_zeros(Word x) {
  const hn::ScalableTag<double> d;
#if HWY_TARGET <= HWY_AVX3
  const auto number = hn::ConvertTo(d, hn::AndNot((x >> 1).v, x.v));
  const Count zeros = Count(63 + 1023) - Count(Word(hn::BitCast(Words(), number)) >> 52);
#else  // of the upper half, or the lower one if that is empty, as the last digits of 2^52 + x
  const Word high = x >> 32;
  const Truth low_half = high == Word(0);
  const Word biased = select(low_half, x, high) | Word(0x4330000000000000);
  const auto number = hn::Sub(hn::BitCast(d, biased.v), hn::Set(d, 0x1p52));
  const Word field = Word(hn::BitCast(Words(), number)) >> 52;
  const Count zeros = select(low_half, Count(63 + 1023), Count(31 + 1023)) - Count(field);
#endif
  return lesser(zeros, Count(63));
}

// --- Longer integers -----------------------------------------------------------------------------

template <class U>
inline constexpr int words_of = 2 * words_of<decltype(U::low)>;
template <>
inline constexpr int words_of<Word> = 1;
template <class U>
inline constexpr int digits_of = 64 * words_of<U>;

// What comparisons of U tell, and what counts its digits.
template <class U>
struct BesideOf {
  using Truth = typename U::Truth;
  using Count = typename U::Count;
};
template <>
struct BesideOf<Word> {
  using Truth = HWY_NAMESPACE::Truth;
  using Count = HWY_NAMESPACE::Count;
};

template <class U>
using TruthOf = typename BesideOf<U>::Truth;
template <class U>
using CountOf = typename BesideOf<U>::Count;

// An integer of two halves. No array of them and no loop: GCC would keep it in memory.
template <class U>
struct Doubled {
  using Truth = TruthOf<U>;
  using Count = CountOf<U>;
  U low, high;

  Doubled() : low(0), high(0) {}
  Doubled(const U& l, const U& h) : low(l), high(h) {}
  explicit Doubled(std::uint64_t x) : low(x), high(0) {}
  explicit Doubled(const Count& x) : low(x), high(0) {}
  // A number of fewer words.
  template <class V>
  requires std::is_constructible_v<U, const V&>
  explicit Doubled(const V& x) : low(x), high(0) {}

  explicit operator Count() const { return Count(low); }
  // Of a row that holds one value throughout.
  explicit operator std::int64_t() const { return static_cast<std::int64_t>(low); }
};

template <class U>
inline constexpr int half = digits_of<U>;

template <class U>
Doubled<U> operator&(const Doubled<U>& a, const Doubled<U>& b) {
  return {a.low & b.low, a.high & b.high};
}
template <class U>
Doubled<U> operator|(const Doubled<U>& a, const Doubled<U>& b) {
  return {a.low | b.low, a.high | b.high};
}
template <class U>
Doubled<U> operator^(const Doubled<U>& a, const Doubled<U>& b) {
  return {a.low ^ b.low, a.high ^ b.high};
}
// A truth that holds has all digits set, which is -1: what a carry adds, if taken away.
template <class U>
Doubled<U> operator+(const Doubled<U>& a, const Doubled<U>& b) {
  const U sum = a.low + b.low;
  U carry;
  fill(sum < a.low, carry);
  return {sum, a.high + b.high - carry};
}
template <class U>
Doubled<U> operator-(const Doubled<U>& a, const Doubled<U>& b) {
  U borrow;
  fill(a.low < b.low, borrow);
  return {a.low - b.low, a.high - b.high + borrow};
}
template <class U>
TruthOf<Doubled<U>> operator==(const Doubled<U>& a, const Doubled<U>& b) {
  return ((a.low ^ b.low) | (a.high ^ b.high)) == U(0);
}
template <class U>
TruthOf<Doubled<U>> operator!=(const Doubled<U>& a, const Doubled<U>& b) {
  return ((a.low ^ b.low) | (a.high ^ b.high)) != U(0);
}
template <class U>
TruthOf<Doubled<U>> operator<(const Doubled<U>& a, const Doubled<U>& b) {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}
template <class U>
TruthOf<Doubled<U>> operator>(const Doubled<U>& a, const Doubled<U>& b) {
  return b < a;
}
template <class U>
TruthOf<Doubled<U>> operator<=(const Doubled<U>& a, const Doubled<U>& b) {
  return TruthOf<U>(true) ^ (b < a);
}
template <class U>
TruthOf<Doubled<U>> operator>=(const Doubled<U>& a, const Doubled<U>& b) {
  return TruthOf<U>(true) ^ (a < b);
}

// What moves to the other half goes in two steps, of which neither is as long as that.
template <class U>
Doubled<U> operator<<(Doubled<U> x, CountOf<Doubled<U>> n) {
  const TruthOf<U> far = n > CountOf<U>(half<U> - 1);
  if (any(far)) {
    x = {select(far, U(0), x.low), select(far, x.low, x.high)};
    n = n & CountOf<U>(half<U> - 1);
  }
  return {x.low << n, x.high << n | (x.low >> 1) >> (CountOf<U>(half<U> - 1) - n)};
}
template <class U>
Doubled<U> operator>>(Doubled<U> x, CountOf<Doubled<U>> n) {
  const TruthOf<U> far = n > CountOf<U>(half<U> - 1);
  if (any(far)) {
    x = {select(far, x.high, x.low), select(far, U(0), x.high)};
    n = n & CountOf<U>(half<U> - 1);
  }
  return {x.low >> n | (x.high << 1) << (CountOf<U>(half<U> - 1) - n), x.high >> n};
}
// All by as much.
template <class U>
Doubled<U> operator<<(const Doubled<U>& x, int n) {
  if (n >= half<U>) return {U(0), x.low << (n - half<U>)};
  return {x.low << n, x.high << n | (x.low >> 1) >> (half<U> - 1 - n)};
}
template <class U>
Doubled<U> operator>>(const Doubled<U>& x, int n) {
  if (n >= half<U>) return {x.high >> (n - half<U>), U(0)};
  return {x.low >> n | (x.high << 1) << (half<U> - 1 - n), x.high >> n};
}

template <class U>
HWY_INLINE void fill(const typename Doubled<U>::Truth& c, Doubled<U>& x) {
  fill(c, x.low);
  x.high = x.low;
}
template <class U>
Doubled<U> select(Truth c, const Doubled<U>& a, const Doubled<U>& b) {
  return {select(c, a.low, b.low), select(c, a.high, b.high)};
}
template <class U>
U negate_if(Truth c, const U& x) {
  U mask;
  fill(c, mask);
  return (x ^ mask) - mask;
}
template <class U>
typename Doubled<U>::Count leading_zeros(const Doubled<U>& x) {
  using Count = typename Doubled<U>::Count;
  const auto far = x.high == U(0);
  return leading_zeros(select(far, x.low, x.high)) + select(far, Count(digits_of<U>), Count(0));
}

// The i-th word, from the lowest on.
HWY_INLINE Word& word(Word& x, int) { return x; }
template <class U>
HWY_INLINE auto& word(Doubled<U>& x, int i) {
  return i < words_of<U> ? word(x.low, i) : word(x.high, i - words_of<U>);
}
template <class U>
HWY_INLINE const auto& word(const U& x, int i) {
  return word(const_cast<U&>(x), i);
}

// One after the other: seldom is anything divided.
template <class U>
Division<U> divide_halves(const Halves<U>& n, const U& d) {
  constexpr int words = words_of<U>;
  struct Items {
    HWY_ALIGN std::uint64_t word[words][row_items];

    explicit Items(const U& x) {
      for (int i = 0; i < words; ++i) store(HWY_NAMESPACE::word(x, i), word[i]);
    }
    Wide<words> get(int at) const {
      Wide<words> z;
      for (int i = 0; i < words; ++i) z.limb[i] = word[i][at];
      return z;
    }
    void put(int at, const Wide<words>& z) {
      for (int i = 0; i < words; ++i) word[i][at] = z.limb[i];
    }
    U row() const {
      U z(0);
      for (int i = 0; i < words; ++i) HWY_NAMESPACE::word(z, i) = load(word[i]);
      return z;
    }
  };
  const Items high(n.high), low(n.low), by(d);
  Items quotient(d), remainder(d);
  for (int at = 0; at < row_items; ++at) {
    const auto one = divide_halves<words>({high.get(at), low.get(at)}, by.get(at));
    quotient.put(at, one.quotient), remainder.put(at, one.remainder);
  }
  return {quotient.row(), remainder.row()};
}

// A product of factors of so many digits each; those of M are all that it has room for.
template <class M, class A, class B>
HWY_INLINE M product_of(const A& a, int digits_a, const B& b, int digits_b) {
  if (digits_a <= 32 && digits_b <= 32) return M(multiplied_halves(word(a, 0), word(b, 0)));
  if (digits_a <= 64 && digits_b <= 64 - digits_a) return M(word(a, 0) * word(b, 0));
  M z(0);
  for (int i = 0; i < std::min(words_of<A>, words_of<M>); ++i) {
    if (64 * i >= digits_a) break;
    Word carry(0);
    int j = 0;
    for (; j < std::min(words_of<B>, words_of<M> - i); ++j) {
      if (64 * j >= digits_b) break;
      Word& to = word(z, i + j);
      const Halves<Word> p = multiply_exact(word(a, i), word(b, j));
      const Word sum = to + p.low, whole = sum + carry;
      Word first, second;
      fill(sum < p.low, first), fill(whole < carry, second);
      carry = p.high - first - second;
      to = whole;
    }
    if (i + j < words_of<M>) word(z, i + j) = carry;
  }
  return z;
}

template <class H, class U>
HWY_INLINE H lower_part(const U& x) {
  if constexpr (words_of<H> == words_of<U>)
    return x;
  else
    return lower_part<H>(x.low);
}

// What lib asks of a carrier.
template <class U>
struct Carrier {
  using Mask = Truth;
  using Int = Count;
  using How = InRows;
  static constexpr int digits = digits_of<U>;
  static constexpr std::int64_t exponent_of_zero = -(std::int64_t{1} << 61);

  static HWY_INLINE Count leading_zeros(const U& x) { return HWY_NAMESPACE::leading_zeros(x); }
  static HWY_INLINE Truth is_negative(const U& x) {
    return Count(word(x, words_of<U> - 1)) < Count(0);
  }
  template <class H>
  static HWY_INLINE H to(const U& x) {
    return lower_part<H>(x);
  }
  template <class H>
  static HWY_INLINE U multiplied(const U& x, int digits_x, const H& y, int digits_y) {
    return product_of<U>(x, digits_x, y, digits_y);
  }
};

}  // namespace widthwise::rows::HWY_NAMESPACE

namespace widthwise {

template <>
struct Significand<rows::HWY_NAMESPACE::Word>
    : rows::HWY_NAMESPACE::Carrier<rows::HWY_NAMESPACE::Word> {};
template <class U>
struct Significand<rows::HWY_NAMESPACE::Doubled<U>>
    : rows::HWY_NAMESPACE::Carrier<rows::HWY_NAMESPACE::Doubled<U>> {};

}  // namespace widthwise
HWY_AFTER_NAMESPACE();

#endif
