#include <fmt/format.h>

#include "edges.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// The tensor engine against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {6, 33, 67}, {1, 300, 3}, {4, 64, 65}};

// Products and C, truncated below the largest of their exponents, and nothing else.
bool truncates(const Unit& u) {
  const Align& align = u.group_sum.align;
  return u.c_level == CLevel::group && align.reference == Reference::max_exponent &&
         align.rm == Rounding(RoundingMode::rtz) && !u.scale && !u.chain.promote;
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
  std::uint64_t expected = 0;
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const bool takes = opinion("tensor", preset.unit).takes;
    CHECK((takes || !truncates(preset.unit)));
    if (!takes) continue;
    for (const Rival::Shape& s : shapes) {
      Rival("tensor", preset.unit, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  tally.expect(expected);
}

TEST_CASE("the tensor engine gives the reference's codes: relatives of the presets") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const Unit& u : relatives()) {
      CAPTURE(to_string(u));
      REQUIRE(opinion("tensor", u).takes);
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

TEST_CASE("the tensor engine refuses units of another shape") {
  CHECK_FALSE(opinion("tensor", parse_unit("hopper.f16.f32"), true).takes);  // with flags
  Border("tensor").excludes_each(
      "hopper.f16.f32", {[](Unit& u) { u.lanes = 0; },
                         [](Unit& u) {
                           u.scale = Scale{e8m0fnu, 32, ScaleApply::term};
                         },
                         [](Unit& u) { u.groups = Groups{.consecutive = 4}; },
                         [](Unit& u) { u.c_level = CLevel::late; },
                         [](Unit& u) {
                           u.late_frac = LateFrac{25, 25};
                         },
                         [](Unit& u) { u.product.round = u.out; },
                         [](Unit& u) { u.product.overflow_to_inf_at = 128; },
                         [](Unit& u) { u.product.exponent = ProductExponent::normalised; },
                         [](Unit& u) {
                           u.chain.promote = Promote{16, {.fmt = binary32}};
                         },
                         [](Unit& u) { u.chain.c_round = Round{.fmt = binary32}; },
                         [](Unit& u) { u.chain.c_at = CAt::last; },
                         [](Unit& u) { u.chain.compensation = Compensation::kahan; },
                         [](Unit& u) { u.chain.final = Round{.fmt = ieee_format(15, 112)}; }});
}

TEST_CASE("the tensor engine refuses sums that are not cut below the largest exponent") {
  Border("tensor").excludes_each(
      "hopper.f16.f32",
      {[](Unit& u) { u.group_sum.order = Order::sequential; },
       [](Unit& u) { u.group_sum.node_round = u.out; }, [](Unit& u) { u.group_sum.width = 40; },
       [](Unit& u) { u.group_sum.align.reference = Reference::fixed_lsb; },
       [](Unit& u) { u.group_sum.align.rm = RoundingMode::rdn; },
       [](Unit& u) { u.group_sum.align.drop_c_below = 25; }});
}

TEST_CASE("the tensor engine refuses operands that are no numbers of float, and other results") {
  const Border border("tensor");
  border.excludes_each(
      "hopper.f16.f32",
      {[](Unit& u) { u.a.fmt = e4m3fnuz; }, [](Unit& u) { u.a.fmt.sign = Sign::none; },
       [](Unit& u) { u.a.fmt.subnormals = false; }, [](Unit& u) { u.a.fmt.zero = false; },
       [](Unit& u) { u.a.fmt.daz = true; }, [](Unit& u) { u.b.subnormals = Flush::flush_pos_zero; },
       [](Unit& u) { u.c.subnormals = Flush::flush_pos_zero; }, [](Unit& u) { u.c.keep_frac = 20; },
       [](Unit& u) { u.c.fmt = binary16; }, [](Unit& u) { u.out.post_norm_frac = 31; },
       [](Unit& u) { u.out.subnormals = Flush::flush_signed_zero; },
       [](Unit& u) { u.out.fmt.ftz = u.c.fmt.ftz = true; },
       [](Unit& u) { u.out.fmt = u.c.fmt = ieee_format(8, 22); },
       [](Unit& u) { u.out.rm = RoundingMode::rne; }});
  // To nearest even, of all digits of C.
  border.excludes_each("hopper.f16.f16", {[](Unit& u) { u.out.keep_frac = 9; },
                                          [](Unit& u) { u.out.rm = RoundingMode::rtz; },
                                          [](Unit& u) { u.group_sum.align.frac_bits = 9; }});
}

TEST_CASE("the tensor engine takes C last where it is added as IEEE 754 adds") {
  const Border border("tensor");
  for (const auto* name : {"lowered.e4m3.f32", "lowered.e4m3.f16"})
    border.excludes_each(name,
                         {[](Unit& u) { u.chain.c_round->rm = RoundingMode::rtz; },
                          [](Unit& u) { u.chain.c_round->fmt = bfloat16; },
                          [](Unit& u) { u.chain.c_round->keep_frac = 9; },
                          [](Unit& u) { u.chain.c_round->post_norm_frac = 31; },
                          [](Unit& u) { u.chain.c_round->overflow = Overflow::max; },
                          [](Unit& u) { u.chain.c_round->zero_sign = ZeroSign::plus; },
                          [](Unit& u) { u.chain.c_round->subnormals = Flush::flush_signed_zero; }});
  for (const Overflow overflow : {Overflow::ieee, Overflow::inf}) {
    Unit u = parse_unit("lowered.e4m3.f32");
    u.chain.c_round->overflow = overflow;
    CHECK(opinion("tensor", u).takes);
  }
}

TEST_CASE("the tensor engine takes as many digits and products as its lanes hold") {
  using enum RoundingMode;
  const Border border("tensor");
  const auto lies_between = [&](Change inside, Change outside) {
    border.lies_between("hopper.f16.f32", inside, outside);
  };
  lies_between([](Unit& u) { u.lanes = 1024; }, [](Unit& u) { u.lanes = 1025; });
  lies_between([](Unit& u) { u.group_sum.align.frac_bits = 28; },
               [](Unit& u) { u.group_sum.align.frac_bits = 29; });
  lies_between([](Unit& u) { u.group_sum.align.frac_bits = 1; },
               [](Unit& u) { u.group_sum.align.frac_bits = 0; });
  lies_between([](Unit& u) { u.group_sum.align.e_floor = -126; },
               [](Unit& u) { u.group_sum.align.e_floor = -125; });
  lies_between([](Unit& u) { u.b.fmt = ieee_format(5, 12); },
               [](Unit& u) { u.b.fmt = ieee_format(5, 13); });
  // The number that a reason names is worked out for it alone.
  const Unit longest = with("hopper.f16.f32", [](Unit& u) { u.b.fmt = ieee_format(5, 13); });
  CHECK(opinion("tensor", longest).reason.find("25") != std::string::npos);
  // What of an operand is used, and what it has.
  lies_between([](Unit& u) { u.a.keep_frac = 6, u.a.keep_rm = rtz; },
               [](Unit& u) { u.a.keep_frac = 6; });
  lies_between([](Unit& u) { u.a = {.fmt = ieee_format(5, 23), .keep_frac = 10, .keep_rm = rtz}; },
               [](Unit& u) { u.a = {.fmt = ieee_format(5, 24), .keep_frac = 10, .keep_rm = rtz}; });
  // Float's exponents, and subnormals that are some of float's but not at their place.
  lies_between([](Unit& u) { u.b.fmt = ieee_format(8, 6); },
               [](Unit& u) { u.b.fmt = ieee_format(8, 6), u.b.fmt.bias = 126; });
  lies_between([](Unit& u) { u.b.fmt = ieee_format(7, 7), u.b.fmt.bias = 120; },
               [](Unit& u) { u.b.fmt = ieee_format(7, 8), u.b.fmt.bias = 120; });
}
