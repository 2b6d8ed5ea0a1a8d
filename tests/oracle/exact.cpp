#include "exact.hpp"

#include <bit>

namespace oracle {
namespace {

std::int64_t bits(const Big& x) { return static_cast<std::int64_t>(msb(x)) + 1; }
std::int64_t bits(Wide x) {
  const auto upper = static_cast<std::uint64_t>(x >> 64), lower = static_cast<std::uint64_t>(x);
  return upper ? 64 + std::bit_width(upper) : std::bit_width(lower);
}

std::strong_ordering order(const Big& x, const Big& y) { return x.compare(y) <=> 0; }
std::strong_ordering order(Wide x, Wide y) { return x <=> y; }

// x * 2^i against y * 2^j: aligned only if their leading digits meet, so nothing grows without end.
template <class Integer>
std::strong_ordering compare_scaled(const Integer& x, std::int64_t i, const Integer& y,
                                    std::int64_t j) {
  if (bits(x) + i != bits(y) + j) return bits(x) + i <=> bits(y) + j;
  if (i > j) return order(Integer(x << static_cast<unsigned>(i - j)), y);
  if (i < j) return order(x, Integer(y << static_cast<unsigned>(j - i)));
  return order(x, y);
}

// Numbers of so many digits, as most are, are compared as words of 128.
constexpr std::int64_t few = 64;

}  // namespace

std::strong_ordering compare(const Exact& x, const Dyadic& y) {
  if (y.sig == 0) return std::strong_ordering::greater;
  if (!x.root && x.den == 1 && bits(x.num) <= few && bits(y.sig) <= few)
    return compare_scaled(static_cast<Wide>(x.num), x.exp, y.sig, y.exp);
  Big right(y.sig);
  if (x.root) right *= right;
  if (x.den != 1) right *= x.den;
  return compare_scaled(x.num, x.exp, right, x.root ? 2 * y.exp : y.exp);
}

}  // namespace oracle
