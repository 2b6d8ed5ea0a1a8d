// Roundings of one step, subnormal results and random bits among them. Included by
// word_kernel-inl.hpp, behind limbs-inl.hpp.
namespace widthwise::wide::words {

template <int N>
struct Rounded {
  std::int64_t exponent;
  Limb lost;
  Limb limb[N];
};

// To the upper N limbs of a number, as if exponents had no end; the last kept digit is in limb
// `lowest`. Returns the exponent. Plain roundings have no random bits, and any bit tells a loss.
template <int N, bool plain, int M>
std::int64_t round_digits_from(int lowest, int drop, const RoundTo& to, const Exact<M>& x,
                               Limb random, Limb* limb, Limb& lost) {
  const Limb rest = round_from<N, !plain>(lowest, drop, to, x, random, limb);
  lost |= plain ? rest : rest != 0;
  if (limb[lowest] == 0 && x.limb[M - N + lowest] >> drop & 1) [[unlikely]]
    return x.exponent + carry_on<N>(limb, lowest + 1);
  return x.exponent;
}
template <int N, int M>
[[gnu::noinline]] Rounded<N> round_short(LastKept at, const RoundTo& to, Exact<M> x, Limb random) {
  Rounded<N> z{};
  z.exponent = round_digits_from<N, false>(at.limb, at.drop, to, x, random, z.limb, z.lost);
  return z;
}
// Most often the lowest limb of all; where the compiler knows which, few are kept in registers.
// (Values go in and out of what is out of line: the numbers of a loop that handed out their
// addresses would not be.)
template <int N, bool plain = false, int lowest = 0, int M>
std::int64_t round_digits(const LastKept& at, const RoundTo& to, const Exact<M>& x, Limb random,
                          Limb* limb, Limb& lost) {
  if (lowest == N - 1 || at.limb == lowest) [[likely]]
    return round_digits_from<N, plain>(lowest, at.drop, to, x, random, limb, lost);
  if constexpr (N <= few_limbs && lowest < N - 1) {
    return round_digits<N, plain, lowest + 1>(at, to, x, random, limb, lost);
  } else {
    const Rounded<N> z = round_short<N>(at, to, x, random);
    std::copy_n(z.limb, N, limb);
    lost |= z.lost;
    return z.exponent;
  }
}

// The leading one goes to the top again. Returns the exponent.
template <int N>
std::int64_t close_up(std::int64_t exponent, Limb* limb) {
  Sum<N> x{.exponent = exponent, .sign = 0, .limb = {}};
  std::copy_n(limb, N, x.limb + 2);
  const Exact<N + 1> z = close_up(x);
  std::copy_n(z.limb + 1, N, limb);
  return limb[N - 1] ? z.exponent : zero_exponent;
}

// What is subnormal is rounded at its format's last digit: it goes down until that stands at the
// kept one's place. It is tiny unless it comes to the least normal number as if exponents had no
// end (IEEE 754-2019, 7.5).
template <int N, int M>
void round_subnormal(const LastKept& at, const RoundTo& to, const Exact<M>& x, Limb random,
                     Rounded<N>& z) {
  const auto below = static_cast<std::uint64_t>(to.first - x.exponent);
  Limb endless[N];
  z.exponent =
      close_up<N>(round_digits<N>(at, to, moved_down(x, below), random, z.limb, z.lost), z.limb);
  if (z.lost &&
      (z.exponent < to.first || round_digits<N>(at, to, x, random, endless, z.lost) < to.first))
    z.lost |= underflowed;
}

template <int N>
void flush(const RoundTo& to, Rounded<N>& z) {
  const bool low = z.exponent < to.first || z.lost & to.flushed;  // which it has, if tiny
  if (!to.flushes || !low || z.limb[N - 1] == 0) return;
  std::fill_n(z.limb, N, Limb{0});
  z.exponent = zero_exponent;
  z.lost |= to.flushed;
}

// Where a result is subnormal, or may overflow.
template <int N, int M>
[[gnu::noinline]] Rounded<N> round_at_end(LastKept at, const RoundTo& to, Exact<M> x, Limb random) {
  Rounded<N> z{};
  if (x.exponent < to.first)
    round_subnormal<N>(at, to, x, random, z), flush<N>(to, z);
  else
    z.exponent = round_digits<N>(at, to, x, random, z.limb, z.lost);
  return z;
}

// The random bits of a rounding that comes again and again in an output: steps side by side share a
// call of the generator.
class Chance {
 public:
  Chance(const RoundTo& to, const Where& where)
      : field_(to.rule.rounding.random_bits), keys_(where.seed), where_(where), slot_(to.slot) {}

  Limb operator()(std::uint64_t step) {
    const std::uint64_t call = step >> std::countr_zero(field_.steps_a_call());
    if (call != call_) [[unlikely]]
      words_ = random_words(field_, keys_, static_cast<std::uint32_t>(where_.index),
                            static_cast<std::uint32_t>(where_.index >> 32), slot_, step);
    call_ = call;
    return field_.of<Limb>(words_, step);
  }

 private:
  RandomField field_;
  PhiloxKeys keys_;
  Where where_;
  Slot slot_;
  std::uint64_t call_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> words_{};
};

// To the upper N limbs of a number and its exponent, with bits that are drawn if it asks for any.
// False where it may have overflowed; if it is a plain one wherever it may not be inside, and
// nothing is written then.
template <int N, bool plain = false, int M, class Draw>
bool round_number(const LastKept& at, const RoundTo& to, const Draw& draw, const Exact<M>& x,
                  Limb* limb, std::int64_t& exponent, Limb& lost) {
  const bool inside = to.inside(x.exponent);
  if (plain && !inside) [[unlikely]]
    return false;
  const bool drawn = !plain && to.rule.rounding.random_bits;
  const Limb random = drawn ? draw() : 0;
  if (inside) [[likely]] {
    exponent = round_digits<N, plain>(at, to, x, random, limb, lost);
    return true;
  }
  const Rounded<N> z = round_at_end<N>(at, to, x, random);
  std::copy_n(z.limb, N, limb);
  exponent = z.exponent;
  lost |= z.lost;
  return exponent <= to.last;
}

}  // namespace widthwise::wide::words
