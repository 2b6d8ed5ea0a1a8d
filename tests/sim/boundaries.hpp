#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/lib/trial.hpp"

// Numbers near which rounding to a format changes its mind.
namespace tests {

// The double that a code stands for.
inline double value(const Format& f, std::uint64_t code) {
  const Rounder<std::uint64_t> to(binary64);
  return std::bit_cast<double>(convert(to, Layout<std::uint64_t>(f), code).code);
}

// Where rounding to the format changes its mind, in a carrier: its numbers, the midpoints between
// neighbours, the carrier's neighbours of all these, and specials.
template <class T>
std::vector<T> boundaries(const Format& to, Random& random) {
  const Layout<std::uint64_t> f(to);
  std::vector<T> list{T{0},
                      std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::quiet_NaN()};
  const std::uint64_t stride = 1 + f.max_finite / samples(300);
  const auto around = [&](double x) {
    const T centre = static_cast<T>(x);
    for (T y : {centre, std::nextafter(centre, T{0}),
                std::nextafter(centre, std::numeric_limits<T>::infinity())})
      list.push_back(y);
  };
  const auto next = [&](std::uint64_t i) {  // all at the ends
    const bool inside = i > 20 && i + 20 < f.max_finite;
    return i + (inside ? std::min(1 + random() % stride, f.max_finite - 20 - i) : 1);
  };
  for (std::uint64_t i = 0; i <= f.max_finite; i = next(i)) {
    const double low = value(to, i), high = value(to, std::min(i + 1, f.max_finite));
    around(low), around(low + (high - low) / 2);
    if (i == f.max_finite) {  // where overflow begins
      const double step = low - value(to, i - 1);
      around(low + step / 2), around(low + step);
    }
    if (i <= 2) around(low / 2), around(low * 0.75);  // gaps and tininess
  }
  const auto count = list.size();
  for (std::size_t i = 0; i < count; ++i) list.push_back(-list[i]);
  return list;
}

}  // namespace tests
