#pragma once
#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <cstdint>

namespace oracle {

// Holds a sum of two binary64 numbers and every product of three 8-bit ones; throws when it cannot.
using Big = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    2304, 2304, boost::multiprecision::signed_magnitude, boost::multiprecision::checked, void>>;
__extension__ typedef unsigned __int128 Wide;

// sig * 2^exp, not negative.
struct Dyadic {
  Wide sig = 0;
  std::int64_t exp = 0;
};

// A positive real: num / den * 2^exp, or the square root of that.
struct Exact {
  Big num = 1;
  Big den = 1;
  std::int64_t exp = 0;
  bool root = false;
};

// x against y, without ever computing a quotient or a root.
std::strong_ordering compare(const Exact& x, const Dyadic& y);

}  // namespace oracle
