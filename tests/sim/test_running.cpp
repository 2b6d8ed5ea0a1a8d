#include <fmt/format.h>

#include "products.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/running.hpp"
#include "widthwise/sim/unit_text.hpp"

// Running results, of units that give them in one pass and of others, against the products of every
// length.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t m = 2, n = 3;

constexpr const char* units[] = {
    // exact sums and registers, which go on
    "kulisch(e4m3fn)",
    "kulisch(e5m10)",
    "kulisch(binary64)",
    "kulisch(e5m10, out=e8m7:sr9, final=e4m3fn:rup)",
    "kulisch(e4m3fn, out=e5m10:rdn)",
    "kulisch(e5m2, out=binary32, scale=e4m3fn:5:term)",
    "kulisch(e4m3fn, out=e5m2:odd, scale=e8m0fnu:16:term)",
    "kulisch(e8m31, out=binary64:sr32:half)",
    "fix24.wrap",
    "fix24.sat",
    "fixedacc(e4m3fn, width=12, frac=4, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rup)",
    "fixedacc(e5m10, width=20, frac=8, align=rna, overflow=saturate)",
    "fixedacc(e4m3fn, width=16, frac=6, overflow=flag)",
    "fixedacc(e6m50, width=120, frac=80, overflow=flag, align=rtz, out=binary64)",
    // the definition in one pass, and for every length anew
    "mac(e5m10, sum=e5m10:sr13)",
    "hopper.f16.f32",
    "dot(e5m10, lanes=0, align=25)",
};

void compare(const Unit& u, MatrixProduct p, bool flags, Tally& tally) {
  CodeList got(result_round(u).fmt, m * n * p.k);
  std::vector<std::uint8_t> raised(m * n * p.k);
  p.result = got.data(), p.flags = flags ? raised.data() : nullptr;
  const RunningProducts running(u, p.k, flags);
  for (std::size_t pass = 0; pass < running.passes(); ++pass) running.run(p, 0, m, pass);
  compare_running(u, p, flags, got, raised, tally);
}

// Operands of one manner, without C or with one of another.
void compare_manners(const Unit& u, std::size_t k, ProductRandom& random, Tally& tally) {
  const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
  for (std::size_t manner = 0; manner < manners; ++manner)
    for (const bool flags : {false, true}) {
      const auto of = static_cast<Manner>(manner);
      const CodeList a = codes(u.a.fmt, m * k, of, random), b = codes(u.b.fmt, k * n, of, random),
                     c = codes(u.c.fmt, m * n, static_cast<Manner>(random() % manners), random),
                     scale_a = codes(scale, m * k, Manner::about_one, random),
                     scale_b = codes(scale, k * n, Manner::about_one, random);
      MatrixProduct p;
      p.m = m, p.n = n, p.k = k;
      p.seed = random(), p.first_index = random() % 1000;
      p.a = a.rows(k), p.b = b.rows(n);
      if (random() % 3) p.c = c.rows(n);
      if (u.scale) p.scale_a = scale_a.rows(k), p.scale_b = scale_b.rows(n);
      compare(u, p, flags, tally);
    }
}

}  // namespace

TEST_CASE("running results are those of the products of every length, flags and random bits too") {
  ProductRandom random(1);
  Tally tally;
  for (const char* text : units) {
    CAPTURE(text);
    compare_manners(parse_unit(text), 37, random, tally);
  }
  tally.expect(std::size(units) * manners * 2 * m * n * 37);
}

TEST_CASE("running results: an infinity, another one and NaN among numbers") {
  constexpr std::size_t k = 9;
  ProductRandom random(2);
  Tally tally;
  for (const char* text : {"kulisch(e5m10)", "kulisch(e5m10, out=binary32, scale=e8m7:4:term)",
                           "fixedacc(e5m10, width=20, frac=8, overflow=flag)"}) {
    const Unit u = parse_unit(text);
    const Layout<std::uint64_t> of_a(u.a.fmt);
    const std::uint64_t infinity = of_a.infinity, minus = infinity | of_a.sign;
    for (const std::uint64_t second : {infinity, minus, of_a.nan_code})
      for (const bool flags : {false, true}) {
        CodeList a = codes(u.a.fmt, m * k, Manner::about_one, random);
        const CodeList b = ones(u.b.fmt, k * n), scale = ones(u.scale ? u.scale->fmt : e5m2, m * k);
        a.set(2, infinity), a.set(5, second), a.set(k + 8, second);
        MatrixProduct p;
        p.m = m, p.n = n, p.k = k;
        p.a = a.rows(k), p.b = b.rows(n);
        if (u.scale) p.scale_a = scale.rows(k), p.scale_b = scale.rows(n);
        compare(u, p, flags, tally);
      }
  }
  tally.expect(3 * 3 * 2 * m * n * k);
}

TEST_CASE("where sums raise a flag permuted lanes matter: engines and running results know it") {
  constexpr std::size_t k = 8;
  ProductRandom random(3);
  Tally tally;
  Unit u = parse_unit("fixedacc(e5m10, width=12, frac=4, overflow=flag)");
  u.chain.lane_permutation = LanePermutation{1, 2};
  CHECK_FALSE(opinion("words", u, true).takes);
  CHECK(opinion("words", u, false).takes);
  CodeList a(u.a.fmt, m * k);
  const CodeList b = ones(u.b.fmt, k * n);
  constexpr std::uint64_t hundred = 0x5640;
  for (std::size_t t = 0; t < m * k; ++t) a.set(t, t % 2 ? hundred | 0x8000 : hundred);
  MatrixProduct p;
  p.m = m, p.n = n, p.k = k;
  p.a = a.rows(k), p.b = b.rows(n);
  for (const bool flags : {false, true}) compare(u, p, flags, tally);
  compare_manners(u, k, random, tally);
  tally.expect((2 + manners * 2) * m * n * k);
}

TEST_CASE("exact sums give their running results in one pass") {
  for (const char* text : {"kulisch(e5m10)", "kulisch(binary64)", "fix24.sat"})
    for (const bool flags : {false, true})
      CHECK(RunningProducts(parse_unit(text), 1000, flags).passes() == 1);
  CHECK(RunningProducts(parse_unit("dot(e5m10, lanes=0, align=25)"), 1000, false).passes() == 1000);
}
