#include <fmt/format.h>

#include <random>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// The lanes against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;
using Random = std::mt19937_64;

bool lanes_take(const Unit& u) {
  for (const Opinion& o : opinions({.unit = u, .k = 1}))
    if (o.engine == "lanes") return o.takes;
  return false;
}

bool fused_here() {
  if (lanes_take(parse_unit("mac(e5m10)"))) return true;
  fmt::print("SKIPPED: this CPU has no fused multiply-add in its lanes\n");
  return false;
}

// Codes of one manner: random bits; numbers about 1; tiny; large; zeros, ones and halves that
// cancel and tie; named ones, infinities and NaN among them.
enum class Manner { bits, about_one, tiny, large, few, named, powers };
constexpr Manner manners[] = {Manner::bits, Manner::about_one, Manner::tiny,  Manner::large,
                              Manner::few,  Manner::named,     Manner::powers};

std::uint64_t code(const Format& f, Manner manner, Random& random) {
  const Layout<std::uint64_t> layout(f);
  const std::uint64_t sign = (random() & 1) << f.magnitude_bits();
  const std::uint64_t fraction = random() & layout.fraction_mask;
  const auto field = [&](std::int64_t exponent) {
    const std::int64_t top = f.top_field();
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(exponent + f.bias, 0, top))
           << f.frac_bits;
  };
  const auto near = [&](std::int64_t exponent, int spread) {
    const auto off = static_cast<std::int64_t>(random() % static_cast<unsigned>(spread));
    return std::min(field(exponent + off) | fraction, layout.max_finite) | sign;
  };
  switch (manner) {
    case Manner::bits: return random() & (layout.magnitude_mask | layout.sign);
    case Manner::about_one: return near(-3, 5);
    case Manner::tiny: return near(f.emin() / 2 - 2, 4);
    case Manner::large: return near(f.emax() / 2 - 1, 4);
    case Manner::few: {
      const std::uint64_t some[] = {0, field(0), field(-1), field(-f.frac_bits - 1), 1};
      return std::min(some[random() % 5], layout.max_finite) | sign;
    }
    case Manner::named: {
      const std::uint64_t some[] = {0,
                                    1,
                                    layout.hidden - 1,
                                    layout.hidden,
                                    layout.max_finite,
                                    std::min(layout.max_finite + 1, layout.magnitude_mask),
                                    field(0),
                                    layout.magnitude_mask};
      return some[random() % 8] | sign;
    }
    case Manner::powers: {  // of two, or the least numbers
      const std::uint64_t range = static_cast<std::uint64_t>(f.top_field());
      const std::uint64_t power = random() % 3 ? (random() % range) << f.frac_bits : 1;
      return std::min(power, layout.max_finite) | sign;
    }
  }
  return 0;
}

struct Matrix {
  std::vector<std::byte> items;
  int bytes;
  Matrix(const Format& f, std::size_t count) : bytes(item_bytes(f.width())) {
    items.resize(count * static_cast<std::size_t>(bytes));
  }
  void set(std::size_t i, std::uint64_t x) {
    store_code(&items[i * static_cast<std::size_t>(bytes)], bytes, x);
  }
  std::uint64_t operator[](std::size_t i) const {
    return load_code<std::uint64_t>(&items[i * static_cast<std::size_t>(bytes)], bytes);
  }
};

Matrix matrix(const Format& f, std::size_t count, Manner manner, Random& random) {
  Matrix x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, code(f, manner, random));
  return x;
}

// Compares both engines on every output; A is (m, k) by rows, B by rows or by columns.
void compare(Tally& tally, const Unit& u, MatrixProduct p, const std::string& what) {
  const Format& f = result_round(u).fmt;
  Matrix got(f, p.m * p.n), want(f, p.m * p.n);
  p.result = got.items.data();
  prepare({.unit = u, .k = p.k}, "lanes").product->run(p, 0, p.m);
  p.result = want.items.data();
  prepare({.unit = u, .k = p.k}, "reference").product->run(p, 0, p.m);
  for (std::size_t i = 0; i < p.m * p.n; ++i)
    tally.check(got[i] == want[i], [&] {
      return fmt::format("{}, {}, output {} of {} x {} x {}: got {:x}, want {:x}", to_string(u),
                         what, i, p.m, p.k, p.n, got[i], want[i]);
    });
}

void compare_random(Tally& tally, const Unit& u, Random& random, std::size_t m, std::size_t k,
                    std::size_t n) {
  for (Manner of_a : manners)
    for (Manner of_c : {of_a, Manner::named, Manner::few, Manner::powers}) {
      const Manner of_b = random() % 3 ? of_a : manners[random() % 7];
      const Matrix a = matrix(u.a.fmt, m * k, of_a, random),
                   b = matrix(u.b.fmt, k * n, of_b, random),
                   c = matrix(u.c.fmt, m * n, of_c, random);
      const auto row = static_cast<std::ptrdiff_t>(k), column = static_cast<std::ptrdiff_t>(n);
      MatrixProduct p;
      p.m = m, p.k = k, p.n = n;
      p.a = {a.items.data(), row, 1};
      p.b =
          random() % 2 ? CodeMatrix{b.items.data(), column, 1} : CodeMatrix{b.items.data(), 1, row};
      if (random() % 4) p.c = {c.items.data(), column, 1};
      compare(tally, u, p, fmt::format("manner {}", static_cast<int>(of_a)));
    }
}

constexpr const char* chains[] = {"mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                  "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                  "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                                  "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
                                  "mac(e8m7, product=e8m7:rtz, sum=e8m7:rtz)",
                                  "mac(e8m7, product=e8m7:rdn, sum=e8m7:rdn)",
                                  "mac(e4m3fn, product=e4m3fn:rup, sum=e4m3fn:rup)",
                                  "mac(e6m15, product=e6m15:rna, sum=e6m15:rna)",
                                  "fma(e5m10, sum=e5m10:rtz)",
                                  "fma(e5m10, sum=e5m10:rna)",
                                  "fma(e8m7, sum=e8m7:rdn)",
                                  "fma(e9m30, sum=e9m30:rup)",
                                  "mac(e5m10, product=e5m2:rtz, sum=e5m10:rtz)",
                                  "mac(e5m10)",
                                  "mac(e4m3fn)",
                                  "mac(e8m7)",
                                  "mac(e5m2)",
                                  "mac(e3m2fn)",
                                  "mac(e2m1fn)",
                                  "mac(e9m6)",
                                  "mac(e4m3fn, product=e4m4, sum=e4m3fn)",
                                  "mac(e5m11)",
                                  "mac(e8m10)",
                                  "mac(e8m15)",
                                  "mac(e6m20)",
                                  "mac(e11m25)",
                                  "mac(binary32)",
                                  "mac(binary64)",
                                  "fma(binary32)",
                                  "fma(binary64)",
                                  "fma(e5m10)",
                                  "fma(e4m3fn)",
                                  "fma(e5m2)",
                                  "mac(e4m3fn, sum=e5m10)",
                                  "mac(e4m3fn, sum=e8m7)",
                                  "mac(e5m2, sum=e5m10)",
                                  "mac(e5m10, product=e5m2, sum=e5m10)",
                                  "mac(e5m10, sum=e8m15)",
                                  "mac(e5m10, product=e4m3fn)",
                                  "fma(e4m3fn, sum=binary32)",
                                  "mac(e5m10, sum=e4m3fn)",
                                  "mac(e3m7, product=e5m6)"};

}  // namespace

TEST_CASE(
    "lanes give the reference's codes: chains of every shape, ordinary and hostile operands") {
  if (!fused_here()) return;
  Random random(1);
  Tally tally;
  on_every_target([&] {
    if (!lanes_take(parse_unit("mac(e5m10)"))) return;  // no fused multiply-add there
    int taken = 0;
    for (const char* text : chains) {
      CAPTURE(text);
      const Unit u = parse_unit(text);
      if (!lanes_take(u)) continue;
      ++taken;
      for (const auto& [m, k, n] : {std::array<std::size_t, 3>{5, 1, 70}, {9, 33, 67}, {1, 300, 3}})
        compare_random(tally, u, random, m, k, n);
    }
    CHECK(taken >= 38);
  });
  CHECK(tally.cases() > 0);
  tally.expect(tally.cases());
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one step in lanes: every product of two codes onto every sum") {
    if (!fused_here()) return;
    Tally tally;
    for (const char* text :
         {"mac(e3m2fn)", "fma(e3m2fn)", "mac(e2m3fn)", "mac(e2m3)", "fma(e3m2)", "mac(e4m1)",
          "mac(e3m2, product=e2m1fn)", "mac(e2m3, sum=e4m1, c=e4m1)", "fma(e2m3, sum=e2m1, c=e2m1)",
          "mac(e3m2, product=e3m2:rtz, sum=e3m2:rtz)", "mac(e3m2, product=e3m1:rdn, sum=e3m2:rdn)",
          "mac(e2m3fn, product=e2m3fn:rup, sum=e2m3fn:rup)",
          "mac(e3m2, product=e3m2:rna, sum=e3m2:rna)", "fma(e3m2, sum=e3m2:rna)",
          "fma(e3m2fn, sum=e3m2fn:rdn)"}) {
      const Unit u = parse_unit(text);
      CAPTURE(text);
      REQUIRE(lanes_take(u));
      const auto all = [](const Format& f) {
        Matrix x(f, std::size_t{1} << f.width());
        for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
        return x;
      };
      const Matrix a = all(u.a.fmt), b = all(u.b.fmt), c = all(u.c.fmt);
      MatrixProduct p;
      p.m = std::size_t{1} << u.a.fmt.width(), p.k = 1, p.n = std::size_t{1} << u.b.fmt.width();
      p.a = {a.items.data(), 1, 1}, p.b = {b.items.data(), 1, 1};
      for (std::size_t i = 0; i < std::size_t{1} << u.c.fmt.width(); ++i) {
        p.c = {&c.items[i * static_cast<std::size_t>(c.bytes)], 0, 0};
        compare(tally, u, p, fmt::format("C {:x}", i));
      }
    }
    CHECK(tally.cases() > 0);
    tally.expect(tally.cases());
  }
}

TEST_CASE("lanes refuse what they cannot vouch for, and say why") {
  const auto reason = [](const char* text, bool flags = false) {
    for (const Opinion& o : opinions({.unit = parse_unit(text), .k = 4, .flags = flags}))
      if (o.engine == "lanes" && !o.takes) return o.reason;
    return std::string("taken");
  };
  CHECK(reason("mac(e5m10)", true) == "flags are wanted");
  CHECK(reason("mac(e5m10, sum=e5m10:rtz)") == "product.round and out round by different modes");
  CHECK(reason("fma(e5m10, sum=e5m10:sr8)").find("sr8") != std::string::npos);
  CHECK(reason("mac(e5m10, product=e4m3fn:rtz, sum=e5m10:rtz)").find("least exponents") !=
        std::string::npos);
  CHECK(reason("hopper.f16.f32") == "more than one product a block");
  CHECK(reason("fma(e8m7)").find("rounding to odd") != std::string::npos);
  CHECK(reason("mac(e8m26)").find("digits") != std::string::npos);
  CHECK(reason("mac(e4m3fnuz)").find("-0") != std::string::npos);
  CHECK_THROWS_WITH_AS(
      prepare({.unit = parse_unit("hopper.f16.f32"), .k = 4}, "lanes"),
      "engine = 'lanes' does not take unit hopper.f16.f32: more than one product a block; engine = "
      "'auto' finds one that does",
      std::invalid_argument);
  const std::string names = fmt::format("{}", fmt::join(engine_names(), ", "));
  CHECK_THROWS_WITH_AS(
      prepare({.unit = parse_unit("mac(e5m10)"), .k = 4}, "warp"),
      ("engine = 'warp': there is no such engine here; there are " + names).c_str(),
      std::invalid_argument);
}
