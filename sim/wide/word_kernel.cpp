#include <utility>

#include "kernels.hpp"
#include "limbs.hpp"

// Chains of multiply-adds, one after the other.
namespace widthwise::wide {
namespace {

// All limb products are needed where the random bits of a rounding look at them; else those below
// limb N - 2 matter only if what stands above is near one of the points where a rounding changes
// its mind (docs/exactness.md, 13).
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

// a * b of two numbers.
template <int N>
Exact<N + 1> exact_product(const Limb* a, const Limb* b, bool all_digits) {
  Limb product[2 * N];
  multiply_digits<N>(a, b, all_digits, product);
  const int up = !(product[2 * N - 1] >> 63);
  Exact<N + 1> z;
  const Limb* const at = product + N - 1;
  for (int i = N; i > 0; --i) z.limb[i] = shifted_up(at[i], at[i - 1], up);
  const Limb lower = N > 1 ? product[N > 1 ? N - 2 : 0] : 0;
  z.limb[0] = shifted_up(at[0], lower, up) | (lower << up != 0) | (any_of(product, N - 2) != 0);
  z.exponent = static_cast<std::int64_t>(a[N] + b[N]) + 1 - up;
  z.sign = a[N + 1] ^ b[N + 1];
  return z;
}

template <int N>
void clear(Addend<N>& x) {
  std::fill_n(x.number(), N, Limb{0});
  x.exponent = zero_exponent;
}

// One chain of multiply-adds.
template <int N>
class Mac {
 public:
  Mac(const Chain& chain, const Steps& s) : chain_(chain), s_(s), drop_(64 * N - chain.precision) {
    std::copy_n(s.sum, N, sum_.number());
    sum_.exponent = static_cast<std::int64_t>(s.sum[N]);
    sum_.sign = s.sum[N + 1];
  }

  // False where a result is no normal number and not zero.
  bool run() {
    for (std::size_t k = 0; k < s_.count; ++k)
      if (!multiply(k) || !add(k)) return false;
    std::copy_n(sum_.number(), N, s_.sum);
    s_.sum[N] = static_cast<Limb>(sum_.exponent);
    s_.sum[N + 1] = sum_.sign;
    *s_.lost |= lost_;
    return true;
  }

 private:
  bool multiply(std::size_t k) {
    const Limb *a = s_.a + k * (N + 2), *b = s_.b + k * (N + 2);
    if ((a[N - 1] & b[N - 1]) >> 63) [[likely]]
      return round(chain_.product, k,
                   exact_product<N>(a, b, chain_.product.rule.rounding.stochastic()), product_);
    clear(product_);
    product_.sign = a[N + 1] ^ b[N + 1];
    return true;
  }

  bool add(std::size_t k) {
    const Exact<N + 1> z = exact_sum<N>(sum_, product_);
    if (z.limb[N]) [[likely]]
      return round(chain_.sum, k, z, sum_);
    clear(sum_);
    const bool down = chain_.sum.rule.rounding.mode == RoundingMode::rdn;
    sum_.sign = down ? sum_.sign | product_.sign : sum_.sign & product_.sign;
    return true;
  }

  bool round(const RoundTo& to, std::size_t k, const Exact<N + 1>& x, Addend<N>& z) {
    if (!to.inside(x.exponent)) [[unlikely]]
      return false;
    const int count = to.rule.rounding.random_bits;
    const Limb random = count ? random_bits(count, s_.where, to.slot, s_.first + k) : 0;
    z.sign = x.sign;
    lost_ |= wide::round<N>(to, drop_, x, random, z.number(), z.exponent);
    return true;
  }

  const Chain& chain_;
  const Steps& s_;
  int drop_;
  Addend<N> sum_{}, product_{};
  Limb lost_ = 0;
};

template <int N>
unsigned mac(const Chain& chain, const Steps& steps) {
  return Mac<N>(chain, steps).run() ? 0 : 1;
}

template <std::size_t... i>
Kernel choose(int limbs, std::index_sequence<i...>) {
  static constexpr Kernel kernels[] = {&mac<static_cast<int>(i) + 1>...};
  return kernels[limbs - 1];
}

}  // namespace

Kernel word_kernel(int limbs) {
  return choose(limbs, std::make_index_sequence<most_digits / 64>());
}

}  // namespace widthwise::wide
