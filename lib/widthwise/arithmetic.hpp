#pragma once
#include "widthwise/operations.hpp"

namespace widthwise {

// The operations on codes of one format, for whoever needs neither mixed formats nor random bits.
//   constexpr Arithmetic<std::uint32_t> half(binary16);
//   static_assert(half.multiply(0x4200, 0x3555).code == 0x3c00);  // 3 * (1/3, rounded) = 1
template <class U>
class Arithmetic {
 public:
  explicit constexpr Arithmetic(const Format& f, const Env& env = {}) : layout_(f), to_(f, env) {}

  constexpr Result<U> add(const U& a, const U& b) const {
    return widthwise::add(to_, layout_, a, layout_, b);
  }
  constexpr Result<U> subtract(const U& a, const U& b) const {
    return widthwise::subtract(to_, layout_, a, layout_, b);
  }
  constexpr Result<U> multiply(const U& a, const U& b) const {
    return widthwise::multiply(to_, layout_, a, layout_, b);
  }
  constexpr Result<U> divide(const U& a, const U& b) const {
    return widthwise::divide(to_, layout_, a, layout_, b);
  }
  constexpr Result<U> remainder(const U& a, const U& b) const {
    return widthwise::remainder(to_, layout_, a, layout_, b);
  }
  constexpr Result<U> sqrt(const U& a) const { return widthwise::sqrt(to_, layout_, a); }
  constexpr Result<U> fma(const U& a, const U& b, const U& c) const {
    return widthwise::fma(to_, layout_, a, layout_, b, layout_, c);
  }
  constexpr Relation compare(const U& a, const U& b) const {
    return widthwise::compare(layout_, a, layout_, b);
  }

 private:
  Layout<U> layout_;
  Rounder<U> to_;
};

}  // namespace widthwise
