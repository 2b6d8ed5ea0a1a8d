#include <fmt/format.h>

#include "edges.hpp"
#include "lane_chains.hpp"
#include "sim/lanes/fixed.hpp"
#include "targets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_fixed_chains {

// Chains whose products and sums are rounded to fixed point in lanes, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

constexpr const char* wrapping_modes[] = {"rne", "rnp", "rnm", "rno", "rdn", "rup"};
constexpr const char* modes[] = {"rne", "rna", "rnz", "rnp", "rnm",
                                 "rno", "rtz", "rdn", "rup", "raz"};

// Codes at the ends, beside them and about 0.
CodeList at_ends(const Format& f, std::size_t count, ProductRandom& random) {
  const std::uint64_t mask = (std::uint64_t{1} << f.width()) - 1;
  const std::uint64_t most = (std::uint64_t{1} << f.frac_bits) - 1;
  const std::uint64_t some[] = {most, most - 1, most + 1, most + 2, 0, 1, mask};
  CodeList x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, some[random() % std::size(some)] & mask);
  return x;
}

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {9, 33, 67}, {2, 600, 3}};

constexpr const char* chains[] = {
    "mac(fixed16.8)",
    "mac(fixed16.8;overflow=symmetric)",
    "mac(fixed16.8, product=fixed16.8:rdn, sum=fixed16.8:rdn)",
    "mac(fixed16.8, product=fixed16.8:rnp, sum=fixed16.8:rnp)",
    "mac(fixed24.12)",
    "mac(fixed24.12, product=fixed24.12:rtz, sum=fixed24.12)",
    "mac(fixed32.16)",
    "mac(fixed32.16, product=fixed40.20:rup, sum=fixed36.12:rup)",
    "mac(fixed32.16, product=fixed40.20:rna, sum=fixed36.12:rno)",
    "mac(ufixed16.10)",
    "mac(ufixed8.4, b=fixed8.6, c=fixed12.4, product=ufixed12.6:raz, sum=fixed14.4:rnz)",
    "mac(int8, product=int16, sum=fixed32.0)",
    "mac(int8, product=int16;overflow=wrap:sr9, sum=int20;overflow=symmetric:odd)",
    "mac(uint8, b=int8, c=int32, product=int16, sum=int32)",
    "mac(fixed8.-3, product=fixed16.-7:rnm, sum=fixed20.-7)",
    "fma(fixed16.8)",
    "fma(fixed16.8, sum=fixed22.8:rna)",
    "fma(fixed24.12, sum=fixed48.16:rup)",
    "fma(fixed32.16, sum=fixed51.20:rnz)",
    "fma(fixed51.50, sum=fixed51.48)",
    "fma(fixed22.21, c=fixed16.10, sum=fixed22.16:rdn)",
    "fma(int8, sum=int12:rtz)",
    "mac(e4m3fn, c=fixed16.8, product=fixed16.9:rtz, sum=fixed18.8)",
    "mac(e5m10, b=fixed12.8, c=fixed20.8, product=fixed20.10, sum=fixed22.8)",
    "fma(binary32, c=fixed32.8, sum=fixed40.12:rdn)",
    "fma(e5m2, b=posit8es0, c=int8, sum=int16)",  // refused: a posit
    "fma(e2m1fn, sum=fixed12.4:rna)",
    "fma(e2m3fn, c=e2m3fn, sum=fixed12.4)",
    "mac(fixed16.8, c=fixed12.-2, sum=fixed16.7:rtz)",
    "fma(fixed24.12, c=fixed40.10, sum=fixed16.12:rdn)",
    "fma(e5m2, c=e3m2fn, sum=fixed20.18:rnp)",
    "mac(fixed16.8, final=int8:rtz)",
    "mac(fixed16.8, final=posit16es2)",
    "fma(fixed12.6, sum=fixed18.8:rtz, final=e4m3fn:sr4)",
    "mac(fixed24.12, final=ufixed8.4;overflow=wrap)",
    "mac(fixed8.4;overflow=wrap)",
    "mac(fixed16.8;overflow=wrap)",
    "mac(ufixed16.8;overflow=wrap)",
    "mac(fixed32.16;overflow=wrap)",
    "fma(fixed12.6, sum=fixed12.6;overflow=wrap)",
    "fma(fixed16.8, c=fixed22.8, sum=fixed12.6;overflow=wrap:rno)",
    "fma(int8, c=int32, sum=int32;overflow=wrap)",
    "mac(fixed16.8, product=fixed20.10;overflow=wrap:rtz, sum=fixed16.8;overflow=wrap:rup)",
    "mac(fixed16.8, product=fixed12.8:raz, sum=ufixed13.7;overflow=wrap:rdn)",
    "fma(e4m3fn, c=fixed16.8, sum=fixed16.8;overflow=wrap)",
    "mac(fixed16.8;overflow=wrap, final=e5m10)",
};

// All of them by each mode, on all operands of one product and of two.
std::uint64_t compare_forms(std::span<const char* const> by,
                            std::initializer_list<const char*> forms, Tally& tally) {
  std::uint64_t outputs = 0;
  for (const char* mode : by)
    for (const char* form : forms) {
      const std::string text = fmt::format(fmt::runtime(form), mode);
      CAPTURE(text);
      const Unit u = parse_unit(text);
      CAPTURE(opinion("lanes", u).reason);
      REQUIRE(lanes_take(u));
      outputs += compare_all_sums(u, tally) + compare_all(u, 2, tally);
    }
  return outputs;
}

}  // namespace

TEST_CASE("fixed point in lanes: the reference's codes on every instruction set") {
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
      CAPTURE(opinion("lanes", u).reason);
      if (!lanes_take(u)) continue;
      ++taken;
      for (const Rival::Shape& s : shapes) {
        Rival("lanes", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
    CHECK(taken == static_cast<int>(std::size(chains)) - 1);
  });
  tally.expect(expected);
}

TEST_CASE("fixed point in lanes: sums that meet both ends, or wrap, again and again") {
  if (!fused_here()) return;
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"mac(fixed16.8)", "mac(fixed16.8;overflow=symmetric)", "fma(fixed16.8)",
        "mac(fixed16.8, product=fixed22.8:rna, sum=fixed16.8:rna)",
        "fma(fixed22.10, sum=fixed22.4:rna)", "fma(fixed22.10, sum=ufixed22.4:rdn)",
        "mac(fixed22.21, product=fixed22.21:raz, sum=fixed22.20;overflow=symmetric:rtz)",
        "mac(fixed51.25, product=fixed51.26:rnz, sum=fixed51.25;overflow=symmetric:rnp)",
        "mac(fixed51.25, product=fixed51.-20, sum=fixed51.25)", "fma(ufixed51.25)",
        "fma(fixed51.40, sum=fixed51.30:raz)",
        "mac(ufixed22.11, product=ufixed22.15:rup, sum=ufixed20.9:rup)",
        "mac(fixed32.16;overflow=wrap)", "fma(fixed11.0, sum=fixed21.3;overflow=wrap)",
        "fma(fixed11.4, sum=fixed20.7;overflow=wrap:rno)",
        "mac(fixed28.7, product=fixed40.4;overflow=wrap:raz, sum=ufixed30.2;overflow=wrap:rup)"}) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    REQUIRE(lanes_take(u));
    MatrixProduct p;
    p.m = 6, p.k = 70, p.n = 40;
    const CodeList a = at_ends(u.a.fmt, p.m * p.k, random), b = at_ends(u.b.fmt, p.k * p.n, random),
                   c = at_ends(u.c.fmt, p.m * p.n, random);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}, p.k}) {
      p.a = a.rows(p.k), p.b = b.rows(p.n), p.c = c.rows(p.n);
      MatrixProduct q = p;
      q.k = k;
      Rival("lanes", u, tally).compare(q, "ends");
      expected += p.m * p.n;
    }
  }
  tally.expect(expected);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("fixed point in lanes: all operands of one, two and three products, by each mode") {
    if (!fused_here()) return;
    Tally tally;
    std::uint64_t expected = 0;
    expected += compare_forms(
        modes,
        {"fma(fixed4.2, c=fixed5.2, sum=fixed5.2:{0})",
         "fma(fixed4.2, c=fixed3.1, sum=fixed4.1;overflow=symmetric:{0})",
         "fma(ufixed4.1, b=fixed4.3, c=fixed4.1, sum=ufixed5.2:{0})",
         "mac(fixed4.2, product=fixed4.2:{0}, sum=fixed4.2:{0})",
         "mac(fixed4.2;overflow=symmetric, product=fixed4.2;overflow=symmetric:{0}, "
         "sum=fixed4.2;overflow=symmetric:{0})",
         "mac(fixed4.3, c=fixed4.1, product=fixed6.4:{0}, sum=fixed4.1:{0})",
         "mac(fixed4.3, c=fixed4.1, product=fixed6.4:{0}, sum=fixed4.1)",
         "mac(fixed4.3, c=fixed4.1, product=fixed6.4, sum=fixed4.1:{0})",
         "mac(fixed4.3, c=fixed4.1, product=fixed24.4:{0}, sum=fixed4.1:{0})",
         "mac(ufixed4.2, product=ufixed4.2:{0}, sum=ufixed4.2:{0})",
         "mac(ufixed4.3, b=fixed4.3, c=ufixed4.1, product=ufixed5.4:{0}, sum=fixed4.1:{0})"},
        tally);
    expected += compare_forms(
        wrapping_modes,
        {"fma(fixed4.2, c=fixed5.2, sum=fixed5.2;overflow=wrap:{0})",
         "fma(ufixed4.1, b=fixed4.3, c=fixed4.1, sum=ufixed5.2;overflow=wrap:{0})",
         "mac(fixed4.3, c=fixed4.1, product=fixed7.4;overflow=wrap:raz, "
         "sum=fixed4.1;overflow=wrap:{0})",
         "mac(fixed4.3, c=fixed4.1, product=fixed6.4:rnz, sum=fixed3.1;overflow=wrap:{0})",
         "mac(fixed4.2, product=fixed5.2;overflow=wrap:{0}, sum=fixed4.2;overflow=wrap:{0})"},
        tally);
    for (const char* text :
         {"mac(fixed3.1)", "mac(fixed3.1;overflow=wrap)",
          "mac(fixed3.1, product=fixed3.1:rdn, sum=fixed3.1:rdn)",
          "mac(fixed3.1, product=fixed3.1:rnp, sum=fixed3.1:rnp)", "fma(fixed3.2)",
          "fma(ufixed3.2, b=fixed3.1, c=fixed3.1, sum=fixed3.1;overflow=symmetric:rna)"})
      expected += compare_all(parse_unit(text), 3, tally);
    tally.expect(expected);
  }
}

namespace {

// A plan in few letters: the carrier, what is rounded and what of that corrected, the machine's
// mode; '.' where there is none.
std::string letters(const char* unit) {
  const lanes::FixedAnswer answer = lanes::plan_in_fixed(parse_unit(unit));
  if (!answer.plan) return ".";
  const lanes::FixedSteps& s = answer.plan->steps;
  return fmt::format("{}{}{}{} {}", answer.plan->carrier.name, s.rounds_products ? " p" : " ",
                     s.corrects_products ? "P" : "", s.corrects_sums ? "S" : "",
                     to_string(Rounding(answer.plan->machine)));
}

struct Case {
  const char *unit, *plan;
};

}  // namespace

TEST_CASE("fixed point in lanes: what its conditions allow, and not one digit more") {
  for (const Case& c : {
           Case{"mac(fixed16.8)", "float p rne"},
           Case{"mac(fixed22.8)", "float p rne"},
           Case{"mac(fixed23.8)", "double p rne"},
           Case{"mac(fixed51.8)", "double p rne"},
           Case{"mac(fixed52.8)", "."},
           Case{"mac(ufixed22.8)", "float p rne"},
           Case{"mac(ufixed51.8)", "double p rne"},
           Case{"mac(ufixed52.8)", "."},
           Case{"mac(fixed16.8, product=fixed16.8:rdn, sum=fixed16.8)", "float p rdn"},
           Case{"mac(fixed16.8, product=fixed16.8:rup, sum=fixed16.8:rdn)", "float p rup"},
           Case{"mac(fixed16.8, product=fixed16.8:rup, sum=fixed16.7:rup, c=int8)", "float p rup"},
           Case{"mac(fixed16.8, product=fixed16.8:rup, sum=fixed16.7:rdn, c=int8)",
                "float pPS rne"},
           Case{"mac(fixed16.8, product=fixed16.8:rtz, sum=fixed16.8)", "float pP rne"},
           Case{"mac(fixed16.8, product=fixed16.8:rtz, sum=fixed16.7, c=int8)", "float pP rne"},
           Case{"mac(fixed16.8, sum=fixed16.7:rtz, c=int8)", "float pPS rne"},
           Case{"mac(fixed16.8, product=fixed16.8:odd, sum=fixed16.8)", "."},
           Case{"mac(fixed16.8, product=fixed16.8:sr4, sum=fixed16.8)", "."},
           Case{"mac(fixed16.8, sum=fixed16.8:odd)", "float p rne"},
           Case{"mac(fixed16.8, sum=fixed16.8:sr4)", "float p rne"},
           Case{"mac(fixed16.8, sum=fixed16.7:sr4, c=int8)", "."},
           Case{"mac(fixed16.8, product=fixed16.8;overflow=zero, sum=fixed16.8)", "."},
           Case{"mac(fixed16.8, product=fixed16.8;overflow=wrap_sm, sum=fixed16.8)", "."},
           Case{"mac(fixed16.8, sum=fixed16.8;overflow=keep_sign)", "."},
           // Sums that wrap may grow for 8 steps.
           Case{"mac(fixed16.8, sum=fixed16.8;overflow=wrap)", "float p rne"},
           Case{"mac(fixed16.8;overflow=wrap)", "double p rne"},
           Case{"fma(fixed10.0, sum=int16;overflow=wrap)", "float  rne"},
           Case{"fma(fixed10.0, b=fixed11.0, sum=int16;overflow=wrap)", "double  rne"},
           Case{"fma(fixed24.0, b=fixed25.0, sum=int32;overflow=wrap)", "double  rne"},
           Case{"fma(fixed25.0, sum=int32;overflow=wrap)", "."},
           Case{"mac(fixed16.8, product=fixed17.8;overflow=wrap, sum=fixed16.8;overflow=wrap)",
                "double p rne"},
           Case{"mac(fixed16.8, product=fixed15.8;overflow=wrap, sum=fixed16.8;overflow=wrap)",
                "."},
           Case{"fma(fixed16.8, sum=fixed16.8;overflow=wrap:rup)", "double  rup"},
           Case{"fma(fixed16.8, sum=fixed16.8;overflow=wrap:rno)", "double S rne"},
           Case{"fma(fixed16.8, sum=fixed16.8;overflow=wrap:rtz)", "."},
           Case{"fma(fixed16.8, sum=fixed16.8;overflow=wrap:rna)", "."},
           Case{"fma(fixed8.4, sum=fixed16.8;overflow=wrap:rtz)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.-85, sum=fixed8.-85;overflow=wrap)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.-95, sum=fixed8.-95;overflow=wrap)", "double  rne"},
           Case{"mac(fixed16.8, sum=fixed16.8;overflow=zero)", "."},
           // A product that its format holds is not rounded: -128 * -128 is 2^14.
           Case{"mac(int8, product=int16, sum=int20)", "float  rne"},
           Case{"mac(int8, product=int15, sum=int20)", "float p rne"},
           Case{"mac(int8, product=int16;overflow=wrap, sum=int20)", "float  rne"},
           Case{"mac(int8, product=int15;overflow=wrap, sum=int20)", "."},
           Case{"mac(uint8, product=uint16;overflow=wrap, sum=uint20)", "float  rne"},
           Case{"mac(uint8, b=int8, product=uint20;overflow=wrap, sum=int20, c=int8)", "."},
           Case{"mac(uint8, b=int8, product=int16;overflow=wrap, sum=int20)", "float  rne"},
           Case{"mac(fixed8.4, product=fixed16.8;overflow=wrap, sum=fixed16.8)", "float  rne"},
           Case{"mac(fixed8.4, product=fixed16.7;overflow=wrap, sum=fixed16.8)", "."},
           Case{"fma(fixed16.8)", "float  rne"},
           Case{"fma(fixed16.8, sum=fixed16.8:rdn)", "float  rdn"},
           Case{"fma(fixed16.8, sum=fixed16.8:rnp)", "float S rne"},
           // What a product loses: 24 digits of a float, 53 of a double.
           Case{"fma(fixed16.12, sum=fixed16.0:rnp, c=int8)", "float S rne"},
           Case{"fma(fixed16.12, b=fixed16.13, sum=fixed16.0:rnp, c=int8)", "double S rne"},
           Case{"fma(fixed40.26, b=fixed40.27, sum=fixed16.0:rnp, c=int8)", "double S rne"},
           Case{"fma(fixed40.27, sum=fixed16.0:rnp, c=int8)", "."},
           Case{"fma(fixed40.27, sum=fixed16.0, c=int8)", "double  rne"},
           Case{"mac(fixed16.12, b=fixed16.13, c=int8, product=int16:rtz, sum=int16)",
                "double pP rne"},
           Case{"fma(fixed16.63, sum=fixed16.125:raz)", "float S rne"},
           Case{"fma(fixed16.63, b=fixed16.64, sum=fixed16.125:raz, c=fixed16.120)",
                "double S rne"},
           Case{"fma(fixed16.63, b=fixed16.64, sum=fixed16.125, c=fixed16.120)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.126, sum=fixed8.125)", "double  rne"},
           Case{"fma(fixed8.4, c=fixed8.125, sum=fixed8.125)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.126, sum=fixed8.126)", "double  rne"},
           Case{"fma(fixed8.4, c=fixed8.-102, sum=fixed8.-102)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.-103, sum=fixed8.-103)", "double  rne"},
           // C need not have the digits of sums: each is looked at.
           Case{"fma(fixed8.4, c=fixed8.6, sum=fixed16.5)", "float  rne"},
           Case{"fma(fixed8.4, c=fixed8.-90, sum=fixed16.5)", "float  rne"},
           Case{"fma(fixed8.4, c=e4m3fn, sum=fixed16.8)", "float  rne"},
           Case{"fma(e5m10, c=int8, sum=int16)", "float  rne"},
           Case{"fma(binary64, c=int8, sum=int16)", "double  rne"},
           Case{"fma(e12m10, c=int8, sum=int16)", "."},
           Case{"fma(ue4m3, c=int8, sum=int16)", "."},
           Case{"fma(posit8es0, c=int8, sum=int16)", "."},
           Case{"fma(int8, c=posit8es0, sum=int16)", "."},
           Case{"fma(table(nf4), c=int8, sum=int16)", "."},
           Case{"mac(int8, product=binary32, sum=int16)", "."},
           Case{"mac(int8, sum=posit16es2)", "."},
           Case{"mac(fixed16.8, final=binary32)", "float p rne"},
           Case{"mac(fixed16.8, final=e8m60)", "."},
           Case{"kulisch(fixed16.8)", "."},
           Case{"tree(fixed16.8, fan=8)", "."},
           Case{"kahan(fixed16.8)", "."},
           Case{"mac(fixed16.8, promote=8:fixed24.8)", "."},
           Case{"dot(fixed16.8, lanes=1, align=9:rtz)", "."},
       }) {
    const std::string unit = c.unit;
    CAPTURE(unit);
    CAPTURE(lanes::plan_in_fixed(parse_unit(unit)).reason);
    CHECK(letters(c.unit) == c.plan);
  }
}

TEST_CASE("fixed point in lanes: what a unit does besides is refused") {
  if (!fused_here()) return;
  const Border border("lanes");
  border.excludes_each("mac(fixed16.8)", unlike_lanes);
  border.excludes_each(
      "mac(fixed16.8)",
      {[](Unit& u) { u.c.fmt.daz = true; },
       [](Unit& u) { u.product.round->overflow = Overflow::wrap; },
       [](Unit& u) { u.out.fmt.ftz = true; }, [](Unit& u) { u.out.overflow = Overflow::zero; }});
  // Nor do lanes of floats see a quire.
  border.lies_between("mac(e5m10)", [](Unit& u) { u.group_sum.overflow = RegisterOverflow::nar; });
  border.lies_between("mac(e5m10)", "mac(takum16)");
  border.lies_between("mac(e5m10)", "mac(e5m10, c=fixed16.8)");
}

TEST_CASE("fixed point in lanes: the planner takes them where nobody wants flags") {
  if (!fused_here()) return;
  ProductTask task{.unit = parse_unit("mac(fixed16.8)"), .k = 512, .outputs = 512 * 512};
  CHECK(opinions(task).front().engine == "lanes");
  CHECK(opinions(task).front().rate > 400e6);
  task.flags = true;
  CHECK(opinions(task).front().engine == "integers");
  CHECK(opinion("lanes", task.unit, true).reason == "flags are wanted");
}

}  // namespace test_fixed_chains
