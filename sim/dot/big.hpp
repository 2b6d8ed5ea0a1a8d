#pragma once
#include <boost/multiprecision/cpp_int.hpp>

#include "widthwise/wide.hpp"

namespace widthwise {

// An unsigned magnitude of any size on the heap. Expression templates are off: the arithmetic takes
// and returns plain values.
using Big = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                          boost::multiprecision::et_off>;

template <>
struct Significand<Big> {
  using Mask = bool;
  using Int = std::int64_t;
  static std::int64_t bit_length(const Big& x) {
    return x == 0 ? 0 : static_cast<std::int64_t>(msb(x)) + 1;
  }
  static bool any_low_bits(const Big& x, std::int64_t n) {
    return x != 0 && static_cast<std::int64_t>(lsb(x)) < n;
  }
  static bool is_negative(const Big& x) { return x < 0; }
  template <int N>
  static Big from(const Wide<N>& x) {
    Big z;
    import_bits(z, x.limb, x.limb + N, 64, false);
    return z;
  }
  template <class H>
  static H to(const Big& x) {
    H z{};
    std::uint64_t limbs[sizeof z.limb / sizeof z.limb[0] + 1]{};
    export_bits(x, limbs, 64, false);
    std::copy(limbs, limbs + sizeof z.limb / sizeof z.limb[0], z.limb);
    return z;
  }
};

}  // namespace widthwise
