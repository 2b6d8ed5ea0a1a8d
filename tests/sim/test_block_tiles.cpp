#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_tiles {

// The blocks engine's tiles, which take units without flags whose operands lie near enough to one,
// against the reference: at the boundaries of what they condition.
namespace {

using namespace widthwise;
using namespace tests;

// The code of 2^e, or of the least number where that is larger.
std::uint64_t power(const Format& f, std::int64_t e, bool negative) {
  const std::int64_t field = e + f.bias, place = e - (f.emin() - f.frac_bits);
  const std::uint64_t magnitude = field > 0 ? static_cast<std::uint64_t>(field) << f.frac_bits
                                            : std::uint64_t{1} << std::max<std::int64_t>(place, 0);
  return magnitude | std::uint64_t{negative} << f.magnitude_bits();
}

template <class Item>
Item one_of(std::initializer_list<Item> items, ProductRandom& random) {
  return std::data(items)[random() % items.size()];
}

constexpr std::size_t near_ties = 256;

// One block of signed powers of two whose sum and C end near a digit that decides a rounding: the
// columns of B choose the powers, a row of A their signs. Sums lie near 2^centre.
void compare_near_ties(const Unit& u, std::int64_t centre, Tally& tally, ProductRandom& random) {
  const auto lanes = static_cast<std::size_t>(u.lanes);
  constexpr std::size_t m = 4, n = near_ties / m;
  CodeList a(u.a.fmt, m * lanes), b(u.b.fmt, lanes * n), c(binary32, m * n);
  for (std::size_t i = 0; i < m * lanes; ++i) a.set(i, power(u.a.fmt, 0, random() & 1));
  const std::int64_t least = std::max(u.b.fmt.emin() - u.b.fmt.frac_bits, centre - 40),
                     most = std::min(u.b.fmt.emax(), centre);
  const auto within = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  for (std::size_t j = 0; j < n; ++j) {
    const std::int64_t of_sum = within(least, most), of_c = of_sum + within(-30, 45);
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::int64_t below =
          one_of({of_sum, of_c}, random) -
          one_of({0, 1, 2, 5, 23, 24, 25, 30, 31, 32, 33, 34, 51, 52, 53, 54}, random);
      const std::int64_t e = i == 0 ? of_sum : std::clamp(below, least, of_sum);
      b.set(i * n + j, power(u.b.fmt, e, random() & 1));
    }
    for (std::size_t r = 0; r < m; ++r) {
      const std::uint64_t any = random() & 0x7fffff,
                          digits = one_of({any, std::uint64_t{0}, std::uint64_t{1},
                                           std::uint64_t{0x7ffffe}, std::uint64_t{0x7fffff}},
                                          random);
      c.set(r * n + j, power(binary32, of_c, random() & 1) | digits);
    }
  }
  MatrixProduct p;
  p.m = m, p.n = n, p.k = lanes;
  p.a = a.rows(lanes), p.b = b.rows(n), p.c = c.rows(n);
  Rival("blocks", u, tally).compare(p, fmt::format("near ties at 2^{}", centre));
}

// Blocks of four products of binary16, in units of the last digit that the engine expects: the
// blocks before the last one add 2^33 each, that one adds so much and one.
struct LastDigits {
  double c, before_one;
  std::size_t blocks = 1;

  void compare(double sign, Tally& tally) const {
    constexpr int least = -4;  // exponent of B
    const auto code = [](int exponent, int digits, bool negative) {
      return static_cast<std::uint64_t>(negative) << 15 |
             static_cast<std::uint64_t>(exponent + 15) << 10 |
             static_cast<std::uint64_t>(digits - 1024);
    };
    const Unit& u = find_preset("cdna1.f16")->unit;
    const std::size_t k = 4 * blocks;
    CodeList a(binary16, k), b(binary16, k), with(binary32, 1);
    for (std::size_t i = 0; i < k; ++i)
      a.set(i, code(0, 1024, false)), b.set(i, code(least + 11, 1024, sign < 0));
    const std::size_t last = k - 4;  // 1027 * 1027 - 1026 * 1028 = 1
    a.set(last, code(0, 1027, false)), b.set(last, code(least, 1027, sign < 0));
    a.set(last + 1, code(0, 1026, true)), b.set(last + 1, code(least, 1028, sign < 0));
    b.set(last + 2, code(least + std::ilogb(before_one) - 20, 1024, sign < 0));
    b.set(last + 3, 0);
    const auto from = static_cast<float>(std::ldexp(sign * c, least - 20));
    with.set(0, std::bit_cast<std::uint32_t>(from));
    MatrixProduct p;
    p.m = p.n = 1, p.k = k;
    p.a = a.rows(k), p.b = b.rows(1), p.c = with.rows(1);
    Rival("blocks", u, tally).compare(p, fmt::format("{} and {} and 1", c, before_one));
  }
};

}  // namespace

constexpr Rival::Shape shapes[] = {{5, 33, 67}, {1, 700, 3}};
constexpr const char* tiled[] = {"cdna3.f16", "cdna3.bf16", "cdna3.xf32", "cdna3.fp8",
                                 "cdna3.bf8", "cdna1.f16",  "cdna1.bf16"};

TEST_CASE("tiles of blocks give the reference's codes: all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* name : tiled)
      for (const Rival::Shape& s : shapes) {
        CAPTURE(name);
        Rival("blocks", find_preset(name)->unit, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
  });
  tally.expect(expected);
}

TEST_CASE("tiles of blocks round as the reference does, near every tie") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* name : tiled)
      for (int i = 0; i < 200; ++i, expected += near_ties)
        compare_near_ties(find_preset(name)->unit, 20, tally, random);
    for (const char* name : {"cdna3.bf16", "cdna3.xf32", "cdna1.bf16"})
      for (const std::int64_t centre : {-50, -30, -20, 57, 58, 59, 60, 61})
        for (int i = 0; i < 10; ++i, expected += near_ties)
          compare_near_ties(find_preset(name)->unit, centre, tally, random);
  });
  tally.expect(expected);
}

TEST_CASE("tiles of blocks that C joins late hold the largest sums") {
  ProductRandom random(3);
  Tally tally;
  Unit longest = find_preset("cdna3.f16")->unit;
  longest.lanes = 15;
  for (const Unit& u : {longest, find_preset("cdna3.fp8")->unit})
    for (const std::size_t lanes{static_cast<std::size_t>(u.lanes)};
         const bool minus : {false, true})
      for (std::uint64_t field = 120; field < 150; ++field) {
        const CodeList a = codes(u.a.fmt, lanes, Manner::full, random),
                       b = codes(u.b.fmt, lanes, Manner::full, random);
        CodeList c(binary32, 1);
        c.set(0, std::uint64_t{minus} << 31 | field << 23 | (random() & 0x7fffff));
        MatrixProduct p;
        p.m = p.n = 1, p.k = lanes;
        p.a = a.rows(lanes), p.b = b.rows(1), p.c = c.rows(1);
        Rival("blocks", u, tally).compare(p, fmt::format("C of exponent {}", field));
      }
  tally.expect(120);
}

TEST_CASE("tiles of blocks keep the sign of a sum of zeros") {
  Tally tally;
  for (const char* name : {"cdna3.f16", "cdna3.bf16", "cdna1.f16", "cdna1.bf16"})
    for (const std::uint64_t c : {0u, 0x80000000u})
      for (const std::uint64_t last : {0u, 0x3f80u}) {
        const Unit& u = find_preset(name)->unit;
        const auto lanes = static_cast<std::size_t>(u.lanes);
        CodeList a(u.a.fmt, lanes), b(u.b.fmt, 2 * lanes), with(binary32, 2);
        for (std::size_t i = 0; i < lanes; ++i) a.set(i, 0x8000);
        b.set(2 * lanes - 1, last);  // for the other column to have a digit
        a.set(lanes - 1, 0xbf80);
        with.set(0, c), with.set(1, c);
        MatrixProduct p;
        p.m = 1, p.n = 2, p.k = lanes;
        p.a = a.rows(lanes), p.b = b.rows(2), p.c = with.rows(2);
        Rival("blocks", u, tally).compare(p, name);
      }
  tally.expect(32);
}

TEST_CASE("tiles of blocks that C joins late drop none beside products that are all zero") {
  Tally tally;
  for (const int below : {0, 3, 24, 25, 26})
    for (const std::uint64_t c : {0x21000000u, 0xa1000000u, 0x23000000u, 0x15800000u}) {  // 2^-61 …
      Unit u = find_preset("cdna3.fp8")->unit;
      u.c_sum.align.drop_c_below = below;
      const CodeList zeros(u.a.fmt, 16);
      CodeList with(binary32, 1);
      with.set(0, c);
      MatrixProduct p;
      p.m = p.n = 1, p.k = 16;
      p.a = zeros.rows(16), p.b = zeros.rows(1), p.c = with.rows(1);
      Rival("blocks", u, tally).compare(p, fmt::format("C dropped {} below", below));
    }
  tally.expect(20);
}

TEST_CASE("trees of floats: every preset's, and promoted, all sorts of operands") {
  ProductRandom random(4);
  Tally tally;
  std::uint64_t expected = 0;
  std::vector<Unit> units;
  for (const char* name : {"cdna2.f16", "cdna2.bf16", "cdna2.bf16_1k", "tree8.f32"})
    units.push_back(find_preset(name)->unit);
  for (const char* text :
       {"tree(binary32, fan=4, promote=16:binary32:sr8)", "tree(binary32, fan=16)",
        "tree(e8m7, fan=32, product=binary32, node=binary32, sum=binary32)",
        "tree(binary32, fan=2, promote=10:e8m10:rup, c=e5m10, sum=binary32)"})
    units.push_back(parse_unit(text));
  on_every_target([&] {
    for (const Unit& u : units)
      for (const Rival::Shape& s : shapes) {
        CAPTURE(to_string(u));
        Rival("blocks", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
  });
  tally.expect(expected);
}

TEST_CASE("trees of floats flush a sum that is subnormal, and keep the sign of a zero") {
  const std::uint64_t sums[] = {0x00000001, 0x807fffff, 0x00800000, 0x80800000,
                                0x80000000, 0x00000000, 0x00400000, 0x80400000};
  constexpr std::size_t k = 4, n = std::size(sums);
  Tally tally;
  for (const Flush flush : {Flush::keep, Flush::flush_pos_zero, Flush::flush_signed_zero})
    for (const std::uint64_t a : {0x0000, 0x8000}) {
      Unit u = find_preset("cdna2.f16")->unit;
      u.out.subnormals = flush;
      u.a.subnormals = u.b.subnormals = u.c.subnormals = Flush::keep;
      CodeList zeros(binary16, k), c(binary32, n);
      for (std::size_t i = 0; i < k; ++i) zeros.set(i, a);
      for (std::size_t j = 0; j < n; ++j) c.set(j, sums[j]);
      const CodeList b = ones(binary16, k * n);
      MatrixProduct p;
      p.m = 1, p.n = n, p.k = k;
      p.a = zeros.rows(k), p.b = b.rows(n), p.c = c.rows(n);
      Rival("blocks", u, tally).compare(p, "zeros onto the least numbers");
    }
  tally.expect(6 * n);
}

TEST_CASE("tiles of exact blocks see every digit that a double has, and no more") {
  Tally tally;
  for (const double sign : {1.0, -1.0})
    for (const LastDigits& x : {LastDigits{0x1p52, 0x1p28},
                                {0x1p53 - 0x1p33, 0x1p28},
                                {0x1p53, 0x1p29},
                                {0x1p53 - 0x1p29, 0x1p30},
                                {0x1p53 - 0x1p35, 0x1p29, 16},
                                {0x1p-40, 0x1p24}})
      x.compare(sign, tally);
  tally.expect(12);
}

}  // namespace test_block_tiles
