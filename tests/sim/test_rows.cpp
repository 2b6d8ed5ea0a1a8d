#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "products.hpp"
#include "random_units.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Rows of integers against the reference: the same codes and flags, whatever the unit.
using namespace widthwise;
using namespace tests;

namespace {

Opinion opinion_at(const Unit& u, std::size_t k, bool flags) {
  return opinion("integers", u, flags, k);
}

// Of every sort of sum, where it comes, and what follows. Few exponents: they meet all ends.
constexpr const char* every_sum[] = {
    "fma(e3m3)", "mac(e3m3, product=e3m4:rup, sum=e3m3:rna)", "dot(e3m3, lanes=4, align=6)",
    "dot(e3m3, lanes=4, align=5, floor=-1, out=e3m4;daz;ftz)",
    "tree(e3m3, fan=4, product=e3m4, node=e3m4:rdn)", "tree(e3m2, fan=3, node=e3m4:sr5)",
    "fma(e3m3, promote=3:e3m2;daz)", "mac(e3m3, final=e3m2:rdn)", "kahan(e3m4)",
    "kahan(e3m4;daz;ftz, product=e3m3:rdn)", "neumaier(e3m4, sum=e3m4:rdn)",
    "neumaier(e3m3, product=e3m2;daz, promote=4:e3m6)", "kahan(e3m2, sum=e3m3:sr7:even)",
    "kulisch(e3m3)", "kulisch(e5m10, final=e5m10:odd)", "fma(e3m3, scale=e8m0fnu:3:term)",
    "mac(e3m3, scale=e3m2:3:group)", "kahan(e8m57)", "neumaier(e8m60, sum=e8m60:rna)",
    "mac(e5m80, sum=e5m80:sr20)", "fma(e11m52)", "mac(e8m7, sum=e8m7:sr56)",
    R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e3m3", lanes = 5, groups.strided = 2, )"
    R"(group_sum.align.reference = "fixed_lsb", group_sum.align.frac_bits = 4, )"
    R"(group_sum.align.rm = "rdn", group_sum.width = 6, group_sum.overflow = "saturate", )"
    R"(block_sum.order = "sequential", block_sum.width = 9, c_level = "block", out.fmt = "e3m4"})",
    R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e4m3", lanes = 4, groups.consecutive = 2, )"
    R"(group_sum.width = 8, group_sum.overflow = "flag", c_sum.align.reference = "max_exponent", )"
    R"(c_sum.align.frac_bits = 5, c_sum.align.drop_c_below = 3, c_level = "late", )"
    R"(late_frac.F_sum = 7, late_frac.F_C = 4, out.fmt = "e3m4", out.post_norm_frac = 6, )"
    R"(out.post_norm_rm = "rtz"})",
    R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e3m3", lanes = 4, group_sum.width = 130, )"
    R"(c_level = "late", out.fmt = "e3m4", chain.c_at = "last", chain.c_round.fmt = "e3m5", )"
    R"(chain.lane_permutation.run = 2, chain.lane_permutation.ways = 2})",
    // A fused sum's nodes do not round; registers that hold all a carrier does, term after term.
    R"({a.fmt = "e5m10", b.fmt = "e5m10", c.fmt = "e5m10", lanes = 4, groups.consecutive = 2, )"
    R"(group_sum.node_round.fmt = "e9m10", block_sum.width = 24, c_level = "late", )"
    R"(out.fmt = "e9m10"})",
    R"({a.fmt = "e7m20", b.fmt = "e7m20", c.fmt = "e7m20", lanes = 4, c_level = "late", )"
    R"(group_sum.order = "sequential", group_sum.width = 150, group_sum.overflow = "saturate", )"
    R"(out.fmt = "e9m10"})",
    R"({a.fmt = "e7m10", b.fmt = "e7m10", c.fmt = "e7m10", lanes = 4, c_level = "late", )"
    R"(c_sum.align.reference = "max_exponent", c_sum.align.rm = "raz", late_frac.F_sum = 0, )"
    R"(late_frac.F_C = 127, out.fmt = "e9m10"})",
    R"({a.fmt = "e6m10", b.fmt = "e6m10", c.fmt = "e6m10", lanes = 2, c_level = "block", )"
    R"(out.fmt = "e6m10", scale.fmt = "e3m23", scale.block = 2, scale.apply = "group"})",
    // A NaN that its rounding makes a zero has that format's last digit, and is no exact zero.
    R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e3m3", lanes = 2, c_level = "late", )"
    R"(product.round.fmt = "e2m1fn", group_sum.width = 4, out.fmt = "e4m3"})",
    // Nodes that have no zero make a number of exact zeros, which the group is nevertheless.
    R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e3m3", lanes = 2, groups.consecutive = 2, )"
    R"(group_sum.order = "sequential", group_sum.node_round.fmt = "e4m3;nan=none;sub=no;zero=no", )"
    R"(c_level = "block", scale.fmt = "e3m2", scale.block = 2, scale.apply = "group", )"
    R"(out.fmt = "e8m23"})",
    R"({a.fmt = "e2m2", b.fmt = "e2m2", c.fmt = "e3m3", lanes = 4, groups.consecutive = 2, )"
    R"(product.exponent = "normalised", product.overflow_to_inf_at = 2, )"
    R"(block_sum.align.reference = "max_exponent", block_sum.align.frac_bits = 5, )"
    R"(block_sum.align.rm = "rtz", block_sum.align.e_floor = -2, c_level = "block", )"
    R"(out.fmt = "e3m4", out.zero_sign = "plus", scale.fmt = "e3m2", scale.block = 2, )"
    R"(scale.apply = "group"})"};

}  // namespace

TEST_CASE("rows give the reference's codes and flags: every sort of sum, every instruction set") {
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  constexpr Rival::Shape s{3, 14, 11};
  for (const char* text : every_sum) {
    CAPTURE(text);
    REQUIRE(opinion_at(parse_unit(text), s.k, true).takes);
    Rival("integers", parse_unit(text), tally).everywhere().compare_random(s, random);
    expected += outputs_compared(s) * Rival::times_everywhere();
  }
  tally.expect(expected);
}

TEST_CASE("rows give the reference's codes and flags: every way to align, every mode") {
  ProductRandom random(4);
  Tally tally;
  std::uint64_t expected = 0;
  constexpr Rival::Shape s{2, 12, 9};
  for (int mode = 0; mode < deterministic_modes; ++mode)
    for (const char* text :
         {"dot(e3m3, lanes=4, align=3)", "dot(e4m20, lanes=3, align=60)",
          "fixedacc(e3m3, width=9, frac=3)", "fixedacc(e5m40, width=90, frac=70)"}) {
      CAPTURE(text);
      Unit u = parse_unit(text);
      u.group_sum.align.rm = u.out.rm = Rounding(static_cast<RoundingMode>(mode));
      u.out.post_norm_frac = u.out.fmt.frac_bits + 1, u.out.post_norm_rm = u.out.rm;
      Rival("integers", u, tally, mode % 2 == 0).compare_random(s, random);
      expected += outputs_compared(s);
    }
  tally.expect(expected);
}

TEST_CASE("rows give the reference's codes and flags: units of every kind") {
  random_units::Random units(7);
  ProductRandom random(7);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (int taken = 0; taken < 150;) {
      constexpr struct { int exp_bits, frac_bits; } most[] = {{8, 20}, {11, 52}, {15, 112}};
      const auto [exp_bits, frac_bits] = most[taken % 3];
      const Unit u = random_units::unit(units, exp_bits, frac_bits);
      const Rival::Shape s{1 + random() % 2, 1 + random() % 30, 1 + random() % 20};
      const bool flags = taken % 4 > 0;
      if (!has_length(u, s.k) || !opinion_at(u, s.k, flags).takes) continue;
      ++taken;
      CAPTURE(to_string(u));
      Rival("integers", u, tally, flags).compare_random(s, random);
      expected += outputs_compared(s);
    }
  });
  tally.expect(expected);
}

TEST_CASE("rows give the reference's codes and flags: presets, and many panels") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  const auto compare = [&](const Unit& u, const Rival::Shape& s) {
    REQUIRE(opinion_at(u, s.k, true).takes);
    Rival("integers", u, tally, true).compare_random(s, random);
    expected += outputs_compared(s);
  };
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    compare(p.unit, {2, 37, 11});
  }
  compare(parse_unit("tree(e3m3, fan=4, node=e3m4:sr5)"), {67, 9, 131});
  compare(parse_unit("dot(e3m3, align=8)"), {2, 1500, 3});
  tally.expect(expected);
}

// Rows have 1024 lanes of k at hand. Registers, draws, scales, flags and losses go on from there.
TEST_CASE("rows give the reference's codes and flags: k in parts") {
  ProductRandom random(8);
  Tally tally;
  std::uint64_t expected = 0;
  const auto compare = [&](const char* text, const Rival::Shape& s) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    REQUIRE(opinion_at(u, s.k, true).takes);
    Rival("integers", u, tally).everywhere().compare_random(s, random);
    expected += outputs_compared(s) * Rival::times_everywhere();
  };
  for (const char* text :
       {"neumaier(e8m57, promote=7:e8m60:sr9)", "kahan(e5m10, sum=e8m14:sr9, final=e5m10:odd)",
        "dot(e3m3, lanes=3, align=6, scale=e3m2:5:term)",
        "dot(e8m20, lanes=8, align=6, scale=e8m0fnu:24:term, promote=1536:e8m23:rup)",
        "mac(e5m80, sum=e7m80:sr20, promote=3:e15m90)", "fma(e11m52)",
        "mac(e8m23, c=e11m52, product=e8m23:sr11, sum=e8m23:rdn)",
        R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e4m3", lanes = 4, c_level = "late", )"
        R"(scale.fmt = "e3m2", scale.block = 8, scale.apply = "group", out.fmt = "e6m9", )"
        R"(chain.c_at = "last", chain.c_round.fmt = "e3m5"})",
        R"({a.fmt = "e3m3", b.fmt = "e3m3", c.fmt = "e3m3", lanes = 4, c_level = "block", )"
        R"(out.fmt = "e4m3", scale.fmt = "e3m2", scale.block = 6, scale.apply = "term", )"
        R"(chain.lane_permutation.run = 2, chain.lane_permutation.ways = 2})"})
    compare(text, {2, 2083, 3});
  for (const std::size_t k : {1023, 1024, 1025})
    compare("fma(e3m3, promote=3:e3m2;daz)", {2, k, 9});
  compare("dot(e8m20, lanes=4)", {2, 1028, 9});  // lost in the first part
  // Padding, after a part that has something else there.
  for (const bool flags : {false, true})
    Rival("integers", parse_unit("dot(e3m3, lanes=4, align=6)"), tally, flags)
        .compare_lasting(1026);
  expected += 2 * Rival::lasting;
  tally.expect(expected);
}

// What no magnitude of rows holds is computed in words, or by the reference.
TEST_CASE("rows give the reference's codes and flags: exact sums of numbers far apart") {
  ProductRandom random(9);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"kulisch(binary64)", "kulisch(e11m30, scale=e8m0fnu:7:term)",
                           "kulisch(e15m10)", "dot(binary64, lanes=4)"})
    for (const bool flags : {false, true}) {
      CAPTURE(text);
      Rival("integers", parse_unit(text), tally, flags).compare_random({3, 40, 37}, random);
      expected += outputs_compared({3, 40, 37});
    }
  tally.expect(expected);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one block in rows: every product of two codes onto some sums, with flags") {
    constexpr Format f{.exp_bits = 3, .frac_bits = 2, .bias = 3};
    CodeList all(f, 64);
    for (std::uint64_t i = 0; i < 64; ++i) all.set(i, i);
    MatrixProduct p;
    p.m = p.n = 64, p.k = 1, p.a = all.rows(1), p.b = all.rows(64);
    Tally tally;
    std::uint64_t expected = 0;
    for (int mode = 0; mode < deterministic_modes; ++mode)
      for (const char* text : {"fma(e3m2)", "mac(e3m2)", "dot(e3m2, lanes=1, align=2)",
                               "fixedacc(e3m2, width=5, frac=2, overflow=flag)", "kahan(e3m2)"}) {
        CAPTURE(text);
        Unit u = parse_unit(text);
        u.out.rm = Rounding(static_cast<RoundingMode>(mode));
        if (u.group_sum.align.reference != Reference::exact) u.group_sum.align.rm = u.out.rm;
        for (std::uint64_t c = 0; c < 64; c += 3) {
          p.c = {all.rows(0, c).data, 0, 0};
          Rival("integers", u, tally, true).compare(p, fmt::format("C {:x}", c));
          expected += p.m * p.n;
        }
      }
    tally.expect(expected);
  }

  TEST_CASE("rows round to every encoding: two products of two codes, with flags") {
    constexpr Format f{.exp_bits = 3, .frac_bits = 2, .bias = 3};
    CodeList a(f, 128), b(f, 128);
    for (std::uint64_t i = 0; i < 64; ++i) {
      a.set(2 * i, i), a.set(2 * i + 1, (7 * i + 3) % 64);
      b.set(i, i), b.set(64 + i, (5 * i + 1) % 64);
    }
    MatrixProduct p;
    p.m = p.n = 64, p.k = 2, p.a = a.rows(2), p.b = b.rows(64);
    Tally tally;
    std::uint64_t expected = 0;
    for (const char* sum :
         {"e3m3", "e3m2fn", "e2m1fn", "e4m3fnuz", "e2m2;nan=negative_zero", "e3m2;daz", "e3m2;ftz",
          "ue3m2;nan=all_ones", "ue2m3;inf=no", "e3m3;sub=no", "e2m2;sub=no;zero=no",
          "e2m1;inf=top;nan=none", "binary8p1", "e8m0fnu"})
      for (int mode = 0; mode < deterministic_modes + 3; ++mode)
        for (const Flush flush : {Flush::keep, Flush::flush_signed_zero, Flush::flush_pos_zero}) {
          const int variant = mode - deterministic_modes;
          Round r{.fmt = parse_format(sum)};
          r.rm = variant < 0 ? Rounding(static_cast<RoundingMode>(mode))
                             : Rounding(3, static_cast<StochasticVariant>(variant));
          r.subnormals = flush;
          r.overflow = static_cast<Overflow>((mode + static_cast<int>(flush)) % 4);
          Unit of_sums = parse_unit("mac(e3m2)"), of_products = of_sums;
          of_sums.out = r;
          of_products.product.round = r, of_products.group_sum.width = 9;
          for (const Unit& u : {of_sums, of_products}) {
            CAPTURE(to_string(u));
            REQUIRE(opinion_at(u, p.k, true).takes);
            Rival("integers", u, tally, true).compare(p, "two products");
            expected += p.m * p.n;
          }
        }
    tally.expect(expected);
  }
}
