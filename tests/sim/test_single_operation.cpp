#include <doctest/doctest.h>

#include <stdexcept>

#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_single_operation {

using namespace widthwise;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_single_operation(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an operation's text: formats not given are the first, printing says no more than that") {
  struct Printed {
    std::string text, canonical;
  };
  for (const Printed& p : {
           Printed{"add(e4m3fn)", "add(e4m3fn)"},
           Printed{"ADD( E4M3FN )", "add(e4m3fn)"},
           Printed{"mul(half, out=binary32)", "multiply(e5m10, out=e8m23)"},
           Printed{"multiply(e4m3fn, b=e5m2, out=e5m10:rtz, tininess=before)",
                   "multiply(e4m3fn, b=e5m2, out=e5m10:rtz, tininess=before)"},
           Printed{"mulAdd(e5m2, c=binary32, out=binary32)", "fma(e5m2, c=e8m23, out=e8m23)"},
           Printed{"muladd(e5m2, b=e5m2)", "fma(e5m2)"},
           Printed{"sqrt(a=e8m7)", "sqrt(e8m7)"},
           Printed{"convert(binary32, out=e4m3fn:sr8:half)", "convert(e8m23, out=e4m3fn:sr8:half)"},
           Printed{"add(e5m10, out=e5m10:rne, tininess=after)", "add(e5m10)"},
           Printed{"add(e5m10, out=e5m10:odd)", "add(e5m10, out=e5m10:odd)"},
           Printed{"abs(ue5m3;daz)", "abs(ue5m3;daz)"},
           Printed{"add(e5m10, nan=x86)", "add(e5m10, nan=x86)"},
           Printed{"fma(e4m3, nan=propagate, tininess=before)",
                   "fma(e4m3, tininess=before, nan=propagate)"},
           Printed{"sqrt(e5m10, nan=canonical)", "sqrt(e5m10)"},
           Printed{"min_x86(e5m10, nan=negative)", "min_x86(e5m10, nan=negative)"},
       }) {
    CAPTURE(p.text);
    const SingleOperation s = parse_single_operation(p.text);
    CHECK(to_string(s) == p.canonical);
    CHECK(parse_single_operation(p.canonical) == s);
    CHECK_NOTHROW(check(s));
  }
}

TEST_CASE("every operation prints, and parses back") {
  for (int i = 0; i <= static_cast<int>(Operation::abs); ++i) {
    const auto op = static_cast<Operation>(i);
    const Format f = parse_format("e3m4");
    const SingleOperation s{op, {f, f, f}, f, RoundingMode::rup, Tininess::before_rounding};
    CAPTURE(to_string(op));
    CHECK(parse_single_operation(to_string(s)) == s);
  }
}

TEST_CASE("a design is an operation where one's name stands in front of a bracket, else a unit") {
  CHECK(std::get<SingleOperation>(parse_design("add(e4m3fn)")).op == Operation::add);
  for (const char* unit : {"hopper.e4m3.f32", "mac(e5m10)", "fix24.sat", "dot(e4m3fn, lanes=4)"})
    CHECK(to_string(parse_design(unit)) == unit);
  CHECK_THROWS_WITH_AS(parse_design("add"), doctest::Contains("no unit 'add'"), ParseError);
}

TEST_CASE("a design's fma is the operation, and with what a unit alone has the unit (T7)") {
  for (const char* text : {"fma(e4m3fn)", "muladd(e4m3fn)", "mulAdd(e4m3fn)", "FMA(e4m3fn)"}) {
    CAPTURE(text);
    CHECK(std::get<SingleOperation>(parse_design(text)).op == Operation::fma);
    CHECK(to_string(parse_design(text)) == "fma(e4m3fn)");
  }
  for (const char* text :
       {"fma(e4m3fn)", "fma(e5m2, b=e4m3fn, c=e5m2)", "fma(e5m10, sum=e8m23:rtz)",
        "fma(e5m10, final=e5m2)", "fma(e5m10, scale=e8m0fnu:32:term)"}) {
    CAPTURE(text);
    const Unit unit = parse_unit(text);
    const std::string printed = to_string(Design(unit));
    CAPTURE(printed);
    CHECK(std::get<Unit>(parse_design(printed)) == unit);
    CHECK(printed.starts_with("fma("));
  }
  CHECK(to_string(Design(parse_unit("fma(e4m3fn)"))) == "fma(e4m3fn, sum=e4m3fn)");
  CHECK(to_string(Design(parse_unit("fma(e4m3fn, sum=e5m10)"))) == "fma(e4m3fn, sum=e5m10)");
  CHECK(to_string(Design(parse_unit("fma(binary32)"))) == "fma.f32");
  CHECK(std::get<SingleOperation>(parse_design("fma(e4m3fn, tininess=before)")).tininess ==
        Tininess::before_rounding);
  CHECK(std::get<Unit>(parse_design("fma(e4m3fn, sum=e5m10, tininess=before)")) ==
        parse_unit("fma(e4m3fn, sum=e5m10, tininess=before)"));
  CHECK_THROWS_WITH_AS(parse_design("fma(e4m3fn, lanes=2)"),
                       doctest::Contains("fma is an operation here, and with sum= a unit"),
                       ParseError);
}

TEST_CASE("an operation's text that is wrong is refused with what it may be") {
  for (const char* text : {"hypot(e5m10)", "add", ""})
    CHECK(error_of(text) == "operation '" + std::string(text) +
                                "', column 1: wanted an operation and a format, as in add(e5m10)");
  CHECK(error_of("add(e5m10, c=e5m2)").find("add has no 'c'") != std::string::npos);
  CHECK(error_of(" mul()").find("column 2: mul: a= is missing") != std::string::npos);
  CHECK(error_of("add()").find("a= is missing, and no first format stands for it") !=
        std::string::npos);
  CHECK(error_of("add(e5m10, tininess=never)").find("it may be before, after or delivered") !=
        std::string::npos);
  CHECK(error_of("add(e5m10, nan=first)")
            .find("nan = 'first': it may be canonical, negative, propagate or x86") !=
        std::string::npos);
  CHECK(error_of("copysign(e5m10, nan=x86)").find("copysign makes no NaN; leave nan= away") !=
        std::string::npos);
  for (const char* unit : {"mac(e5m10, nan=x86)", "fma(e5m10, sum=e5m10, nan=propagate)"})
    CHECK_THROWS_WITH_AS(parse_design(unit),
                         doctest::Contains("operations have one; a unit's NaN is nan_bits"),
                         ParseError);
  CHECK(error_of("negate(e5m10, out=e5m2)")
            .find("negate gives codes of a's format, e5m10, not of e5m2; leave out= away") !=
        std::string::npos);
  CHECK(error_of("add(e70m3)").find("column") != std::string::npos);
  SingleOperation s = parse_single_operation("abs(e5m10)");
  s.to.bias = 3;
  CHECK_THROWS_WITH_AS(check(s), doctest::Contains("abs: out: abs gives codes of a's format"),
                       std::invalid_argument);
}

}  // namespace test_single_operation
