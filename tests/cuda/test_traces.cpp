#include <fmt/format.h>

#include "cuda/product.hpp"
#include "cuda/running.hpp"
#include "cuda/trace.hpp"
#include "host_kernels.hpp"
#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_traces {

// Traces and running results of products that lie on the device, which is this CPU, against the
// reference's.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t m = 2, n = 3;

// Operands of a product, the scales that its unit takes among them.
struct Product {
  CodeList a, b, c, scale_a, scale_b;
  MatrixProduct p;

  Product(const Unit& u, std::size_t k, Manner manner, ProductRandom& random)
      : a(codes(u.a.fmt, m * k, manner, random)),
        b(codes(u.b.fmt, k * n, manner, random)),
        c(codes(u.c.fmt, m * n, manner, random)),
        scale_a(codes(scale(u), m * blocks(u, k), Manner::about_one, random)),
        scale_b(codes(scale(u), n * blocks(u, k), Manner::about_one, random)) {
    p.m = m, p.n = n, p.k = k;
    p.a = a.rows(k), p.b = b.rows(n), p.c = c.rows(n);
    if (u.scale) p.scale_a = scale_a.rows(blocks(u, k)), p.scale_b = scale_b.rows(n);
    p.seed = 11, p.first_index = 1000;
  }

 private:
  static const Format& scale(const Unit& u) { return u.scale ? u.scale->fmt : u.a.fmt; }
  static std::size_t blocks(const Unit& u, std::size_t k) {
    const auto block = u.scale ? static_cast<std::size_t>(u.scale->block) : k;
    return (k + block - 1) / block;
  }
};

std::string text(const TraceRow& r) {
  return fmt::format("{} {} lane {} kind {} {}{} 2^{}", stage_names[static_cast<int>(r.stage)],
                     r.slot, r.lane, static_cast<int>(r.kind), r.negative ? "-" : "", r.significand,
                     r.exponent);
}

void compare_traces(const Unit& u, std::size_t k, Manner manner, Tally& tally,
                    ProductRandom& random, const Multiplier& multiply = {}) {
  const Product x(u, k, manner, random);
  const std::size_t i = random() % m, j = random() % n;
  const ProductTask task{.unit = u, .k = k, .multiplier = multiply};
  const auto got = cuda::trace(host_device(), task, x.p, i, j);
  const auto want = make_reference(u, k, multiply)->trace(x.p, i, j);
  std::size_t at = 0;
  while (at < std::min(got.size(), want.size()) && text(got[at]) == text(want[at])) ++at;
  tally.check(at == want.size() && at == got.size(), [&] {
    return fmt::format("{}, k = {}, row {} of {} (want {}): got {}, want {}", to_string(u), k, at,
                       got.size(), want.size(), at < got.size() ? text(got[at]) : "nothing",
                       at < want.size() ? text(want[at]) : "nothing");
  });
}

bool held(const Unit& u, std::size_t k) { return cuda::opinion({u, k}, "", host_device()).takes; }

constexpr std::size_t lengths[] = {1, 33};

void compare_running_there(const Unit& u, std::size_t k, Manner manner, bool flags, Tally& tally,
                           ProductRandom& random) {
  Product x(u, k, manner, random);
  CodeList got(result_round(u).fmt, m * n * k);
  std::vector<std::uint8_t> raised(m * n * k);
  x.p.result = got.data(), x.p.flags = flags ? raised.data() : nullptr;
  cuda::run_running(host_device(), u, x.p);
  tests::compare_running(u, x.p, flags, got, raised, tally);
}

}  // namespace

TEST_CASE("a device traces an output of every preset as the reference does") {
  Tally tally;
  ProductRandom random(1);
  for (const Preset& preset : presets())
    for (const std::size_t k : lengths)
      for (const Manner manner : {Manner::bits, Manner::about_one, Manner::few})
        compare_traces(preset.unit, k, manner, tally, random);
  tally.expect(presets().size() * std::size(lengths) * 3);
  CHECK(host_device().taken == 0);
}

TEST_CASE("a device traces an output of units of any kind as the reference does") {
  Tally tally;
  ProductRandom random(2);
  random_units::Random of_units(5);
  std::uint64_t taken = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_units::unit(of_units);
    for (const std::size_t k : lengths)
      if (held(u, k))
        compare_traces(u, k, i % 2 ? Manner::bits : Manner::cancelling, tally, random), ++taken;
  }
  CHECK(taken > 400);
  tally.expect(taken);
}

TEST_CASE("a device traces wide formats, and refuses what its integers do not hold") {
  Tally tally;
  ProductRandom random(3);
  for (const char* unit : {"mac(binary64)", "fma(e15m63)", "mac(e15m112)", "kahan(e5m2)"})
    compare_traces(parse_unit(unit), 9, Manner::about_one, tally, random);
  tally.expect(4);
  MatrixProduct p;
  p.m = p.n = 1, p.k = 4;
  CHECK_THROWS_AS(cuda::trace(host_device(), {parse_unit("mac(e15m236)"), 4}, p, 0, 0),
                  std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      cuda::trace(host_device(),
                  {.unit = parse_unit("kulisch.f32"), .k = 33, .multiplier = mitchell()}, p, 0, 0),
      "unit kulisch.f32: numbers of 641 bits on their way, and by supplied products a GPU traces "
      "638; bring the operands here, where any is traced",
      std::invalid_argument);
}

TEST_CASE("a device traces what supplied multipliers make, by name and by a text") {
  Tally tally;
  ProductRandom random(7);
  const auto lopsided = [](auto a, auto b, uint128* mp) { *mp = uint128{a} * (b >> 1) + (a & 1); };
  host_device().compiled["lopsided"] = lopsided;
  const Multiplier multipliers[] = {mitchell(), TextProduct{"lopsided", lopsided},
                                    exchanged(TextProduct{"lopsided", lopsided})};
  constexpr const char* units[] = {"mac(e5m10)", "hopper.f16.f32", "blackwell.mxfp8",
                                   "mac(binary64)", "kulisch(e5m10)"};
  for (const Multiplier& multiply : multipliers)
    for (const char* unit : units)
      compare_traces(parse_unit(unit), 33, Manner::bits, tally, random, multiply);
  tally.expect(std::size(multipliers) * std::size(units));
  CHECK(host_device().taken == 0);
}

TEST_CASE("running results on a device are the reference's, in one pass or in many") {
  Tally tally;
  ProductRandom random(4);
  std::uint64_t expected = 0;
  for (const char* unit :
       {"mac(e5m10)", "hopper.f16.f32", "cdna3.fp8", "blackwell.mxfp8", "kulisch(e5m10)",
        "kahan(e5m2)", "mac(binary64)", "mac(e15m112)", "mac(e5m10, sum=e5m10:sr13)"})
    for (const std::size_t k : {1, 40})
      for (const Manner manner : {Manner::about_one, Manner::bits})
        for (const bool flags : {false, true}) {
          compare_running_there(parse_unit(unit), k, manner, flags, tally, random);
          expected += m * n * k;
        }
  tally.expect(expected);
  CHECK(host_device().taken == 0);
}

TEST_CASE("running results on a device of units of any kind are the reference's") {
  Tally tally;
  ProductRandom random(5);
  random_units::Random of_units(6);
  std::uint64_t expected = 0;
  for (int i = 0; i < 150; ++i) {
    const Unit u = random_units::unit(of_units);
    if (!held(u, 7) || u.scale) continue;
    compare_running_there(u, 7, i % 2 ? Manner::bits : Manner::about_one, true, tally, random);
    expected += m * n * 7;
  }
  CHECK(expected > 50 * m * n * 7);
  tally.expect(expected);
}

}  // namespace test_traces
