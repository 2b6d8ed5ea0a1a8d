#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cuda/definition.hpp"
#include "cuda/product.hpp"
#include "host_kernels.hpp"
#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "wide_product.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_multipliers {

// Multipliers other than the exact one in the CUDA engine, whose kernels run on the CPU by their
// own bodies.
namespace {

using namespace widthwise;
using namespace tests;

constexpr const char* engine = cuda_on_the_cpu;

Opinion said(const char* unit, const Multiplier& multiply) {
  return cuda::opinion({.unit = parse_unit(unit), .k = 4, .multiplier = multiply}, engine,
                       host_device());
}

// A text as if this CPU had compiled it.
TextProduct text(const char* source, TextProduct::Function* function) {
  host_device().compiled[source] = function;
  return {source, function};
}

// Neither commutes; the second has all digits that it may have, and 0 where no factor is.
TextProduct lopsided() {
  return text("lopsided",
              [](auto a, auto b, uint128* mp) { *mp = uint128{a} * (b >> 1) + (a & 1); });
}
TextProduct extreme() {
  return text("extreme", [](auto a, auto b, uint128* mp) {
    const auto digits = bit_length(a) + bit_length(b);
    *mp = a % 5 == 0 ? 0 : digits == 128 ? ~uint128{0} : (uint128{1} << digits) - 1;
  });
}

// Of carriers of both sizes.
constexpr const char* units[] = {"mac(e4m3fn)",
                                 "fma(e5m10)",
                                 "mac(e8m23)",
                                 "mac(binary64)",
                                 "mac(e15m63)",
                                 "cdna3.fp8",
                                 "tree8.f32",
                                 "cdna1.f16",
                                 "blackwell.mxfp8",
                                 "hopper.f16.f32",
                                 "kahan(e5m2)",
                                 "kulisch(e5m10)",
                                 "mac(e5m10, sum=e5m10:sr13)"};
constexpr Rival::Shape shape{2, 11, 5};

void compare(const Multiplier& multiply) {
  Tally tally;
  ProductRandom random(1);
  for (const char* unit : units) {
    CAPTURE(unit);
    CHECK(said(unit, multiply).takes);
    Rival(engine, parse_unit(unit), tally, true, multiply).compare_random(shape, random);
  }
  tally.expect(std::size(units) * outputs_compared(shape));
}

}  // namespace

TEST_CASE("the definition on threads multiplies by every shipped multiplier") {
  for (const char* name :
       {"mitchell", "drum3", "drum64", "truncated_array9", "truncated_operands3"}) {
    CAPTURE(name);
    compare(parse_multiplier(name));
  }
}

TEST_CASE("the definition on threads multiplies by products of the user's, also exchanged ones") {
  for (const TextProduct& product : {lopsided(), extreme()}) {
    CAPTURE(product.source);
    compare(product);
    compare(exchanged(product));
  }
}

TEST_CASE("the definition on threads multiplies by one's own in units of any kind") {
  Tally tally;
  ProductRandom random(2);
  random_units::Random of_units(7);
  const Multiplier multipliers[] = {mitchell(), extreme(), lopsided()};
  std::uint64_t taken = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_units::unit(of_units);
    const Multiplier& multiply = multipliers[i % 3];
    if (!cuda::opinion({.unit = u, .k = shape.k, .multiplier = multiply}, engine, host_device())
             .takes)
      continue;
    Rival(engine, u, tally, true, multiply).compare_random(shape, random);
    ++taken;
  }
  CHECK(taken > 150);
  tally.expect(taken * outputs_compared(shape));
}

// The product may have digits that its operands dropped, and the sums have to hold them.
TEST_CASE("a supplied product of operands that drop digits has its own carriers") {
  static int digits;  // of all products
  const TextProduct full =
      text("full", [](auto, auto, uint128* mp) { *mp = (uint128{1} << digits) - 1; });
  Tally tally;
  ProductRandom random(3);
  std::uint64_t units = 0, larger = 0;
  for (int fraction = 8; fraction <= 30; ++fraction) {
    Unit u = parse_unit(fmt::format("kulisch(e5m{})", fraction));
    u.a.keep_frac = u.b.keep_frac = 1;
    digits = 2 * (fraction + 1);
    const auto carriers = [&](const Multiplier& multiply) {
      return cuda::carriers_for({.unit = u, .k = 3, .multiplier = multiply});
    };
    larger += carriers({}) != carriers(full);
    Rival(engine, u, tally, true, full).compare_random({2, 3, 3}, random);
    ++units;
  }
  CHECK(larger > 3);
  tally.expect(units * outputs_compared({2, 3, 3}));
}

TEST_CASE("a product of too many digits is refused in the reference's words") {
  const TextProduct wide = text(wide_text, &wide_product);
  check_wide_product("reference", wide);
  check_wide_product(engine, wide);
  CHECK(host_device().taken == 0);
}

TEST_CASE("a GPU multiplies by what has a name or a text, of as many digits as that has") {
  const auto takes = [](const char* unit, const Multiplier& multiply) {
    return said(unit, multiply).takes;
  };
  CHECK(takes("mac(e5m10)", mitchell()));
  CHECK(takes("mac(e5m10)", lopsided()));
  CHECK_FALSE(takes("mac(e5m10)", [](auto a, auto b) { return uint128{a} * b; }));
  CHECK_FALSE(takes("mac(e5m10)", TextProduct{"of nobody", nullptr}));  // compiled by none
  CHECK(takes("mac(e15m63)", mitchell()));
  CHECK_FALSE(takes("mac(e15m64)", mitchell()));
}

}  // namespace test_multipliers
