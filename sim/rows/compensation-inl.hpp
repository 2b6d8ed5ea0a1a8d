// Compensated sums (lib's datapath/compensation.hpp) for a row of outputs.
#if defined(WIDTHWISE_ROWS_COMPENSATION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_COMPENSATION_INL
#undef WIDTHWISE_ROWS_COMPENSATION_INL
#else
#define WIDTHWISE_ROWS_COMPENSATION_INL
#endif

#include "sim/rows/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

template <class C>
struct Accumulator {
  Register<C> sum, compensation;
};

template <class M>
HWY_INLINE Terms<M> negated(Terms<M> t) {
  t.negative = no(t.negative);
  return t;
}

// |x| >= |y|; false where one is NaN.
template <class M>
HWY_INLINE Truth at_least(const Terms<M>& x, const Terms<M>& y) {
  const Truth x_none = x.m == M(0), y_none = y.m == M(0);
  const Count x_zeros = leading_zeros(x.m), y_zeros = leading_zeros(y.m);
  const Count x_top = x.q - x_zeros, y_top = y.q - y_zeros;
  const Truth as_high = no(x_top < y_top) & no(y_top < x_top);
  const Truth less = (x.m << x_zeros) < (y.m << y_zeros);
  const Truth of_numbers = y_none | (no(x_none) & ((x_top > y_top) | (as_high & no(less))));
  return select(x.endless | y.endless, x.endless & no(is_nan(x) | is_nan(y)), of_numbers);
}

// A chain whose sums carry along what they lose: its roundings, for this row of outputs.
template <class M, class C>
class CompensatedRow {
 public:
  template <class MakePlace>
  CompensatedRow(Compensation kind, const CompensationSlots<Rows<C>>& slots, const Place<C>& out,
                 int held, const MakePlace& place)
      : kahan_(kind == Compensation::kahan),
        held_(held),
        out_(out),
        addend_(place(slots.addend)),
        difference_(place(slots.difference)),
        error_(place(slots.error)),
        compensation_(place(slots.compensation)),
        compensated_(place(slots.compensated)) {}

  void begin(std::uint64_t index) {
    for (Place<C>* at : {&out_, &addend_, &difference_, &error_, &compensation_, &compensated_})
      at->dice.begin(index);
  }
  // Product p added to the running sum.
  HWY_INLINE void add(const Terms<M>& p, Fate& fate, Accumulator<C>& acc) {
    kahan_ ? kahan(p, fate, acc) : neumaier(p, fate, acc);
  }
  // What the registers come to after the step.
  HWY_INLINE Register<C> settled(const Accumulator<C>& acc, std::int64_t step, Fate& fate) {
    if (kahan_) return acc.sum;
    Register<C> z;
    add(compensated_, read(acc.sum, step), read(acc.compensation, step), fate, z);
    return z;
  }

 private:
  HWY_INLINE Terms<M> read(const Register<C>& r, std::int64_t lane) const {
    return terms<M>(r.value, held_, lane, false);
  }
  // Rounded as that of the step, which all of its terms name.
  HWY_INLINE void add(Place<C>& at, const Terms<M>& x, const Terms<M>& y, Fate& fate,
                      Register<C>& to) const {
    add_rounded(exact_, at, x, y, x.lane, fate, to);
  }
  HWY_INLINE Terms<M> sum(Place<C>& at, const Terms<M>& x, const Terms<M>& y, Fate& fate) const {
    Register<C> z;
    add(at, x, y, fate, z);
    return read(z, x.lane);
  }

  HWY_INLINE void kahan(const Terms<M>& p, Fate& fate, Accumulator<C>& acc) {
    const Terms<M> before = read(acc.sum, p.lane), comp = read(acc.compensation, p.lane);
    const Terms<M> y = sum(addend_, p, negated(comp), fate);
    add(out_, before, y, fate, acc.sum);
    const Terms<M> moved = sum(difference_, read(acc.sum, p.lane), negated(before), fate);
    add(error_, moved, negated(y), fate, acc.compensation);
  }

  HWY_INLINE void neumaier(const Terms<M>& p, Fate& fate, Accumulator<C>& acc) {
    const Terms<M> before = read(acc.sum, p.lane), comp = read(acc.compensation, p.lane);
    const Truth sum_leads = at_least(before, p);
    const Terms<M> large = select(sum_leads, before, p), small = select(sum_leads, p, before);
    add(out_, before, p, fate, acc.sum);
    const Terms<M> rest = sum(difference_, large, negated(read(acc.sum, p.lane)), fate);
    const Terms<M> error = sum(error_, rest, small, fate);
    add(compensation_, comp, error, fate, acc.compensation);
  }

  bool kahan_;
  int held_;
  Place<C> out_, addend_, difference_, error_, compensation_, compensated_;
  Joint<M, C> exact_{Adder<Rows<C>>{}, {}, false};
};

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
