#include "limbs-inl.hpp"

// Chains of multiply-adds, one after the other. Included by word_kernel.cpp alone.
namespace widthwise::wide::WIDTHWISE_WORDS {

// All limb products are needed where the random bits of a rounding look at them; else those below
// limb N - 2 matter only if what stands above is near one of the points where a rounding changes
// its mind (docs/exactness.md, 14).
template <int N>
void multiply_digits(const Limb* a, const Limb* b, bool all, Limb* product) {
  constexpr int lowest = N - 2;
  if constexpr (N >= many_limbs) {
    if (!all) {
      multiply<N, lowest>(a, b, product);
      const Limb sure = product[N - 1] & ones<Limb>(60);
      if (sure != 0 && sure + N < bit<Limb>(60)) [[likely]]
        return;
    }
  }
  multiply<N>(a, b, product);
}

// The exponent and the sign of a * b, whose leading one is at the top or, if low is told, below.
template <int N, class Number>
void place(const Limb* a, const Limb* b, bool low, Number& z) {
  z.exponent = static_cast<std::int64_t>(a[N] + b[N]) + !low;
  z.sign = a[N + 1] ^ b[N + 1];
}

// The upper digits of a * b, the others jammed.
template <int N>
Exact<N + 1> jammed_product(const Limb* a, const Limb* b, bool all_digits) {
  Limb product[2 * N];
  multiply_digits<N>(a, b, all_digits, product);
  const bool low = !(product[2 * N - 1] >> 63);
  Exact<N + 1> z;
  place<N>(a, b, low, z);
  const Limb* const at = product + N - 1;
  for (int i = N; i > 0; --i) z.limb[i] = shifted_up(at[i], at[i - 1], low);
  const Limb lower = N > 1 ? at[-1] : 0;
  z.limb[0] = shifted_up(at[0], lower, low) | (lower << low != 0) | (any_of(product, N - 2) != 0);
  return z;
}

// All digits of a * b.
template <int N>
void whole_product(const Limb* a, const Limb* b, Addend<2 * N>& z) {
  Limb* const product = z.number();
  multiply<N>(a, b, product);
  const bool low = !(product[2 * N - 1] >> 63);
  place<N>(a, b, low, z);
  for (int i = 2 * N; i-- > 0;) product[i] = shifted_up(product[i], product[i - 1], low);
}

// One chain of multiply-adds; fused ones add products of all digits.
template <int N, bool fused>
class MultiplyAdds {
  static constexpr int added = fused ? 2 * N : N;  // limbs

 public:
  MultiplyAdds(const Chain& chain, const Steps& s)
      : chain_(chain),
        s_(s),
        of_product_(N, chain.product ? chain.product->precision : chain.precision),
        of_sum_(N, chain.sum.precision) {
    std::copy_n(s.sum, N, upper(sum_));
    sum_.exponent = static_cast<std::int64_t>(s.sum[N]);
    sum_.sign = s.sum[N + 1];
  }

  // False where a result is no normal number and not zero.
  bool run() {
    for (std::size_t k = 0; k < s_.count; ++k)
      if (!multiply(k) || !add(k)) return false;
    std::copy_n(upper(sum_), N, s_.sum);
    s_.sum[N] = static_cast<Limb>(sum_.exponent);
    s_.sum[N + 1] = sum_.sign;
    *s_.lost |= lost_;
    return true;
  }

 private:
  static Limb* upper(Addend<added>& x) { return x.number() + (added - N); }

  static void clear(Addend<added>& x) {
    std::fill_n(x.number(), added, Limb{0});
    x.exponent = zero_exponent;
  }

  bool multiply(std::size_t k) {
    const Limb *a = s_.a + k * (N + 2), *b = s_.b + k * (N + 2);
    if (!((a[N - 1] & b[N - 1]) >> 63)) [[unlikely]] {
      clear(product_);
      product_.sign = a[N + 1] ^ b[N + 1];
      return true;
    }
    if constexpr (fused) {
      whole_product<N>(a, b, product_);
      return true;
    } else {
      const bool random = chain_.product->rule.rounding.stochastic();
      return round(of_product_, *chain_.product, k, jammed_product<N>(a, b, random), product_);
    }
  }

  bool add(std::size_t k) {
    const Exact<added + 1> z = normalised(aligned_sum(sum_, product_));
    if (z.limb[added]) [[likely]]
      return round(of_sum_, chain_.sum, k, z, sum_);
    clear(sum_);
    const bool down = chain_.sum.rule.rounding.mode == RoundingMode::rdn;
    sum_.sign = down ? sum_.sign | product_.sign : sum_.sign & product_.sign;
    return true;
  }

  template <int M>
  bool round(const LastKept& at, const RoundTo& to, std::size_t k, const Exact<M>& x,
             Addend<added>& z) {
    if (!to.inside(x.exponent)) [[unlikely]]
      return false;
    const int count = to.rule.rounding.random_bits;
    const Limb random = count ? random_bits(count, s_.where, to.slot, s_.first + k) : 0;
    lost_ |= WIDTHWISE_WORDS::round<N>(at, to, x, random, upper(z));
    z.exponent = x.exponent, z.sign = x.sign;
    if (upper(z)[at.limb] == 0 && x.limb[M - N + at.limb] >> at.drop & 1) [[unlikely]]
      z.exponent += carry_on<N>(upper(z), at.limb + 1);
    return true;
  }

  const Chain& chain_;
  const Steps& s_;
  LastKept of_product_, of_sum_;
  Addend<added> sum_{}, product_{};
  Limb lost_ = 0;
};

template <int N>
unsigned run(const Chain& chain, const Steps& steps) {
  const bool done = chain.product ? MultiplyAdds<N, false>(chain, steps).run()
                                  : MultiplyAdds<N, true>(chain, steps).run();
  return done ? 0 : 1;
}

template <std::size_t... i>
Kernel choose(int limbs, std::index_sequence<i...>) {
  static constexpr Kernel kernels[] = {&run<static_cast<int>(i) + 1>...};
  return kernels[limbs - 1];
}

Kernel kernel(int limbs) { return choose(limbs, std::make_index_sequence<most_digits / 64>()); }

}  // namespace widthwise::wide::WIDTHWISE_WORDS
