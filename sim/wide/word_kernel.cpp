#include <utility>

#include "kernels.hpp"
#include "limbs.hpp"

namespace widthwise::wide {
namespace {

template <int N>
void clear(Addend<N>& x) {
  std::fill(x.limb, x.limb + N + 1, Limb{0});
  x.exponent = zero_exponent;
}

// a * b with its leading one at the top.
template <int N>
Exact<2 * N> exact_product(const Limb* a, const Limb* b) {
  Exact<2 * N> z;
  multiply<N>(a, b, z.limb);
  const int up = !(z.limb[2 * N - 1] >> 63);
  for (int i = 2 * N; i-- > 0;) z.limb[i] = shifted_up(z.limb[i], i > 0 ? z.limb[i - 1] : 0, up);
  z.exponent = static_cast<std::int64_t>(a[N] + b[N]) + 1 - up;
  z.sign = a[N + 1] ^ b[N + 1];
  return z;
}

template <int N>
unsigned mac(const Chain& chain, const Steps& s) {
  const int drop = 64 * N - chain.precision;
  Addend<N> sum{}, product{};
  std::copy(s.sum, s.sum + N, sum.number());
  sum.exponent = static_cast<std::int64_t>(s.sum[N]);
  sum.sign = s.sum[N + 1];
  Limb lost = 0;
  for (std::size_t k = 0; k < s.count; ++k) {
    const Limb *a = s.a + k * (N + 2), *b = s.b + k * (N + 2);
    if ((a[N - 1] & b[N - 1]) >> 63) [[likely]] {
      const Exact<2 * N> x = exact_product<N>(a, b);
      if (!chain.product.inside(x.exponent)) [[unlikely]]
        return 1;
      product.sign = x.sign;
      lost |= round<N>(chain.product, drop, x, 0, product.number(), product.exponent);
    } else {
      clear(product);
      product.sign = a[N + 1] ^ b[N + 1];
    }
    const Exact<N + 1> z = exact_sum<N>(sum, product);
    if (z.limb[N]) [[likely]] {
      if (!chain.sum.inside(z.exponent)) [[unlikely]]
        return 1;
      lost |= round<N>(chain.sum, drop, z, 0, sum.number(), sum.exponent);
      sum.sign = z.sign;
    } else {
      clear(sum);
      sum.sign &= product.sign;
    }
  }
  std::copy(sum.number(), sum.number() + N, s.sum);
  s.sum[N] = static_cast<Limb>(sum.exponent);
  s.sum[N + 1] = sum.sign;
  *s.lost |= lost;
  return 0;
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
