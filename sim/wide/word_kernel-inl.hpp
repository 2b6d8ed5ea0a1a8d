#include "limbs-inl.hpp"
#include "window-inl.hpp"
#include "word_rounding-inl.hpp"

// Chains of multiply-adds, and single operations, one output after the other. Included by
// word_kernel.cpp alone.
namespace widthwise::wide::words {

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
void whole_product(const Limb* a, const Limb* b, Term<2 * N>& z) {
  Limb* const product = z.number();
  multiply<N>(a, b, product);
  const bool low = !(product[2 * N - 1] >> 63);
  place<N>(a, b, low, z);
  for (int i = 2 * N - 1; i > 0; --i) product[i] = shifted_up(product[i], product[i - 1], low);
  product[0] <<= low;
}

template <int N>
bool is_zero_product(const Limb* a, const Limb* b) {
  return (a[N - 1] & b[N - 1]) >> 63 == 0;
}
// Of a sum that is zero.
inline Limb zero_sign(const RoundTo& to, Limb one, Limb other) {
  return to.rule.rounding.mode == RoundingMode::rdn ? one | other : one & other;
}

template <int N>
void put_zero(Limb sign, Limb* z) {
  std::fill_n(z, N, Limb{0});
  z[N] = static_cast<Limb>(zero_exponent), z[N + 1] = sign;
}

// That of products; the sums', where they are not rounded.
inline const RoundTo& product(const Chain& chain) {
  return chain.product ? *chain.product : chain.sum;
}

// Some steps of a chain of multiply-adds; fused ones add products of all digits.
template <int N, bool fused, bool plain>
class MultiplyAdds {
  static constexpr int added = fused ? 2 * N : N;  // limbs

 public:
  MultiplyAdds(const Chain& chain, const Steps& s)
      : chain_(chain),
        s_(s),
        of_product_(N, product(chain).precision),
        of_sum_(N, chain.sum.precision),
        product_chance_(product(chain), s.where),
        sum_chance_(chain.sum, s.where) {
    std::copy_n(s.sum, N, upper(sum_));
    sum_.exponent = static_cast<std::int64_t>(s.sum[N]);
    sum_.sign = s.sum[N + 1];
  }

  // False as above: the sum is what it was then. (Flat, for the roundings, which two places call,
  // are then in line: 1,024 digits take a tenth less time.)
  [[gnu::flatten]] bool run() {
    for (std::size_t k = 0; k < s_.count; ++k)
      if (!multiply(k) || !add(k)) return false;
    std::copy_n(upper(sum_), N, s_.sum);
    s_.sum[N] = static_cast<Limb>(sum_.exponent);
    s_.sum[N + 1] = sum_.sign;
    *s_.lost |= plain ? lost_ != 0 : lost_;
    return true;
  }

 private:
  static Limb* upper(Term<added>& x) { return x.number() + (added - N); }

  static void clear(Term<added>& x) {
    std::fill_n(x.number(), added, Limb{0});
    x.exponent = zero_exponent;
  }

  bool multiply(std::size_t k) {
    const Limb *a = s_.a + k * (N + 2), *b = s_.b + k * (N + 2);
    if (is_zero_product<N>(a, b)) [[unlikely]] {
      clear(product_);
      product_.sign = a[N + 1] ^ b[N + 1];
      return true;
    }
    if constexpr (fused) {
      whole_product<N>(a, b, product_);
      return true;
    } else {
      const bool random = !plain && chain_.product->rule.rounding.stochastic();
      return round(of_product_, *chain_.product, product_chance_, k,
                   jammed_product<N>(a, b, random), product_);
    }
  }

  bool add(std::size_t k) {
    const Exact<added + 1> z = exact_sum(sum_, product_);
    if (z.limb[added]) [[likely]]
      return round(of_sum_, chain_.sum, sum_chance_, k, z, sum_);
    clear(sum_);
    sum_.sign = zero_sign(chain_.sum, sum_.sign, product_.sign);
    return true;
  }

  template <int M>
  bool round(const LastKept& at, const RoundTo& to, Chance& chance, std::size_t k,
             const Exact<M>& x, Term<added>& z) {
    const auto draw = [&] { return chance(s_.first + k); };
    if (!round_number<N, plain>(at, to, draw, x, upper(z), z.exponent, lost_)) return false;
    z.sign = x.sign;
    return true;
  }

  const Chain& chain_;
  const Steps& s_;
  LastKept of_product_, of_sum_;
  Chance product_chance_, sum_chance_;
  Term<added> sum_{}, product_{};
  Limb lost_ = 0;
};

// Steps with random bits, and those near an end of a format's exponents, are made by a loop of
// their own: one that handles both has no registers for its numbers, and takes a third more time.
template <int N, bool fused>
bool multiply_add(const Chain& chain, const Steps& s) {
  return (!chain.random_bits && MultiplyAdds<N, fused, true>(chain, s).run()) ||
         MultiplyAdds<N, fused, false>(chain, s).run();
}

template <int N>
std::int64_t largest_exponent(const Limb* a, const Limb* b, std::size_t count,
                              std::int64_t largest) {
  for (std::size_t k = 0; k < count; ++k, a += N + 2, b += N + 2)
    if (!is_zero_product<N>(a, b))
      largest = std::max(largest, static_cast<std::int64_t>(a[N] + b[N]));
  return largest;
}
template <int N>
void survey(const Limb* a, const Limb* b, std::size_t count, Limb* largest) {
  const auto before = static_cast<std::int64_t>(*largest);
  *largest = static_cast<Limb>(largest_exponent<N>(a, b, count, before));
}

// One chain of exact sums, of all products of a block and what came before.
template <int N, bool rounded>
class ExactSums {
 public:
  ExactSums(const Chain& chain, const Steps& s)
      : chain_(chain),
        s_(s),
        of_product_(N, product(chain).precision),
        of_sum_(N, chain.sum.precision),
        product_chance_(product(chain), s.where),
        sum_chance_(chain.sum, s.where),
        left_(chain.block - s.first % chain.block) {
    static_assert(sizeof window_ == window_words(N) * sizeof(Limb));
    std::memcpy(&window_, s.window, sizeof window_);
  }

  // False as above, or where digits that decide a rounding may have left the window.
  bool run() {
    left_ == chain_.block ? start(0) : find_last_kept(0);
    for (std::size_t k = 0; k < s_.count; ++k) {
      if (!add_product(k)) return false;
      if (--left_ != 0) continue;
      if (!finish(s_.first + k + 1 - chain_.block)) return false;
      left_ = chain_.block;
      if (k + 1 < s_.count) start(k + 1);
    }
    std::memcpy(s_.window, &window_, sizeof window_);
    *s_.lost |= lost_;
    return true;
  }

 private:
  // From the exponent of its leading one.
  static std::int64_t last_digit(std::int64_t leading) { return leading - (64 * N - 1); }

  // The sum is a term like others.
  void start(std::size_t k) {
    window_.clear();
    const Limb* const sum = s_.sum;
    find_last_kept(k);
    window_.note(sum[N + 1]);
    if (sum[N - 1] == 0) return;
    const std::int64_t last = last_digit(static_cast<std::int64_t>(sum[N]));
    window_.low = (last >> 6) - (Window<N>::top - N);
    Limb digits[N];
    std::copy_n(sum, N, digits);
    add<N>(digits, last, sum[N + 1]);
  }
  // In the block that begins at step k, or began before and was surveyed.
  void find_last_kept(std::size_t k) {
    if (chain_.cut) last_kept_ = largest_of_block(k) - chain_.cut->places;
  }
  // Of its products and the sum before it.
  std::int64_t largest_of_block(std::size_t k) const {
    const std::int64_t least = std::max(chain_.cut->least, static_cast<std::int64_t>(s_.sum[N]));
    if (chain_.surveyed()) return std::max(least, static_cast<std::int64_t>(*s_.largest));
    return largest_exponent<N>(s_.a + k * (N + 2), s_.b + k * (N + 2), chain_.block, least);
  }

  template <int T>
  void add(Limb* digits, std::int64_t last, Limb sign) {
    if (last < last_kept_) {
      const auto n = static_cast<std::uint64_t>(last_kept_) - static_cast<std::uint64_t>(last);
      cut_term<T>(chain_.cut->rule, n, sign, digits);
      last = last_kept_;
    }
    add_term<T>(window_, digits, last, sign);
  }

  bool add_product(std::size_t k) {
    const Limb *a = s_.a + k * (N + 2), *b = s_.b + k * (N + 2);
    const Limb sign = a[N + 1] ^ b[N + 1];
    window_.note(sign);
    if (is_zero_product<N>(a, b)) [[unlikely]]
      return true;
    if constexpr (!rounded) {
      Limb product[2 * N];
      multiply<N>(a, b, product);
      const std::int64_t last = static_cast<std::int64_t>(a[N] + b[N]) - 2 * (64 * N - 1);
      add<2 * N>(product, last, sign);
    } else {
      const RoundTo& to = *chain_.product;
      const Exact<N + 1> x = jammed_product<N>(a, b, to.rule.rounding.stochastic());
      Limb product[N];
      std::int64_t leading;
      const auto draw = [&] { return product_chance_(s_.first + k); };
      if (!round_number<N>(of_product_, to, draw, x, product, leading, lost_)) return false;
      add<N>(product, last_digit(leading), sign);
    }
    return true;
  }

  bool finish(std::uint64_t step) {
    const RoundTo& to = chain_.sum;
    Exact<N + 1> z;
    if (!total(window_, to.precision + to.rule.rounding.random_bits + 2, z)) [[unlikely]]
      return false;
    if (z.limb[N] == 0) [[unlikely]] {
      put_zero<N>(zero_sign(to, ~window_.plus, window_.minus), s_.sum);
      return true;
    }
    std::int64_t leading;
    const auto draw = [&] { return sum_chance_(step); };
    if (!round_number<N>(of_sum_, to, draw, z, s_.sum, leading, lost_)) return false;
    // Where terms are cut its field would have a vote that its leading one has not.
    if (chain_.cut && leading < to.first && s_.sum[N - 1]) return false;
    s_.sum[N] = static_cast<Limb>(leading), s_.sum[N + 1] = z.sign;
    return true;
  }

  const Chain& chain_;
  const Steps& s_;
  LastKept of_product_, of_sum_;
  Chance product_chance_, sum_chance_;
  std::size_t left_;                    // products of the block that are still to come
  std::int64_t last_kept_ = INT64_MIN;  // digit of the terms, where they are cut
  Window<N> window_;
  Limb lost_ = 0;
};

template <int N>
bool done(const Chain& chain, const Steps& steps) {
  if (chain.exact_sum)
    return chain.product ? ExactSums<N, true>(chain, steps).run()
                         : ExactSums<N, false>(chain, steps).run();
  return chain.product ? multiply_add<N, false>(chain, steps) : multiply_add<N, true>(chain, steps);
}
template <int N>
unsigned run(const Chain& chain, const Steps& steps) {
  return done<N>(chain, steps) ? 0 : 1;
}

// --- One operation on many rows ------------------------------------------------------------------

// What means nothing becomes a zero, lest what follows meets half a number.
template <int N, int M>
void put_rounded(const RoundTo& to, const LastKept& at, const Rows& rows, std::size_t i,
                 const Exact<M>& x, Limb* z) {
  const auto draw = [&] {
    const Where where{rows.where.seed, rows.where.index + i * rows.row_outputs};
    return random_bits(to.rule.rounding.random_bits, where, to.slot, rows.step);
  };
  std::int64_t exponent = x.exponent;
  if (!round_number<N>(at, to, draw, x, z, exponent, rows.lost[i])) {
    rows.unusual[i] = 1;
    return put_zero<N>(x.sign, z);
  }
  z[N] = static_cast<Limb>(exponent), z[N + 1] = x.sign;
}

template <int N>
void multiply_rows(const RoundTo& to, const Chain&, const Limb* a, std::size_t a_next,
                   const Limb* b, Limb* z, const Rows& rows) {
  const LastKept at(N, to.precision);
  const bool random = to.rule.rounding.stochastic();
  for (std::size_t i = 0; i < rows.count; ++i, a += a_next, z += N + 2) {
    if (is_zero_product<N>(a, b)) [[unlikely]]
      put_zero<N>(a[N + 1] ^ b[N + 1], z);
    else
      put_rounded<N>(to, at, rows, i, jammed_product<N>(a, b, random), z);
  }
}

template <int N, class Kind>
Kind term(const Limb* from, Limb turned) {
  Kind x{.exponent = static_cast<std::int64_t>(from[N]), .sign = from[N + 1] ^ turned, .limb = {}};
  std::copy_n(from, N, x.number());
  return x;
}
template <int N, class Kind>
void add_rows(const RoundTo& to, const Chain&, const Limb* x, const Limb* y, bool minus, Limb* z,
              const Rows& rows) {
  const LastKept at(N, to.precision);
  for (std::size_t i = 0; i < rows.count; ++i, x += N + 2, y += N + 2, z += N + 2) {
    const auto one = term<N, Kind>(x, 0), other = term<N, Kind>(y, minus ? ~Limb{0} : 0);
    const Exact<N + 1> sum = exact_sum(one, other);
    if (sum.limb[N]) [[likely]]
      put_rounded<N>(to, at, rows, i, sum, z);
    else
      put_zero<N>(zero_sign(to, one.sign, other.sign), z);
  }
}

template <int N>
void sort_rows(const Limb* x, const Limb* y, Limb* large, Limb* small, std::size_t rows) {
  const auto exponent = [](const Limb* a) { return static_cast<std::int64_t>(a[N]); };
  const auto is_less = [&](const Limb* a, const Limb* b) {
    if (exponent(a) != exponent(b)) return exponent(a) < exponent(b);
    for (int i = N; i-- > 0;)
      if (a[i] != b[i]) return a[i] < b[i];
    return false;
  };
  for (std::size_t at = 0; at < rows * (N + 2); at += N + 2) {
    const bool less = is_less(x + at, y + at);
    std::copy_n((less ? y : x) + at, N + 2, large + at);
    std::copy_n((less ? x : y) + at, N + 2, small + at);
  }
}

template <int N>
constexpr Kernels kernels_of{.chain = &run<N>,
                             .survey = &survey<N>,
                             .multiply = &multiply_rows<N>,
                             .add = &add_rows<N, Term<N>>,
                             .add_far = &add_rows<N, Addend<N>>,
                             .sort = &sort_rows<N>};
template <std::size_t... i>
Kernels choose(int limbs, std::index_sequence<i...>) {
  static constexpr Kernels kernels[] = {kernels_of<static_cast<int>(i) + 1>...};
  return kernels[limbs - 1];
}

Kernels kernels(int limbs) { return choose(limbs, std::make_index_sequence<most_digits / 64>()); }

}  // namespace widthwise::wide::words
