#include <fmt/ranges.h>

#include <cmath>

#include "edges.hpp"
#include "sim/engine/numbers.hpp"
#include "targets.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_lanes {

// The lanes against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

bool lanes_take(const Unit& u) { return opinion("lanes", u).takes; }

bool fused_here() {
  if (lanes_take(parse_unit("mac(e5m10)"))) return true;
  fmt::print("SKIPPED: this CPU has no fused multiply-add in its lanes\n");
  return false;
}

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {9, 33, 67}, {1, 300, 3}};

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
                                  "mac(e5m10, sum=e5m10:sr13)",
                                  "mac(e5m10, sum=e5m10:sr4)",
                                  "mac(e4m3fn, sum=e5m10:sr13)",
                                  "mac(e4m3fn, sum=e4m3fn:sr16)",
                                  "mac(e8m7, sum=e8m7:sr16)",
                                  "fma(e4m3fn, sum=e6m10:sr7)",
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
                                  "mac(binary32, product=binary32:rtz, sum=binary32:rtz)",
                                  "mac(binary32, product=binary32:rdn, sum=binary32:rdn)",
                                  "mac(binary64, product=binary64:rup, sum=binary64:rup)",
                                  "fma(binary32, sum=binary32:rdn)",
                                  "fma(binary64, sum=binary64:rtz)",
                                  "fma(e5m10, sum=binary32)",
                                  "fma(e4m3fn, sum=binary32:rup)",
                                  "fma(e8m7, sum=binary32, c=e5m22)",
                                  "mac(e8m7, product=binary32, sum=binary32)",
                                  "mac(e7m7;bias=92, product=binary32, sum=binary32, c=binary32)",
                                  "fma(binary32, sum=binary64)",
                                  "mac(e10m20, product=binary64:rdn, sum=binary64:rdn)",
                                  "fma(e5m10)",
                                  "fma(e4m3fn)",
                                  "fma(e5m2)",
                                  "fma(e8m7)",
                                  "fma(e8m15)",
                                  "fma(e6m20)",
                                  "fma(e8m21)",
                                  "fma(e8m22)",
                                  "fma(e7m21)",
                                  "fma(e7m22)",
                                  "fma(e11m40)",
                                  "fma(e10m50)",
                                  "fma(e5m10, sum=e4m3fn)",
                                  "fma(e8m7, c=e8m9)",
                                  "fma(e8m10, sum=e8m15)",
                                  "mac(e4m3fn, sum=e5m10)",
                                  "mac(e4m3fn, sum=e8m7)",
                                  "mac(e5m2, sum=e5m10)",
                                  "mac(e5m10, product=e5m2, sum=e5m10)",
                                  "mac(e5m10, sum=e8m15)",
                                  "mac(e5m10, product=e4m3fn)",
                                  "fma(e4m3fn, sum=binary32)",
                                  "mac(e5m10, sum=e4m3fn)",
                                  "mac(e4m3fn, product=e5m7, sum=e8m13)",
                                  "mac(e4m3fn, product=e4m7;nan=all_ones, sum=e5m10)",
                                  "mac(e4m3fn, product=e4m7;nan=all_ones, sum=e8m13:sr10)",
                                  "mac(e8m3, product=e8m7;nan=all_ones, sum=e8m15)",
                                  "mac(e2m1fn, product=e2m3fn, sum=e6m9)",
                                  "mac(e3m4, product=e15m30)",
                                  "mac(e5m5;bias=20, c=e5m5, sum=e2m7)",
                                  "mac(e5m2, product=e5m30, sum=e8m13)",
                                  "mac(e5m3, product=e8m55, sum=e8m13:sr9)",
                                  "mac(e8m3, product=e9m50;bias=300, sum=e8m13)",
                                  "mac(e8m3, product=e12m51, sum=e8m13)",
                                  "mac(e3m7, product=e5m6)",
                                  "fma(e2m10;bias=-112, a=e2m4, b=e2m5)",
                                  "fma(e2m10;bias=-114, a=e2m4, b=e2m5)",
                                  "mac(e5m4, product=e2m4;bias=-106, sum=e5m4)",
                                  "mac(e5m4, product=e2m4;bias=-108, sum=e5m4)",
                                  "mac(e5m10, sum=binary32, final=e5m10)",
                                  "mac(binary32, final=e8m7:rtz)",
                                  "mac(e5m10, final=e4m3fn:odd)",
                                  "fma(binary64, final=e5m2;daz)",
                                  "mac(e8m7, final=e8m30:sr9)",
                                  "fma(binary32, sum=binary32:rdn, final=e8m10:rup)",
                                  "mac(e4m3fn, final=e2m1fn:sr3:half)",
                                  "mac(e5m10;ftz;daz, final=e9m40;ftz)",
                                  "mac(e5m10, sum=e5m10:sr8, final=ue8m3)",
                                  "mac(e4m3fnuz)",
                                  "mac(e4m3fnuz, sum=e5m10)",
                                  "mac(e5m2fnuz, sum=e5m10, c=e4m3fnuz)",
                                  "mac(e5m10, product=e4m3fnuz, sum=e5m10)",
                                  "mac(e4m3, sum=e5m5;nan=negative_zero;inf=no, c=e4m3)",
                                  "mac(binary8p3)",
                                  "mac(binary8p4, sum=e8m7)",
                                  "fma(binary8p3, sum=binary32)",
                                  "fma(e4m3fnuz, sum=binary32:rdn)",
                                  "mac(e4m3fnuz, product=binary32, sum=binary32)",
                                  "mac(e4m3fnuz, product=e5m10:rdn, sum=e5m10:rdn)",
                                  "mac(e4m3fnuz, sum=e5m10:sr9)",
                                  "mac(binary8p4, sum=binary8p4:sr13)",
                                  "mac(e5m10;ftz)",
                                  "mac(e5m10;ftz;daz)",
                                  "mac(e8m7;ftz;daz)",
                                  "mac(e6m9;ftz;daz, product=e6m9;ftz:rtz, sum=e6m9;ftz:rtz)",
                                  "mac(e5m10;daz, product=e5m10, sum=e5m10;ftz)",
                                  "mac(e5m10, product=e5m10;ftz, sum=e8m15)",
                                  "mac(e4m3;ftz, product=e4m3;ftz, sum=e4m3)",
                                  "fma(e5m10;ftz;daz)",
                                  "fma(e4m3fn;daz, sum=e5m10;ftz:rdn, c=e5m10;daz)",
                                  "mac(e5m10, product=e5m10;ftz:rtz, sum=e5m10:rtz)",
                                  "mac(e5m10, product=e5m10:rna, sum=e5m10;ftz:rna)",
                                  "mac(binary32;ftz;daz)",
                                  "mac(binary64;ftz;daz)",
                                  "fma(binary32;ftz;daz)",
                                  "fma(e8m7;ftz;daz, sum=binary32;ftz;daz)",
                                  "mac(binary32, product=binary32;ftz:rdn, sum=binary32:rdn)",
                                  "mac(binary32, product=binary32:rtz, sum=binary32;ftz:rtz)",
                                  "mac(e4m3fnuz;daz, product=e4m3fnuz;ftz, sum=e5m10;ftz)",
                                  "fma(e7m23;bias=127, sum=binary32)",
                                  "mac(e7m23;bias=127, sum=e7m23;bias=127)",
                                  "fma(e10m52;bias=1023, sum=binary64)",
                                  "mac(e5m10, sum=binary32:rtz)",
                                  "mac(e5m10, sum=e5m10:rdn)",
                                  "mac(e8m7, sum=e8m15:rup)",
                                  "mac(e5m10, sum=e6m20:rna)",
                                  "mac(e4m3fn, sum=e5m10:raz)",
                                  "mac(e5m10, sum=binary32:odd)",
                                  "mac(e5m10, sum=e5m10:rnz)",
                                  "mac(e5m10, sum=e8m22:rnp)",
                                  "mac(e8m7, sum=binary32:rnm)",
                                  "mac(e4m3fn, sum=e4m9:rno)",
                                  "mac(e5m10, product=e4m3fn, sum=e5m21:rtz)",
                                  "fma(e4m3fn, sum=binary32:odd)",
                                  "fma(e5m10, sum=e8m30)",
                                  "fma(e8m7, sum=e8m40)",
                                  "fma(e8m7, sum=e8m50, c=e8m3)",
                                  "fma(e5m25, sum=e5m8)",
                                  "mac(e8m30)",
                                  "mac(e8m30, sum=e8m30:rtz)",
                                  "mac(e8m50)",
                                  "mac(e5m26, sum=e9m50:rdn)",
                                  "mac(e11m30)",
                                  "mac(e11m49)",
                                  "mac(e9m30, product=e6m40, sum=e8m45:odd, c=e8m45)",
                                  "mac(binary32, sum=e11m48:rtz)",
                                  "mac(e5m10, sum=e8m40:raz, final=e5m10:rtz)",
                                  "mac(e5m10, sum=binary32:sr8)",
                                  "mac(e5m10, sum=e5m10:sr16)",
                                  "mac(e8m15, sum=e8m15:sr16)",
                                  "mac(e8m7, product=e8m10, sum=e9m25:sr3)",
                                  "fma(e8m7, sum=e10m23:sr10)",
                                  "fma(e4m3fn, sum=e4m22;bias=17:sr11)",
                                  "mac(e11m22, sum=e11m25:sr14)",
                                  "mac(e5m10, product=e4m7;nan=all_ones, sum=e9m10:sr16)"};

}  // namespace

TEST_CASE(
    "lanes give the reference's codes: chains of every shape, ordinary and hostile operands") {
  if (!fused_here()) return;
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    if (!lanes_take(parse_unit("mac(e5m10)"))) return;  // no fused multiply-add there
    int taken = 0;
    for (const char* text : chains) {
      CAPTURE(text);
      const Unit u = parse_unit(text);
      if (!lanes_take(u)) continue;
      ++taken;
      for (const Rival::Shape& s : shapes) {
        Rival("lanes", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
    // Two, fused from more than 53 digits, need modes of the operations' own.
    CHECK(taken >= static_cast<int>(std::size(chains)) - 2);
  });
  tally.expect(expected);
}

TEST_CASE("lanes give the reference's codes past one block of rows or columns") {
  if (!fused_here()) return;
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"mac(e5m10)", "mac(binary64)", "mac(e5m10, sum=e5m10:sr13)"})
    for (const Rival::Shape& s : {Rival::Shape{521, 2, 3}, {3, 2, 521}}) {
      CAPTURE(text);
      const Unit u = parse_unit(text);
      Rival("lanes", u, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  tally.expect(expected);
}

TEST_CASE("lanes keep an infinite sum beside a NaN for as long as k is") {
  if (!fused_here()) return;
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"mac(e5m10)", "fma(e5m10)", "mac(e8m7)", "mac(e5m10, sum=e5m10:sr13)",
                           "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)"}) {
    const Unit u = parse_unit(text);
    const Rival lanes("lanes", u, tally);
    for (const std::size_t k : {257, 600, 1300}) {
      lanes.compare_lasting(k);
      expected += Rival::lasting;
    }
  }
  tally.expect(expected);
}

TEST_CASE("lanes draw the bits of outputs on both sides of 2^32, in every place of the calls") {
  if (!fused_here()) return;
  ProductRandom random(3);
  Tally tally;
  for (const char* text : {"mac(e5m10, sum=e5m10:sr13)", "mac(e5m10, sum=binary32:sr13)"}) {
    const Unit u = parse_unit(text);
    MatrixProduct p;
    p.m = 5, p.k = 21, p.n = 70;
    const CodeList a = codes(u.a.fmt, p.m * p.k, Manner::about_one, random),
                   b = codes(u.b.fmt, p.k * p.n, Manner::about_one, random);
    p.a = a.rows(p.k), p.b = b.rows(p.n);
    p.seed = 0xfedcba9876543210, p.first_index = (std::uint64_t{1} << 32) - 150;
    Rival("lanes", u, tally).compare(p, "numbers about 1");
  }
  tally.expect(2 * 5 * 70);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one step in lanes: every product of two codes onto every sum") {
    if (!fused_here()) return;
    Tally tally;
    std::uint64_t expected = 0;
    int taken = 0;
    for (const char* text : {"mac(e3m2fn)",
                             "fma(e3m2fn)",
                             "mac(e2m3fn)",
                             "mac(e2m3)",
                             "fma(e3m2)",
                             "mac(e4m1)",
                             "mac(e3m2, product=e2m1fn)",
                             "mac(e2m3, sum=e4m1, c=e4m1)",
                             "fma(e2m3, sum=e2m1, c=e2m1)",
                             "fma(e2m3, sum=e2m1, c=e3m2)",
                             "fma(e3m2fn, c=e3m3)",
                             "mac(e3m2, product=e3m2:rtz, sum=e3m2:rtz)",
                             "mac(e3m2, product=e3m1:rdn, sum=e3m2:rdn)",
                             "mac(e2m3fn, product=e2m3fn:rup, sum=e2m3fn:rup)",
                             "mac(e3m2, product=e3m2:rna, sum=e3m2:rna)",
                             "fma(e3m2, sum=e3m2:rna)",
                             "fma(e3m2fn, sum=e3m2fn:rdn)",
                             "fma(e2m3, sum=e2m4;bias=0:rdn)",
                             "mac(e2m1fn, product=e2m3fn, sum=e4m3fn, c=e2m3)",
                             "mac(e2m1, product=e2m4, sum=e4m3, c=e4m3)",
                             "mac(e3m2, product=e3m5;nan=all_ones, sum=e4m3fn, c=e3m2)",
                             "mac(e2m1fn, product=e2m3fn, sum=e4m3:sr8, c=e2m3)",
                             "mac(e3m2;nan=negative_zero;inf=no)",
                             "mac(binary6p3)",
                             "mac(e3m2, product=e3m2;nan=negative_zero;inf=no)",
                             "fma(binary6p3, sum=e3m4)",
                             "mac(binary6p3, sum=e3m4:sr5, c=e3m2)",
                             "mac(e3m2;ftz)",
                             "mac(e3m2;ftz;daz)",
                             "mac(e2m3, product=e2m3;ftz, sum=e3m4)",
                             "fma(e2m3;daz, sum=e3m3;ftz)",
                             "mac(e3m2, product=e3m2;ftz:rtz, sum=e3m2;ftz:rtz)",
                             "mac(e3m2, product=e3m2;ftz, sum=e3m2, tininess=before)",
                             "mac(e3m2;ftz, tininess=delivered)",
                             "fma(e3m2, sum=e3m2;ftz:rtz, tininess=before)",
                             "fma(e3m2, sum=e3m2;ftz, tininess=delivered)",
                             "mac(e3m2, sum=e3m2:rtz)",
                             "mac(e3m2fn, sum=e3m2fn:rdn)",
                             "mac(e2m3, sum=e3m4:rup, c=e2m3)",
                             "mac(e3m2, product=e3m1, sum=e3m2:raz)",
                             "mac(e4m1, sum=e4m1:rna)",
                             "mac(e3m2, sum=e3m2:rnz)",
                             "mac(e3m2, sum=e3m2:rnp)",
                             "mac(e3m2, sum=e3m2:rnm)",
                             "mac(e3m2, sum=e3m2:rno)",
                             "mac(e2m3, sum=e2m3:odd)",
                             "fma(e3m2, sum=e5m4:odd, c=e3m2)",
                             "mac(e3m2, sum=e3m8:sr16, c=e3m2)",
                             "fma(e2m3, sum=e4m8:sr16, c=e3m2)"}) {
      const Unit u = parse_unit(text);
      CAPTURE(text);
      if (!lanes_take(u)) continue;
      ++taken;
      const auto all = [](const Format& f) {
        CodeList x(f, std::size_t{1} << f.width());
        for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
        return x;
      };
      const CodeList a = all(u.a.fmt), b = all(u.b.fmt), c = all(u.c.fmt);
      const Rival lanes("lanes", u, tally);
      MatrixProduct p;
      p.m = std::size_t{1} << u.a.fmt.width(), p.k = 1, p.n = std::size_t{1} << u.b.fmt.width();
      p.a = a.rows(1), p.b = b.rows(p.n);
      for (std::size_t i = 0; i < std::size_t{1} << u.c.fmt.width(); ++i) {
        p.c = {c.rows(0, i).data, 0, 0};
        lanes.compare(p, fmt::format("C {:x}", i));
        expected += p.m * p.n;
      }
    }
    CHECK(taken == 49);
    tally.expect(expected);
  }
}

TEST_CASE("lanes give a negative C that underflows its sign, also without a product") {
  const Unit u = parse_unit("fma(e5m10, sum=e4m3fn)");
  if (!fused_here()) return;
  const std::uint16_t zero = 0, tiny = 0x8001;  // -2^-24
  MatrixProduct p;
  p.m = p.n = p.k = 1;
  p.a = p.b = {&zero, 1, 1}, p.c = {&tiny, 1, 1};
  Tally tally;
  Rival("lanes", u, tally).compare(p, "underflowing C");
  tally.expect(1);
}

TEST_CASE("lanes leave products whose last digits lie below a double's") {
  if (!fused_here()) return;
  // 2^50 + 3 times this is 2^49 + 1 past a number of 51 digits: half way but for the last digit.
  const std::uint64_t three = 3, third = ((std::uint64_t{1} << 49) + 1) / 3;
  const Unit u = parse_unit("mac(e11m50)");
  Tally tally;
  const Rival lanes("lanes", u, tally);
  for (std::uint64_t exponent = 20; exponent < 80; ++exponent) {  // of the products, from 2^-983 on
    const std::uint64_t a = exponent << 50 | three, b = std::uint64_t{1043} << 50 | third;
    MatrixProduct p;
    p.m = p.n = p.k = 1;
    p.a = {&a, 1, 1}, p.b = {&b, 1, 1};
    lanes.compare(p, fmt::format("2^{}", static_cast<int>(exponent) - 1003));
  }
  tally.expect(60);
}

TEST_CASE("codes and numbers: NaN in the place of -0, and subnormals that are read as zeros") {
  std::vector<std::byte> held;
  float numbers[3];
  const std::uint8_t codes[] = {0x08, 0x80, 0x03};
  const Codec<float> fnuz(e4m3fnuz);
  CHECK(!fnuz.finite(fnuz.decode({codes, 0, 1}, 0, 1, 3, held, numbers)));
  CHECK(numbers[0] == 0x1p-7f);
  CHECK(std::isnan(numbers[1]));
  CHECK(fnuz.decode({codes, 0, 1}, 0, 2, 2, held, numbers) == 0x08);
  std::byte back[3];
  float zeros[] = {-0.0f, 0.0f, -0x1p-10f};
  fnuz.encode(zeros, 3, back);
  CHECK(back[0] == std::byte{0});
  CHECK(back[1] == std::byte{0});
  CHECK(back[2] == std::byte{0x81});
  Format daz = e4m3fn;
  daz.daz = true;
  const std::uint8_t small[] = {0x08, 0x07, 0x87};
  Codec<float>(daz).decode({small, 0, 1}, 0, 1, 3, held, numbers);
  CHECK(numbers[0] == 0x1p-6f);
  CHECK((numbers[1] == 0 && !std::signbit(numbers[1])));
  CHECK((numbers[2] == 0 && std::signbit(numbers[2])));
}

TEST_CASE("lanes refuse what they cannot vouch for, and nothing less") {
  if (!fused_here()) return;
  const Border border("lanes");
  CHECK_FALSE(opinion("lanes", parse_unit("mac(e5m10)"), true).takes);  // with flags
  border.lies_between("fma(e5m10)", "dot(e5m10, lanes=2)");
  border.lies_between("mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                      "mac(e5m10, product=e5m10:rtz, sum=e5m10)");
  border.lies_between("mac(e5m10, product=e5m2:rtz, sum=e5m10:rtz)",
                      "mac(e5m10, product=e4m3fn:rtz, sum=e5m10:rtz)");
  border.lies_between("fma(e4m3, sum=e5m7:sr8)", "fma(e4m3, sum=e5m7:sr8:half)");
  border.lies_between("mac(e5m10, sum=e5m10:sr16)", "mac(e5m10, sum=e5m10:sr17)");
  border.lies_between("mac(e8m25, sum=e8m25:sr14)", "mac(e8m26, sum=e8m26:sr14)");
  border.lies_between("mac(e5m10, sum=e5m10:sr9)", "mac(e5m10, sum=e5m10;ftz:sr9)");
  border.lies_between("mac(e8m50)", "mac(e8m51)");
  border.lies_between("fma(e5m25, b=e5m26, sum=e8m50:odd)", "fma(e5m26, sum=e8m50:odd)");
  border.lies_between("mac(e5m10;ftz;daz)", "mac(e5m10;daz)");
  border.lies_between("mac(e5m10)", "mac(e5m10;sub=no)");
  border.lies_between(
      "mac(e4m3;bias=8;inf=no;nan=all_ones, product=e4m3;bias=8:rtz, sum=e4m3;bias=8:rtz)",
      "mac(e4m3;bias=8;inf=no;nan=all_ones, product=e4m3fnuz:rtz, sum=e4m3;bias=8:rtz)");
}

TEST_CASE("lanes round fused sums to odd where each operation has a mode of its own, or nowhere") {
  on_every_target([] {
    const bool to_odd = lanes_take(parse_unit("fma(e11m40)"));
    CHECK(lanes_take(parse_unit("fma(e11m50)")) == to_odd);
    CHECK_FALSE(lanes_take(parse_unit("fma(e11m51)")));
  });
}

TEST_CASE("an engine that does not take a unit, or is none, is named, and so is the way out") {
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

}  // namespace test_lanes
