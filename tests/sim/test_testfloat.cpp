#include <doctest/doctest.h>

#include <string>

#include "targets.hpp"
#include "widthwise/sim/vectors.hpp"

// TestFloat's lines. What they say of the arithmetic is checked elsewhere; here, that they are read
// and written whole.
namespace {

using namespace widthwise;

VectorTask task(const char* op, const char* format, const char* to = "") {
  return vector_task(op, format, to, {});
}

struct Count {
  std::uint64_t vectors, errors;
  bool operator==(const Count&) const = default;
};

Count judge(const VectorTask& t, const std::string& lines, std::size_t piece = 1 << 20,
            const VectorRules& rules = {}) {
  VectorChecker checker(t, rules);
  for (std::size_t at = 0; at < lines.size(); at += piece) checker.feed(lines.substr(at, piece));
  checker.finish();
  return {checker.vectors(), checker.errors()};
}

std::string error_of(const VectorTask& t, const std::string& lines) {
  try {
    judge(t, lines);
  } catch (const VectorError& e) {
    return e.what();
  }
  return "accepted";
}

TEST_CASE("VectorChecker: what was written agrees, wherever the pieces end") {
  for (const char* op : {"add", "mulAdd", "sqrt", "le", "roundToInt", "rem"})
    for (const char* format : {"e4m3fn", "binary16", "binary64", "e20m49", "e15m112", "e8m500"}) {
      constexpr std::uint64_t n = tests::sanitized ? 40 : 200;
      const std::string lines = make_vectors(task(op, format), 3, 0, n);
      CAPTURE(op);
      CAPTURE(format);
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}})
        REQUIRE(judge(task(op, format), lines, piece) == Count{n, 0});
    }
}

TEST_CASE("VectorChecker: integers of either side agree, whatever their width") {
  for (const char* integer : {"i32", "ui32", "i64", "ui64"}) {
    CAPTURE(integer);
    const VectorTask from = task("convert", integer, "binary16"),
                     to = task("convert", "e8m23", integer);
    REQUIRE(judge(from, make_vectors(from, 1, 0, 500)) == Count{500, 0});
    REQUIRE(judge(to, make_vectors(to, 1, 0, 500)) == Count{500, 0});
  }
}

TEST_CASE("make_vectors: lines do not depend on how many are asked for at a time") {
  const VectorTask t = task("mul", "binary32");
  CHECK(make_vectors(t, 9, 0, 300) == make_vectors(t, 9, 0, 100) + make_vectors(t, 9, 100, 200));
  CHECK(make_vectors(t, 9, 0, 100) != make_vectors(t, 10, 0, 100));
}

TEST_CASE("VectorChecker: a changed digit of a result or a flag is an error") {
  const VectorTask t = task("add", "binary16");
  CHECK(judge(t, "3C00 3C00 4000 00\n") == Count{1, 0});
  CHECK(judge(t, "3C00 3C00 4001 00\n3C00 3C00 4000 01") == Count{2, 2});
  VectorChecker checker(t, {}, 1);
  checker.feed("3C00 3C00 4001 00\n3C00 3C00 4000 01\n");
  checker.finish();
  CHECK(checker.failures() ==
        std::vector<std::string>{"line 1: 3C00 3C00: the vector has 4001 00, this is 4000 00"});
  CHECK(judge(t, "") == Count{0, 0});
}

TEST_CASE("VectorChecker: a line that is no vector is refused with its number") {
  const VectorTask t = task("add", "binary16"), wide = task("sqrt", "e20m49");
  CHECK(error_of(t, "// ok\n\n3C00 3C00 4000") ==
        "line 3: '3C00 3C00 4000' has 3 fields; 4 are wanted: operands a and b, result, flags; "
        "where there are no flags, say so (--flags no)");
  CHECK(
      error_of(t, "3C00 3C00 4000 00 00") ==
      "line 1: '3C00 3C00 4000 00 00' has 5 fields; 4 are wanted: operands a and b, result, flags");
  CHECK(error_of(t, "3C00 3C0x 4000 00") == "line 1: b = '3C0x' is not a hexadecimal number");
  CHECK(error_of(t, "3C00 3C00 13C00 00") ==
        "line 1: result = '13C00' is too long; it has 16 bits, 4 digits");
  CHECK(error_of(wide, "400000000000000000 0 0") ==
        "line 1: a = '400000000000000000' is too long; it has 70 bits, 18 digits");
  CHECK(error_of(wide, "000000000000000000000 0 0") == "accepted");
}

TEST_CASE("vector_task: what has no vectors is refused") {
  const auto refused = [](const char* op, const char* from, const char* to, const Env& env = {}) {
    try {
      vector_task(op, from, to, env);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refused("add", "i32", "") ==
        "op = add, format = i32, to = i32: integers are converted only; take op = convert");
  CHECK(refused("convert", "i32", "i64") ==
        "format = i32, to = i64: one of the two has to be a format, as binary32");
  CHECK(refused("ad", "binary16", "")
            .starts_with("operation 'ad' is not known; nearest name: 'add'"));
}

TEST_CASE("stochastic rounding: a line has its random bits, and those decide") {
  const Env env{{8, StochasticVariant::plain}};
  const VectorTask add = vector_task("add", "binary16", "", env);
  CHECK(random_width(add) == 8);
  CHECK(random_width(vector_task("le", "binary16", "", env)) == 0);
  // 1 + 2^-12 lies a quarter of a step above 1: 0xC0 of 0x100 take it up.
  CHECK(judge(add, "3C00 0C00 BF 3C00 01\n3C00 0C00 C0 3C01 01\n3C00 0C00 FF 3C01 01\n") ==
        Count{3, 0});
  CHECK(judge(add, "3C00 0C00 BF 3C01 01\n3C00 0C00 C0 3C00 01\n") == Count{2, 2});
  CHECK(error_of(add, "3C00 0C00 100 3C00 01") ==
        "line 1: random = '100' is too long; it has 8 bits, 2 digits");
  CHECK(error_of(add, "3C00 0C00 3C00 01") ==
        "line 1: '3C00 0C00 3C00 01' has 4 fields; 5 are wanted: operands a and b, random bits, "
        "result, flags; where there are no flags, say so (--flags no)");
  for (const char* op : {"mulAdd", "sqrt", "roundToInt"}) {
    const VectorTask task = vector_task(op, "e4m3fn", "", env);
    CHECK(judge(task, make_vectors(task, 3, 0, 500)) == Count{500, 0});
  }
  const VectorTask to = vector_task("convert", "binary32", "i32", env),
                   from = vector_task("convert", "ui64", "binary16", env);
  CHECK(judge(to, make_vectors(to, 1, 0, 500)) == Count{500, 0});
  CHECK(judge(from, make_vectors(from, 1, 0, 500)) == Count{500, 0});
}

}  // namespace
