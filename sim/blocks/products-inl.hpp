// The products of a block and the sums of its groups (lib's datapath/product.hpp and block.hpp) for
// strips of numbers. Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_PRODUCTS_INL
#undef WIDTHWISE_BLOCKS_PRODUCTS_INL
#else
#define WIDTHWISE_BLOCKS_PRODUCTS_INL
#endif

#include <algorithm>

#include "sim/blocks/sums-inl.hpp"
#include "sim/engine/truncated-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// One block of a strip on its way.
struct Block {
  const Meeting& m;
  const Rules& rules;
  Strip& c;
  std::size_t k;  // its first product
  Progress progress;
  Scratch& scratch;

  HWY_INLINE bool c_joins(CLevel level) const { return rules.c_level == level; }
  // The lanes of a group: from one on, at equal distances.
  HWY_INLINE std::size_t first(std::size_t group) const {
    return k + (rules.strided ? group : group * rules.group_size);
  }
  HWY_INLINE std::size_t stride() const { return rules.strided ? rules.group_count : 1; }
  HWY_INLINE std::size_t size(std::size_t group) const {
    if (rules.strided) return (rules.lanes - group + rules.group_count - 1) / rules.group_count;
    return std::min(rules.group_size, rules.lanes - group * rules.group_size);
  }
  // Position along k of product i of the strip.
  HWY_INLINE std::uint64_t position(std::size_t i) const { return m.first + i; }
  // Where the scales of a group lie.
  HWY_INLINE std::size_t scale(std::size_t group) const {
    return k / rules.lanes * rules.group_count + group;
  }
};

HWY_INLINE I load_exponents(const std::int16_t* at) {
  const hn::Rebind<std::int16_t, Doubles> narrow;
  const hn::Rebind<std::int32_t, Doubles> middle;
  return hn::PromoteTo(Ints(), hn::PromoteTo(middle, hn::LoadU(narrow, at)));
}

HWY_INLINE V overflowed(V x, double limit) {
  const V infinity = number(std::numeric_limits<double>::infinity());
  const M over = hn::Ge(hn::Abs(x), number(limit));
  return hn::IfThenElse(over, hn::CopySign(infinity, x), x);
}

// --- Products one by one -------------------------------------------------------------------------

// What the user's multiplier makes of significands; a and b hold units of their last places.
void user_products(const Block& b, std::size_t i, double* digits) {
  b.m.products->row(b.m.a_digits[i], b.m.b_digits + i * strip_columns, b.m.columns, digits);
}

// Times its scales, whose exponents it aligns by, too.
void scale_product(const Block& b, std::size_t i, Strip& product) {
  const V scale_a = number(b.m.scale_a[i]), power_of_a = number(b.m.scale_a_power[i]);
  const std::size_t of_b = i * strip_columns;
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    const V value = hn::Mul(load(product.value + at), scale_a);
    store(hn::Mul(value, load(b.m.scale_b + of_b + at)), product.value + at);
    if (!b.rules.votes) return;
    const V power = hn::Mul(load(product.power + at), power_of_a);
    store(hn::Mul(power, load(b.m.scale_b_power + of_b + at)), product.power + at);
  });
}

// Flags of products that the machine has rounded.
void raise_flags_of_product(const Block& b, std::size_t i) {
  const auto& slot = b.rules.product;
  if (!b.progress.flags || !slot || !slot->own || slot->by_hand) return;
  const V x = number(b.m.a[i]);
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    const V y = load(b.m.b + i * strip_columns + at);
    raise(flags_of_product(slot->mode, x, y, hn::Mul(x, y)), b.progress.flags + at);
  });
}

// One of more digits than a double has.
struct LongProduct {
  V x;
  const double* y;
  HWY_INLINE Pair terms(std::size_t at) const {
    const V of_y = load(y + at), product = hn::Mul(x, of_y);
    return {product, lost_of_product(x, of_y, product)};
  }
  HWY_INLINE V operator()(std::size_t at) const {
    const auto [product, lost] = terms(at);
    return to_odd({product, lost});
  }
};

template <class Exact>
HWY_INLINE void round_product(const Block& b, const Slot& to, const Exact& exact, Strip& result) {
  if constexpr (requires { exact.terms(0); })
    if (to.fine) return round_strip(to, b.progress, result.lane, b.rules.votes, exact, result);
  round(to, b.progress, result.lane, b.rules.votes, result.value, result);
}

template <class Exact>
HWY_INLINE void product(const Block& b, std::size_t i, const Exact& exact, Strip& result) {
  const Rules& rules = b.rules;
  const I exponent = hn::Set(Ints(), b.m.a_exponent[i]);
  const std::int16_t* exponent_of_b = b.m.b_exponent + i * strip_columns;
  const bool by_value = rules.normalised;
  const double limit = rules.overflow_at;
  const bool votes = rules.votes && !rules.product;
  result.lane = b.position(i);
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    V x = exact(at);
    if (limit > 0) x = overflowed(x, limit);
    store(x, result.value + at);
    if (!votes) return;
    const V power = power_of_exponent(hn::Add(exponent, load_exponents(exponent_of_b + at)));
    store(by_value ? vote(x, 0) : hn::IfThenElseZero(finite_number(x), power), result.power + at);
  });
  raise_flags_of_product(b, i);
  if (rules.product && !rules.product->own) round_product(b, *rules.product, exact, result);
  if (rules.late_scale) scale_product(b, i, result);
}
void product_by_hand(const Block& b, std::size_t i, Strip& result) {
  const Slot& to = *b.rules.product;
  const V a = number(b.m.a[i]);
  std::int64_t* const flags = b.progress.flags;
  alignas(64) double random[strip_columns];
  if (to.random_bits > 0) draw(to, b.progress, b.position(i), random);
  const auto rounded = [&](std::size_t at) HWY_ATTR {
    const V y = load(b.m.b + i * strip_columns + at), p = hn::Mul(a, y);
    return by_hand(to, random + at, {p, lost_of_product(a, y, p)}, flags ? flags + at : nullptr);
  };
  product(b, i, rounded, result);
}
void product(const Block& b, std::size_t i, Strip& result) {
  const V a = number(b.m.a[i]);
  const double* of_b = b.m.b + i * strip_columns;
  const auto times = [&](std::size_t at) HWY_ATTR { return hn::Mul(a, load(of_b + at)); };
  if (b.rules.long_products) return product(b, i, LongProduct{a, of_b}, result);
  if (b.rules.product && b.rules.product->by_hand) return product_by_hand(b, i, result);
  if (!b.m.products) return product(b, i, times, result);
  alignas(64) double digits[strip_columns];
  user_products(b, i, digits);
  product(
      b, i, [&](std::size_t at) HWY_ATTR { return hn::Mul(times(at), load(digits + at)); }, result);
}

void add_special(const double* values, double* sum) {
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    const V x = load(values + at);
    const V special = hn::IfThenElseZero(infinite_or_nan(x), x);  // numbers may add up to one, too
    store(hn::Add(load(sum + at), special), sum + at);
  });
}
void add_nan(V scale_a, const double* scale_b, double* sum) {
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    V x = load(sum + at);
    for (const V scale : {scale_a, load(scale_b + at)})
      x = hn::IfThenElse(hn::Eq(scale, scale), x, scale);
    store(x, sum + at);
  });
}

// --- Plain products at once ----------------------------------------------------------------------

// The largest exponent sum of a group of products, but no less than `least`; of so many rows of A.
template <std::size_t rows>
HWY_INLINE void largest_exponents(const Block& b, std::size_t group, std::int16_t least,
                                  std::int16_t* most) {
  constexpr std::size_t wide = 2;  // side by side, for the machine to have something to do
  const hn::ScalableTag<std::int16_t> d;
  const std::size_t first = b.first(group), stride = b.stride(), n = b.size(group);
  for (std::size_t column = 0; column < b.m.columns; column += wide * hn::Lanes(d)) {
    hn::Vec<decltype(d)> z[rows][wide];
    for (auto& of_row : z)
      for (auto& x : of_row) x = hn::Set(d, least);
    for (std::size_t i = 0, at = first; i < n; ++i, at += stride) {
      const std::int16_t* of_b = b.m.b_exponent + at * strip_columns + column;
      const auto low = hn::LoadU(d, of_b), high = hn::LoadU(d, of_b + hn::Lanes(d));
      for (std::size_t r = 0; r < rows; ++r) {
        const auto x = hn::Set(d, b.m.a_exponent[r * b.m.k + at]);
        z[r][0] = hn::Max(z[r][0], hn::Add(x, low));
        z[r][1] = hn::Max(z[r][1], hn::Add(x, high));
      }
    }
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t v = 0; v < wide; ++v)
        hn::StoreU(z[r][v], d, most + r * strip_columns + column + v * hn::Lanes(d));
  }
}
HWY_INLINE V load_power(const std::int16_t* exponent) {
  return power_of_exponent(load_exponents(exponent));
}
void largest_powers(const Block& b, std::size_t group, double* powers) {
  alignas(64) std::int16_t most[strip_columns];
  largest_exponents<1>(b, group, 2 * no_exponent, most);
  for_each_vector(b.m.columns,
                  [&](std::size_t at) HWY_ATTR { store(load_power(most + at), powers + at); });
}

constexpr int vectors = 4;  // side by side, for the machine to have something to do

// Adds term(v, x, y, sum) for every product of a group to each of some vectors of sums.
template <class Sum, class Term>
HWY_INLINE void add_products(const Block& b, std::size_t group, std::size_t column, Sum* total,
                             const Term& term) {
  const std::size_t stride = b.stride(), n = b.size(group);
  const double* a = b.m.a + b.first(group);
  const double* of_b = b.m.b + b.first(group) * strip_columns + column;
  for (std::size_t i = 0; i < n; ++i, a += stride, of_b += stride * strip_columns)
    for (int v = 0; v < vectors; ++v)
      total[v] = term(v, number(*a), load(of_b + v * hn::Lanes(Doubles())), total[v]);
}

// Where the sums of a group in a window begin: with C, or at zero; what moves products to whole
// numbers of their last digit; and that digit.
struct Opening {
  V total, up, unit;
};
// From the largest exponents of products; `power` becomes that of the window.
template <class Mode>
HWY_INLINE Opening open_window(const Block& b, const Window& w, Mode mode, std::size_t at,
                               const std::int16_t* exponents, double* power) {
  const bool with_c = b.c_joins(CLevel::group);
  const V of_c = with_c ? load(b.c.power + at) : number(0);
  const V most = hn::Max(load_power(exponents + at), of_c), floor = hn::Max(most, w.least_power);
  store(hn::IfThenElseZero(hn::Gt(most, number(0)), floor), power + at);
  return {with_c ? w.aligned_c(mode, load(b.c.value + at), of_c, floor) : number(-0.0),
          over(floor, w.frac_bits), hn::Mul(floor, w.unit)};
}

template <bool overflows, class Mode>
HWY_INLINE void window(const Block& b, std::size_t group, Mode mode, Strip& result) {
  const Window w(b.rules.group);
  const double limit = b.rules.overflow_at;
  const std::size_t width = hn::Lanes(Doubles());
  alignas(64) std::int16_t most[strip_columns];
  largest_exponents<1>(b, group, 2 * no_exponent, most);
  for (std::size_t column = 0; column < b.m.columns; column += vectors * width) {
    V total[vectors], up[vectors], unit[vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      const Opening z = open_window(b, w, mode, at, most, result.power);
      total[v] = z.total, up[v] = z.up, unit[v] = z.unit;
    }
    add_products(b, group, column, total, [&](int v, V x, V y, V sum) HWY_ATTR {
      V product = hn::Mul(x, y);
      if constexpr (overflows) product = overflowed(product, limit);
      return hn::Add(sum, to_integer(mode, hn::Mul(product, up[v])));
    });
    for (int v = 0; v < vectors; ++v)
      store(hn::Mul(total[v], unit[v]),
            result.value + column + static_cast<std::size_t>(v) * width);
  }
}

void products_in_window(const Block& b, std::size_t group, Strip& result) {
  const RoundingMode mode = b.rules.group.mode;
  if (b.m.overflows) return window<true>(b, group, mode, result);
  with_mode(mode, [&](auto known) HWY_ATTR { window<false>(b, group, known, result); });
}

void products_exactly(const Block& b, std::size_t group, Strip& result) {
  const bool with_c = b.c_joins(CLevel::group), votes = b.rules.votes;
  const std::size_t width = hn::Lanes(Doubles());
  if (votes) largest_powers(b, group, result.power);
  for (std::size_t column = 0; column < b.m.columns; column += vectors * width) {
    V total[vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      total[v] = with_c ? load(b.c.value + at) : number(-0.0);
      if (votes && with_c)
        store(hn::Max(load(b.c.power + at), load(result.power + at)), result.power + at);
    }
    add_products(b, group, column, total,
                 [](int, V x, V y, V sum) HWY_ATTR { return hn::MulAdd(x, y, sum); });
    for (int v = 0; v < vectors; ++v)
      store(total[v], result.value + column + static_cast<std::size_t>(v) * width);
  }
}

// --- Exact sums that no double holds ------------------------------------------------------------

// The block's products and C. A product of two doubles is the machine's and what that left out,
// which is another double where its last digit is none too small.
template <bool long_products>
HWY_INLINE void products_twofold(const Block& b, const Progress& sums, Strip& result) {
  const Slot out = b.rules.out;
  const std::size_t width = hn::Lanes(Doubles());
  for (std::size_t i = 0; i < b.rules.lanes; ++i) raise_flags_of_product(b, b.k + i);
  alignas(64) double random[strip_columns] = {};
  if (out.own && out.random_bits > 0) draw(out, sums, b.position(b.k), random);
  for (std::size_t column = 0; column < b.m.columns; column += vectors * width) {
    const auto c = [&](std::size_t v) HWY_ATTR {
      return Twofold{load(b.c.value + column + v * width), number(0), number(0)};
    };
    Twofold total[] = {c(0), c(1), c(2), c(3)};
    static_assert(std::size(total) == vectors);
    add_products(b, 0, column, total, [](int, V x, V y, const Twofold& sum) HWY_ATTR {
      const V product = hn::Mul(x, y);
      if constexpr (long_products) return with_low(sum + product, lost_of_product(x, y, product));
      return sum + product;
    });
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      settle(out, total[v], load(random + at), at, sums, result);
    }
  }
}
void products_twofold(const Block& b, const Progress& sums, Strip& result) {
  if (b.rules.long_products) return products_twofold<true>(b, sums, result);
  products_twofold<false>(b, sums, result);
}

// --- The same in floats and 32-bit integers ------------------------------------------------------

using Singles = hn::ScalableTag<float>;
using Whole = hn::RebindToSigned<Singles>;
using S = hn::Vec<Singles>;
using W = hn::Vec<Whole>;

using widthwise::HWY_NAMESPACE::truncated;

// Products [i, end) of a group, cut to whole numbers of 1 / lift, onto some vectors of sums of some
// rows.
template <int rows, int wide>
HWY_INLINE void add_whole_products(const Block& b, std::size_t group, std::size_t i,
                                   std::size_t end, std::size_t row, std::size_t column,
                                   const S (&lift)[rows][wide], W (&sum)[rows][wide]) {
  const Singles d;
  const std::size_t k = b.m.k, stride = b.stride(), first = b.first(group) + i * stride;
  const float* a = b.m.a_single + row * k + first;
  const float* of_b = b.m.b_single + first * strip_columns + column;
  for (; i < end; ++i, a += stride, of_b += stride * strip_columns) {
    S y[wide];
    for (std::size_t v = 0; v < wide; ++v) y[v] = hn::LoadU(d, of_b + v * hn::Lanes(d));
    for (std::size_t r = 0; r < rows; ++r) {
      const S x = hn::Set(d, a[r * k]);
      for (std::size_t v = 0; v < wide; ++v)
        sum[r][v] = hn::Add(sum[r][v], truncated(hn::Mul(hn::Mul(x, y[v]), lift[r][v])));
    }
  }
}

#if HWY_TARGET == HWY_SCALAR
bool products_in_single_window(const Block&, std::size_t, Strip&) { return false; }
#else
HWY_INLINE S together(V low, V high) {
  const Singles d;
  return hn::Combine(d, hn::DemoteTo(Floats(), high), hn::DemoteTo(Floats(), low));
}
HWY_INLINE V low_half(W x) { return hn::PromoteTo(Doubles(), hn::LowerHalf(x)); }
HWY_INLINE V high_half(W x) {
  return hn::PromoteTo(Doubles(), hn::UpperHalf(hn::Half<Whole>(), x));
}

// False where a sum is zero, whose sign integers do not have.
bool products_in_single_window(const Block& b, std::size_t group, Strip& result) {
  constexpr auto toward_zero = std::integral_constant<RoundingMode, RoundingMode::rtz>{};
  const Window w(b.rules.group);
  const std::size_t width = hn::Lanes(Doubles()), n = b.size(group), chunk = b.rules.chunk;
  alignas(64) std::int16_t most[strip_columns];
  largest_exponents<1>(b, group, 2 * no_exponent, most);
  M any_zero = hn::Lt(number(0), number(0));
  for (std::size_t column = 0; column < b.m.columns; column += vectors * width) {
    V total[vectors], unit[vectors], up[vectors];
    for (int v = 0; v < vectors; ++v) {
      const std::size_t at = column + static_cast<std::size_t>(v) * width;
      const Opening z = open_window(b, w, toward_zero, at, most, result.power);
      total[v] = z.total, unit[v] = z.unit;
      up[v] = hn::Min(z.up, number(0x1p126));  // more where all are zeros
    }
    const S lift[1][2] = {{together(up[0], up[1]), together(up[2], up[3])}};
    for (std::size_t i = 0, end; i < n; i = end) {
      W sum[1][2] = {{hn::Zero(Whole()), hn::Zero(Whole())}};
      end = std::min(n, i + chunk);
      add_whole_products(b, group, i, end, 0, column, lift, sum);
      for (int v = 0; v < 2; ++v) {
        total[2 * v] = hn::Add(total[2 * v], low_half(sum[0][v]));
        total[2 * v + 1] = hn::Add(total[2 * v + 1], high_half(sum[0][v]));
      }
    }
    for (int v = 0; v < vectors; ++v) {
      any_zero = hn::Or(any_zero, hn::Eq(total[v], number(0)));
      store(hn::Mul(total[v], unit[v]),
            result.value + column + static_cast<std::size_t>(v) * width);
    }
  }
  return hn::AllFalse(Doubles(), any_zero);
}
#endif

void products_in_singles(const Block& b, std::size_t group, Strip& result) {
  const Singles d;
  const std::size_t width = hn::Lanes(d), stride = b.stride(), n = b.size(group);
  if (b.rules.votes) largest_powers(b, group, result.power);
  alignas(64) float sums[strip_columns];
  for (std::size_t column = 0; column < b.m.columns; column += vectors * width) {
    S total[vectors];
    for (auto& t : total) t = hn::Set(d, -0.0f);
    const float* a = b.m.a_single + b.first(group);
    const float* of_b = b.m.b_single + b.first(group) * strip_columns + column;
    for (std::size_t i = 0; i < n; ++i, a += stride, of_b += stride * strip_columns)
      for (int v = 0; v < vectors; ++v)
        total[v] = hn::MulAdd(hn::Set(d, *a),
                              hn::LoadU(d, of_b + static_cast<std::size_t>(v) * width), total[v]);
    for (int v = 0; v < vectors; ++v)
      hn::Store(total[v], d, sums + column + static_cast<std::size_t>(v) * width);
  }
  for_each_vector(b.m.columns, [&](std::size_t at) HWY_ATTR {
    store(hn::PromoteTo(Doubles(), hn::LoadU(Floats(), sums + at)), result.value + at);
  });
}

void quick_group(const Block& b, std::size_t group, Strip& result) {
  const bool window = b.rules.group.aligned == Aligned::window;
  if (b.m.single && !window) return products_in_singles(b, group, result);
  if (b.m.single && products_in_single_window(b, group, result)) return;
  window ? products_in_window(b, group, result) : products_exactly(b, group, result);
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
