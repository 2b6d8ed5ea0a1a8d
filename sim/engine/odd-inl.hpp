// Rounding to odd in lanes whose operations round to nearest: what a result has lost is a number of
// theirs, too, and tells between which neighbours the exact one lies (docs/exactness.md, 29).
// Compiled once for every instruction set, within the kernels of engines.
#if defined(WIDTHWISE_ENGINE_ODD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ENGINE_ODD_INL
#undef WIDTHWISE_ENGINE_ODD_INL
#else
#define WIDTHWISE_ENGINE_ODD_INL
#endif

#include <hwy/highway.h>

#include "widthwise/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// x + y to nearest, and what that leaves out (Knuth, The Art of Computer Programming 2, 4.2.2).
template <class V>
struct TwoSum {
  V sum, lost;
};
template <class V>
HWY_INLINE TwoSum<V> two_sum(V x, V y) {
  const V sum = hn::Add(x, y), of_y = hn::Sub(sum, x);
  return {sum, hn::Add(hn::Sub(x, hn::Sub(sum, of_y)), hn::Sub(y, of_y))};
}

// Where inexact: of `nearest` and its neighbour on the side of what is lost the one whose last
// digit is odd, which is the one nearer to zero with its last digit set. Elsewhere `nearest`.
template <class V, class M>
HWY_INLINE V to_odd(V nearest, V lost, M inexact) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto bits = hn::BitCast(di, nearest);
  const auto where = hn::VecFromMask(di, hn::RebindMask(di, inexact));  // -1
  const auto beyond = hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, lost)));
  const auto toward_zero = hn::Add(bits, hn::And(where, beyond));
  return hn::BitCast(d, hn::Or(toward_zero, hn::And(where, hn::Set(di, 1))));
}

// Cuts the low digits off a number that the carrier rounded to odd, by any mode: what is added to
// the digits that go, `all` of them set at most, depends on the sign and on the last digit that
// stays. On the bits: a carry goes on into the exponent, as it should.
template <class DI>
class OddCut {
  using I = hn::Vec<DI>;
  using Lane = hn::TFromD<DI>;

 public:
  HWY_INLINE OddCut(RoundingMode mode, int digits) : to_sign_(8 * sizeof(Lane) - 1 - digits) {
    const Lane all = (Lane{1} << digits) - 1, half = (all + 1) / 2;
    Lane always = 0, if_negative = 0, if_odd = 0;
    switch (mode) {
      case RoundingMode::rna: always = half; break;
      case RoundingMode::rnz: always = half - 1; break;
      case RoundingMode::rnp: always = half, if_negative = -1; break;
      case RoundingMode::rnm: always = half - 1, if_negative = 1; break;
      case RoundingMode::rno: always = half, if_odd = -1; break;
      case RoundingMode::rdn: if_negative = all; break;
      case RoundingMode::rup: always = all, if_negative = -all; break;
      case RoundingMode::raz: always = all; break;
      case RoundingMode::odd: always = all, if_odd = -all; break;
      case RoundingMode::rne: always = half - 1, if_odd = 1; break;
      case RoundingMode::rtz: break;
      case RoundingMode::sr: break;  // by what is drawn, besides
    }
    kept_ = hn::Set(DI(), static_cast<Lane>(~all));
    always_ = hn::Set(DI(), always);
    if_negative_ = hn::Set(DI(), if_negative);
    if_odd_ = hn::Set(DI(), if_odd);
  }

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const I bits = hn::BitCast(DI(), x);
    const I negative = hn::BroadcastSignBit(bits);
    const I odd = hn::BroadcastSignBit(hn::ShiftLeftSame(bits, to_sign_));
    const I added = hn::Add(hn::And(negative, if_negative_), hn::And(odd, if_odd_));
    return hn::BitCast(d, hn::And(hn::Add(bits, hn::Add(always_, added)), kept_));
  }

 private:
  int to_sign_;
  I kept_, always_, if_negative_, if_odd_;
};

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
