#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_bytes {

// Sums in 32 bits of products of bytes, against the definition.
namespace {

using namespace widthwise;
using namespace tests;

bool taken(const char* text, std::size_t k = 8) {
  return opinion("bytes", parse_unit(text), false, k).takes;
}

}  // namespace

TEST_CASE("bytes: the definition's codes on every instruction set") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"fixedacc(int8, width=32, frac=0, out=int32)", "kulisch(int8, out=int32)",
        "kulisch(uint8, b=int8, out=int32)", "kulisch(uint8, out=uint32)",
        "kulisch(fixed8.4, b=ufixed8.9, c=fixed24.9, out=fixed24.6:rnz)",
        "kulisch(int4, b=uint3, c=int2, out=int12;overflow=wrap)",
        "fixedacc(int8, width=32, frac=0, c=int32;overflow=symmetric, "
        "out=int32;overflow=symmetric)",
        "kulisch(int8;overflow=wrap, c=fixed16.-9, out=int16;overflow=zero)",
        "fixedacc(fixed8.4, width=35, frac=11, c=fixed40.2, out=fixed32.8)",
        "fixedacc(int8, width=32, frac=0, c=int32, overflow=flag, out=fixed20.-12:rup)",
        "fixedacc(int5, b=fixed8.-3, width=35, frac=0, c=fixed40.-3, out=fixed32.-3)",
        "fixedacc(int8, width=40, frac=4, overflow=saturate, out=int20)"}) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const Rival::Shape& s :
         {Rival::Shape{5, 1, 7}, Rival::Shape{7, 41, 66}, Rival::Shape{1, 600, 3}})
      on_every_target([&] {
        CAPTURE(opinion("bytes", u, false, s.k).reason);
        REQUIRE(opinion("bytes", u, false, s.k).takes);
        Rival("bytes", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      });
  }
  tally.expect(expected);
}

TEST_CASE("bytes: a register's least number, where the result has none such") {
  const Unit u =
      parse_unit("fixedacc(int8, width=32, frac=0, c=int32, out=int32;overflow=symmetric)");
  Tally tally;
  CodeList none(u.a.fmt, 1), c(u.c.fmt, 1);
  none.set(0, 0), c.set(0, 0x80000000);
  MatrixProduct p;
  p.m = p.k = p.n = 1;
  p.a = none.rows(1), p.b = none.rows(1), p.c = c.rows(1);
  Rival("bytes", u, tally).compare(p, "the least number of 32 bits");
  tally.expect(1);
}

TEST_CASE("bytes: sums that pass 32 bits, once and again") {
  const Unit u = parse_unit("fixedacc(int8, b=uint8, width=32, frac=0, c=int32, out=int32)");
  ProductRandom random(2);
  Tally tally;
  constexpr std::size_t k = 200000;
  CodeList a(u.a.fmt, k), b(u.b.fmt, k), c(u.c.fmt, 2);
  for (std::size_t i = 0; i < k; ++i) a.set(i, 0x80 + random() % 3), b.set(i, 0xff - random() % 3);
  c.set(0, 0x80000000), c.set(1, 0x7fffffff);
  for (const std::size_t place : {0, 1}) {
    MatrixProduct p;
    p.m = 1, p.k = k, p.n = 1;
    p.a = a.rows(k), p.b = b.rows(1), p.c = c.rows(1, place);
    Rival("bytes", u, tally).compare(p, "many products of one sign");
  }
  tally.expect(2);
}

TEST_CASE("bytes: what its conditions allow, and not one step more") {
  CHECK(taken("fixedacc(int8, width=32, frac=0, out=int32)", 1 << 20));
  CHECK(taken("kulisch(fixed8.450, c=fixed8.900, out=fixed32.900)"));
  for (const char* other : {"fixedacc(int9, width=32, frac=0, out=int32)",
                            "fixedacc(int8, b=e4m3fn, frac=0, out=int32)",
                            "fixedacc(int8, b=posit8, width=64, frac=0, out=int32)",
                            "fixedacc(int8, c=fixed8.1, width=32, frac=0, out=int32)",
                            "fixedacc(int8, c=e4m3fn, width=32, frac=0, out=int32)",
                            "fixedacc(int8, width=32, frac=0, out=binary32)",
                            "fixedacc(int8, width=32, frac=0, out=int32:sr8)",
                            "fixedacc(int8, width=32, frac=0, out=int32, final=int8)",
                            "fixedacc(fixed8.4, width=32, frac=7, out=int32)",
                            "fixedacc(int8, width=32, frac=0, out=int32, scale=e8m0fnu:4:term)",
                            "kulisch(fixed8.451, b=fixed8.450, c=fixed8.901, out=fixed32.900)",
                            "fixedacc(int8, width=32, frac=0, overflow=nar, c=int32, out=int32)",
                            "fixedacc(int8, width=32, frac=0, overflow=wrap_nar, out=int32)",
                            "dot(int8, c=int32, out=int32, lanes=4)", "mac(int8, sum=int32)"})
    CHECK_MESSAGE(!taken(other), other);
  // A register that wraps at another digit is seen where sums may reach it: these at 2^31.
  const char* wraps[] = {"fixedacc(int8, width=31, frac=0, out=int32)",
                         "fixedacc(int8, width=33, frac=0, out=int32)",
                         "fixedacc(int8, width=32, frac=1, out=int32)"};
  for (const char* text : wraps) CHECK_MESSAGE(!taken(text, 1 << 17), text);
  CHECK(taken(wraps[1], (1 << 17) - 1));
  const char* saturates = "fixedacc(int8, width=32, frac=0, overflow=saturate, out=int32)";
  CHECK(taken(saturates, (1 << 17) - 1));
  CHECK(!taken(saturates, 1 << 17));
  CHECK(taken("kulisch(uint8, out=int40)", 33025));  // of 255 * 255, and C
  CHECK(!taken("kulisch(uint8, out=int40)", 33026));
  CHECK(!taken("kulisch(int8, c=int32, out=int40)", 1));
  CHECK(taken("kulisch(int8, c=int31, out=int40)", (1 << 16) - 1));
  CHECK(!taken("kulisch(int8, c=int31, out=int40)", 1 << 16));
  CHECK(!opinion("bytes", parse_unit("kulisch(int8, out=int32)"), true).takes);
}

TEST_CASE("bytes: the planner takes them where nobody wants flags") {
  const ProductTask task{.unit = parse_unit("fixedacc(int8, width=32, frac=0, out=int32)"),
                         .k = 1024,
                         .outputs = 65536};
  CHECK(opinions(task).front().engine == "bytes");
}

}  // namespace test_bytes
