#include "step_kernels.hpp"

#include <algorithm>

#include "sim/integers/row_path.hpp"
#include "widthwise/datapath/step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/integers/step_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/dice-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::steps::HWY_NAMESPACE {

using widthwise::HWY_NAMESPACE::Dice;
using namespace single;

// lib's functions know no instruction set; taken into these, they are compiled for this one, if it
// is not the one that all is compiled for.
#if HWY_TARGET == HWY_STATIC_TARGET
#define WIDTHWISE_HERE
#else
#define WIDTHWISE_HERE [[gnu::flatten]]
#endif

// With AVX2 rows of 32 bytes are no faster than those of 16.
template <class T>
inline constexpr int row_items = (HWY_MAX_BYTES < 64 ? 16 : 64) / int{sizeof(T)};
template <class T>
using RowOf = Row<T, row_items<T>>;

template <class R, class E>
HWY_INLINE R load(const E* from) {
  R x;
  std::memcpy(x.item, from, sizeof x);
  return x;
}
template <class R, class E>
HWY_INLINE void store(const R& x, E* to) {
  std::memcpy(to, x.item, sizeof x);
}

template <class U, class T>
HWY_INLINE Number<U> load_number(const Numbers<T>& x) {
  return number<U>(load<U>(x.sig), load<Int<U>>(x.exp), load<U>(x.marks));
}
template <class U, class T>
HWY_INLINE Number<U> spread_number(const Numbers<T>& x) {
  return number<U>(U(*x.sig), Int<U>(*x.exp), U(*x.marks));
}
template <class U, class T>
HWY_INLINE void store_number(const Number<U>& x, const Numbers<T>& to) {
  const auto mark = [](const Mask<U>& c, Mark m) { return select(c, U(m), U(0)); };
  store(x.sig, to.sig);
  store(x.exp, to.exp);
  store(mark(x.negative, negative) | mark(x.zero, zero) | mark(x.infinite, infinite) |
            mark(x.nan, nan),
        to.marks);
}

// What a row of outputs holds from step to step.
template <class U>
struct Running {
  Output<U> z;
  Number<U> outer;
  Dice<U> product, out;
  int unusual = 0;  // steps that need not be tried the quick way
};

// Those of lib, out of line.
template <class U>
WIDTHWISE_HERE HWY_NOINLINE void settle_here(const RoundingSlot<U>& to, const Number<U>& x,
                                             const U& random, Output<U>& z) {
  settle(to, x, random, z);
}
template <class U>
WIDTHWISE_HERE HWY_NOINLINE void any_step_here(const Path<U>& u, const Number<U>& a,
                                               const Number<U>& b, const Draw<U>& random,
                                               Output<U>& z) {
  any_step(u, a, b, random, z, settle_here<U>);
}

// x + y into z, by one of the roundings that happen once in many steps.
template <class U>
WIDTHWISE_HERE HWY_NOINLINE void add_once(const RoundingSlot<U>& to, const Number<U>& x,
                                          const Number<U>& y, Dice<U> dice, std::uint64_t step,
                                          Output<U>& z) {
  settle_here(to, sum(to, x, y), dice.bits(step), z);
}
template <class U>
WIDTHWISE_HERE HWY_NOINLINE void round_once(const RoundingSlot<U>& to, Dice<U> dice, Output<U>& z) {
  settle_here(to, to_round_once(to, z.sum), dice.bits(0), z);
}

// Several rows of outputs of one row of A, side by side: none waits for another.
template <class T>
class Strip {
  using U = RowOf<T>;
  static constexpr std::size_t items = row_items<T>, most = 4;

 public:
  static constexpr std::size_t columns = most * items;

  HWY_INLINE Strip(const Path<U>& u, const Tile<T>& t, std::size_t row, std::size_t column)
      : u_(u),
        t_(t),
        row_(row),
        column_(column),
        count_(std::min(most, (t.columns - column + items - 1) / items)) {}

  HWY_INLINE void run() {
    for (std::size_t v = 0; v < count_; ++v) begin(v);
    for (std::size_t i = 0; i < t_.depth; ++i) {
      const Number<U> a = spread_number<U>(t_.a.at(row_ * t_.depth + i));
      for (std::size_t v = 0; v < count_; ++v) step(a, i, v);
      if (u_.promote) promote(i);
    }
    for (std::size_t v = 0; v < count_; ++v) end(v);
  }

 private:
  HWY_INLINE std::size_t at(std::size_t v) const {
    return row_ * panel_columns + column_ + v * items;
  }
  HWY_INLINE Dice<U> dice(const RoundingSlot<U>& slot, std::size_t v) const {
    return {slot, t_.seed, t_.index + row_ * t_.next_row + column_ + v * items};
  }
  HWY_INLINE void begin(std::size_t v) {
    Running<U>& x = running_[v];
    x.z.sum = load_number<U>(t_.out.sum.at(at(v)));
    x.z.code = U(0);
    x.z.flags = load<Int<U>>(t_.out.flags + at(v));
    if (u_.promote) x.outer = load_number<U>(t_.out.outer.at(at(v)));
    if (u_.product_round) x.product = dice(*u_.product_round, v);
    x.out = dice(u_.out, v);
  }

  HWY_INLINE void step(const Number<U>& a, std::size_t i, std::size_t v) {
    Running<U>& x = running_[v];
    const std::uint64_t k = t_.first + i;
    const Number<U> b = load_number<U>(t_.b.at(i * panel_columns + column_ + v * items));
    const Draw<U> random{x.product.bits(k), x.out.bits(k)};
    // Unusual numbers come in company, and the quick way in vain costs half a step more.
    if (x.unusual == 0) {
      const Step<U> quick = quick_step(u_, u_.product_round.has_value(), a, b, random, x.z.sum);
      if (!any(quick.sure == Mask<U>{})) return take(quick, x.z);
    }
    x.unusual = x.unusual == 0 ? 6 : x.unusual - 1;
    any_step_here(u_, a, b, random, x.z);
  }

  // Into the outer sum, where that is due; the inner one starts anew.
  HWY_INLINE void promote(std::size_t i) {
    const std::uint64_t k = t_.first + i;
    const bool ends = t_.last && i + 1 == t_.depth;
    const auto interval = static_cast<std::uint64_t>(u_.unit.chain.promote->interval);
    if ((k + 1) % interval != 0 && !ends) return;
    for (std::size_t v = 0; v < count_; ++v) {
      Running<U>& x = running_[v];
      add_once(*u_.promote, x.outer, x.z.sum, dice(*u_.promote, v), k, x.z);
      x.outer = x.z.sum;
      if (!ends) x.z.sum = no_number<U>();
    }
  }

  HWY_INLINE void end(std::size_t v) {
    Running<U>& x = running_[v];
    x.z.code = code_of(u_, x.z);
    if (t_.last && u_.c_round) {
      const Number<U> c = load_number<U>(t_.out.c.at(at(v)));
      add_once(*u_.c_round, x.z.sum, c, dice(*u_.c_round, v), 0, x.z);
    }
    if (t_.last && u_.final) round_once(*u_.final, dice(*u_.final, v), x.z);
    store_number(x.z.sum, t_.out.sum.at(at(v)));
    if (u_.promote) store_number(x.outer, t_.out.outer.at(at(v)));
    store(x.z.code, t_.out.code + at(v));
    store(x.z.flags, t_.out.flags + at(v));
  }

  const Path<U>& u_;
  const Tile<T>& t_;
  std::size_t row_, column_, count_;
  Running<U> running_[most];
};

template <class T>
WIDTHWISE_HERE void tile(const Unit& unit, const Tile<T>& t) {
  const auto u = row_path<RowOf<T>>(unit);
  for (std::size_t row = 0; row < t.rows; ++row)
    for (std::size_t column = 0; column < t.columns; column += Strip<T>::columns)
      Strip<T>(*u, t, row, column).run();
}

Kernel<std::uint32_t> choose_32() { return &tile<std::uint32_t>; }
Kernel<std::uint64_t> choose_64() { return &tile<std::uint64_t>; }
const char* name() { return hwy::TargetName(HWY_TARGET); }

#undef WIDTHWISE_HERE

}  // namespace widthwise::steps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::steps {

HWY_EXPORT(choose_32);
HWY_EXPORT(choose_64);
HWY_EXPORT(name);

template <>
Kernel<std::uint32_t> kernel<std::uint32_t>() {
  return HWY_DYNAMIC_DISPATCH(choose_32)();
}
template <>
Kernel<std::uint64_t> kernel<std::uint64_t>() {
  return HWY_DYNAMIC_DISPATCH(choose_64)();
}
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }

}  // namespace widthwise::steps
#endif
