#include <fmt/format.h>

#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// The tensor engine against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {6, 33, 67}, {1, 300, 3}, {4, 64, 65}};

Unit with(std::string_view preset, void (*change)(Unit&)) {
  Unit u = find_preset(preset)->unit;
  change(u);
  return u;
}

// Units beside the presets: other windows, formats and block lengths.
std::vector<Unit> relatives() {
  return {
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 13; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 3; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.f16.f32", [](Unit& u) { u.out.keep_frac = 5; }),
      with("hopper.f16.f32", [](Unit& u) { u.chain.final = Round{.fmt = bfloat16}; }),
      with("hopper.f16.f16",
           [](Unit& u) {
             u.chain.final = Round{.fmt = e4m3fn, .rm = Rounding(5, StochasticVariant::plain)};
           }),
      with("lowered.e4m3.f32", [](Unit& u) { u.chain.final = Round{.fmt = binary16}; }),
      with("hopper.f16.f32", [](Unit& u) { u.b.fmt = e4m3fn; }),
      with("hopper.f16.f16", [](Unit& u) { u.a.fmt = u.b.fmt = bfloat16; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16",
           [](Unit& u) { u.group_sum.align.frac_bits = 10, u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.e_floor = -126; }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 10; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.a.fmt = e2m1fn, u.b.fmt = e3m2fn; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.lanes = 300; }),
      with("ampere.tf32.f32", [](Unit& u) { u.a.fmt = tf32, u.a.keep_frac.reset(); }),
      with("lowered.e4m3.f32", [](Unit& u) { u.chain.lane_permutation.reset(); }),
      with("lowered.e5m2.f32", [](Unit& u) { u.group_sum.align.frac_bits = 3; }),
      with("lowered.e5m2.f32",
           [](Unit& u) {
             u.a.fmt = bfloat16;
             u.chain.lane_permutation = LanePermutation{3, 4};
           }),
      with("hopper.f16.f16",
           [](Unit& u) {
             u.chain.lane_permutation = LanePermutation{1, 3};
           }),
      // exponents of zeros and of large numbers sum to some above C's
      with("hopper.f16.f16",
           [](Unit& u) {
             u.a.fmt = parse_format("e6m5;bias=-1"), u.b.fmt = e3m2fn;
             u.group_sum.align.frac_bits = 12, u.group_sum.align.e_floor.reset();
           }),
      with("ampere.f16.f16",
           [](Unit& u) {
             u.a.fmt = u.b.fmt = parse_format("e4m3;bias=-45");
             u.group_sum.align.frac_bits = 10, u.group_sum.align.e_floor.reset();
           }),
  };
}

}  // namespace

TEST_CASE("the tensor engine gives the reference's codes: every preset, all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  int taken = 0;
  std::uint64_t expected = 0;
  for (const Preset& preset : presets()) {
    if (!opinion("tensor", preset.unit).takes) continue;
    CAPTURE(preset.name);
    ++taken;
    for (const Rival::Shape& s : shapes) {
      Rival("tensor", preset.unit, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  CHECK(taken == 35);
  tally.expect(expected);
}

TEST_CASE("the tensor engine gives the reference's codes: relatives of the presets") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const Unit& u : relatives()) {
      CAPTURE(to_string(u));
      REQUIRE(opinion("tensor", u).reason.find("exact products") == 0);
      for (const Rival::Shape& s : shapes) {
        Rival("tensor", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
  });
  tally.expect(expected);
}

TEST_CASE("the tensor engine gives the reference's zeros: sums that vanish on their way") {
  struct Dot {
    Unit unit;
    std::array<std::uint16_t, 2> a, b;  // binary16, one product a block
  };
  const auto alone = [](const char* preset, std::int64_t frac_bits) {
    Unit u = find_preset(preset)->unit;
    u.lanes = 1, u.group_sum.align.frac_bits = frac_bits;
    return u;
  };
  const Dot dots[] = {
      {alone("hopper.f16.f16", 25), {0x8400, 0}, {0x0400, 0}},            // -2^-28, then + 0
      {alone("hopper.f16.f16", 25), {0x8400, 0x8000}, {0x0400, 0}},       // then - 0
      {alone("hopper.f16.f16", 25), {0x8400, 0x8001}, {0x0400, 0x0001}},  // then - 2^-48
      {alone("hopper.f16.f16", 25), {0x8400, 0x0001}, {0x0400, 0x0001}},  // then + 2^-48
      {alone("hopper.f16.f16", 25), {0x8001, 0x0001}, {0x3c00, 0x3c00}},  // - 2^-24 + 2^-24
      {alone("hopper.f16.f32", 5), {0x8400, 0x8001}, {0x2400, 0x7800}},   // - 2^-20, then - 2^-9
      {alone("hopper.f16.f32", 5), {0x8400, 0x0001}, {0x2400, 0x7800}},
      {alone("hopper.f16.f32", 5), {0x8400, 0x8000}, {0x0000, 0x7800}},
  };
  Tally tally;
  for (const Dot& dot : dots) {
    MatrixProduct p;
    p.m = p.n = 1, p.k = 2;
    p.a = {dot.a.data(), 2, 1}, p.b = {dot.b.data(), 1, 1};
    Rival("tensor", dot.unit, tally).compare(p, "vanishing");
  }
  // A subnormal of 18 fraction bits times 2^15 has the largest exponent and vanishes, with C.
  Unit narrow = alone("hopper.f16.f16", 10);
  narrow.a.fmt = ieee_format(5, 18), narrow.b.fmt = ieee_format(5, 2);
  narrow.group_sum.align.e_floor = -14;
  const std::uint8_t b = 0x78;
  for (const std::uint32_t a : {0x800001, 0x000001})
    for (const std::uint16_t c : {0x8001, 0x8000, 0x0001, 0x0000}) {
      MatrixProduct p;
      p.m = p.n = p.k = 1;
      p.a = {&a, 1, 1}, p.b = {&b, 1, 1}, p.c = {&c, 1, 1};
      Rival("tensor", narrow, tally).compare(p, "vanishing");
    }
  tally.expect(std::size(dots) + 8);
}

TEST_CASE(
    "the tensor engine gives the reference's infinities: a C that its products would cancel") {
  Tally tally;
  const std::uint16_t a = 0x5c00, b = 0xdc00;  // 256 * -256
  for (const std::uint16_t c : {0x7c00, 0x7e00, 0xfc00, 0x7bff}) {
    MatrixProduct p;
    p.m = p.n = p.k = 1;
    p.a = {&a, 1, 1}, p.b = {&b, 1, 1}, p.c = {&c, 1, 1};
    Rival("tensor", find_preset("hopper.f16.f16")->unit, tally).compare(p, "cancelling C");
  }
  tally.expect(4);
}

TEST_CASE("the tensor engine gives the reference's sums: the most that 32 bits hold, and more") {
  // Products just below 4 * 2^E and a C just below 2 * 2^E.
  Tally tally;
  std::size_t expected = 0;
  on_every_target([&] {
    for (const auto& [lanes, frac_bits] :
         {std::pair{15, 25}, {16, 25}, {17, 25}, {1, 28}, {2, 28}}) {
      Unit unit = find_preset("hopper.f16.f32")->unit;
      unit.lanes = lanes, unit.group_sum.align.frac_bits = frac_bits;
      const std::vector<std::uint16_t> a(lanes, 0x7bff);
      for (const std::uint16_t b : {0x7bff, 0xfbff})
        for (const std::uint32_t c : {0x4effffffu, 0x4e000000u, 0x00000000u, 0xceffffffu}) {
          MatrixProduct p;
          p.m = p.n = 1, p.k = static_cast<std::size_t>(lanes);
          p.a = {a.data(), 1, 1}, p.b = {&b, 0, 0}, p.c = {&c, 1, 1};
          Rival("tensor", unit, tally).compare(p, "many units");
          ++expected;
        }
    }
  });
  tally.expect(expected);
}

TEST_CASE("the tensor engine gives the reference's sums: far past binary16, of either sign") {
  Tally tally;
  std::size_t expected = 0;
  on_every_target([&] {
    for (const char* preset : {"hopper.f16.f16", "lowered.e4m3.f16"})
      for (const Overflow overflow : {Overflow::inf, Overflow::max}) {
        Unit unit = find_preset(preset)->unit;
        unit.a.fmt = unit.b.fmt = bfloat16, unit.out.overflow = overflow;
        for (const std::uint16_t exponent : {110, 113, 114, 115, 116, 120, 124, 125, 126, 127})
          for (const std::uint16_t sign : {0, 0x8000}) {
            // 2^exponent in two factors, and -1
            const auto power = [](int e) { return static_cast<std::uint16_t>((127 + e) << 7); };
            const std::uint16_t a[] = {static_cast<std::uint16_t>(power(60) | sign), power(0)};
            const std::uint16_t b[] = {power(exponent - 60), 0xbf80}, c = 0x3c00;
            MatrixProduct p;
            p.m = p.n = 1, p.k = 2;
            p.a = {a, 2, 1}, p.b = {b, 1, 1}, p.c = {&c, 1, 1};
            Rival("tensor", unit, tally).compare(p, "far past");
            ++expected;
          }
      }
  });
  tally.expect(expected);
}

TEST_CASE("the tensor engine gives the reference's codes: a C that joins last, to binary16") {
  struct Dot {
    std::uint8_t a, b;  // e5m2
    std::vector<std::uint16_t> c;
  };
  constexpr std::uint8_t most = 0x7a, five_quarters = 0x3d, minus_one = 0xbc, least = 0x01,
                         minus = 0x80;
  const Dot dots[] = {
      // 49152 * 1.25 = 61440 and what reaches 65504, 65518, 65520, 65536; ties, and one last digit
      // more
      {most, five_quarters, {0x6bf0, 0x6bf7, 0x6bf8, 0x6bff, 0x6c00, 0x7bff, 0x7c00, 0x7e00}},
      {most, five_quarters, {0x4c00, 0x4c01, 0x4bff, 0x5200, 0x5201, 0x51ff, 0x0001, 0x8001}},
      {most, five_quarters, {0xcc00, 0xcc01, 0xcbff, 0xd200, 0xd201, 0xfbff, 0xfb80, 0xfc00}},
      // -1, with sums that cancel, are subnormal or lie a last digit off
      {0x3c, minus_one, {0x3c00, 0x3c01, 0x3bff, 0x0001, 0x8001, 0x1000, 0x1001, 0x9001}},
      // 2^-32 of either sign, which is a zero of binary16, and zeros
      {least, least, {0x0000, 0x8000, 0x0001, 0x8001}},
      {least | minus, least, {0x0000, 0x8000, 0x0001, 0x8001}},
      {0, least, {0x0000, 0x8000, 0x0001, 0x8001}},
      {minus, least, {0x0000, 0x8000, 0x0001, 0x8001}},
  };
  const Unit unit = find_preset("lowered.e5m2.f16")->unit;
  Tally tally;
  std::size_t expected = 0;
  on_every_target([&] {
    for (const Dot& dot : dots) {
      const std::vector<std::uint8_t> b(dot.c.size(), dot.b);
      MatrixProduct p;
      p.m = p.k = 1, p.n = b.size();
      p.a = {&dot.a, 1, 1}, p.b = {b.data(), 0, 1};
      Rival("tensor", unit, tally).compare(p, "C absent");
      p.c = {dot.c.data(), 0, 1};
      Rival("tensor", unit, tally).compare(p, "C last");
      expected += 2 * p.n;
    }
  });
  tally.expect(expected);
}

TEST_CASE("the tensor engine refuses what it cannot vouch for, and says why") {
  const auto reason = [](const Unit& u, bool flags = false) {
    const Opinion o = opinion("tensor", u, flags);
    return o.takes ? std::string("taken") : o.reason;
  };
  const auto preset = [&](std::string_view name) { return reason(find_preset(name)->unit); };
  const auto changed = [&](void (*change)(Unit&)) {
    return reason(with("hopper.f16.f32", change));
  };

  CHECK(reason(find_preset("hopper.f16.f32")->unit, true) == "flags are wanted");
  CHECK(preset("blackwell.mxfp8") == "block scales");
  CHECK(preset("cdna1.f16") == "its terms are not aligned to the largest exponent");
  CHECK(preset("cdna2.f16") == "C is not one of the block's addends");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.chain.c_round->rm = RoundingMode::rtz; },
        +[](Unit& u) { u.chain.c_round->fmt = bfloat16; },
        +[](Unit& u) { u.chain.c_round->keep_frac = 9; },
        +[](Unit& u) { u.chain.c_round->post_norm_frac = 31; },
        +[](Unit& u) { u.chain.c_round->overflow = Overflow::max; },
        +[](Unit& u) { u.chain.c_round->zero_sign = ZeroSign::plus; },
        +[](Unit& u) { u.chain.c_round->subnormals = Flush::flush_signed_zero; }})
    for (const auto* name : {"lowered.e4m3.f32", "lowered.e4m3.f16"})
      CHECK(reason(with(name, change)) ==
            "C is added last, and not rounded to out's format by ties to even");
  CHECK(preset("hopper.e4m3.promote128") == "promotion");
  CHECK(preset("kulisch.f32") == "one block takes all of K");
  CHECK(changed([](Unit& u) { u.groups = Groups{.consecutive = 4}; }) == "groups of products");
  CHECK(changed([](Unit& u) { u.lanes = 2048; }) == "more than 1024 products a block");
  CHECK(changed([](Unit& u) { u.product.overflow_to_inf_at = 128; }) ==
        "products are rounded or overflow");
  CHECK(changed([](Unit& u) { u.product.exponent = ProductExponent::normalised; }) ==
        "products are normalised before they are aligned");
  CHECK(changed([](Unit& u) { u.chain.final = Round{.fmt = ieee_format(15, 112)}; }) ==
        "a final rounding of more than 64 digits");
  CHECK(changed([](Unit& u) { u.group_sum.order = Order::sequential; }) ==
        "its sums are no fused ones");
  CHECK(changed([](Unit& u) { u.group_sum.width = 40; }) == "its sums are of a given width");
  CHECK(changed([](Unit& u) { u.group_sum.align.rm = RoundingMode::rdn; }) ==
        "aligned terms are rounded by rdn, not toward zero");
  CHECK(changed([](Unit& u) { u.group_sum.align.drop_c_below = 25; }) == "a small C is dropped");
  CHECK(changed([](Unit& u) { u.group_sum.align.frac_bits = 29; }) ==
        "29 bits below the largest exponent");
  CHECK(changed([](Unit& u) { u.group_sum.align.e_floor = -125; }) ==
        "the least exponent of a sum lies above C's");
  CHECK(changed([](Unit& u) { u.a.fmt = u.b.fmt = tf32, u.b.fmt.frac_bits = 13; }) ==
        "exact products have 25 digits");
  CHECK(changed([](Unit& u) { u.a.fmt = e4m3fnuz; }) == "a = e4m3fnuz has NaN in the place of -0");
  CHECK(changed([](Unit& u) { u.b.subnormals = Flush::flush_pos_zero; }) ==
        "b = e5m10 flushes subnormals");
  CHECK(changed([](Unit& u) { u.b.fmt = ieee_format(9, 6); }) ==
        "b = e9m6 has digits or exponents that float has not");
  CHECK(changed([](Unit& u) { u.a.keep_frac = 6; }) == "a = e5m10 is rounded before use");
  CHECK(changed([](Unit& u) { u.c.fmt = binary16; }) == "C is not in out's format as it stands");
  CHECK(changed([](Unit& u) { u.out.post_norm_frac = 31; }) ==
        "out does more than round to its format");
  CHECK(changed([](Unit& u) { u.out.rm = RoundingMode::rne; }) ==
        "out = e8m23, rne: only binary32 toward zero and binary16 to nearest even");
}
