#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parse_errors.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_hints {

// What a unit's text that is nearly one is told. Each hint is itself a text that is read.
namespace {

using namespace widthwise;
using tests::error_of, tests::unit_error;

void check_says(const std::string& text, const std::string& hint) {
  CAPTURE(text);
  const std::string error = unit_error(text);
  CAPTURE(error);
  CHECK(error.find(hint) != std::string::npos);
}

// The text behind "take " or "write ", up to the end of the hint.
void check_leads_to(const std::string& text, const std::string& unit) {
  check_says(text, unit);
  CHECK_NOTHROW(parse_unit(unit));
}

TEST_CASE("hints: a format of blocks leads to units that multiply them, and to their quantiser") {
  for (const std::string name : {"mxfp4", "nvfp4", "mxint8"}) {
    check_leads_to(name, "blackwell.nvfp4");
    check_says(name, "blocks(" + name + ")");
  }
}

TEST_CASE("hints: a product's name leads to the preset of its chip, with the formats asked for") {
  struct Case {
    std::string text, hint;
  };
  for (const Case& c : {
           Case{"h100.f16.f32", "H100 is hopper: take hopper.f16.f32"},
           Case{"H100.fp16.fp32", "H100 is hopper: take hopper.f16.f32"},
           Case{"h200.fp8", "H200 is hopper: take hopper.e4m3.f32"},
           Case{"NVIDIA H100_e5m2.float16", "H100 is hopper: take hopper.e5m2.f16"},
           Case{"gh200.bfloat16", "GH200 is hopper: take hopper.bf16.f32"},
           Case{"a100.tf32", "A100 is ampere: take ampere.tf32.f32"},
           Case{"a10.f16.f16", "A10 is ampere: take ampere.f16.f16"},
           Case{"a100x.f16.f16", "A100 is ampere: take ampere.f16.f16"},
           Case{"RTX A6000.half", "RTX A is ampere: take ampere.f16.f32"},
           Case{"rtx_3090.f16.f32", "RTX 30 is ampere: take ampere.f16.f32"},
           Case{"sm80.bf16", "sm_80 is ampere: take ampere.bf16.f32"},
           Case{"v100.f16.f32", "V100 is volta: take volta.f16.f32"},
           Case{"titan_v.f16.f16", "Titan V is volta: take volta.f16.f16"},
           Case{"tesla-t4.f16.f32", "T4 is turing: take turing.f16.f32"},
           Case{"RTX 2080 Ti.f16", "RTX 20 is turing; there are turing.f16.f32, turing.f16.f16"},
           Case{"l4.e4m3.f16", "L4 is ada: take ada.e4m3.f16"},
           Case{"l40s.f16", "L40 is ada: take ada.f16.f32"},
           Case{"rtx4090.e5m2.f32", "RTX 40 is ada: take ada.e5m2.f32"},
           Case{"4090.f16.f32", "RTX 40 is ada: take ada.f16.f32"},
           Case{"rtx 6000 ada.f16.f32", "RTX 6000 Ada is ada: take ada.f16.f32"},
           Case{"sm_89.bf16.f32", "sm_89 is ada: take ada.bf16.f32"},
           Case{"b200.mxfp8", "B200 is blackwell: take blackwell.mxfp8"},
           Case{"gb200.nvfp4", "GB200 is blackwell: take blackwell.nvfp4"},
           Case{"rtx5090.f16.f32", "RTX 50 is blackwell: take blackwell.f16.f32"},
           Case{"mi100.bf16", "MI100 is cdna1: take cdna1.bf16"},
           Case{"mi250x.f16", "MI250 is cdna2: take cdna2.f16"},
           Case{"mi200", "MI200 is cdna2; there are cdna2.f16, cdna2.bf16"},
           Case{"AMD Instinct MI300X.fp8", "MI300 is cdna3: take cdna3.fp8"},
           Case{"gfx942.xf32", "gfx942 is cdna3: take cdna3.xf32"},
           Case{"h100", "H100 is hopper; there are hopper.e4m3.f32, hopper.e4m3.f16"},
           Case{"h100.f64", "H100 is hopper; there are hopper.e4m3.f32"},
           Case{"rtx.f16.f32", "RTX 20 is turing, 30 ampere, 40 ada and 50 blackwell"},
           Case{"rtx5000.f16", "RTX 20 is turing, 30 ampere, 40 ada and 50 blackwell"},
           Case{"tpu.bf16", "nothing is known here of tpu's arithmetic"},
           Case{"mi355.fp8", "nothing is known here of mi355's arithmetic"},
       })
    check_says(c.text, "; " + c.hint);
}

TEST_CASE("hints: a product is not taken for another whose name begins as its does") {
  for (const char* text : {"h2000.f16", "v1000.f16", "l400.f16", "a1000.f16", "b2000", "mi3000"}) {
    CAPTURE(text);
    CHECK(unit_error(text).find(" is ") == std::string::npos);
    CHECK(unit_error(text).find("take ") == std::string::npos);
  }
}

TEST_CASE("hints: a chip's preset by other spellings of its formats") {
  check_says("hopper.fp8", "; nearest name: 'hopper.e4m3.f32'");
  check_says("ada.fp8.fp32", "; nearest name: 'ada.e4m3.f32'");
  check_says("cdna3.e4m3fnuz", "; nearest name: 'cdna3.fp8'");
  check_says("blackwell_bfloat16", "; nearest name: 'blackwell.bf16.f32'");
  check_says("volta.half.single", "; nearest name: 'volta.f16.f32'");
}

TEST_CASE("hints: a kind's name by itself, or with its formats anyhow else than in brackets") {
  for (const char* text : {"mac", "MAC", "mac e5m10", "mac[e5m10]", "mac:e5m10", "mac.e5m10",
                           "mac e5m10, sum=e8m23", "mac<e5m10>", "mac {e5m10}"})
    check_leads_to(text, "mac(e5m10)");
  check_says("mac", "; mac is a kind of unit, with its formats in brackets, as mac(e5m10)");
  check_leads_to("tree", "tree(e5m10, fan=8)");
  check_leads_to("pairwise", "pairwise(e5m10)");
  check_leads_to("fixedacc", "fixedacc(e5m10, width=24, frac=12)");
  for (const char* kind : {"fma", "dot", "kulisch", "kahan", "neumaier"})
    check_says(kind, std::string("; ") + kind + " is a kind of unit");
}

TEST_CASE("hints: other names of kinds, and operations") {
  check_says("sequential(e5m10)", "; it is mac here, as mac(e5m10)");
  check_says("pairwise_sum(e5m10)", "; it is pairwise here, as pairwise(e5m10)");
  check_says("quire(e5m10)", "; it is kulisch here, as kulisch(e5m10)");
  check_says("muladd(e5m10)", "; the operation is fma, and fma(e5m10) the unit that sums by it");
  check_says("mulAdd(e5m10)", "; the operation is fma");
  check_says("mul(e5m10)", "; multiply is an operation, which is applied or exported");
}

TEST_CASE("hints: a comma that is missing") {
  CHECK(unit_error("mac(e4m3fn sum=e5m10)") ==
        "unit 'mac(e4m3fn sum=e5m10)', column 12: ',' is missing in front of 'sum'");
  check_says("mac(e4m3fn, sum=e5m10 product=e5m7)", "column 23: ',' is missing in front of 'prod");
  check_says("tree(e5m10 fan=2)", "column 12: ',' is missing in front of 'fan'");
  check_says("dot(e5m10, lanes=8  align = 10)", "column 21: ',' is missing in front of 'align'");
  check_says("fma(e5m10, final=e4m3fn:rtz scale=e8m0fnu:32:term)", "in front of 'scale'");
  check_says("mac(e5m10;bias=3\tsum=e8m23)", "',' is missing in front of 'sum'");
  check_says("mac(e4m3fn e5m2)", "',' is missing in front of 'e5m2'");
  check_says("mac(e4m3fn; sum=e5m10)",
             "unit 'mac(e4m3fn; sum=e5m10)', column 11: found ';'; wanted ',' in front of 'sum'");
  check_says("dot(e5m10;lanes=8)", "column 10: found ';'; wanted ',' in front of 'lanes'");
  check_says("mac(e5m10, sum=e8m23; acc=e5m10)",
             "column 21: found ';'; wanted ',' in front of 'ac");
  check_says("mac(e5m10;daz;ftz;final=e4m3fn)", "column 18: found ';'; wanted ',' in front of 'fi");
  check_says("tree(e5m10, fanin=4)", "column 13: tree has no 'fanin': it is fan= here, as fan=4");
  check_says("tree(e5m10, lanes=4)", "tree has no 'lanes': it is fan= here, as fan=4");
  check_says("fixedacc(e5m10, fraction=12)", "has no 'fraction': it is frac= here, as frac=12");
  check_says("fixedacc(e5m10, frc=12)", "has no 'frc': it is frac= here, as frac=12");
  check_says("mac(fmt=e5m10)", "column 5: mac has no 'fmt': it is a= here, as a=e5m10");
  check_says("mac(e5m10 daz)", "';' or ',' is missing in front of 'daz'");
  CHECK(error_of(parse_single_operation, "add(e5m10 out=e8m23)") ==
        "operation 'add(e5m10 out=e8m23)', column 11: ',' is missing in front of 'out'");
  for (const char* text : {"mac( e5m10 , sum = e8m23 : rtz )", "mac(e5m10 ; daz ; bias = 3)"}) {
    CAPTURE(text);
    CHECK(unit_error(text) == "accepted");
  }
}

TEST_CASE("hints: a rounding where none can stand leads to the register's") {
  CHECK(unit_error("mac(e9m14:rtz)") ==
        "unit 'mac(e9m14:rtz)', column 10: the format in front has no rounding; write mac(e9m14, "
        "sum=e9m14:rtz)");
  check_leads_to("dot(e5m2:sr8:half)", "dot(e5m2, out=e5m2:sr8:half)");
  check_leads_to("pairwise(half:up)", "pairwise(half, sum=half:rtz)");
  check_leads_to("kulisch(e5m10;daz:rdn)", "kulisch(e5m10;daz, out=e5m10;daz:rdn)");
  CHECK(
      error_of(parse_single_operation, "add(e9m14:odd)").find("write add(e9m14, out=e9m14:odd)") !=
      std::string::npos);
  CHECK(unit_error("mac(e9m14, rounding=rtz)") ==
        "unit 'mac(e9m14, rounding=rtz)', column 12: mac has no 'rounding': a rounding stands "
        "behind its format, as sum=e9m14:rtz; its keys are a, b, sum, c, product, final, promote, "
        "scale, tininess");
  check_says("mac(e4m3fn, sum=e8m23, rm=odd)",
             ": a rounding stands behind its format, as sum=e8m23");
  check_says("mac(e4m3fn, sum=e8m23:rup, mode=odd)", "as sum=e8m23:odd;");
  check_says("dot(e5m10, round=nearest)", "as out=e5m10:rtz;");
  check_says("mac(a=e5m10, b=e5m10, c=e5m10, sum=e5m2, product=e5m2, rnd=rup)", "as sum=e5m2:rup;");
}

TEST_CASE("hints: other names of an argument") {
  CHECK(unit_error("mac(e9m14, acc=e9m14:rtz)")
            .starts_with("unit 'mac(e9m14, acc=e9m14:rtz)', column 12: mac has no 'acc': it is "
                         "sum= here, as sum=e9m14:rtz; its keys are"));
  for (const char* key : {"accumulator", "out", "result", "accum"})
    check_says(std::string("tree(e5m10, fan=4, ") + key + "=e8m23)",
               ": it is sum= here, as sum=e8m23;");
  check_says("kulisch(e5m10, sum=e8m23)", ": it is out= here, as out=e8m23;");
  check_says("dot(e5m10, fan=8)", ": it is lanes= here, as lanes=8;");
  check_says("mac(e5m10, mul=e8m23)", ": it is product= here, as product=e8m23;");
  check_says("mac(e5m10, bias=4)",
             "'bias' is an option of a format, behind which it stands, as e5m10;");
  check_says("mac(e5m10, daz)",
             "'daz' is an option of a format, behind which it stands, as e5m10;daz");
  check_says("fixedacc(e5m10, frac=3, oveflow=flag)", "; nearest name: 'overflow'");
}

TEST_CASE("hints: long texts are refused at once, whatever they begin with") {
  std::string many = "mac(e5m10", chips = "h100";
  for (int i = 0; i < 100'000; ++i) many += ", k" + std::to_string(i) + "=1", chips += "_h100";
  CHECK(unit_error(many + ")").find("no kind has so many arguments") != std::string::npos);
  CHECK(unit_error(chips).find("no unit 'h100_h100") != std::string::npos);
}

TEST_CASE("hints: tree says what fan does; pairwise is a tree of all products") {
  CHECK(unit_error("tree(bfloat16)") ==
        "unit 'tree(bfloat16)', column 1: tree: fan= is missing: so many products a tree adds "
        "before its sum joins the running one, as fan=8; of all products at once it is the kind "
        "pairwise");
  check_says("fixedacc(e5m10)",
             "frac= is missing: the bits behind the register's point, as frac=12");
  CHECK(to_string(parse_unit("tree(e8m7, fan=0)")) == "pairwise(e8m7)");
  CHECK(parse_unit("pairwise(e8m7)") == parse_unit("tree(e8m7, fan=0)"));
  CHECK(
      parse_unit("pairwise(e4m3fn, product=e5m7, node=e6m9:rtz, sum=e8m23, c=e5m2, final=e5m2)") ==
      parse_unit("tree(e4m3fn, product=e5m7, node=e6m9:rtz, sum=e8m23, c=e5m2, final=e5m2, "
                 "fan=0)"));
  CHECK(to_string(parse_unit("pairwise(bfloat16, sum=e8m23)")) == "pairwise(e8m7, sum=e8m23)");
  check_says("pairwise(e5m10, fan=4)", "pairwise has no 'fan'");
}

TEST_CASE("hints: what other programs call a format leads to its text here") {
  struct Case {
    std::string text, here;
  };
  for (const Case& c : {
           Case{"posit(16,2)", "posit16es2"},
           Case{"posit<16, 1>", "posit16es1"},
           Case{"posit(16)", "posit16"},
           Case{"fixed(8,4)", "fixed8.4"},
           Case{"fixed(8)", "fixed8.0"},
           Case{"ufixed<8,4>", "ufixed8.4"},
           Case{"takum(16)", "takum16"},
           Case{"uint<4>", "uint4"},
           Case{"sfix16_En8", "fixed16.8"},
           Case{"ufix8", "ufixed8.0"},
           Case{"Q7.8", "fixed16.8"},
           Case{"f4", "binary32"},
           Case{"<f2", "binary16"},
           Case{"<i2", "int16"},
           Case{"|u1", "uint8"},
           Case{"fp8_e4m3", "e4m3fn"},
           Case{"fp8_e5m2", "e5m2"},
           Case{"torch.float16", "float16"},
           Case{"ml_dtypes.float8_e4m3fn", "float8_e4m3fn"},
           Case{"nf4", "table(nf4)"},
           Case{"dynamic8", "table(dynamic8)"},
       }) {
    const std::string end = "; here it is " + c.here;
    CHECK(error_of(parse_format, c.text).ends_with(end));
    CHECK_NOTHROW(parse_format(c.here));
    CHECK(unit_error("mac(" + c.text + ", sum=binary64)").ends_with(end));
  }
  for (const std::string text : {"fp8", "fp4", "posit", "takum", "fixed", "int", "float", "table"})
    CHECK(error_of(parse_format, text).find("here it is ") != std::string::npos);
  for (const std::string text : {"f1", "takum(16,2)", "posit()", "torch.nothing", "f3"})
    CHECK(error_of(parse_format, text).find("here it is ") == std::string::npos);
}

TEST_CASE("hints: a format whose words and numbers other signs hold apart is told") {
  struct Case {
    std::string text, here;
  };
  for (const Case& c : {Case{"posit16,2", "posit16es2"},
                        Case{"posit16.2", "posit16es2"},
                        Case{"posit_16_2", "posit16es2"},
                        Case{"posit 16 1", "posit16es1"},
                        Case{"posit16es=1", "posit16es1"},
                        Case{"posit(16, es=1)", "posit16es1"},
                        Case{"posit<es=1, n=16>", "posit16es1"},
                        Case{"fixed8,4", "fixed8.4"},
                        Case{"fixed8_4", "fixed8.4"},
                        Case{"sfixed8.4", "fixed8.4"},
                        Case{"fixed 8", "fixed8.0"},
                        Case{"FixedPoint(wl=8, fl=4)", "fixed8.4"},
                        Case{"takum-16", "takum16"},
                        Case{"int_8", "int8"},
                        Case{"uint8_t", "uint8"},
                        Case{"e5,10", "e5m10"},
                        Case{"e5-m10", "e5m10"},
                        Case{"float(5,10)", "e5m10"},
                        Case{"float<exp=8, man=7>", "e8m7"},
                        Case{"1-5-10", "e5m10"},
                        Case{"float_16", "float16"},
                        Case{"Binary-32", "binary32"},
                        Case{"bf 16", "bf16"},
                        Case{"fp8e4m3", "e4m3fn"},
                        Case{"F8E4M3FN", "e4m3fn"},
                        Case{"bf8", "e5m2"},
                        Case{"i32", "int32"},
                        Case{"ui64", "uint64"},
                        Case{"s8", "int8"}}) {
    CAPTURE(c.text);
    CHECK(error_of(parse_format, c.text).ends_with("; here it is " + c.here));
    CHECK_NOTHROW(parse_format(c.here));
  }
  CHECK(error_of(parse_format, "u8").ends_with("; here it is uint8, or uint64 by NumPy's bytes"));
  for (const std::string text : {"posit16,2,3", "posit16,99", "posit99", "posit(16, bias=2)",
                                 "takum16,2", "int8,4", "2-5-10", "e5*10", "posit<16,2"})
    CHECK(error_of(parse_format, text).find("here it is ") == std::string::npos);
}

TEST_CASE("hints: one more format without a key, or the rest of the first") {
  check_says("mac(posit16,2)", "a format by itself; here it is mac(posit16es2)");
  check_says("mac(takum16, e8m23)", "a format by itself; as sum=e8m23");
  check_says("kulisch(e4m3fn, e5m10)", "a format by itself; as out=e5m10");
  check_says("mac(e5m10, sum=fp32, rtz)", "a rounding stands behind its format, as sum=fp32:rtz");
  check_says("dot(e5m10, k=4)", "dot has no 'k': it is lanes= here, as lanes=4");
  check_says("tree(e5m10, fan=4, k=4)", "tree has no 'k': it is fan= here, as fan=4");
  check_says("blackwell.nvfp4.f32", "nearest name: 'blackwell.nvfp4'");
}

TEST_CASE("hints: roundings as others call them") {
  for (const auto& [theirs, ours] :
       {std::pair{"rz", "rtz"}, std::pair{"rtne", "rne"}, std::pair{"near_maxmag", "rna"},
        std::pair{"floor", "rdn"}, std::pair{"ceil", "rup"}, std::pair{"stochastic", "sr"},
        std::pair{"Nearest_Even", "rne"}, std::pair{"AP_TRN", "rdn"}})
    CHECK(error_of(parse_rounding, theirs).ends_with(std::string("; here it is ") + ours));
  for (const char* of_two_meanings : {"up", "down"})
    CHECK(error_of(parse_rounding, of_two_meanings).find("there are rne") != std::string::npos);
  for (const auto& [theirs, nearest] :
       {std::pair{"JAM", "odd"}, std::pair{"TRN_MAG", "rtz"}, std::pair{"STOCH_EQUAL", "sr"}})
    CHECK(
        error_of(parse_rounding, theirs).ends_with(std::string(" numbers, too; take ") + nearest));
}

TEST_CASE("hints: a rounding that stands as a format's option is told where it stands") {
  for (const std::string text : {"e5m10;rtz", "e5m10;rounding=rtz", "e4m3fn;sr8"})
    CHECK(error_of(parse_format, text).find("; a rounding stands beside a format") !=
          std::string::npos);
  CHECK(error_of(parse_format, "e5m10;bais=3").find("; nearest name: 'bias'") != std::string::npos);
}

TEST_CASE("hints: what is no unit and no single number says where it belongs") {
  check_leads_to("table(nf4)", "mac(table(nf4))");
  check_says("blocks(mxfp4)", "blocks is no unit, and export takes it");
  check_says("requantize(gemmlowp)", "requantize is no unit, and export takes it");
  check_says("affine(int8)", "which ww.affine and ww.blocks make");
  check_says("mac(mxfp4)", "units as blackwell.mxfp4 take blocks");
  CHECK(error_of(parse_format, "e5m10:rtz").ends_with("a rounding stands beside a format"));
}

TEST_CASE("a number of a million digits does not fill the message") {
  const std::string digits(1'000'000, '9');
  CHECK(error_of(parse_format, "e5m10;bias=" + digits).size() < 400);
  CHECK(unit_error("dot(e5m10, lanes=" + digits + ")").size() < 400);
}

TEST_CASE("said: of a long table that has no name the beginning, and all else as it is") {
  CHECK(said("mac(table(0,1,2,3,5,8,13,21,34), sum=e5m10)") ==
        "mac(table(0,1,2,3,… of 9 values, #3411f910), sum=e5m10)");
  CHECK(said("table(9,8,7,6,5,4,3,2,1) and table(nf4) and table(0,1,2,3,4,5,6,7,8,9)") ==
        "table(9,8,7,6,… of 9 values, #6620224c) and table(nf4) and "
        "table(0,1,2,3,… of 10 values, #e5dceae8)");
  for (const std::string whole : {"", "table", "table(", "e5m10", "table(0,1,2,3,4,5,6,7)",
                                  "table(0,1,2,3,4,5,6,7,8", "table(0,1,2,3,4,5,6,7,8(9)"})
    CHECK(said(whole) == whole);
  const Format f = parse_format("table(0,1,2,3,4,5,6,7,8)");
  CHECK(said(f) == "table(0,1,2,3,… of 9 values, #b4d66977)");
  CHECK(parse_format(to_string(f)) == f);
  CHECK(said(said(f)) == said(f));
  const auto of_last = [](int i) {
    return said("table(0,1,2,3,4,5,6,7," + std::to_string(i) + ")");
  };
  for (int i = 9; i < 300; ++i) CHECK(of_last(i) != of_last(8));
}

TEST_CASE("names of earlier versions are read as the new ones") {
  REQUIRE_FALSE(renamed_presets().empty());
  for (const RenamedPreset& r : renamed_presets()) {
    CAPTURE(r.old_name);
    CHECK(parse_unit(r.old_name) == parse_unit(r.name));
    CHECK(find_preset(r.old_name) == find_preset(r.name));
    CHECK(std::ranges::find(presets(), r.old_name, &Preset::name) == presets().end());
  }
  CHECK(to_string(parse_unit("muladd.f32")) == "mac.f32");
  CHECK(to_string(parse_unit("mac(binary32)")) == "mac.f32");
}

}  // namespace

}  // namespace test_hints
