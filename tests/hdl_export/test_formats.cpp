#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "tables.hpp"
#include "tests/oracle/values.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/unpack.hpp"

using namespace tests;
using widthwise::Format;
using widthwise::Layout;
using widthwise::parse_format;

namespace {

const std::vector<std::string>& narrow_formats() {
  static const std::vector<std::string> all{
      "e4m3fn",         "e5m2",
      "e4m3",           "e3m4",
      "e4m3fnuz",       "e5m2fnuz",
      "e4m3b11fnuz",    "e2m1fn",
      "e2m3fn",         "e3m2fn",
      "e8m0fnu",        "ue4m3fn",
      "binary8p1se",    "binary8p3se",
      "binary8p4sf",    "binary8p1ue",
      "binary8p2uf",    "binary8p7se",
      "ue5m3",          "e6m9",
      "bfloat16",       "binary16",
      "e3m2;sub=no",    "e5m0;nan=none",
      "e1m3",           "e1m1;nan=all_ones",
      "e4m3;bias=-20",  "e4m3;bias=99",
      "e4m3;nan=none",  "e4m0;sub=no;nan=none;inf=no",
      "e4m3fn;daz;ftz", "e2m1fn;overflow=nan",
      "e3m2;inf=no",
  };
  return all;
}

const std::vector<std::string>& wide_formats() {
  static const std::vector<std::string> all{"binary32",
                                            "binary64",
                                            "e15m112",
                                            "e20m49",
                                            "e31m3",
                                            "e62m1",
                                            "e5m100;bias=7;nan=all_ones",
                                            "e8m247;sub=no",
                                            "e62m4095"};
  return all;
}

// The constants of a format, as those of a result.
ConstantTable constants_of(const std::string& format) { return table_of("fma(" + format + ")"); }

std::optional<std::uint64_t> short_code(const ConstantTable& table, std::string_view name) {
  if (!find(table, name)) return {};
  return static_cast<std::uint64_t>(code(table, name));
}

double value(const oracle::Number& n) {
  return std::ldexp(static_cast<double>(n.sig), static_cast<int>(n.exp));
}

// What a format's constants have to be, found by looking at each of its codes.
struct Found {
  std::optional<std::uint64_t> pos_zero, neg_zero, min_subnormal, max_subnormal, min_normal,
      max_finite, one, nan, pos_inf, neg_inf;
  double least_normal = INFINITY, largest = 0;

  explicit Found(const Format& f) {
    const oracle::Values& values = oracle::values(f);
    for (std::uint64_t code = 0; code < values.size(); ++code) look_at(values[code]);
    if (values.has(oracle::Kind::nan)) nan = values.nan();
  }

 private:
  void look_at(const oracle::Number& n) {
    if (n.kind == oracle::Kind::zero) (n.negative ? neg_zero : pos_zero) = n.code;
    if (n.kind == oracle::Kind::infinite) (n.negative ? neg_inf : pos_inf) = n.code;
    if (n.kind != oracle::Kind::finite || n.negative) return;
    if (n.subnormal && !min_subnormal) min_subnormal = n.code;
    if (n.subnormal) max_subnormal = n.code;
    if (!n.subnormal && value(n) < least_normal) min_normal = n.code, least_normal = value(n);
    if (value(n) > largest) max_finite = n.code, largest = value(n);
    if (value(n) == 1) one = n.code;
  }
};

}  // namespace

TEST_CASE("codes of narrow formats are those that walking through all codes finds") {
  int formats = 0;
  for (const std::string& text : narrow_formats()) {
    CAPTURE(text);
    const Format f = parse_format(text);
    const ConstantTable t = constants_of(text);
    const Found found(f);
    CHECK(short_code(t, "Y_POS_ZERO") == found.pos_zero);
    CHECK(short_code(t, "Y_NEG_ZERO") == found.neg_zero);
    CHECK(short_code(t, "Y_MIN_SUBNORMAL") == found.min_subnormal);
    CHECK(short_code(t, "Y_MAX_SUBNORMAL") == found.max_subnormal);
    CHECK(short_code(t, "Y_MIN_NORMAL") == found.min_normal);
    CHECK(short_code(t, "Y_MAX_FINITE") == found.max_finite);
    CHECK(short_code(t, "Y_ONE") == found.one);
    CHECK(short_code(t, "Y_QNAN") == found.nan);
    CHECK(short_code(t, "Y_POS_INF") == found.pos_inf);
    CHECK(short_code(t, "Y_NEG_INF") == found.neg_inf);
    CHECK(flag(t, "Y_HAS_ZERO") == found.pos_zero.has_value());
    CHECK(flag(t, "Y_HAS_INF") == found.pos_inf.has_value());
    CHECK(flag(t, "Y_HAS_NAN") == found.nan.has_value());
    CHECK(flag(t, "Y_HAS_SUBNORMAL") == found.min_subnormal.has_value());
    CHECK(flag(t, "Y_HAS_SIGN") == f.is_signed());
    if (found.min_normal) {
      // Zero takes the place of the one number that EMIN would have.
      const bool displaced = f.all_normal() && f.zero && f.frac_bits == 0;
      CHECK(integer(t, "Y_EMIN") + displaced == std::ilogb(found.least_normal));
      CHECK(integer(t, "Y_EMAX") == std::ilogb(found.largest));
    }
    ++formats;
  }
  CHECK(formats >= 33);
}

TEST_CASE("codes of every format decode to what their names say") {
  int formats = 0;
  std::vector<std::string> all = narrow_formats();
  all.insert(all.end(), wide_formats().begin(), wide_formats().end());
  for (const std::string& text : all) {
    CAPTURE(text);
    Format f = parse_format(text);
    f.daz = false;  // the codes are there, whatever is made of them
    const Layout<Code> layout(f);
    const ConstantTable t = constants_of(text);
    const auto number = [&](std::string_view name) { return unpack(layout, code(t, name)); };
    const auto exponent = [](const widthwise::Number<Code>& x) {
      return widthwise::bit_length(x.sig) - 1 + x.exp;
    };

    const auto largest = number("Y_MAX_FINITE");
    CHECK_FALSE(special(largest));
    if (find(t, "Y_MIN_NORMAL")) CHECK(exponent(largest) == integer(t, "Y_EMAX"));
    const Code above = code(t, "Y_MAX_FINITE") + Code(1);
    const auto next = unpack(layout, above);
    const bool is_last = (above & layout.magnitude_mask) == Code();
    CHECK((next.infinite || next.nan || is_last));
    if (find(t, "Y_ONE")) {
      const auto one = number("Y_ONE");
      CHECK(one.sig == widthwise::bit<Code>(static_cast<int>(-one.exp)));
      CHECK_FALSE(one.negative);
    }
    if (flag(t, "Y_HAS_SUBNORMAL")) {
      CHECK(number("Y_MIN_SUBNORMAL").sig == Code(1));
      CHECK(number("Y_MIN_SUBNORMAL").exp == integer(t, "Y_LSB_EXP"));
    }
    if (flag(t, "Y_HAS_SUBNORMAL") && find(t, "Y_MIN_NORMAL")) {
      CHECK(exponent(number("Y_MIN_NORMAL")) == integer(t, "Y_EMIN"));
      CHECK(code(t, "Y_MAX_SUBNORMAL") + Code(1) == code(t, "Y_MIN_NORMAL"));
    }
    if (flag(t, "Y_HAS_ZERO")) CHECK(number("Y_POS_ZERO").zero);
    if (find(t, "Y_NEG_ZERO")) CHECK((number("Y_NEG_ZERO").zero && number("Y_NEG_ZERO").negative));
    if (flag(t, "Y_HAS_NAN")) CHECK((number("Y_QNAN").nan && !number("Y_QNAN").signaling));
    if (flag(t, "Y_HAS_INF"))
      CHECK((number("Y_POS_INF").infinite && !number("Y_POS_INF").negative));
    if (find(t, "Y_NEG_INF")) CHECK((number("Y_NEG_INF").infinite && number("Y_NEG_INF").negative));
    ++formats;
  }
  CHECK(formats >= 42);
}

TEST_CASE("the fields' widths add up, whatever the format") {
  int formats = 0;
  for (const std::string& text : wide_formats()) {
    CAPTURE(text);
    const ConstantTable t = constants_of(text);
    CHECK(integer(t, "Y_WIDTH") ==
          flag(t, "Y_HAS_SIGN") + integer(t, "Y_EXP_WIDTH") + integer(t, "Y_FRAC_WIDTH"));
    CHECK(integer(t, "Y_SIG_WIDTH") == integer(t, "Y_FRAC_WIDTH") + 1);
    CHECK(integer(t, "Y_LSB_EXP") == integer(t, "Y_EMIN") - integer(t, "Y_FRAC_WIDTH"));
    ++formats;
  }
  CHECK(formats == 9);
}

// The published ones: IEEE 754-2019, OCP OFP8 1.0 and MX 1.0, table 1 of P3109's report.
TEST_CASE("well-known codes") {
  struct Known {
    std::string format;
    std::uint64_t max_finite, one, min_normal;
    std::int64_t bias, emin, emax, lsb_exp;
  };
  for (const Known& k :
       {Known{"e4m3fn", 0x7e, 0x38, 0x08, 7, -6, 8, -9},
        Known{"e5m2", 0x7b, 0x3c, 0x04, 15, -14, 15, -16},
        Known{"e4m3fnuz", 0x7f, 0x40, 0x08, 8, -7, 7, -10},
        Known{"e2m1fn", 0x7, 0x2, 0x2, 1, 0, 2, -1},
        Known{"e8m0fnu", 0xfe, 0x7f, 0x00, 127, -127, 127, -127},
        Known{"binary8p3se", 0x7e, 0x40, 0x04, 16, -15, 15, -17},
        Known{"bfloat16", 0x7f7f, 0x3f80, 0x0080, 127, -126, 127, -133},
        Known{"binary16", 0x7bff, 0x3c00, 0x0400, 15, -14, 15, -24},
        Known{"binary32", 0x7f7fffff, 0x3f800000, 0x00800000, 127, -126, 127, -149},
        Known{"binary64", 0x7fefffffffffffff, 0x3ff0000000000000, 0x0010000000000000, 1023, -1022,
              1023, -1074}}) {
    CAPTURE(k.format);
    const ConstantTable t = constants_of(k.format);
    CHECK(short_code(t, "Y_MAX_FINITE") == k.max_finite);
    CHECK(short_code(t, "Y_ONE") == k.one);
    CHECK(short_code(t, "Y_MIN_NORMAL") == k.min_normal);
    CHECK(integer(t, "Y_BIAS") == k.bias);
    CHECK(integer(t, "Y_EMIN") == k.emin);
    CHECK(integer(t, "Y_EMAX") == k.emax);
    CHECK(integer(t, "Y_LSB_EXP") == k.lsb_exp);
  }
}
