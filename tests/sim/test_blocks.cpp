#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "edges.hpp"
#include "random_units.hpp"
#include "targets.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_blocks {

// The blocks engine against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{3, 1, 70}, {2, 33, 67}, {5, 150, 3}};

Opinion opinion_at(const Unit& u, std::size_t k, bool flags = true) {
  return opinion("blocks", u, flags, k);
}

// A register of all products that no double holds.
bool has_long_register(const Unit& u) { return u.lanes == 0 && u.group_sum.width > 53; }

// Units beside the presets: every path of the lanes, and its neighbour.
std::vector<Unit> relatives() {
  return {
      // Numbers that flushing would take, had they not come from overflow.
      with("cdna3.f16",
           [](Unit& u) {
             Format flushing = ieee_format(1, 11);
             flushing.ftz = true;
             u.chain.final = Round{.fmt = flushing, .rm = RoundingMode::rdn};
           }),
      with("cdna1.f16", [](Unit& u) { u.product.overflow_to_inf_at = 3; }),
      with("cdna1.f16",
           [](Unit& u) { u.a.fmt = u.b.fmt = e4m3fn, u.product.overflow_to_inf_at = 2; }),
      with("cdna3.f16", [](Unit& u) { u.group_sum.align.rm = RoundingMode::rdn; }),
      with("cdna3.f16", [](Unit& u) { u.group_sum.align.rm = RoundingMode::rup; }),
      with("cdna3.f16", [](Unit& u) { u.group_sum.align.rm = RoundingMode::rna; }),
      with("cdna3.f16", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("cdna3.f16", [](Unit& u) { u.group_sum.align.frac_bits = 29; }),
      with("cdna3.f16", [](Unit& u) { u.lanes = 3; }),
      with("cdna3.f16", [](Unit& u) { u.product.overflow_to_inf_at = 3; }),
      with("cdna3.f16", [](Unit& u) { u.product.exponent = ProductExponent::normalised; }),
      with("cdna3.f16", [](Unit& u) { u.late_frac.reset(); }),
      with("cdna3.f16",
           [](Unit& u) {
             u.late_frac = LateFrac{10, 30};
           }),
      with("cdna3.f16", [](Unit& u) { u.out.fmt = bfloat16, u.out.rm = RoundingMode::odd; }),
      with("cdna3.f16", [](Unit& u) { u.out.rm = RoundingMode::rdn; }),
      with("cdna3.bf16", [](Unit& u) { u.out.post_norm_rm = RoundingMode::rup; }),
      with("cdna3.fp8", [](Unit& u) { u.groups = Groups{.strided = 3}; }),
      with("cdna3.fp8", [](Unit& u) { u.groups = Groups{.consecutive = 5}; }),
      with("cdna3.fp8", [](Unit& u) { u.c_sum.align.drop_c_below = 3; }),
      with("cdna3.bf8", [](Unit& u) { u.block_sum.order = Order::sequential; }),
      with("cdna2.f16", [](Unit& u) { u.lanes = 7; }),
      with("cdna2.f16", [](Unit& u) { u.product.round->rm = RoundingMode::rtz; }),
      with("cdna2.bf16", [](Unit& u) { u.group_sum.order = Order::sequential; }),
      with("cdna2.f16", [](Unit& u) { u.group_sum.node_round->fmt = binary16; }),
      with("cdna2.f16", [](Unit& u) { u.c_level = CLevel::group; }),
      with("cdna2.f16", [](Unit& u) { u.out.zero_sign = ZeroSign::plus; }),
      with("cdna2.f16", [](Unit& u) { u.group_sum.node_round->zero_sign = ZeroSign::plus; }),
      with("cdna2.f16",
           [](Unit& u) { u.product.round.reset(), u.a.fmt = u.b.fmt = ieee_format(8, 11); }),
      with("cdna2.f16",
           [](Unit& u) { u.product.round.reset(), u.a.fmt = u.b.fmt = ieee_format(8, 12); }),
      with("cdna2.bf16", [](Unit& u) { u.lanes = 8, u.out.rm = RoundingMode::rup; }),
      with("cdna2.f16", [](Unit& u) { u.c.fmt = ieee_format(8, 30); }),
      with("cdna2.f16",
           [](Unit& u) {
             u.a = u.b = {.fmt = ieee_format(7, 23)};
             u.a.fmt.bias = u.b.fmt.bias = 57;
           }),
      with("cdna2.f16", [](Unit& u) { u.out.subnormals = Flush::flush_pos_zero; }),
      with("cdna1.f16", [](Unit& u) { u.lanes = 1; }),
      with("cdna1.f16", [](Unit& u) { u.lanes = 9; }),
      with("cdna1.bf16", [](Unit& u) { u.lanes = 3; }),
      with("cdna1.f16", [](Unit& u) { u.out.rm = RoundingMode::rup; }),
      with("cdna1.f16", [](Unit& u) { u.c_level = CLevel::late, u.groups = Groups{.strided = 2}; }),
      with("cdna1.f16",
           [](Unit& u) { u.a.fmt = u.b.fmt = e4m3fn, u.c.fmt = u.out.fmt = binary16; }),
      with("cdna1.f16", [](Unit& u) { u.a.fmt = u.b.fmt = e2m1fn, u.c.fmt = u.out.fmt = e5m2; }),
      with("blackwell.mxfp8", [](Unit& u) { u.scale->fmt = ue4m3fn, u.scale->block = 8; }),
      with("blackwell.mxfp8", [](Unit& u) { u.scale->fmt = binary16; }),
      with("blackwell.mxfp8", [](Unit& u) { u.product.overflow_to_inf_at = 4; }),
      with("blackwell.mxfp8",
           [](Unit& u) { u.product.exponent = ProductExponent::normalised, u.lanes = 8; }),
      with("blackwell.mxfp8",
           [](Unit& u) {
             u.product.round = Round{.fmt = e4m3fnuz, .rm = Rounding(3, StochasticVariant::plain)};
             u.scale->fmt = e5m2;
           }),
      parse_unit("mac(e4m3fn, scale=e8m0fnu:32:term)"),
      parse_unit("mac(e8m7, product=e5m10:rdn, sum=e5m10:rup, scale=e4m3:7:term)"),
      parse_unit("tree(e5m10, fan=4, product=e4m3fn, scale=e3m2fn:6:term)"),
      parse_unit("kahan(e8m40, product=e7m20, sum=e7m36, scale=ue4m3fn:3:term)"),
      with("blackwell.mxfp8",
           [](Unit& u) {
             u.chain.lane_permutation = LanePermutation{2, 2};
           }),
      with("blackwell.nvfp4", [](Unit& u) { u.scale->fmt = e4m3fn; }),
      with("blackwell.nvfp4",
           [](Unit& u) { u.a.fmt = u.b.fmt = e4m3fn, u.block_sum.align.frac_bits = 15; }),
      with("blackwell.nvfp4", [](Unit& u) { u.scale->fmt = e5m2; }),
      with("blackwell.nvfp4", [](Unit& u) { u.c_level = CLevel::late; }),
      with("blackwell.mxfp4", [](Unit& u) { u.scale->block = 16, u.lanes = 32; }),
      with("lowered.e4m3.f32", [](Unit& u) { u.chain.c_round->rm = RoundingMode::rdn; }),
      with("lowered.e5m2.f16", [](Unit& u) { u.chain.final = Round{.fmt = e4m3fn}; }),
      with("hopper.e4m3.promote128", [](Unit& u) { u.chain.promote->interval = 64; }),
      with("hopper.e4m3.promote128", [](Unit& u) { u.chain.promote->round.fmt = bfloat16; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.width = 24; }),
      with("hopper.f16.f32", [](Unit& u) { u.a.keep_frac = 4, u.a.keep_rm = RoundingMode::rna; }),
      with("hopper.f16.f32", [](Unit& u) { u.b.subnormals = Flush::flush_signed_zero; }),
      with("tree8.f32", [](Unit& u) { u.lanes = 13; }),
      with("tree8.f32", [](Unit& u) { u.group_sum.node_round->rm = RoundingMode::rdn; }),
      // Groups' nodes make infinities and those NaN, which the block's nodes have not: it passes
      // them and raises nothing.
      with("tree8.f32",
           [](Unit& u) {
             u.groups = Groups{.consecutive = 4};
             u.group_sum.node_round->fmt = binary16;
             u.block_sum.order = Order::sequential;
             u.block_sum.node_round = Round{.fmt = e2m1fn};
           }),
      with("fix24.wrap", [](Unit& u) { u.lanes = 5; }),
      with("fix24.sat", [](Unit& u) { u.group_sum.align.rm = RoundingMode::rne; }),
      with("fix24.sat", [](Unit& u) { u.group_sum.width = 1; }),
      with("fix24.wrap", [](Unit& u) { u.group_sum.width.reset(), u.c.fmt = u.out.fmt = e5m2; }),
  };
}

}  // namespace

TEST_CASE(
    "the blocks engine gives the reference's codes and flags: every preset, all sorts of "
    "operands") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const bool takes = opinion("blocks", preset.unit).takes;
    CHECK((takes || has_long_register(preset.unit)));
    if (!takes) continue;
    for (const Rival::Shape& s : shapes) {
      Rival("blocks", preset.unit, tally, s.k > 1).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  tally.expect(expected);
}

TEST_CASE("the blocks engine gives the reference's codes and flags: relatives of the presets") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const Unit& u : relatives())
      for (const Rival::Shape& s : {Rival::Shape{2, 1, 5}, {1, 21, 66}}) {
        CAPTURE(to_string(u));
        REQUIRE(opinion_at(u, s.k).takes);
        Rival("blocks", u, tally, s.k > 1).compare_random(s, random);
        expected += outputs_compared(s);
      }
  });
  tally.expect(expected);
}

TEST_CASE("the blocks engine gives the reference's codes and flags: units of every kind") {
  random_units::Random units(3);
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (int taken = 0; taken < 100;) {
      const Unit u = random_units::unit(units, 8, 20);
      const Rival::Shape s{1 + random() % 2, 1 + random() % 30, 1 + random() % 66};
      const bool flags = taken % 4 > 0;
      if (!has_length(u, s.k) || !opinion_at(u, s.k, flags).takes) continue;
      ++taken;
      Rival("blocks", u, tally, flags).compare_random(s, random);
      expected += outputs_compared(s);
    }
  });
  tally.expect(expected);
}

TEST_CASE("the blocks engine gives the reference's codes: depths past one panel") {
  ProductRandom random(4);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* name : {"cdna3.fp8", "lowered.e4m3.f32", "blackwell.nvfp4", "fix24.sat",
                           "hopper.e4m3.promote128"}) {
    CAPTURE(name);
    const Rival::Shape s{1, 1100, 3};
    Rival("blocks", find_preset(name)->unit, tally).compare_random(s, random);
    expected += outputs_compared(s);
  }
  tally.expect(expected);
}

TEST_CASE("the blocks engine keeps an infinite sum beside a NaN for as long as k is") {
  Tally tally;
  constexpr const char* units[] = {
      "cdna3.f16",    "cdna2.f16", "cdna1.bf16", "tree8.f32", "hopper.e4m3.promote128",
      "kahan(e5m10)", "fma.f32"};
  for (const char* text : units)
    for (const bool flags : {false, true}) {
      CAPTURE(text);
      const Rival blocks("blocks", parse_unit(text), tally, flags);
      for (const std::size_t k : {257, 600, 1300}) blocks.compare_lasting(k);
    }
  tally.expect(std::size(units) * 2 * 3 * Rival::lasting);
}

TEST_CASE("the blocks engine adds what doubles just hold, and what they just do not") {
  ProductRandom random(6);
  Tally tally;
  const Unit& u = find_preset("cdna1.f16")->unit;  // four products of 22 digits
  const auto code = [&](std::uint64_t field) {
    return field << 10 | (random() & 1 ? random() & 0x3ff : 0x3ff) | (random() & 1) << 15;
  };
  constexpr std::uint64_t trials = 3000;
  for (std::uint64_t i = 0; i < trials; ++i) {
    const std::uint64_t span = 27 + i % 5, of_a = std::min<std::uint64_t>(span, random() % 30);
    const std::uint64_t of_b = std::min<std::uint64_t>(span - of_a, 29), low_a = 1, low_b = 1;
    CodeList a(binary16, 4), b(binary16, 4), c(binary32, 1), sum(binary32, 1);
    for (std::size_t k = 0; k < 4; ++k)  // the first product as small as can be, others large
      a.set(k, code(k == 0 ? low_a : low_a + of_a)), b.set(k, code(k == 0 ? low_b : low_b + of_b));
    MatrixProduct p;
    p.m = p.n = 1, p.k = 4;
    p.a = a.rows(4), p.b = b.rows(1), p.result = sum.data();
    make_reference(u, 4)->run(p, 0, 1);
    c.set(0, sum[0] ^ 0x80000000);  // leaves the lowest digits
    p.c = c.rows(1);
    Rival("blocks", u, tally).compare(p, fmt::format("exponents {} apart", of_a + of_b));
  }
  tally.expect(trials);
}

TEST_CASE("the blocks engine rounds by chance what nearly cancelled") {
  ProductRandom random(8);
  Tally tally;
  constexpr std::uint64_t trials = 2000;
  for (const char* text : {"dot(e8m10, c=e8m45, lanes=6, out=e8m45:sr3:half)",
                           "dot(e8m10, c=e8m45, lanes=6, out=e8m45:sr3:even)",
                           "dot(e8m10, c=e8m45, lanes=6, out=e8m45:sr3)"}) {
    const Unit u = parse_unit(text);
    const auto number = [](int exponent, std::uint64_t fraction, bool negative) {
      return std::uint64_t{negative} << 18 | static_cast<std::uint64_t>(exponent + 127) << 10 |
             fraction;
    };
    for (std::uint64_t i = 0; i < trials; ++i) {  // 2^18 - 2^17 less a few digits far below
      CodeList a(u.a.fmt, 6), b(u.b.fmt, 6);
      for (std::size_t k = 0; k < 6; ++k) {
        a.set(k, number(0, 0, k > 0));
        const auto far = static_cast<int>(random() % 24);
        b.set(k, k < 2 ? number(18 - static_cast<int>(k), 0, false)
                       : number(-20 - far, random() & 0x3ff, false));
      }
      MatrixProduct p;
      p.m = p.n = 1, p.k = 6, p.seed = i;
      p.a = a.rows(6), p.b = b.rows(1);
      Rival("blocks", u, tally).compare(p, "digits far below");
    }
  }
  tally.expect(3 * trials);
}

TEST_CASE("the blocks engine adds ordinary products to a C that is infinite, NaN or nearly so") {
  ProductRandom random(7);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* name : {"cdna1.f16", "cdna1.bf16", "cdna2.f16", "cdna2.bf16_1k", "tree8.f32",
                             "cdna3.f16", "hopper.f16.f32"}) {
      const Unit& u = find_preset(name)->unit;
      const Rival::Shape s{3, 9, 40};
      const CodeList a = codes(u.a.fmt, s.m * s.k, Manner::about_one, random),
                     b = codes(u.b.fmt, s.k * s.n, Manner::about_one, random),
                     c = codes(u.c.fmt, s.m * s.n, Manner::named, random);
      MatrixProduct p;
      p.m = s.m, p.k = s.k, p.n = s.n;
      p.a = a.rows(s.k), p.b = b.rows(s.n), p.c = c.rows(s.n);
      Rival("blocks", u, tally).compare(p, "ordinary products");
      expected += s.m * s.n;
    }
  });
  tally.expect(expected);
}

TEST_CASE("the blocks engine gives the reference's codes and flags: products of the user's own") {
  const Multiplier multipliers[] = {
      mitchell(), drum(3), truncated_operands(3),
      // Asymmetric, and zero where neither factor is.
      [](std::uint64_t a, std::uint64_t b) { return uint128{a} * (b >> 1) + (a & 1); }};
  ProductRandom random(5);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* unit : {"mac(e4m3fn)", "mac(e2m1fn)", "fma(e5m10)", "mac(e8m23)", "cdna3.fp8",
                             "tree8.f32", "blackwell.mxfp8", "cdna1.f16", "kahan(e5m2)",
                             "neumaier(e4m3fn)", "mac(e5m10, sum=e5m10:sr13)"})
      for (const Multiplier& multiplier : multipliers) {
        const Rival::Shape s{1, 11, 66};
        CAPTURE(unit);
        Rival("blocks", parse_unit(unit), tally, true, multiplier).compare_random(s, random);
        expected += outputs_compared(s);
      }
  });
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.product.overflow_to_inf_at = 3; },
        +[](Unit& u) { u.product.exponent = ProductExponent::normalised; },
        +[](Unit& u) { u.a.subnormals = Flush::flush_pos_zero, u.b.fmt = e5m2; }}) {
    const Rival::Shape s{2, 30, 5};
    Rival("blocks", with("cdna3.f16", change), tally, true, mitchell()).compare_random(s, random);
    expected += outputs_compared(s);
  }
  tally.expect(expected);
}

TEST_CASE("the blocks engine asks once for a product of the user's own where there are many") {
  ProductRandom random(9);
  constexpr std::size_t n = 10, runs = 30;
  std::size_t asked = 0;
  const Prepared engine = prepare({parse_unit("mac(e4m3fn)"), n, false,
                                   [&](std::uint64_t a, std::uint64_t b) {
                                     ++asked;
                                     return uint128{a} * b;
                                   }},
                                  "blocks");
  const CodeList a = codes(e4m3fn, n * n, Manner::about_one, random);
  CodeList result(e4m3fn, n * n);
  MatrixProduct p;
  p.m = p.n = p.k = n;
  p.a = p.b = a.rows(n), p.result = result.data();
  for (std::size_t i = 0; i < runs; ++i) engine.product->run(p, i % n, i % n + 1);
  CHECK(asked > 64);
  CHECK(asked < 3 * 100 + 256);  // of 30 runs of 100 products: the first few, then every pair
}

// Three terms a double has not the digits for, beside a tie of binary32: which way decides the
// digit that a sum to nearest loses, be it C's or a product's.
TEST_CASE("the blocks engine sees digits that C or the products lose below a tie") {
  const auto bfloat = [](double x) { return std::bit_cast<std::uint32_t>(float(x)) >> 16; };
  const auto single = [](double x) { return std::bit_cast<std::uint32_t>(float(x)); };
  const Prepared engine = prepare({parse_unit("cdna1.bf16"), 2}, "blocks");
  const auto result = [&](double a0, double b0, double a1, double b1, double with) {
    CodeList a(bfloat16, 2), b(bfloat16, 2), c(binary32, 1), sum(binary32, 1);
    a.set(0, bfloat(a0)), a.set(1, bfloat(a1)), b.set(0, bfloat(b0)), b.set(1, bfloat(b1));
    c.set(0, single(with));
    MatrixProduct p;
    p.m = p.n = 1, p.k = 2;
    p.a = a.rows(2), p.b = b.rows(1), p.c = c.rows(1), p.result = sum.data();
    engine.product->run(p, 0, 1);
    return double{std::bit_cast<float>(static_cast<std::uint32_t>(sum[0]))};
  };
  for (const double sign : {1.0, -1.0}) {
    const double tiny = sign * 0x1p-18;
    CHECK(result(1, 1, tiny, 0x1p-18, 0x1p24) == 0x1p24 + (sign > 0 ? 2 : 0));
    CHECK(result(-1, 1, tiny, 0x1p-18, -0x1p24) == -0x1p24 - (sign > 0 ? 0 : 2));
    CHECK(result(0x1p12, 0x1p12, 1, 1, sign * 0x1p-36) == 0x1p24 + (sign > 0 ? 2 : 0));
    CHECK(result(-0x1p12, 0x1p12, -1, 1, sign * 0x1p-36) == -0x1p24 - (sign > 0 ? 0 : 2));
  }
}

TEST_CASE("the blocks engine refuses a product of the user's own that is too wide") {
  const std::uint8_t one = 0x38;
  std::uint8_t result = 0;
  MatrixProduct p;
  p.m = p.n = p.k = 1;
  p.a = p.b = {&one, 1, 1}, p.result = &result;
  const auto run = [&](const Multiplier& multiplier) {
    prepare({parse_unit("mac(e4m3fn)"), 1, false, multiplier}, "blocks").product->run(p, 0, 1);
  };
  run([](std::uint64_t, std::uint64_t) { return uint128{255}; });
  CHECK(result == 0x48);  // 255/64 rounds to 4
  CHECK_THROWS_WITH_AS(run([](std::uint64_t, std::uint64_t) { return uint128{256}; }),
                       "multiplier: 0x8 * 0x8 gave a product of 9 bits; that of significands of 4 "
                       "and 4 digits has at most 8",
                       std::invalid_argument);
}

TEST_CASE("the blocks engine keeps the sign of a zero whose products were whole numbers in lanes") {
  Tally tally;
  // -0, -0, and twice -2^-38, which aligns at 2^-28 and vanishes from a narrow window.
  const std::uint16_t a[] = {0x8000, 0x8000, 0x0001, 0x8001}, b[] = {0, 0x3c00, 0x8400, 0x0400};
  for (const std::uint32_t c : {0x80000000u, 0u, 0x80000001u})
    for (const char* name : {"hopper.f16.f32", "cdna3.f16", "cdna1.f16"})
      for (const std::int64_t frac_bits : {5, 25})
        for (std::size_t k = 1; k <= 4; ++k) {
          Unit u = find_preset(name)->unit;
          u.lanes = static_cast<std::int64_t>(k);  // else padding adds +0
          if (u.group_sum.align.frac_bits > 0) u.group_sum.align.frac_bits = frac_bits;
          MatrixProduct p;
          p.m = p.n = 1, p.k = k;
          p.a = {a, 4, 1}, p.b = {b, 1, 1}, p.c = {&c, 1, 1};
          Rival("blocks", u, tally).compare(p, name);
        }
  tally.expect(72);
}

// The reference once took carriers of a tree's widths for it.
TEST_CASE("a fused sum has no nodes, whatever its node_round says") {
  const Unit u = unit_from_toml(
      "a.fmt = 'e8m23'\nb.fmt = 'e4m3fnuz'\nc.fmt = 'e2m1fn'\nlanes = 9\nc_level = 'group'\n"
      "group_sum.node_round.fmt = 'e4m6'\nout.fmt = 'e2m1fn'\nout.rm = 'rna'\n"
      "out.keep_frac = 1\n");
  Tally tally;
  ProductRandom random(1);
  for (const char* engine : {"exact", "words", "blocks"})
    if (const Opinion said = opinion(engine, u); said.takes) {
      Rival(engine, u, tally).compare_random({3, 9, 40}, random);
      tally.expect(outputs_compared({3, 9, 40}));
      return;
    }
  FAIL("no engine beside the reference takes it");
}

}  // namespace test_blocks
