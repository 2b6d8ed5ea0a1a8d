#include <functional>
#include <initializer_list>

#include "products.hpp"
#include "sim/recoded/plan.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_recoded {

// Units over fixed point, posits and takums by engines of floats, against the definition.
namespace {

using namespace widthwise;
using namespace tests;

const char* const units[] = {
    "kulisch(posit16es2)",
    "kulisch(posit8es0)",
    "kulisch(posit32es2, out=posit16es1:rdn)",
    "kulisch(takum8)",
    "kulisch(posit8es2, out=binary32)",
    "kulisch(int8, out=int32)",
    "kulisch(int8, out=int12)",
    "kulisch(int8, out=int12;overflow=wrap)",
    "kulisch(uint8, b=int8, c=int16, out=fixed16.-3;overflow=wrap_sm:rna)",
    "kulisch(fixed8.4, out=fixed10.3;overflow=zero:raz)",
    "kulisch(fixed16.8, out=ufixed16.8)",
    "fixedacc(int8, width=32, frac=0, out=int32)",
    "fixedacc(fixed8.4, width=12, frac=6, overflow=saturate, out=fixed12.6;overflow=keep_sign)",
    "kulisch(e4m3fn, b=posit8es1, c=binary32, out=posit16es2:odd)",
    "mac(posit16es2, product=binary32, sum=binary32)",
    "dot(int8, c=binary32, out=binary32, lanes=4)",
    // C ends where the register does, below it, and above.
    "{a.fmt = 'int8', b.fmt = 'int8', c.fmt = 'e4m3fn', lanes = 0, c_level = 'group', "
    "group_sum.align = {reference = 'fixed_lsb', frac_bits = 9}, out.fmt = 'binary32'}",
    "{a.fmt = 'int8', b.fmt = 'int8', c.fmt = 'e4m3fn', lanes = 0, c_level = 'group', "
    "group_sum.align = {reference = 'fixed_lsb', frac_bits = 8}, out.fmt = 'binary32'}",
    "{a.fmt = 'fixed8.5', b.fmt = 'int8', c.fmt = 'int8', lanes = 0, c_level = 'group', "
    "group_sum.align = {reference = 'fixed_lsb', frac_bits = 5}, out.fmt = 'int20'}",
};

}  // namespace

TEST_CASE("recoded: the definition's codes and flags") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const bool flags : {false, true})
      for (const Rival::Shape& s : {Rival::Shape{5, 1, 7}, Rival::Shape{3, 40, 9}}) {
        CAPTURE(opinion("recoded", u, flags, s.k).reason);
        REQUIRE(opinion("recoded", u, flags, s.k).takes);
        Rival("recoded", u, tally, flags).compare_random(s, random);
        expected += outputs_compared(s);
      }
  }
  tally.expect(expected);
}

TEST_CASE("recoded: past one tile of rows and columns, in parts") {
  ProductRandom random(2);
  Tally tally;
  const Rival::Shape down{259, 13, 3}, across{2, 3, 515};
  for (const char* text :
       {"kulisch(int8, out=int16)", "mac(posit8es2, product=binary32, sum=binary32)"}) {
    const Unit u = parse_unit(text);
    Rival("recoded", u, tally, true).compare_random(down, random);
    Rival("recoded", u, tally, true).in_tiles(600).compare_random(across, random);
  }
  tally.expect(2 * (outputs_compared(down) + outputs_compared(across)));
}

TEST_CASE("recoded: a float of the fewest exponents has every number") {
  for (const char* text :
       {"fixed8.4", "int8", "ufixed8.-3", "posit8es2", "posit16es1", "takum12"}) {
    CAPTURE(text);
    const Format f = parse_format(text);
    const auto to = recoded::float_of(f);
    REQUIRE(to);
    CHECK(to->precision() == f.digits());
    CHECK(to->emin() <= f.least_digit());
  }
  CHECK(!recoded::float_of(parse_format("posit64")));
}

TEST_CASE("recoded: a float has no more exponents than it needs, two digits or more, and 64 bits") {
  const auto shape = [](const char* text) {
    const auto f = recoded::float_of(parse_format(text));
    return f ? to_string(*f) : "none";
  };
  CHECK(shape("ufixed1.0") == "e2m1");
  CHECK(shape("ufixed2.0") == "e2m1");   // 1 to 3: both ends of its exponents
  CHECK(shape("ufixed2.-1") == "e3m1");  // and past them
  CHECK(shape("ufixed2.1") == "e3m1");
  CHECK(shape("fixed2.0") == "e2m1");
  CHECK(shape("fixed57.0") == "e7m56");
  CHECK(shape("fixed58.0") == "none");
  CHECK(shape("fixed64.0") == "none");
}

TEST_CASE("recoded: sums of few digits keep all of them, in binary32 while it has as many") {
  const auto held = [](const char* text, std::size_t k) {
    return recoded::plan(parse_unit(text), k).inner.out.fmt;
  };
  const char* sums = "fixedacc(int8, width=32, frac=0, out=int32)";
  CHECK(held(sums, 1022) == binary32);  // with C 1,023 terms of at most 2^14
  CHECK(held(sums, 1023).precision() == 25);
  CHECK(held("kulisch(uint8, out=int32)", 255).precision() == 25);  // 256 below 2^16
  CHECK(held("kulisch(uint8, out=int32)", 254) == binary32);
  CHECK(held("kulisch(int8, out=int32)", 1 << 20).precision() == 35);  // a digit tells of the rest
  CHECK(held("kulisch(int8, out=int32)", 1 << 24).precision() == 35);
  CHECK(held("kulisch(e5m10, out=table(nf4))", 1 << 24).precision() ==
        parse_format("table(nf4)").rounding_digits() + 3);
  CHECK(to_string(held("kulisch(fixed8.63, c=fixed8.63, out=fixed20.10)", 16)) ==
        "e8m23");  // whose least digit is 2^-126
  CHECK(held("kulisch(fixed8.64, c=fixed8.63, out=fixed20.10)", 16).exp_bits == 9);
  // A term is rounded up to the register's last digit, and 255 of them lie below 2^8 of these.
  CHECK(held("fixedacc(fixed8.20, width=40, frac=4, align=raz, out=fixed60.4;overflow=wrap)", 254)
            .precision() == 44);
}

TEST_CASE("recoded: a register stays where terms lie below it or above, and goes where none do") {
  const auto inner = [](const char* text) { return recoded::plan(parse_unit(text), 64).inner; };
  for (const char* lossless :
       {"kulisch(posit16es2)", "kulisch(posit8es0, width=64)", "kulisch(takum8)"}) {
    CAPTURE(lossless);
    CHECK(inner(lossless).group_sum == Sum{});
  }
  for (const char* held :
       {"fixedacc(posit8es2, width=128, frac=47, out=posit8es2)",
        "fixedacc(posit8es2, width=128, frac=48, out=posit8es2)",
        "{a.fmt = 'int8', b.fmt = 'int8', c.fmt = 'e4m3fn', lanes = 0, c_level = 'group', "
        "group_sum.align = {reference = 'fixed_lsb', frac_bits = 8}, out.fmt = 'binary32'}",
        // The next block's C may lie below: a format without 0 has its least number there.
        "{a.fmt = 'int8', b.fmt = 'int8', c.fmt = 'int8', lanes = 4, c_level = 'group', "
        "group_sum.align = {reference = 'fixed_lsb', frac_bits = 0}, out.fmt = 'e8m7;zero=no'}"}) {
    CAPTURE(held);
    CHECK(inner(held).group_sum == parse_unit(held).group_sum);
  }
}

TEST_CASE("recoded: a quire goes where so many products cannot fill it") {
  const auto takes = [](const Unit& u, std::size_t k) { return recoded::plan(u, k).unfit.empty(); };
  // Products, which end at 2^-12, and C are at most 2^12.
  const Unit quire = parse_unit("kulisch(posit8es0, width=32)");
  const std::int64_t most = std::int64_t{1} << (32 - 1 - quire.group_sum.align.frac_bits - 12);
  CHECK(takes(quire, static_cast<std::size_t>(most - 2)));
  CHECK(!takes(quire, static_cast<std::size_t>(most - 1)));
  CHECK(recoded::plan(quire, 8).inner.group_sum == Sum{});
  for (const auto change :
       {+[](Unit& u) { u.lanes = 4; }, +[](Unit& u) { u.group_sum.width.reset(); },
        +[](Unit& u) { u.group_sum.align = {}; }}) {
    Unit other = quire;
    change(other);
    CHECK(!takes(other, 8));
  }
}

TEST_CASE("recoded: results that are no floats are rounded once, of one sum of all products") {
  const auto why = [](auto change) {
    Unit u = parse_unit("kulisch(int8, out=int32)");
    change(u);
    return recoded::plan(u, 8).unfit;
  };
  REQUIRE(why([](Unit&) {}).empty());
  const Round to_binary32{.fmt = binary32};
  const std::initializer_list<std::function<void(Unit&)>> changes{
      [](Unit& u) { u.lanes = 4; },
      [&](Unit& u) { u.product.round = to_binary32; },
      [](Unit& u) { u.product.overflow_to_inf_at = 9; },
      [](Unit& u) { u.groups = Groups{.strided = 2}; },
      [](Unit& u) {
        u.scale = Scale{binary32, 4, ScaleApply::term};
      },
      [](Unit& u) {
        u.late_frac = LateFrac{9, 9};
      },
      [](Unit& u) { u.c_level = CLevel::block; },
      [&](Unit& u) { u.group_sum.order = Order::sequential, u.group_sum.node_round = to_binary32; },
      [&](Unit& u) {
        u.chain.promote = Promote{4, to_binary32};
      }};
  for (const auto& change : changes) CHECK(why(change) == "roundings to int32 before the last one");
}

TEST_CASE("recoded: scales of blocks are floats") {
  const auto why = [](const Format& f) {
    Unit u = parse_unit("mac(int8, product=binary32, sum=binary32)");
    u.scale = Scale{f, 4, ScaleApply::term};
    return recoded::plan(u, 8).unfit;
  };
  CHECK(why(binary32) == "");
  CHECK(why(parse_format("posit8es2")) == "scales that are no floats");
}

TEST_CASE("recoded: what it refuses, each with its reason") {
  const auto why = [](const char* text) { return recoded::plan(parse_unit(text), 8).unfit; };
  CHECK(why("mac(posit16)") == "roundings to posit16es2 before the last one");
  CHECK(why("kulisch(posit16, out=posit16:sr8)") ==
        "random bits, or more than a rounding to the format");
  CHECK(why("dot(int8, c=binary32, out=binary32, lanes=4, align=10:rtz)") ==
        "sums that align by the largest exponent");
  CHECK(why("kulisch(posit64)") == "no float of 64 bits has all numbers of posit64es2");
  CHECK(why("kulisch(fixed30.0, out=fixed48.0;overflow=wrap)") ==
        "sums of more digits than a float of 64 bits has");
}

TEST_CASE("recoded: formats of sums that there are none of are nobody's to recode") {
  Unit u = parse_unit("kulisch(int8, out=int32)");
  CHECK(opinion("recoded", u).takes);
  u.block_sum.node_round = Round{.fmt = parse_format("int32")};
  CHECK(!opinion("recoded", u).takes);
}

}  // namespace test_recoded
