#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "products.hpp"
#include "sim/blocks/plan.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_compensation {

// Compensated sums in tiles of the machine's own floats and doubles against the reference, and
// which units have them.
using namespace widthwise;
using namespace tests;

namespace {

using enum blocks::CompensatedTile;

blocks::CompensatedTile tile_of(const std::string& unit, bool flags = false) {
  const blocks::Answer answer = blocks::plan({parse_unit(unit), 64, flags});
  REQUIRE_MESSAGE(answer.rules, unit << ": " << answer.reason);
  return answer.rules->compensated_tile;
}

// Units of one sort of tile against the reference.
class Comparison {
 public:
  explicit Comparison(blocks::CompensatedTile tile) : tile_(tile) {}
  void operator()(const std::string& text, const Rival::Shape& s) {
    CAPTURE(text);
    REQUIRE(tile_of(text) == tile_);
    Rival("blocks", parse_unit(text), tally_).everywhere().compare_random(s, random_);
    expected_ += outputs_compared(s) * Rival::times_everywhere();
  }
  ~Comparison() { tally_.expect(expected_); }

 private:
  blocks::CompensatedTile tile_;
  ProductRandom random_{21};
  Tally tally_;
  std::uint64_t expected_ = 0;
};

// Kahan sums, as the text goes on; in binary32.
std::string kahan(const std::string& more) {
  return R"({lanes = 1, c_level = "late", chain.compensation = "kahan", )" + more + "}";
}
std::string sums(const std::string& more) {
  return kahan(R"(c.fmt = "e8m23", out.fmt = "e8m23", )" + more);
}
// Of products whose exponents have to be watched.
std::string watched(const std::string& more) {
  return kahan(R"(a.fmt = "e11m10", b.fmt = "e11m10", c.fmt = "e11m20", )" + more);
}
std::string rounded(const std::string& more) {
  return sums(R"(a.fmt = "e8m23", b.fmt = "e8m23", product.round.fmt = "e8m23")" + more);
}

}  // namespace

TEST_CASE("compensated sums of the machine's floats and doubles, in tiles") {
  Comparison compare(machine);
  for (const std::string text :
       {"kahan(binary32)", "neumaier(binary32)", "kahan(binary64)", "neumaier(binary64)",
        "kahan(e5m2, b=e8m13, product=binary32, sum=binary32)",
        "neumaier(bfloat16, product=binary64, sum=binary64)",
        "kahan(binary64, product=binary64:rtz, sum=binary64:rtz)",
        "neumaier(binary64, product=binary64:rdn, sum=binary64:rdn)",
        "neumaier(binary64, product=binary64:rup, sum=binary64:rup, promote=5:binary64:rup)",
        "neumaier(binary32, final=e5m10:odd)", "kahan(bfloat16, product=binary32, sum=binary32)",
        "kahan(binary32, promote=7:e8m10:sr9)"})
    compare(text, {2, 23, 19});
  compare(sums(R"(a.fmt = "e5m10", b.fmt = "e5m12")"), {2, 23, 19});
  compare(sums(R"(a.fmt = "e4m3fn", b.fmt = "e8m7", chain.c_at = "last", )"
               R"(chain.c_round.fmt = "e8m23")"),
          {2, 23, 19});
  compare("kahan(binary32)", {3, 520, 70});  // panels along k, and strips
  compare("neumaier(binary64, promote=300:binary64)", {1, 1030, 3});
  for (const std::size_t n : {1, 8, 17, 33, 65}) compare("neumaier(binary32)", {5, 9, n});
}

TEST_CASE("compensated sums of products with few digits in the machine's floats, in tiles") {
  Comparison compare(short_products);
  for (const std::string text :
       {"kahan(e5m10, sum=binary32)", "neumaier(e8m7, sum=binary32)",
        "kahan(e4m3fn, b=e5m2, product=e3m2, sum=binary32)",
        "neumaier(e5m10, b=e8m10, product=e5m2, sum=binary32, final=e5m10)",
        "kahan(e2m1fn, product=e2m1fn, sum=binary32, c=e8m20)"})
    compare(text, {2, 40, 19});
  compare("neumaier(e5m10, sum=binary32)", {3, 520, 70});
}

TEST_CASE("compensated sums to few digits, in tiles") {
  Comparison compare(short_sums);
  for (const std::string kind : {"kahan", "neumaier"})
    for (const std::string unit :
         {"(e5m10)", "(e8m7)", "(e5m7, b=e5m10)", "(e5m10, b=e5m11)", "(e4m3fn, sum=e5m10)",
          "(e3m7, c=e3m5, sum=e4m8, final=e5m2)", "(e5m2, b=e8m7, product=e5m7, sum=e8m10)",
          "(e4m7;inf=no)", "(e3m2fn, sum=e4m7;inf=top;nan=none)"})
      compare(kind + unit, {2, 40, 19});
  compare("kahan(e5m10)", {3, 520, 70});
  compare("neumaier(e8m7)", {2, 1030, 3});
}

// Sums that pass the largest number between two looks at them, or nearly, and come back.
TEST_CASE("compensated sums to few digits, about the limits of a tile") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"kahan(e5m10)", "neumaier(e5m10)", "kahan(e4m7)", "neumaier(e4m7)"}) {
    CAPTURE(text);
    REQUIRE(tile_of(text) == short_sums);
    const Unit u = parse_unit(text);
    const double most = u.out.fmt == binary16 ? 65504 : 255;
    const Rival rival("blocks", u, tally);
    for (const double part : {256.0, 65.0, 64.0, 63.0, 33.0, 20.0, 16.2, 8.1, 4.0})
      for (const double c : {0.0, -0.0, 0.49, 0.5, 0.51, 0.9, 0.99, 1.0})
        for (const int up : {1, 4, 8, 10, 12, 15, 40})
          for (const double sign : {1, -1}) {
            constexpr double y = 2 - 0x1p-7;  // products as large as their bound
            std::vector<double> x(64, -sign * most / part / y);
            std::fill_n(x.begin(), up, sign * most / part / y);
            rival.compare_doubles(x, std::vector<double>(64, y), sign * c * most);
            ++expected;
          }
    for (const double tiny : {0.0, 0x1p-13})  // products are zeros of one sign
      for (const double c : {0.0, -0.0})
        for (const double sign : {1, -1}) {
          rival.compare_doubles(std::vector<double>(3, sign * tiny), std::vector<double>(3, tiny),
                                c);
          ++expected;
        }
  }
  tally.expect(expected);
}

TEST_CASE("compensated sums by any mode or random bits, in tiles") {
  Comparison compare(any_mode);
  for (const std::string kind : {"kahan", "neumaier"}) {
    for (const char* mode :
         {"rne", "rtz", "rdn", "rup", "rna", "rnz", "rnp", "rnm", "rno", "raz", "odd", "sr1", "sr8",
          "sr2:even", "sr8:half", "sr11:even", "sr20:half", "sr27"}) {
      compare(fmt::format("{}(e5m10, product=e5m10:{}, sum=e8m15:{})", kind,
                          mode[0] == 's' ? "rup" : mode, mode),
              {2, 40, 19});
      compare(fmt::format("{}(e3m4, sum=e3m4:{})", kind, mode), {2, 40, 19});
    }
    for (const std::string unit :
         {"(e4m3fn)", "(e8m15)", "(e11m30)", "(e11m40, product=e11m20:odd, sum=e11m30:sr8)",
          "(e10m20, sum=e10m20:rup)", "(e8m30, product=e8m50:raz, sum=e8m50:rna)",
          "(e8m20, c=e5m40, sum=e8m50:raz)", "(e2m1fn, sum=e2m1:sr32:even)",
          "(e5m2, b=e8m7, product=binary32:odd, sum=e8m24, final=e5m2:sr3)", "(e4m6;inf=no)",
          "(e3m2fn, sum=e4m7;inf=top;nan=none;overflow=max:rna)", "(bfloat16, sum=e8m10:sr32)"})
      compare(kind + unit, {2, 40, 19});
  }
  compare("kahan(e5m10, sum=binary32:sr11)", {3, 520, 70});  // panels along k, and strips
  compare("neumaier(e8m7, sum=e8m7:sr20)", {2, 1030, 3});
  compare("kahan(e8m15)", {5, 600, 65});
}

// C alone is about the end of the numbers, and steps pass it, or not, and come back.
TEST_CASE("compensated sums by any mode, about the largest number") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"kahan(e4m4, sum=e4m4:rtz)", "neumaier(e4m4, sum=e4m4:rup)", "kahan(e4m3fn)",
        "neumaier(e4m3fn)", "kahan(e4m4, sum=e4m4:sr8)", "neumaier(e4m4;overflow=max)"}) {
    CAPTURE(text);
    REQUIRE(tile_of(text) == any_mode);
    const Unit u = parse_unit(text);
    const Rival rival("blocks", u, tally);
    const double most = u.out.fmt.frac_bits == 4 ? 248 : 448;
    for (const double c : {1.0, 0.98, 0.95, 0.9, 0.5, 0.0, -0.0})
      for (const double step : {1 / 256.0, 1 / 64.0, 1 / 32.0, 1 / 8.0, 1.0})
        for (const int up : {1, 2, 5, 20})
          for (const double sign : {1, -1}) {
            std::vector<double> x(33, -sign * step);
            std::fill_n(x.begin(), up, sign * step);
            rival.compare_doubles(x, std::vector<double>(33, most / 16), sign * c * most);
            ++expected;
          }
  }
  tally.expect(expected);
}

// Products with their last digit about 2^-400, which is the last one that is watched, and numbers
// about 2^400.
TEST_CASE("compensated sums by any mode, about the ends of what is watched") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* more :
       {R"(out.fmt = "e11m30")",
        R"(product.round.fmt = "e11m10", out.fmt = "e9m20;bias=381", out.rm = "raz")"}) {
    const std::string text = watched(more);
    CAPTURE(text);
    REQUIRE(tile_of(text) == any_mode);
    const Rival rival("blocks", parse_unit(text), tally);
    for (const int at : {-410, -401, -400, -399, -381, -380, -379, -370, 360, 380, 390, 400})
      for (const double c : {0.0, 1.0, -1 - 0x1p-20, 0x1p-10})
        for (const double b : {1.0, -0x1.ffcp-1}) {
          const double power = std::ldexp(1.0, at);
          rival.compare_doubles({power, -power * 0x1.ffcp-1, power}, {b, b, 1}, c * power);
          ++expected;
        }
  }
  tally.expect(expected);
}

TEST_CASE("compensated sums go in tiles by any mode where doubles have digits to spare") {
  const auto is = [](const std::string& unit) { return tile_of(unit) == any_mode; };
  CHECK(is("kahan(e5m10, product=e5m10, sum=e8m50:raz)"));
  CHECK(is("kahan(e8m30, c=binary32, product=e8m23:rtz, sum=e8m23:rtz)"));  // 62 digits a product
  CHECK(is("kahan(e11m20, sum=e11m30:rtz)"));  // exponents that are watched
  CHECK_FALSE(is("kahan(e11m30, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e11m50, sum=e11m50:sr2)"));  // 53 digits and bits
  CHECK_FALSE(is("kahan(binary64, sum=binary64:rna)"));
  CHECK(is("kahan(e5m10, sum=e5m10:sr20)"));
  CHECK(is("kahan(e5m10, sum=binary32:sr27)"));  // 51 digits and bits
  CHECK_FALSE(is("kahan(e5m10, sum=binary32:sr28)"));
  CHECK_FALSE(is("kahan(e5m10, product=e5m10:sr8, sum=binary32:rtz)"));
  CHECK(is("kahan(e5m10, product=e5m10:odd, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, product=e5m10;ftz:rtz, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, product=e5m10;sub=no:rtz, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, product=e4m3fnuz:rtz, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, product=ue5m10;nan=none;inf=no:rtz, sum=binary32:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, product=e5m11:rtz, sum=e5m10:rtz)"));  // a digit below the last
  CHECK(is("kahan(e5m10, product=e5m9:rtz, sum=e5m10:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, c=e5m11, sum=e5m10:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, sum=binary32;ftz:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, sum=binary32;daz:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, sum=e8m20;sub=no:rtz)"));
  CHECK_FALSE(is("kahan(e4m3fnuz, sum=e4m3fnuz:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, sum=e9m0;nan=none:rtz)"));
  CHECK_FALSE(is("kahan(e5m10, sum=binary32:rtz, promote=4:binary32)"));
  CHECK_FALSE(is("kahan(e5m10, sum=binary32:rtz, scale=e8m0fnu:4:term)"));
  CHECK(tile_of("kahan(e5m10, sum=binary32:rtz)", true) == none);  // flags
  const auto exact = [&](const char* a, const char* more) {
    return is(sums(fmt::format(R"(b.fmt = "e5m13", a.fmt = "{}"{})", a, more)));
  };
  CHECK(exact("e5m10", ""));
  CHECK_FALSE(exact("e8m10", ""));  // digits below binary32's
  const std::string rounded = R"(product.round.fmt = "e11m10", )";
  CHECK(is(watched(rounded + R"(out.fmt = "e9m20;bias=381")")));  // to 2^-400
  CHECK_FALSE(is(watched(rounded + R"(out.fmt = "e9m20;bias=380")")));
  CHECK_FALSE(exact("e5m10", R"(, out.zero_sign = "plus")"));
  CHECK_FALSE(exact("e5m10", ", out.keep_frac = 9"));
  CHECK_FALSE(exact("e5m10", ", out.post_norm_frac = 30"));
}

TEST_CASE("compensated sums go in tiles where the machine rounds them, and nothing else does") {
  CHECK(tile_of("kahan(binary32)") == machine);
  CHECK(tile_of("kahan(binary32)", true) == none);  // flags
  CHECK(tile_of("mac(binary32)") != machine);
  CHECK(tile_of("kahan(e8m22)") != machine);
  CHECK(tile_of("kahan(binary32;ftz)") != machine);
  CHECK(tile_of("kahan(binary32;daz)") != machine);
  CHECK(tile_of("kahan(binary32, sum=binary32:rtz)") != machine);
  CHECK(tile_of("kahan(binary32, sum=binary64)") != machine);
  CHECK(tile_of("kahan(binary64, sum=binary64:rna)") != machine);
  CHECK(tile_of("kahan(binary32, scale=e8m0fnu:4:term)") != machine);
  CHECK(tile_of("kahan(binary32, c=e8m24)") != machine);
  CHECK(tile_of("kahan(binary32, c=e9m10)") != machine);
  CHECK(tile_of("kahan(binary32, b=e9m10)") != machine);
  const auto is_rounded = [](const char* more) { return tile_of(rounded(more)) == machine; };
  CHECK(is_rounded(""));
  CHECK_FALSE(is_rounded(R"(, a.keep_frac = 5)"));
  CHECK_FALSE(is_rounded(R"(, c.keep_frac = 5)"));
  CHECK_FALSE(is_rounded(R"(, out.zero_sign = "plus")"));
  CHECK(is_rounded(R"(, product.round.zero_sign = "plus")"));  // products keep their signs
  CHECK_FALSE(is_rounded(R"(, product.round.overflow = "max")"));
  CHECK_FALSE(is_rounded(R"(, out.overflow = "max")"));
  CHECK_FALSE(is_rounded(R"(, product.overflow_to_inf_at = 3)"));
  const auto is_exact = [](const char* b) {
    return tile_of(sums(R"(a.fmt = "e5m10", b.fmt = ")" + std::string(b) + '"')) == machine;
  };
  CHECK(is_exact("e5m12"));
  CHECK_FALSE(is_exact("e5m13"));
}

TEST_CASE("compensated sums go in tiles of few digits where floats round to those again") {
  CHECK(tile_of("kahan(e5m10, sum=binary32)") == short_products);
  for (const char* text :
       {"kahan(e5m10, sum=binary32, promote=8:binary32)", "kahan(e5m11, sum=binary32)",
        "kahan(e5m11, product=e5m10, sum=binary32)",
        "kahan(e5m10, product=e5m10:rtz, sum=binary32)",
        "kahan(e5m10, product=e5m10:sr4, sum=binary32)", "kahan(e5m10;ftz, sum=binary32)",
        "kahan(e5m10;daz, sum=binary32)", "kahan(e5m10, product=e9m5, sum=binary32)",
        "kahan(e5m10, product=e5m10;sub=no, sum=binary32)", "kahan(e5m10, c=e8m24, sum=binary32)",
        "kahan(e5m10, sum=binary32:rtz)", "kahan(e5m10, b=e9m5, sum=binary32)",
        "kahan(e5m2fnuz, sum=binary32)"})
    CHECK_MESSAGE((tile_of(text) == none || tile_of(text) == any_mode), text);
  CHECK(tile_of("kahan(e5m10)") == short_sums);
  CHECK(tile_of("kahan(e5m7)") == short_sums);
  for (const char* text :
       {"kahan(e5m6)", "kahan(e5m11)", "kahan(e5m10, product=e5m9, sum=e5m11)",
        "kahan(e5m10, product=e4m11, sum=e5m10)", "kahan(e5m10, product=e6m9, sum=e5m10)",
        "kahan(e5m10, sum=e5m9)", "kahan(e3m10, sum=e5m8)", "kahan(e5m10, c=e5m11)",
        "kahan(e5m10, c=e6m9)", "kahan(e5m10, sum=e5m10:rna)", "kahan(e5m10, promote=8:e5m10)",
        "kahan(e5m10, sum=e5m10;ftz)", "kahan(e5m10, sum=e5m10;sub=no)"})
    CHECK_MESSAGE((tile_of(text) == none || tile_of(text) == any_mode), text);
}

}  // namespace test_block_compensation
