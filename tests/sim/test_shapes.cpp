#include <fmt/format.h>

#include "everywhere.hpp"
#include "widthwise/layout.hpp"

// Products of few outputs and of many: tiles, strips and panels that are not full, and B whose
// columns lie side by side, against the reference on every instruction set.
namespace {

using namespace widthwise;
using namespace tests;

// Around what a vector, a strip of columns and a panel of steps hold.
constexpr Rival::Shape shapes[] = {{1, 270, 1}, {1, 520, 2}, {3, 20, 4},
                                   {5, 20, 9},  {2, 20, 17}, {1, 20, 33}};

void compare_shapes(const char* engine, std::initializer_list<const char*> texts, bool flags,
                    std::uint64_t seed) {
  ProductRandom random(seed);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : units_of(texts)) {
    CAPTURE(to_string(u));
    bool taken = false;
    on_every_target([&] {
      if (!opinion(engine, u, flags).takes) return;  // lanes without fused multiply-adds
      taken = true;
      for (const Rival::Shape& s : shapes) {
        Rival(engine, u, tally, flags).compare_random(s, random);
        expected += outputs_compared(s);
      }
      constexpr Rival::Shape in_tiles{7, 20, 70};  // of 3 or 4 rows by 35 columns
      Rival(engine, u, tally, flags).in_tiles(20 * 256).compare_random(in_tiles, random);
      expected += outputs_compared(in_tiles);
    });
    CHECK(taken);
  }
  tally.expect(expected);
}

// Fused sums that are rounded to odd on the way take a mode of the operation's own.
bool operations_have_modes() { return (hwy::SupportedTargets() & HWY_AVX3) != 0; }

}  // namespace

TEST_CASE("lanes: products of any shape") {
  compare_shapes("lanes",
                 {"mac(e5m10)", "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)", "fma(e5m10)",
                  "mac(binary64)", "mac(e5m10, sum=e5m10:sr13)", "fma(e4m3fn, sum=e5m10:sr8)"},
                 false, 1);
  if (operations_have_modes()) compare_shapes("lanes", {"fma(e8m7)"}, false, 1);
}
TEST_CASE("tensor lanes: products of any shape, in the order of k and in another") {
  compare_shapes("tensor", {"hopper.f16.f32", "hopper.f16.f16", "lowered.e4m3.f32"}, false, 2);
}
TEST_CASE("blocks: products of any shape, with flags and without") {
  for (const bool flags : {false, true})
    compare_shapes("blocks",
                   {"cdna3.f16", "cdna1.bf16", "blackwell.mxfp8", "hopper.e4m3.promote128",
                    "tree8.f32", "kahan(e8m7)", "neumaier(e5m10, sum=e5m10:sr8)",
                    "dot(binary64, lanes=4)", "mac(binary64, sum=binary64:sr8)"},
                   flags, 3);
}
TEST_CASE("blocks: where the last block is not whole, what lay there before is forgotten") {
  constexpr std::size_t k = 523, n = 64;  // a panel of 512 steps, and one of 11
  Tally tally;
  for (const Unit& u : units_of({"cdna3.f16", "dot(binary64, lanes=4)"})) {
    CodeList a = ones(u.a.fmt, k), b = ones(u.b.fmt, k * n);
    b.set(11 * n + 5, Layout<std::uint64_t>(u.b.fmt).infinity);  // times padding it would be NaN
    MatrixProduct p;
    p.m = 1, p.n = n, p.k = k;
    p.a = a.rows(k), p.b = b.rows(n);
    Rival("blocks", u, tally).compare(p, "an infinity early on");
  }
  tally.expect(2 * n);
}
TEST_CASE("lanes leave outputs to another engine: one, a few rows, all") {
  if (!opinion("lanes", parse_unit("mac(binary32)")).takes) return;  // no fused multiply-adds
  constexpr std::size_t m = 20, k = 9, n = 530;                      // past a block of columns
  Tally tally;
  std::uint64_t expected = 0;
  std::vector<Unit> units =
      units_of({"mac(e3m2fn, product=e8m40)", "mac(e3m2fn, sum=e3m2fn:sr5)", "fma(e5m10)"});
  if (operations_have_modes()) units.push_back(parse_unit("fma(e5m10, sum=e5m12;bias=-41)"));
  for (const Unit& u : units) {
    CAPTURE(to_string(u));
    REQUIRE(opinion("lanes", u).takes);
    const Layout<std::uint64_t> of_a(u.a.fmt);
    const std::uint64_t one = ones(u.a.fmt, 1)[0];
    for (const std::size_t overflowing : {0, 1, 3, 20}) {
      CodeList a(u.a.fmt, m * k), b(u.b.fmt, k * n);
      for (std::size_t i = 0; i < m * k; ++i) a.set(i, i < k ? 1 : i % 5 == 0 ? one + 1 : one);
      // Of row 0 by column 3 a sum that is less than any number below 0.
      for (std::size_t i = 0; i < k * n; ++i) b.set(i, i % n == 3 ? of_a.sign + 1 : one - i % 3);
      for (std::size_t r = m - overflowing; r < m; ++r) a.set(r * k + r % k, of_a.max_finite);
      MatrixProduct p;
      p.m = m, p.n = n, p.k = k, p.seed = 5, p.first_index = 7;
      p.a = a.rows(k), p.b = b.rows(n);
      Rival("lanes", u, tally).compare(p, fmt::format("{} rows that overflow", overflowing));
      expected += m * n;
    }
  }
  tally.expect(expected);
}
TEST_CASE("exact lanes: products of any shape") {
  compare_shapes("exact", {"kulisch(e5m10)", "fix24.sat"}, false, 4);
}
TEST_CASE("chains, words and limbs: products of any shape") {
  compare_shapes("integers", {"fma(e4m3fn, sum=e5m10:sr7, promote=7:binary32)"}, true, 5);
  compare_shapes("words", {"fixedacc(e4m3fn, width=18, frac=6, overflow=flag)"}, true, 6);
  compare_shapes("wide", {"mac(e8m40, sum=e8m40:sr9)"}, true, 7);
}
