#pragma once
#include "widthwise/side_by_side.hpp"

// Integers of twice a carrier's digits, as their two halves: a product and what is added to it.
namespace widthwise {

// x >> n with every lost one folded into bit 0; n >= 0, and as large as it likes.
template <class How, class U>
constexpr Halves<U> shift_right_jam(Halves<U> x, Int<U> n) {
  const Int<U> whole{digits<U>}, most{digits<U> - 1};
  const Mask<U> far = n >= whole;
  U lost{};
  if (How::any(far)) {
    lost = select(far, x.low, U{});
    x.low = select(far, x.high, x.low);
    x.high = select(far, U{}, x.high);
    n = n - select(far, whole, Int<U>{});
  }
  n = lesser(n, most);
  lost = lost | shift_left(U(x.low << 1), most - n);
  const U low = shift_right(x.low, n) | shift_left(U(x.high << 1), most - n);
  return {shift_right(x.high, n), low | select(lost != U{}, U(1), U{})};
}

template <class U>
constexpr Halves<U> sum(const Halves<U>& a, const Halves<U>& b) {
  const U low = a.low + b.low;
  return {U(a.high + b.high + select(low < a.low, U(1), U{})), low};
}

template <class U>
constexpr Halves<U> negate_if(Mask<U> c, const Halves<U>& x) {
  const U mask = mask_if<U>(c), low = U(x.low ^ mask) - mask;
  return {U(U(x.high ^ mask) - select(low == U{}, mask, U{})), low};
}

// Its leading one at the top digit of a single carrier, the rest jammed; zeros counts both halves.
template <class How, class U>
constexpr Normalised<U> normalised(Halves<U> x) {
  const Mask<U> far = x.high == U{};
  if (How::any(far)) {
    x.high = select(far, x.low, x.high);
    x.low = select(far, U{}, x.low);
  }
  const Normalised<U> top = How::normalised(x.high);
  const U brought = shift_right(U(x.low >> 1), Int<U>{digits<U> - 1} - top.zeros);
  const U rest = shift_left(x.low, top.zeros);
  return {U(top.sig | brought | select(rest != U{}, U(1), U{})),
          top.zeros + select(far, Int<U>{digits<U>}, Int<U>{})};
}

}  // namespace widthwise
