// Compensated sums in doubles by any mode or by random bits, to fewer digits (docs/exactness.md,
// 62). Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_ANY_MODE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_ANY_MODE_INL
#undef WIDTHWISE_BLOCKS_ANY_MODE_INL
#else
#define WIDTHWISE_BLOCKS_ANY_MODE_INL
#endif

#include <array>

#include "sim/blocks/products-inl.hpp"
#include "sim/blocks/slots.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// Toward zero once some of the digits that go were added: those of lib's Rounder.
class RandomCut {
 public:
  HWY_INLINE RandomCut(const Slot& s, int digits)
      : shift_(digits - s.random_bits),
        kept_(hn::Set(Ints(), static_cast<std::int64_t>(~std::uint64_t{0} << digits))),
        always_(hn::Set(
            Ints(), s.variant == StochasticVariant::plain ? 0 : std::int64_t{1} << (shift_ - 1))),
        less_(hn::Set(Ints(), s.variant == StochasticVariant::even ? 1 : 0)) {}

  // A number rounded to odd, by these bits.
  HWY_INLINE V operator()(V x, I random) const {
    const I added = hn::Add(hn::ShiftLeftSame(random, shift_), always_);
    const I sum = hn::Add(bits(x), hn::Sub(added, hn::And(random, less_)));
    return from_bits(hn::And(sum, kept_));
  }

 private:
  int shift_;
  I kept_, always_, less_;
};

// The roundings of compensated sums in some columns of a row. Numbers are finite; whether any has
// passed the format's largest one is told afterwards.
template <bool random>
class ToDigits {
  using Cut = std::conditional_t<random, RandomCut, widthwise::HWY_NAMESPACE::OddCut<Ints>>;

 public:
  using Number = double;
  static constexpr bool keeps_zeros = true, watched = false;

  HWY_INLINE explicit ToDigits(const Rules& r)
      : product_(r.product ? &*r.product : nullptr),
        long_products_(r.long_products),
        field_(r.out.random_bits),
        largest_(r.out.largest),
        cut_(cut_of(r.out)),
        seen_(number(0)) {}

  template <class Row>
  HWY_INLINE void begin(const Row& row, std::size_t column, std::size_t columns) {
    progress_ = {row.output, columns, row.draws};
    progress_.first.index += column;
  }
  // The next step, which rounds at these places.
  template <std::size_t n>
  HWY_INLINE void begin_step(std::uint64_t step, const std::array<widthwise::Slot, n>& places) {
    step_ = step;
    if constexpr (random)
      for (const widthwise::Slot place : places)
        words_[static_cast<std::size_t>(place)] = &drawn(field_, place, progress_, step);
  }
  HWY_INLINE bool fits() const { return hn::AllTrue(Doubles(), hn::Le(seen_, number(largest_))); }

  HWY_INLINE V product(double a, V b) const {
    V x = hn::Mul(number(a), b);
    if (!product_) return x;
    if (long_products_) x = to_odd({x, lost_of_product(number(a), b, x)});
    return cut(x, product_->frac_bits, product_->least_normal,
               [&](V y, V) HWY_ATTR { return to_integer(product_->mode, y); });
  }
  HWY_INLINE V add(widthwise::Slot place, std::size_t at, V x, V y) {
    const TwoSum sum = two_sum(x, y);
    const V exact =
        widthwise::HWY_NAMESPACE::to_odd(sum.sum, sum.lost, hn::Ne(sum.lost, number(0)));
    const V z = rounded(place, at, exact);
    seen_ = hn::Max(seen_, hn::Abs(z));
    return z;
  }
  HWY_INLINE V subtract(widthwise::Slot place, std::size_t at, V x, V y) {
    return add(place, at, x, hn::Neg(y));
  }

 private:
  static HWY_INLINE Cut cut_of(const Slot& s) {
    const int digits = double_digits - 1 - s.frac_bits;
    if constexpr (random)
      return RandomCut(s, digits);
    else
      return Cut(s.mode, digits);
  }
  HWY_INLINE V rounded([[maybe_unused]] widthwise::Slot place, [[maybe_unused]] std::size_t at,
                       V exact) const {
    if constexpr (random)
      return cut_(exact, random_bits(field_, *words_[static_cast<std::size_t>(place)], step_, at));
    else
      return cut_(Doubles(), exact);
  }

  const Slot* product_;
  bool long_products_;
  RandomField field_;
  double largest_;
  Cut cut_;
  V seen_;
  Progress progress_{};
  std::uint64_t step_ = 0;
  std::array<const Draws*, std::tuple_size_v<DrawsOfRow>> words_{};
};

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
