#include <boost/multiprecision/cpp_int.hpp>
#include <string>

#include "operands.hpp"
#include "tally.hpp"

namespace test_wide {

// The arithmetic of the carriers themselves, against Boost's integers.
namespace {

using namespace tests;
using Integer = boost::multiprecision::cpp_int;

template <class U>
Integer integer(const U& x) {
  Integer n = 0;
  const std::vector<std::uint64_t> all = limbs(x);
  for (std::size_t i = all.size(); i-- > 0;) n = (n << 64) + all[i];
  return n;
}

template <class U>
const Integer& wrap() {
  static const Integer all = Integer(1) << digits<U>;
  return all;
}

// Limbs that carries run through, and any others: all ones, zero, powers of two and their likes.
std::uint64_t directed_limb(Random& random) {
  const std::uint64_t one_bit = std::uint64_t{1} << random() % 64;
  switch (random() % 6) {
    case 0: return 0;
    case 1: return ~std::uint64_t{0};
    case 2: return one_bit;
    case 3: return one_bit - 1;
    case 4: return 0 - one_bit;
    default: return random();
  }
}

template <class U>
U directed(Random& random) {
  U x = static_cast<U>(directed_limb(random));
  if constexpr (digits < U >> 64)
    for (int i = 64; i < digits<U>; i += 64) x = x << 64 | U(directed_limb(random));
  return x;
}

template <class U>
std::string text(const char* what, const U& a, const U& b) {
  return std::to_string(digits<U>) + " digits, " + what + " " + hex(limbs(a)) + " " + hex(limbs(b));
}

template <class U>
void judge_ring(const U& a, const U& b, Tally& tally) {
  const Integer x = integer(a), y = integer(b), &all = wrap<U>();
  const auto check = [&](const char* what, const U& got, const Integer& want) {
    tally.check(integer(got) == want, [&] { return text(what, a, b); });
  };
  check("+", a + b, Integer((x + y) % all));
  check("-", a - b, Integer((x + all - y) % all));
  check("&", a & b, Integer(x & y));
  check("|", a | b, Integer(x | y));
  check("^", a ^ b, Integer(x ^ y));
  tally.check((a < b) == (x < y) && (a > b) == (x > y) && (a <= b) == (x <= y) &&
                  (a >= b) == (x >= y) && (a == b) == (x == y),
              [&] { return text("order", a, b); });
  const Halves<U> product = multiply_exact(a, b);
  check("high half of *", product.high, Integer((x * y) >> digits<U>));
  check("low half of *", product.low, Integer((x * y) % all));
}
constexpr std::uint64_t ring_checks = 8;

template <class U>
void judge_shifts(const U& a, int n, Tally& tally) {
  const Integer x = integer(a);
  const auto check = [&](const char* what, const U& got, const Integer& want) {
    tally.check(integer(got) == want, [&] { return text(what, a, U(n)); });
  };
  check("<<", a << n, Integer((x << n) % wrap<U>()));
  check(">>", a >> n, Integer(x >> n));
  const Integer lost = x - ((x >> n) << n);
  const bool sticky = lost != 0;
  check("jammed >>", shift_right_jam<U>(a, n), Integer((x >> n) | (sticky ? 1 : 0)));
  tally.check(any_low_bits<U>(a, n) == sticky, [&] { return text("any low bits", a, U(n)); });
  check("jammed >> by far", shift_right_jam<U>(a, n + digits<U>), Integer(x != 0 ? 1 : 0));
  const int zeros = x == 0 ? 0 : digits<U> - 1 - static_cast<int>(msb(x));
  tally.check(x == 0 ? Significand<U>::leading_zeros(a) < digits<U>
                     : Significand<U>::leading_zeros(a) == zeros,
              [&] { return text("leading zeros", a, a); });
}
constexpr std::uint64_t shift_checks = 6;

// n.high < d, and d's top bit is set.
template <class U>
void judge_division(U high, const U& low, const U& divisor, Tally& tally) {
  const U d = divisor | bit<U>(digits<U> - 1);
  if (high >= d) high = high - d;
  const Integer n = (integer(high) << digits<U>)+integer(low);
  const Division<U> z = divide_halves(Halves<U>{high, low}, d);
  tally.check(integer(z.quotient) == n / integer(d) && integer(z.remainder) == n % integer(d),
              [&] { return text("divide", high, d) + " low " + hex(limbs(low)); });
}

template <class U>
void judge_carrier(std::uint64_t wanted) {
  const std::uint64_t count = samples(wanted);
  Tally tally;
  Random random(static_cast<std::uint64_t>(digits<U>));
  for (std::uint64_t i = 0; i < count; ++i) {
    judge_ring(directed<U>(random), directed<U>(random), tally);
    judge_shifts(directed<U>(random), static_cast<int>(random() % digits<U>), tally);
    judge_division(directed<U>(random), directed<U>(random), directed<U>(random), tally);
  }
  const U zero{}, most = U{} - U(1);
  for (int n = 0; n < digits<U>; ++n) {
    judge_shifts(most, n, tally);
    judge_shifts(bit<U>(n), n, tally);
  }
  judge_ring(zero, zero, tally);
  judge_ring(most, most, tally);
  tally.expect(count * (ring_checks + shift_checks + 1) + 2 * digits<U> * shift_checks +
               2 * ring_checks);
}

}  // namespace

TEST_CASE("built-in carriers add, multiply, shift and divide as integers do") {
  judge_carrier<std::uint32_t>(20'000);
  judge_carrier<std::uint64_t>(20'000);
  judge_carrier<uint128>(20'000);
}

TEST_CASE("wide carriers add, multiply, shift and divide as integers do") {
  judge_carrier<Wide<1>>(5'000);
  judge_carrier<Wide<2>>(20'000);
  judge_carrier<Wide<3>>(20'000);
  judge_carrier<Wide<4>>(20'000);
  judge_carrier<Wide<9>>(5'000);
  judge_carrier<Wide<17>>(2'000);
  judge_carrier<Wide<65>>(200);
}

// Knuth's D6: the trial digit is one too large with probability 2 / 2^64 only, two too large in
// step D3 now and then. These divisors make both happen.
TEST_CASE("long division: trial digits that are one and two too large are corrected") {
  constexpr std::uint64_t ones = ~std::uint64_t{0}, top = std::uint64_t{1} << 63;
  Tally tally;
  std::uint64_t expected = 0;
  const std::uint64_t words[] = {0, 1, 2, top - 1, top, top + 1, ones - 1, ones};
  for (std::uint64_t d2 : {top, top + 1, ones - 1, ones})
    for (std::uint64_t d1 : words)
      for (std::uint64_t d0 : words)
        for (std::uint64_t h2 : words)
          for (std::uint64_t h1 : words)
            for (std::uint64_t low : words) {
              Wide<3> d, high, bottom;
              d.limb[2] = d2, d.limb[1] = d1, d.limb[0] = d0;
              high.limb[2] = h2, high.limb[1] = h1, high.limb[0] = ones;
              bottom.limb[2] = low, bottom.limb[0] = ones;
              judge_division(high, bottom, d, tally);
              ++expected;
            }
  tally.expect(expected);
  CHECK(expected == 4 * 8 * 8 * 8 * 8 * 8);
}

TEST_CASE("wide integers turn into each other and into built-in ones, low limbs kept") {
  Wide<4> x;
  for (int i = 0; i < 4; ++i) x.limb[i] = 0x1111111111111111u * static_cast<std::uint64_t>(i + 1);
  CHECK(static_cast<std::uint64_t>(x) == 0x1111111111111111u);
  CHECK(static_cast<uint128>(x) == (uint128{0x2222222222222222u} << 64 | 0x1111111111111111u));
  CHECK(Wide<2>(x) == Wide<2>(static_cast<uint128>(x)));
  CHECK(Wide<4>(Wide<9>(x)) == x);
  CHECK(Wide<9>(x).limb[8] == 0);
}

}  // namespace test_wide
