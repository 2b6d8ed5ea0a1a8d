#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "dot_text.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_compensation {

// Sums with compensation, by examples worked out by hand. dpu_ref.py and MPFR judge random ones:
// test_dpu.cpp, tests/python/test_verify.py.
namespace {

using namespace tests;

std::string sum(const std::string& unit, const std::vector<double>& x, double c = 0) {
  return dot(parse_unit(unit), x, std::vector<double>(x.size(), 1), c);
}

std::string e5m10(double x) { return codes(binary16, {x}); }

}  // namespace

TEST_CASE("pitfall 23: Kahan sums of 64 times 0.1 are the same for every output, and exact") {
  constexpr std::size_t m = 5, n = 37, k = 64;
  constexpr std::uint16_t tenth = 0x2e66, sixty_four_tenths = 0x4666;  // 0.0999755859375 times 64
  const std::vector<std::uint16_t> a(m * k, tenth), b(k * n, 0x3c00);
  for (const char* unit : {"kahan(e5m10)", "neumaier(e5m10)"}) {
    std::vector<std::uint16_t> result(m * n);
    MatrixProduct p;
    p.m = m, p.n = n, p.k = k;
    p.a = {a.data(), k, 1};
    p.b = {b.data(), n, 1};
    p.result = result.data();
    make_reference(parse_unit(unit), k)->run(p, 0, m);
    CAPTURE(unit);
    CHECK(std::ranges::count(result, sixty_four_tenths) == m * n);
  }
  CHECK(sum("mac(e5m10)", std::vector<double>(64, 0.0999755859375)) != "4666");
}

TEST_CASE("kahan: small terms that the sum would lose one by one come through together") {
  std::vector<double> x(17, 1);
  x[0] = 2048;  // 2049 is no number of e5m10
  CHECK(sum("mac(e5m10)", x) == e5m10(2048));
  CHECK(sum("kahan(e5m10)", x) == e5m10(2064));
  CHECK(sum("neumaier(e5m10)", x) == e5m10(2064));
  CHECK(sum("kahan(e5m10)", std::vector<double>(16, 1), 2048) == e5m10(2064));  // C goes first
}

TEST_CASE("neumaier: a term larger than the sum loses the sum, and that is carried too") {
  const std::vector<double> x{1, 16384, 1, -16384};
  CHECK(sum("kahan(e5m10)", x) == e5m10(0));
  CHECK(sum("neumaier(e5m10)", x) == e5m10(2));
}

TEST_CASE("compensation: every operation is rounded as out says") {
  const std::vector<double> x{1, 0x3p-12};  // three quarters of a last place above 1
  CHECK(sum("kahan(e5m10)", x) == e5m10(1 + 0x1p-10));
  CHECK(sum("kahan(e5m10, sum=e5m10:rtz)", x) == e5m10(1));
  CHECK(sum("neumaier(e5m10, sum=e5m10:rtz)", {1, 0x3p-12, 0x3p-12}) == e5m10(1 + 0x1p-10));
}

TEST_CASE("compensation: specials go through the formulas as they come") {
  const double most = 65504;
  CHECK(sum("kahan(e5m10)", {most, most}) == "7c00");     // the last sum overflows
  CHECK(sum("kahan(e5m10)", {most, most, 1}) == "7e00");  // and infinity is carried
  CHECK(sum("kahan(e5m10)", {1, infinity}) == "7c00");
  CHECK(sum("kahan(e5m10)", {infinity, 1}) == "7e00");
  CHECK(sum("neumaier(e5m10)", {most, most}) == "7e00");  // infinity - infinity at the end
  CHECK(sum("neumaier(e5m10)", {infinity}) == "7e00");
  CHECK(sum("neumaier(e5m10, sum=e5m10;overflow=max)", {most, most, -most}) == e5m10(most));
}

TEST_CASE("compensation: signs of zero are those of the formulas") {
  CHECK(sum("kahan(e5m10)", {-0.0, -0.0}, -0.0) == "8000");
  CHECK(sum("neumaier(e5m10)", {-0.0, -0.0}, -0.0) == "0000");
  CHECK(sum("kahan(e5m10)", {1, -1}) == "0000");
}

TEST_CASE("compensation: blocks of promotion start anew, and C may come last") {
  // Each pair of 2048 and 1 keeps its 1 in Kahan's register, where promotion leaves it.
  CHECK(sum("kahan(e5m10, promote=2:e8m23)", {2048, 1, 2048, 1}) == codes(binary32, {4096}));
  // Neumaier's settle before they go: 2051 ties to 2052.
  CHECK(sum("neumaier(e5m10, promote=2:e8m23)", {2048, 3, 2048, 3}) == codes(binary32, {4104}));
  Unit last = parse_unit("kahan(e5m10)");
  last.chain.c_at = CAt::last;
  last.chain.c_round = Round{.fmt = binary32};
  CHECK(dot(last, {1, 1}, {1, 1}, 2048) == codes(binary32, {2050}));
}

TEST_CASE("compensation: a trace names every operation, and ends with the result") {
  const auto slots = [](const char* unit) {
    const Unit u = parse_unit(unit);
    const Dot product(u, {codes(binary16, {3, 5}), codes(binary16, {1, 1}), codes(binary16, {1})});
    const auto engine = make_reference(u, 2);
    CHECK(product.at_the_end_of_the_trace(*engine) == e5m10(9));
    std::vector<std::string> found;
    for (const std::string& row : product.trace(*engine))
      if (row.starts_with("pack ")) found.push_back(row.substr(5, row.find(" 0 ") - 5));
    found.resize(std::min<std::size_t>(found.size(), 5));
    return found;
  };
  const std::string at = "chain.compensation.";
  CHECK(slots("kahan(e5m10)") == std::vector<std::string>{"product.round", at + "addend", "out",
                                                          at + "difference", at + "error"});
  CHECK(slots("neumaier(e5m10)") == std::vector<std::string>{"product.round", "out",
                                                             at + "difference", at + "error",
                                                             at + "compensation"});
}

TEST_CASE(
    "compensation: the reference, rows, block lanes and limbs take such sums, and no others") {
  const ProductTask task{parse_unit("kahan(e5m10)"), 8};
  const std::set<std::string_view> takers{"reference", "integers", "blocks", "wide"};
  for (const Opinion& o : opinions(task)) {
    CAPTURE(o.engine);
    if (o.engine != "wide52") CHECK(o.takes == takers.contains(o.engine));  // not on every machine
  }
}

}  // namespace test_compensation
