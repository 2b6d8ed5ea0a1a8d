#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "random_units.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/block_format.hpp"
#include "widthwise/sim/text.hpp"

namespace test_text {

namespace {

using namespace widthwise;

struct Printed {
  std::string text, canonical;
};

void check_formats(const std::vector<Printed>& cases) {
  for (const Printed& c : cases) {
    CAPTURE(c.text);
    CHECK(to_string(parse_format(c.text)) == c.canonical);
    CHECK(parse_format(c.canonical) == parse_format(c.text));
  }
}

// The message of the error that `parse` throws, and whether it stands where it says.
template <class Parse>
std::string error_of(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const ParseError& e) {
    CHECK(std::string(e.what()).find("column " + std::to_string(e.column())) != std::string::npos);
    CHECK(e.line() == 1);
    return e.what();
  }
  return "accepted";
}
std::string format_error(const std::string& text) { return error_of(parse_format, text); }
std::string rounding_error(const std::string& text) { return error_of(parse_rounding, text); }

TEST_CASE("formats: a name prints in ml_dtypes' spelling where it has one, else as eXmY") {
  check_formats({{"binary16", "e5m10"},
                 {"half", "e5m10"},
                 {"fp16", "e5m10"},
                 {"float16", "e5m10"},
                 {"binary32", "e8m23"},
                 {"single", "e8m23"},
                 {"fp32", "e8m23"},
                 {"float32", "e8m23"},
                 {"binary64", "e11m52"},
                 {"double", "e11m52"},
                 {"fp64", "e11m52"},
                 {"binary128", "e15m112"},
                 {"quad", "e15m112"},
                 {"binary256", "e19m236"},
                 {"bfloat16", "e8m7"},
                 {"bf16", "e8m7"},
                 {"tf32", "e8m10"},
                 {"e4m3fn", "e4m3fn"},
                 {"float8_e4m3fn", "e4m3fn"},
                 {"e4m3;nan=all_ones", "e4m3fn"},
                 {"e4m3", "e4m3"},
                 {"e4m3fnuz", "e4m3fnuz"},
                 {"e4m3b11fnuz", "e4m3b11fnuz"},
                 {"e5m2", "e5m2"},
                 {"e5m2fnuz", "e5m2fnuz"},
                 {"e3m4", "e3m4"},
                 {"e2m3fn", "e2m3fn"},
                 {"e3m2fn", "e3m2fn"},
                 {"float4_e2m1fn", "e2m1fn"},
                 {"e8m0fnu", "e8m0fnu"},
                 {"e2m0fnu", "ue2m0;nan=all_ones;sub=no;zero=no"},
                 {"e7m0fnu", "ue7m0;nan=all_ones;sub=no;zero=no"},
                 {"ue4m3fn", "ue4m3;nan=all_ones"}});
}

TEST_CASE("formats: case and blanks do not matter, options come in any order") {
  check_formats({{"E5M10", "e5m10"},
                 {" Half ", "e5m10"},
                 {"E4M3FN ; Overflow=MAX", "e4m3fn;overflow=max"},
                 {"e5m10;sub=no;nan=all_ones;inf=no;bias=20", "e5m10;bias=20;nan=all_ones;sub=no"},
                 {"e5m10;bias=20;inf=no;nan=all_ones;sub=no", "e5m10;bias=20;nan=all_ones;sub=no"},
                 {"half;ftz;daz", "e5m10;daz;ftz"},
                 {"half;ftz=no;daz=yes", "e5m10;daz"}});
}

TEST_CASE("formats: only what differs from the defaults is printed, in a fixed order") {
  check_formats({{"ue5m3", "ue5m3"},
                 {"e5m10;inf=no", "e5m10;inf=no"},
                 {"e5m10;inf=ieee;nan=ieee;sub=yes;zero=yes;bias=15;overflow=ieee", "e5m10"},
                 {"e5m10;nan=none", "e5m10;nan=none"},
                 {"e4m3;inf=top;nan=none", "e4m3;inf=top;nan=none"},
                 {"e20m64;bias=-7", "e20m64;bias=-7"},
                 {"e5m10;emin=-14", "e5m10"},
                 {"e5m10;emin=-13", "e5m10;bias=14"},
                 {"e4m3;emin=-6;sub=no", "e4m3;bias=6;sub=no"},
                 {"ue8m0;nan=all_ones;sub=no;zero=no;emin=-127", "e8m0fnu"},
                 {"e4m3fnuz;emin=-7", "e4m3fnuz"},
                 {"e8m0;nan=none", "e8m0;nan=none"},
                 {"e8m0;nan=ieee", "e8m0;nan=ieee"},
                 {"ue8m0;nan=all_ones;sub=no;zero=no", "e8m0fnu"},
                 {"e3m2;zero=no;sub=no;overflow=nan", "e3m2;sub=no;zero=no;overflow=nan"}});
}

TEST_CASE("formats: P3109's names are signed and extended when nothing is said") {
  check_formats({{"binary8p1", "e7m0;bias=64;inf=top;nan=negative_zero"},
                 {"binary8p3", "e5m2;bias=16;inf=top;nan=negative_zero"},
                 {"binary8p3se", "e5m2;bias=16;inf=top;nan=negative_zero"},
                 {"binary8p3sf", "e5m2fnuz"},
                 {"binary8p4sf", "e4m3fnuz"},
                 {"binary8p3ue", "ue6m2;bias=32;inf=top;nan=all_ones"},
                 {"binary8p3uf", "ue6m2;bias=32;nan=all_ones"},
                 {"BINARY8P7", "e1m6;bias=1;inf=top;nan=negative_zero"},
                 {"binary16p5", "e11m4;bias=1024;inf=top;nan=negative_zero"}});
  int cases = 0;
  for (int width = 3; width <= 16; ++width)
    for (int precision = 1; precision <= width; ++precision)
      for (const std::string suffix : {"", "se", "sf", "ue", "uf"}) {
        if (precision == width && !suffix.starts_with('u')) continue;
        const std::string name =
            "binary" + std::to_string(width) + "p" + std::to_string(precision) + suffix;
        CAPTURE(name);
        const Format f = parse_format(name);
        CHECK(f.width() == width);
        CHECK(f.precision() == precision);
        CHECK(f.is_p3109());
        CHECK(f.has_inf() == !suffix.ends_with('f'));
        CHECK(parse_format(to_string(f)) == f);
        ++cases;
      }
  CHECK(cases == 14 * 2 + 5 * (16 * 17 / 2 - 3 - 14));
}

TEST_CASE("formats: the registry's names are theirs, and every one is another format") {
  std::set<std::string> printed;
  for (const NamedFormat& n : named_formats()) {
    CAPTURE(n.name);
    CHECK(parse_format(n.name) == n.format);
    CHECK_FALSE(n.source.empty());
    printed.insert(to_string(n.format));
  }
  CHECK(named_formats().size() == 19);
  CHECK(printed.size() == 19);
}

TEST_CASE("formats: printing then parsing gives 20,000 random formats back") {
  random_units::Random random(1);
  int cases = 0;
  for (int i = 0; i < 20000; ++i, ++cases) {
    const Format f = random_units::format(random);
    CAPTURE(to_string(f));
    REQUIRE(parse_format(to_string(f)) == f);
    REQUIRE(to_string(parse_format(to_string(f))) == to_string(f));
  }
  CHECK(cases == 20000);
}

TEST_CASE("formats: the limits themselves are accepted") {
  const Format widest = parse_format("e62m4095");
  CHECK(widest.width() == 62 + 4095 + 1);
  CHECK(widest.emax() == (std::int64_t{1} << 61) - 1);
  CHECK(widest.emin() == 2 - (std::int64_t{1} << 61));
  CHECK(parse_format("e1m1").emax() == 1);
  CHECK(parse_format("e1m0;nan=none").emax() == 1);
  int cases = 0;
  for (int e = 1; e <= 62; ++e, ++cases) {
    const Format f = parse_format("e" + std::to_string(e) + "m3");
    CHECK(f.bias == ieee_bias(e));
  }
  CHECK(cases == 62);
}

TEST_CASE("emax: the exponent of the largest magnitude that is a finite number") {
  random_units::Random random(2);
  int cases = 0;
  for (int i = 0; i < 5000; ++i) {
    const Format f = random_units::format(random, 30, 30);
    const Layout<std::uint64_t> layout(f);
    const auto field = static_cast<std::int64_t>(layout.max_finite >> f.frac_bits);
    CAPTURE(to_string(f));
    REQUIRE(f.emax() == (field == 0 ? f.emin() : field - f.bias));
    ++cases;
  }
  CHECK(cases == 5000);
}

TEST_CASE("formats: errors name the text, the column, what stands there and the way out") {
  CHECK(format_error("hlaf") ==
        "format 'hlaf', column 1: no format 'hlaf'; nearest name: 'half'; write a name as binary16 "
        "or e4m3fn, or a form: e5m10 has 5 exponent and 10 fraction bits, fixed8.4 4 of 8 bits "
        "behind the point, and posit16es2, takum16, table(nf4)");
  CHECK(format_error("e5x10") ==
        "format 'e5x10', column 3: found 'x'; wanted 'm' and the fraction bits, as in e5m10");
  CHECK(format_error("e5m") ==
        "format 'e5m', column 4: the text ends; wanted an integer, fraction bits");
  CHECK(format_error("e4m3f") ==
        "format 'e4m3f', column 5: found 'f'; wanted ';' and an option, or "
        "the end; nearest name: 'e4m3fn'");
  CHECK(format_error("e63m1") == "format 'e63m1', column 2: exponent bits = 63: it may be 1 to 62");
  CHECK(format_error("e0m1") == "format 'e0m1', column 2: exponent bits = 0: it may be 1 to 62");
  CHECK(format_error("ue5m4096") ==
        "format 'ue5m4096', column 5: fraction bits = 4096: it may be 0 to 4095");
  CHECK(format_error("e99999999999999999999m1") ==
        "format 'e99999999999999999999m1', column 2: exponent bits = 99999999999999999999: it may "
        "be 1 to 62");
  CHECK(format_error("e8m0") ==
        "format 'e8m0', column 1: without fraction bits the NaN must be named: add ;nan=none, "
        "nan=all_ones, nan=negative_zero or nan=ieee");
  CHECK(format_error("e5m10;foo=1") ==
        "format 'e5m10;foo=1', column 7: no option 'foo'; there are bias=, emin=, inf=, nan=, "
        "sub=, zero=, "
        "daz, ftz and overflow=");
  CHECK(format_error("e5m10;inf=maybe") ==
        "format 'e5m10;inf=maybe', column 11: inf = 'maybe': it may be ieee, no or top");
  CHECK(format_error("e5m10;bias=1;bias=2") ==
        "format 'e5m10;bias=1;bias=2', column 14: bias is given twice");
  CHECK(format_error("e5m10;bias=1;emin=2") ==
        "format 'e5m10;bias=1;emin=2', column 14: emin and bias are given: each follows from the "
        "other");
  CHECK(format_error("e5m10;nan=none;inf=ieee") ==
        "format 'e5m10;nan=none;inf=ieee', column 16: inf=ieee needs nan=ieee, not nan=none: an "
        "infinity would stand between finite codes; take inf=top");
  CHECK(format_error("ue5m3;nan=negative_zero") ==
        "format 'ue5m3;nan=negative_zero', column 7: nan=negative_zero needs a sign bit; take "
        "nan=all_ones");
  CHECK(format_error("e1m0;nan=ieee") ==
        "format 'e1m0;nan=ieee', column 6: the special codes leave no finite number but zero; take "
        "nan=none or more bits");
  CHECK(format_error("e5m10;bias=4611686018427387903") ==
        "format 'e5m10;bias=4611686018427387903', column 7: with 5 exponent bits and bias = "
        "4611686018427387903 the exponents of products pass +-(2^62 - 1); take fewer bits, or the "
        "bias in the middle, 15");
  CHECK(format_error("e62m3;nan=none").find("column 1: with 62 exponent bits") !=
        std::string::npos);
  CHECK(format_error("binary8p8") ==
        "format 'binary8p8', column 9: precision = 8: a signed format "
        "of 8 bits has 1 to 7");
  CHECK(format_error("binary17p3") ==
        "format 'binary17p3', column 7: width = 17: it may be 3 to 16");
  CHECK(format_error("binary8p3xx") ==
        "format 'binary8p3xx', column 10: 'xx': it may be se, sf, ue or uf");
  CHECK(format_error("e5m10 x") ==
        "format 'e5m10 x', column 7: found 'x'; wanted ';' and an option, or the end");
  CHECK(format_error("\x01\xff")
            .starts_with("format '\\x01\\xff', column 1: no format '\\x01\\xff'"));
  const std::string endless(10000, 'q');
  CHECK(format_error(endless).size() < 400);
}

TEST_CASE("formats: other number systems than floats have a text of their own") {
  check_formats({{"fixed8.4", "fixed8.4"},
                 {"FIXED8.0", "int8"},
                 {"ufixed8.0", "uint8"},
                 {"fixed4.-2", "fixed4.-2"},
                 {"fixed4096.4100;overflow=wrap", "fixed4096.4100;overflow=wrap"},
                 {"int1;overflow=saturate", "int1"},
                 {"posit16", "posit16es2"},
                 {"posit3es4", "posit3es4"},
                 {"takum64", "takum64"}});
  CHECK(parse_format("ufixed8.4").least_digit() == -4);
  CHECK(parse_format("ufixed8.4").emax() == 3);
  CHECK(parse_format("fixed8.4").emax() == 3);
  CHECK(parse_format("posit16").emax() == 56);
  CHECK(parse_format("posit16").digits() == 12);
  CHECK(format_error("fixed8.4;overflow=max").find("saturate, symmetric") != std::string::npos);
  CHECK(format_error("posit16;bias=3").find("takes no option 'bias'") != std::string::npos);
  CHECK(format_error("e5m2;overflow=wrap").find("ieee, inf, max, nan or satfinite") !=
        std::string::npos);
}

TEST_CASE("formats: forms of later versions are named as such") {
  const std::pair<std::string, std::string> cases[] = {
      {"bfp(8,16,e8)", "a block format"}, {"lns8.4", "logarithmic"},
      {"mxfp8_e4m3", "a block format"},   {"mxint8", "a block format"},
      {"nvfp4", "a block format"},        {"block(e2m1fn,32,e8m0fnu)", "a block format"}};
  int count = 0;
  for (const auto& [name, kind] : cases) {
    const std::string text = name;
    CAPTURE(text);
    CHECK(format_error(text).find("is " + kind + "; this version knows floats as e5m10") !=
          std::string::npos);
    ++count;
  }
  CHECK(count == 6);
}

// None where its parts do not go together.
std::optional<BlockFormat> block_format(const std::string& text) {
  try {
    return parse_block_format(text);
  } catch (const ParseError&) {
    throw;  // each part by itself can be read
  } catch (const std::invalid_argument&) {
    return {};
  }
}

TEST_CASE("block formats: what is printed parses back, whatever the parts") {
  std::vector<std::string> heads{"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2",
                                 "mxfp4",      "mxint8",     "nvfp4"};
  const char* const shapes[] = {"0", "1", "16", "1x32", "32x1", "128x128", "all"};
  for (const char* element : {"e4m3fn",
                              "e5m2",
                              "e2m1fn",
                              "e3m2fn",
                              "e4m3b11fnuz",
                              "binary8p3",
                              "bfloat16",
                              "binary32",
                              "e3m4",
                              "e5m3;bias=3",
                              "e8m3;bias=200",
                              "e4m3;nan=none;inf=no",
                              "e3m2;sub=no",
                              "e5m0;nan=none",
                              "int4",
                              "int8",
                              "uint4",
                              "fixed8.4",
                              "ufixed8.4",
                              "fixed8.-140",
                              "fixed12.20",
                              "posit8es2",
                              "posit16",
                              "takum8",
                              "table(nf4)",
                              "table(-1,-0.5,0,0.5,1)",
                              "table(-3, 0, 1.5)"})
    for (const char* shape : shapes)
      for (const char* scale : {"e2m0fnu", "e5m0fnu", "e8m0fnu", "ue4m3fn", "binary32", "float32"})
        heads.push_back(fmt::format("block({},{},{})", element, shape, scale));
  for (const char* bits : {"2", "8", "12", "53"})
    for (const char* shape : shapes)
      for (const char* exponent : {"e2", "e8"})
        heads.push_back(fmt::format("bfp({},{},{})", bits, shape, exponent));
  int read = 0;
  for (const std::string& head : heads)
    for (const char* options : {"", ";scale=floor", ";scale=ceil", ";scale=nearest;flush=block",
                                ";scale=amax", ";scale=pow2", ";specials=element", ";clamp=full",
                                ";carry=raise", ";scale=even;clamp=full"}) {
      const auto f = block_format(head + options);
      if (!f) continue;
      ++read;
      const std::string text = to_string(*f);
      CAPTURE(text);
      CHECK(is_block_format(text));
      CHECK(block_format(text) == *f);
      CHECK(to_string(*block_format(text)) == text);
    }
  CHECK(read > 5000);
}

TEST_CASE("check: a format that came from no text is looked through too") {
  const auto with = [](auto change) {
    Format f = binary16;
    change(f);
    return f;
  };
  CHECK_NOTHROW(check(binary16));
  CHECK_THROWS_WITH(check(with([](Format& f) { f.exp_bits = 63; })),
                    "format e63m10;bias=15: 63 exponent bits: there may be 1 to 62");
  CHECK_THROWS_WITH(check(with([](Format& f) { f.exp_bits = 1000000; })),
                    "format e1000000m10;bias=15: 1000000 exponent bits: there may be 1 to 62");
  CHECK_THROWS_WITH(check(with([](Format& f) { f.frac_bits = -1; })),
                    "format e5m-1: -1 fraction bits: there may be 0 to 4095");
  CHECK_THROWS_WITH(check(with([](Format& f) { f.bias = INT64_MIN; })),
                    doctest::Contains("bias = -9223372036854775808"));
  CHECK_THROWS_WITH(check(with([](Format& f) { f.nan = NanCodes::none; })),
                    doctest::Contains("inf=ieee needs nan=ieee, not nan=none"));
  CHECK_THROWS_WITH(check(Rounding(65, StochasticVariant::half)),
                    "rounding: 65 random bits; sr takes 1 to 64");
}

TEST_CASE("roundings: every one prints and parses, 11 fixed and 64 x 3 stochastic") {
  std::set<std::string> printed;
  std::vector<Rounding> all;
  for (int m = 0; m < deterministic_modes; ++m) all.push_back(static_cast<RoundingMode>(m));
  for (int k = 1; k <= 64; ++k)
    for (const auto v :
         {StochasticVariant::plain, StochasticVariant::half, StochasticVariant::even})
      all.push_back({k, v});
  for (const Rounding& r : all) {
    CHECK(parse_rounding(to_string(r)) == r);
    CHECK_NOTHROW(check(r));
    printed.insert(to_string(r));
  }
  CHECK(printed.size() == 11 + 64 * 3);
}

TEST_CASE("roundings: sr alone has 32 random bits; variants stand behind a colon") {
  CHECK(parse_rounding("sr") == Rounding(32, StochasticVariant::plain));
  CHECK(to_string(parse_rounding("sr")) == "sr32");
  CHECK(parse_rounding("sr:half") == Rounding(32, StochasticVariant::half));
  CHECK(parse_rounding(" SR13:Even ") == Rounding(13, StochasticVariant::even));
  CHECK(parse_rounding("RTZ") == Rounding(RoundingMode::rtz));
}

TEST_CASE("roundings, tininess, overflow: errors say what there is") {
  CHECK(rounding_error("rq") ==
        "rounding 'rq', column 1: no rounding 'rq'; there are rne, rna, rnz, "
        "rnp, rnm, rno, rtz, rdn, rup, raz, odd or sr (sr8: 8 random bits)");
  CHECK(rounding_error("sr65") == "rounding 'sr65', column 3: random bits = 65: it may be 1 to 64");
  CHECK(rounding_error("sr0") == "rounding 'sr0', column 3: random bits = 0: it may be 1 to 64");
  CHECK(rounding_error("sr8:most") ==
        "rounding 'sr8:most', column 4: behind sr's ':' stands half or even");
  CHECK(
      rounding_error("rne rtz").starts_with("rounding 'rne rtz', column 1: no rounding 'rne rtz'"));
  CHECK(rounding_error("rne:half") == "rounding 'rne:half', column 4: found ':'; wanted the end");
  CHECK(error_of(parse_tininess, "never") ==
        "tininess 'never', column 1: tininess = 'never': it may be before, after or delivered");
  CHECK(error_of(parse_overflow, "wrap") ==
        "overflow 'wrap', column 1: overflow = 'wrap': it may be ieee, inf, max, nan or satfinite");
  for (const auto t : {Tininess::before_rounding, Tininess::after_rounding, Tininess::as_delivered})
    CHECK(parse_tininess(to_string(t)) == t);
  for (const auto o : {Overflow::ieee, Overflow::inf, Overflow::max, Overflow::nan})
    CHECK(parse_overflow(to_string(o)) == o);
}

}  // namespace

}  // namespace test_text
