#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Units over fixed point, posits and takums in rows of integers, against the definition.
using namespace widthwise;

namespace {

using Codes = std::vector<std::byte>;

Codes drawn(const Format& f, std::size_t n, std::mt19937_64& random) {
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - f.width());
  const bool near_one = random() % 2;
  Codes codes(n * bytes);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t code = random() & all;
    if (near_one && !f.is_fixed()) code = ((all / 4 + 1) + random() % (all / 8 + 1)) & all;
    if (i % 8 == 0) code = (random() % 5 - 2 + (random() % 3) * (all / 2 + 1)) & all;
    store_code(&codes[i * bytes], static_cast<int>(bytes), code);
  }
  return codes;
}

struct Drawn {
  Unit unit;
  std::size_t m = 3, n = 37, k;
  Codes a, b, c;

  Drawn(const Unit& u, std::size_t length, std::mt19937_64& random)
      : unit(u),
        k(length),
        a(drawn(u.a.fmt, m * k, random)),
        b(drawn(u.b.fmt, k * n, random)),
        c(drawn(u.c.fmt, m * n, random)) {}

  std::pair<Codes, std::vector<std::uint8_t>> by(std::string_view engine) const {
    const auto row = [](std::size_t columns) { return static_cast<std::ptrdiff_t>(columns); };
    Codes result(m * n * static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width())));
    std::vector<std::uint8_t> flags(m * n);
    MatrixProduct p;
    p.m = m, p.n = n, p.k = k;
    p.a = {a.data(), row(k), 1}, p.b = {b.data(), row(n), 1}, p.c = {c.data(), row(n), 1};
    p.result = result.data(), p.flags = flags.data(), p.seed = 5;
    prepare({unit, k, true, {}, m * n}, engine).product->run(p, 0, m);
    return {result, flags};
  }
};

const char* const units[] = {
    "mac(posit16es2)",
    "fma(posit16es2)",
    "mac(posit8es0, sum=posit16es1:rdn)",
    "mac(posit32es2, product=binary32, sum=posit32es2:odd)",
    "fma(takum16, sum=takum32:raz)",
    "mac(takum8)",
    "mac(posit8es2, sum=posit8es2:sr7)",
    "mac(fixed16.8)",
    "mac(fixed16.8;overflow=wrap)",
    "fma(fixed32.16;overflow=wrap)",
    "fma(int24;overflow=keep_sign, sum=int24)",
    "mac(int8, product=int12;overflow=wrap_sm, sum=int20;overflow=symmetric)",
    "mac(fixed8.4, sum=fixed12.6;overflow=zero:rna)",
    "mac(ufixed8.4, sum=fixed16.4:sr5)",
    "fma(fixed40.20;overflow=wrap)",
    "tree(posit16es2, fan=4)",
    "tree(fixed16.8, fan=8, node=fixed18.8;overflow=wrap)",
    "dot(posit16es2, lanes=4)",
    "dot(fixed8.4, lanes=8, out=fixed16.8)",
    "dot(int8, lanes=4, align=2:rtz, out=int16)",
    "dot(posit8es2, lanes=4, align=12:rtz, out=posit16es2)",
    "kulisch(posit8es2)",
    "kulisch(fixed24.12, out=fixed24.12;overflow=wrap)",
    "pairwise(posit16es1)",
    "kahan(posit16es2)",
    "neumaier(fixed16.8)",
    "mac(posit16es2, promote=8:binary32)",
    "mac(e4m3fn, sum=posit16es2)",
    "mac(posit16es2, final=int8:rtz)",
};

}  // namespace

TEST_CASE("number systems: rows of integers give the definition's codes and flags") {
  std::mt19937_64 random(1);
  int products = 0, refused = 0;
  for (const char* text : units)
    for (std::size_t k : {1, 3, 16, 40})
      for (int round = 0; round < 3; ++round) {
        CAPTURE(text);
        CAPTURE(k);
        const Unit u = parse_unit(text);
        const Drawn p(u, k, random);
        const auto want = p.by("reference");
        for (const char* engine : {"integers", "rows"}) {
          CAPTURE(engine);
          std::pair<Codes, std::vector<std::uint8_t>> got;
          try {
            got = p.by(engine);
          } catch (const std::invalid_argument&) {
            ++refused;
            continue;
          }
          REQUIRE(got.first == want.first);
          REQUIRE(got.second == want.second);
          ++products;
        }
      }
  CHECK(products > 300);
  CHECK(refused < products / 4);
}

TEST_CASE("number systems: sums of more digits than a carrier has do not wrap") {
  CHECK_THROWS_WITH(make_reference(parse_unit("kulisch(binary64, out=int8;overflow=wrap)"), 8),
                    doctest::Contains("the widest carrier has 4160; take overflow=saturate"));
  CHECK_NOTHROW(make_reference(parse_unit("kulisch(binary64, out=int8)"), 8));
  CHECK_NOTHROW(make_reference(parse_unit("kulisch(binary32, out=int8;overflow=wrap)"), 8));
}
