#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "trial.hpp"

// Operands that meet the corners of an operation more often than random codes do.
namespace tests {

template <class U>
U uniform(Random& random) {
  if constexpr (digits < U >> 64) {
    U x{};
    for (int i = 0; i < digits<U>; i += 64) x = x << 64 | U(random());
    return x;
  } else {
    return static_cast<U>(random());
  }
}

// Codes of one format. An exponent is that of the leading digit, a subnormal's that of the least
// normal number.
template <class U>
class Operands {
 public:
  explicit Operands(const Format& f) : f_(f) { name_codes(); }

  const Layout<U>& layout() const { return f_; }
  Coded<U> coded(const U& code) const { return {&f_, code}; }

  // The ends of every range of the encoding, one and its like, with both neighbours and both signs.
  const std::vector<U>& named() const { return named_; }

  U any(Random& random) const {
    switch (random() % 4) {
      case 0: return named_[random() % named_.size()];
      case 1: return uniform<U>(random) & mask();
      case 2: return with_exponent(exponent_near(0, 8, random), random);
      default: return with_exponent(exponent_near(pick_end(random), 4, random), random);
    }
  }

  // Where sums with a cancel, tie, or just miss either.
  U near(const U& a, Random& random) const {
    const std::int64_t reach = f_.format.precision() + 3;
    switch (random() % 4) {
      case 0: return turned(a, random) ^ U(random() % 4);
      case 1: return with_exponent(exponent_near(exponent(a), 2, random), random);
      default: return with_exponent(exponent_near(exponent(a), reach, random), random);
    }
  }

  // A number of this exponent, or the nearest that there is.
  U with_exponent(std::int64_t e, Random& random) const {
    const std::int64_t top = f_.format.top_field(), bias = f_.format.bias;
    const std::int64_t field = e < -bias ? 0 : e - top > -bias ? top : e + bias;
    const U magnitude = (U(static_cast<std::uint64_t>(field)) << f_.format.frac_bits) |
                        (fraction(random) & f_.fraction_mask);
    return turned(magnitude, random);
  }

  std::int64_t exponent(const U& a) const {
    const auto field = static_cast<std::int64_t>((a & f_.magnitude_mask) >> f_.format.frac_bits);
    return (field == 0 && !f_.all_normal ? 1 : field) - f_.format.bias;
  }

  std::int64_t pick_end(Random& random) const {
    return random() % 2 ? f_.format.emax() : f_.format.emin();
  }

  static std::int64_t exponent_near(std::int64_t e, std::int64_t reach, Random& random) {
    const auto span = static_cast<std::uint64_t>(2 * reach + 1);
    return e + static_cast<std::int64_t>(random() % span) - reach;
  }

  // a or its neighbour, of either sign.
  U turned(const U& a, Random& random) const { return random() % 2 ? a ^ f_.sign : a; }
  U jogged(const U& a, Random& random) const {
    const std::uint64_t step = random() % 3;
    return (step == 0 ? a : step == 1 ? U(a + U(1)) : U(a - U(1))) & mask();
  }

 private:
  U mask() const { return f_.magnitude_mask | f_.sign; }

  // Runs of equal digits, and digits that end early.
  static U fraction(Random& random) {
    const U x = uniform<U>(random);
    const auto n = static_cast<std::int64_t>(random() % digits<U>);
    const auto m = static_cast<std::int64_t>(random() % digits<U>);
    switch (random() % 6) {
      case 0: return U{};
      case 1: return U{} - U(1);
      case 2: return bit<U>(static_cast<int>(n));
      case 3: return ((U{} - U(1)) << n) ^ ((U{} - U(1)) << m);
      case 4: return U(x >> n) << n;
      default: return x;
    }
  }

  void name_codes() {
    const U one = U(static_cast<std::uint64_t>(std::max<std::int64_t>(f_.format.bias, 0)))
                  << f_.format.frac_bits;
    for (const U& code : {U{}, f_.hidden, f_.max_finite, f_.infinity, f_.first_nan, f_.nan_code,
                          one, U(one + f_.hidden), U(one | U(f_.hidden >> 1))})
      for (const U& neighbour : {U(code - U(1)), code, U(code + U(1))})
        for (const U& sign : {U{}, f_.sign}) add((neighbour ^ sign) & mask());
  }
  void add(const U& code) {
    if (std::find(named_.begin(), named_.end(), code) == named_.end()) named_.push_back(code);
  }

  Layout<U> f_;
  std::vector<U> named_;
};

// Operands of op whose result lies at an end of to's range, cancels, ties, or anything.
template <class U>
void draw(Operation op, const Operands<U>& f, const Format& to, Random& random, Coded<U>* x) {
  const U a = f.any(random);
  const std::int64_t ends[] = {to.emin(), to.emax(), 0};
  const std::int64_t wanted = Operands<U>::exponent_near(ends[random() % 3], 3, random);
  U b = f.near(a, random), c = f.near(a, random);
  if (op == Operation::multiply || op == Operation::fma)
    b = f.with_exponent(wanted - f.exponent(a), random);
  if (op == Operation::divide && random() % 2) b = f.with_exponent(f.exponent(a) - wanted, random);
  if (op == Operation::remainder && random() % 2) b = f.any(random);
  const Rounder<U> rne(f.layout().format);
  if (op == Operation::fma) {
    const U product = multiply<U>(rne, f.layout(), a, f.layout(), b).code;
    c = random() % 2 ? f.near(product, random) : f.jogged(f.turned(product, random), random);
  }
  x[0] = f.coded(a), x[1] = f.coded(b), x[2] = f.coded(c);
  if (op == Operation::sqrt && random() % 2)  // squares and what is next to them
    x[0] = f.coded(f.jogged(multiply<U>(rne, f.layout(), a, f.layout(), a).code, random));
}

}  // namespace tests
