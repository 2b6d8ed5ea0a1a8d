#include <doctest/doctest.h>

#include <cmath>

#include "dot_text.hpp"
#include "tests/lib/tally.hpp"
#include "traced_units.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/presets.hpp"

namespace test_registers {

// Accumulators of a given width against a fixed least digit.
namespace {

using namespace tests;

// Two's complement, eight bits in all, four of them fraction: -8 to 8 - 1/16.
Unit register8(RegisterOverflow overflow, Rounding cut = RoundingMode::rdn) {
  Unit u = fused(binary32, 0);
  u.group_sum = {.align = {.reference = Reference::fixed_lsb, .frac_bits = 4, .rm = cut},
                 .width = 8,
                 .overflow = overflow};
  return u;
}

std::string sum(const Unit& u, const std::vector<double>& x, double c = 0) {
  return dot(u, x, std::vector<double>(x.size(), 1), c);
}
std::string f32(double x) { return codes(binary32, {x}); }

Flags flags_of(const Unit& u, const std::vector<double>& x, double c = 0) {
  std::vector<float> a(x.begin(), x.end()), b(x.size(), 1);
  const float addend = static_cast<float>(c);
  float result = 0;
  std::uint8_t flags = 0;
  MatrixProduct p;
  p.m = p.n = 1;
  p.k = x.size();
  p.a = {a.data(), 0, 1}, p.b = {b.data(), 1, 0}, p.c = {&addend, 0, 0};
  p.result = &result, p.flags = &flags;
  make_reference(u, p.k)->run(p, 0, 1);
  return flags;
}

}  // namespace

TEST_CASE("a Kulisch register loses nothing: 2^120 + 1 - 2^120 is 1 in any order") {
  const Unit& u = find_preset("kulisch.f32")->unit;
  const double big = std::ldexp(1, 60);
  for (const auto& a : {std::vector{big, 1.0, -big}, {big, -big, 1.0}, {1.0, -big, big}})
    CHECK(dot(u, a, {a[0] == 1 ? 1 : big, a[1] == 1 ? 1 : big, a[2] == 1 ? 1 : big}) == f32(1));
}

TEST_CASE("a wrapping register is the sum modulo 2^width, whatever happens on the way") {
  const Unit u = register8(RegisterOverflow::wrap);
  CHECK(sum(u, {7, 1}) == f32(-8));
  CHECK(sum(u, {7, 1, -1}) == f32(7));
  CHECK(sum(u, {-8, -0.0625}) == f32(8 - 0.0625));
  CHECK(sum(u, {100}) == f32(4));  // 100 = 6 * 16 + 4
  CHECK(sum(u, {-8}, 8) == f32(0));
  CHECK(sum(u, {8, 8}) == f32(0));
}

TEST_CASE("a saturating register stops at its ends, so its sum depends on the order") {
  const Unit u = register8(RegisterOverflow::saturate);
  const double most = 8 - 0.0625;
  CHECK(sum(u, {7, 3, -4}) == f32(most - 4));
  CHECK(sum(u, {7, -4, 3}) == f32(6));
  CHECK(sum(u, {-4, 7, 3}) == f32(6));
  CHECK(sum(u, {100}) == f32(most));
  CHECK(sum(u, {-100}) == f32(-8));
  CHECK(sum(u, {-100, 0.5}, 0.25) == f32(-7.25));
}

TEST_CASE("C is the last term of a register") {
  const Unit u = register8(RegisterOverflow::saturate);
  CHECK(sum(u, {7}, 3) == sum(u, {7, 3}));
  CHECK(sum(u, {7, 3}, -4) == sum(u, {7, 3, -4}));
}

TEST_CASE("a flagging register wraps and says so, for a term and for the sum alike") {
  const Unit u = register8(RegisterOverflow::flag);
  CHECK(sum(u, {7, 1}) == f32(-8));
  CHECK(sum(u, {100, -96}) == f32(4));
  for (const FlaggedSum& x : flagged_sums) CHECK(flags_of(u, x.terms) == x.flags);
  CHECK(flags_of(register8(RegisterOverflow::wrap), {7, 1}) == 0);
  CHECK(flags_of(register8(RegisterOverflow::saturate), {7, 1}) == 0);
}

TEST_CASE("terms are cut against the register's least digit one by one") {
  const double sixteenth = 0.0625;
  CHECK(sum(register8(RegisterOverflow::wrap), {sixteenth / 2, -sixteenth / 2}) == f32(-sixteenth));
  CHECK(sum(register8(RegisterOverflow::wrap, RoundingMode::rtz),
            {sixteenth / 2, -sixteenth / 2}) == f32(0));
  CHECK(sum(register8(RegisterOverflow::wrap, RoundingMode::rna), {sixteenth / 2, sixteenth / 2}) ==
        f32(2 * sixteenth));
  CHECK(sum(register8(RegisterOverflow::wrap, RoundingMode::rne), {sixteenth / 2, sixteenth / 2}) ==
        f32(0));
  CHECK(sum(register8(RegisterOverflow::wrap), {-std::ldexp(1, -100)}) == f32(-sixteenth));
}

TEST_CASE("a register within a window keeps its width too") {
  Unit u = fused(binary32, 4);
  u.group_sum = {
      .align = {.reference = Reference::max_exponent, .frac_bits = 2, .rm = RoundingMode::rtz},
      .width = 5};
  // Multiples of 1/4 below 2^(5 - 1) / 4 = 4 times the largest power of two.
  CHECK(sum(u, {1.5, 1, 1}) == f32(3.5));
  CHECK(sum(u, {1.5, 1.5, 1}) == f32(4 - 8));
  u.group_sum.overflow = RegisterOverflow::saturate;
  CHECK(sum(u, {1.5, 1.5, 1}) == f32(3.75));
  CHECK(sum(u, {-1.5, -1.5, -1.5}) == f32(-4));
}

}  // namespace test_registers
