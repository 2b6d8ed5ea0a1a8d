#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "sim/recoded/plan.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace widthwise;

namespace {

using Codes = std::vector<std::byte>;

// Codes drawn from all, with every fourth one next to zero, the ends or NaR.
Codes drawn(const Format& f, std::size_t n, std::mt19937_64& random) {
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - f.width());
  Codes codes(n * bytes);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t code = random() & all;
    if (i % 4 == 0) code = (random() % 5 - 2 + (random() % 3) * (all / 2 + 1)) & all;
    store_code(&codes[i * bytes], static_cast<int>(bytes), code);
  }
  return codes;
}

struct Drawn {
  Unit unit;
  std::size_t m = 5, n = 7, k;
  Codes a, b, c;

  Drawn(const Unit& u, std::size_t length, std::mt19937_64& random)
      : unit(u),
        k(length),
        a(drawn(u.a.fmt, m * k, random)),
        b(drawn(u.b.fmt, k * n, random)),
        c(drawn(u.c.fmt, m * n, random)) {}

  std::pair<Codes, std::vector<std::uint8_t>> by(const char* engine) const {
    const auto row = [](std::size_t columns) { return static_cast<std::ptrdiff_t>(columns); };
    Codes result(m * n * static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width())));
    std::vector<std::uint8_t> flags(m * n);
    MatrixProduct p{m,
                    n,
                    k,
                    {a.data(), row(k), 1},
                    {b.data(), row(n), 1},
                    {c.data(), row(n), 1},
                    {},
                    {},
                    result.data(),
                    flags.data()};
    prepare({unit, k, true, {}, m * n}, engine).product->run(p, 0, m);
    return {result, flags};
  }
};

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
};

}  // namespace

TEST_CASE("recoded: the definition's codes and flags") {
  std::mt19937_64 random(1);
  int products = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (std::size_t k : {1, 2, 9, 64})
      for (int round = 0; round < 6; ++round) {
        const Drawn p(u, k, random);
        const auto want = p.by("reference"), got = p.by("recoded");
        REQUIRE(got.first == want.first);
        REQUIRE(got.second == want.second);
        ++products;
      }
  }
  CHECK(products == 384);
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
  CHECK(!recoded::float_of(parse_format("fixed64.0")));
  CHECK(!recoded::float_of(parse_format("posit64")));
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
