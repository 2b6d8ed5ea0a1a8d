#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "products.hpp"
#include "sim/blocks/plan.hpp"
#include "sim/engine/numbers.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_trees {

// Trees that round to few digits in tiles of floats against the reference, and which units have
// them.
using namespace widthwise;
using namespace tests;

namespace {

bool is_short_tree(const std::string& unit, bool flags = false) {
  const blocks::Answer answer = blocks::plan({parse_unit(unit), 64, flags});
  REQUIRE_MESSAGE(answer.rules, unit << ": " << answer.reason);
  return answer.rules->short_tree;
}

// Exact products of e4m3fn in a tree of four, as the text goes on.
std::string exact_products(const std::string& more) {
  return R"({a.fmt = "e4m3fn", b.fmt = "e4m3fn", lanes = 4, group_sum.order = "pairwise_tree", )"
         R"(c_level = "late", )" +
         more + "}";
}
std::string of_eight_digits(const std::string& node, const std::string& out) {
  return exact_products("c.fmt = \"" + out + "\", group_sum.node_round.fmt = \"" + node +
                        "\", out.fmt = \"" + out + "\"");
}

}  // namespace

TEST_CASE("trees to few digits, in tiles: all sorts of operands") {
  ProductRandom random(31);
  Tally tally;
  std::uint64_t expected = 0;
  const auto compare = [&](const std::string& text, const Rival::Shape& s) {
    CAPTURE(text);
    REQUIRE(is_short_tree(text));
    Rival("blocks", parse_unit(text), tally).everywhere().compare_random(s, random);
    expected += outputs_compared(s) * Rival::times_everywhere();
  };
  for (const std::string text :
       {"tree(e5m10, fan=2)", "tree(e5m10, fan=4)", "tree(e5m10, fan=8)", "tree(e5m10, fan=16)",
        "tree(e5m10, fan=32)", "tree(e8m7, fan=8)", "tree(e6m9, b=e4m3fn, fan=4)",
        "tree(e4m3fn, fan=8, node=e5m10, sum=binary32)",
        "tree(e5m2, fan=4, node=e5m2, sum=e5m10, c=e5m7)",
        "tree(e5m10, fan=8, node=binary32, sum=binary32)",
        "tree(e8m7, fan=4, product=e8m7, node=e8m7, sum=binary32, c=binary32)",
        "tree(e4m3fn, fan=2, product=e5m2, node=e5m3, sum=e5m7)",
        "tree(e5m4, fan=8, product=e5m6;overflow=max, node=e5m8;overflow=max, sum=e5m9)",
        "tree(e5m10, fan=8, final=e4m3fn)"})
    compare(text, {2, 23, 19});
  for (const auto& [node, out] :
       {std::pair{"e5m10", "e5m10"}, {"e5m8", "e8m10"}, {"e8m7", "binary32"}})
    compare(of_eight_digits(node, out), {2, 23, 19});
  compare("tree(e5m10, fan=8)", {5, 1100, 70});  // panels along k, strips, and part of a tile
  for (const std::size_t n : {1, 8, 17, 33, 65}) compare("tree(e6m9, fan=4)", {5, 9, n});
  tally.expect(expected);
}

TEST_CASE("trees to few digits look at their sums before one overflows" *
          doctest::test_suite("unsanitized")) {
  Tally tally;
  std::uint64_t expected = 0;
  constexpr std::size_t m = 4, k = 500, n = 9;
  const auto codes_of = [](const Format& f, std::vector<double> numbers) {
    CodeList z(f, numbers.size());
    Codec<double>(f).encode(numbers.data(), numbers.size(), static_cast<std::byte*>(z.data()));
    return z;
  };
  for (const std::string text : {"tree(e5m10, fan=2)", "tree(e5m10, fan=32)", "tree(e8m7, fan=4)",
                                 "tree(e4m3fn, fan=4, node=e5m4, sum=e5m10)",
                                 "tree(e5m10, fan=4, node=e4m10, product=e4m10, sum=binary32)"}) {
    CAPTURE(text);
    REQUIRE(is_short_tree(text));
    const Unit u = parse_unit(text);
    const double most = Codec<double>(u.out.fmt).largest();
    const CodeList b = codes_of(u.b.fmt, std::vector<double>(k * n, 1.0));
    for (const double start : {0.0, most / 4, most / 2, most})
      for (int below = 0; below < 16; ++below)
        for (const std::size_t row : {0, 3}) {
          // Up, and then down, within one panel along k.
          const double x = std::min(std::ldexp(1.875, std::ilogb(most) - below),
                                    Codec<double>(u.a.fmt).largest());
          std::vector<double> numbers(m * k);
          for (std::size_t i = 0; i < k; ++i) numbers[row * k + i] = i < k * 4 / 5 ? x : -x;
          const CodeList a = codes_of(u.a.fmt, numbers),
                         c = codes_of(u.c.fmt,
                                      std::vector<double>(m * n, u.c.fmt == u.out.fmt ? start : 0));
          MatrixProduct p;
          p.m = m, p.k = k, p.n = n;
          p.a = a.rows(k), p.b = b.rows(n), p.c = c.rows(n);
          Rival("blocks", u, tally).everywhere().compare(p, fmt::format("{} onto {}", x, start));
          expected += m * n * Rival::times_everywhere();
        }
  }
  tally.expect(expected);
}

TEST_CASE("trees to few digits: every condition, on both sides") {
  for (const std::string text :
       {"tree(e5m10, fan=8)", "tree(e5m9, fan=8, product=e5m9, node=e5m10, sum=e5m10)",
        "tree(e5m10, fan=8, sum=binary32)", "tree(e5m10, fan=8, c=e5m9)",
        "tree(e5m10, b=e5m11, fan=8, product=e5m10, sum=e5m10)",
        "tree(e5m2, fan=8, sum=e5m7, node=e5m2)"})
    CHECK_MESSAGE(is_short_tree(text), text);
  CHECK(is_short_tree(of_eight_digits("e6m7", "e6m7")));  // products are multiples of 2^-18
  CHECK(is_short_tree(of_eight_digits("e5m7;bias=12", "binary32")));
  CHECK(!is_short_tree(of_eight_digits("e5m7;bias=11", "binary32")));
  CHECK(!is_short_tree(of_eight_digits("e6m6", "e6m7")));
  for (const std::string text : {"tree(e5m10, fan=8, product=e5m10, node=e5m9, sum=e5m10)",
                                 "tree(e5m10, fan=8, product=e6m10, node=e5m10, sum=e5m10)",
                                 "tree(e5m10, fan=8, node=e5m10, sum=e5m9)",
                                 "tree(e5m10, fan=8, node=e6m10, sum=e5m10)",
                                 "tree(e5m10, fan=8, c=e5m11)",
                                 "tree(e5m10, fan=8, c=e6m10)",
                                 "tree(e5m11, fan=8)",
                                 "tree(e5m10, fan=8, node=e5m11, sum=binary32)",
                                 "tree(e5m10, b=e5m12, fan=8, product=e5m10, sum=e5m10)",
                                 "tree(e4m3fn, fan=8)",
                                 "tree(e5m10, fan=8, sum=e5m10:rtz)",
                                 "tree(e5m10, fan=8, node=e5m10:rna)",
                                 "tree(e5m10, fan=8, product=e5m10:rdn)",
                                 "tree(e5m10, fan=8, sum=e5m10:sr8)",
                                 "tree(e5m10;ftz, fan=8)",
                                 "tree(e4m3fnuz, fan=8, node=e4m3fnuz, sum=e5m10)",
                                 "tree(e5m10, fan=3)",
                                 "tree(e5m10, fan=64)",
                                 "tree(e5m10, fan=1)",
                                 "tree(e5m10, fan=8, promote=16:binary32)",
                                 "tree(e5m10, fan=8, scale=e8m0fnu:8:term)",
                                 "tree(binary32, fan=8)"})
    CHECK_MESSAGE(!is_short_tree(text), text);
  CHECK(!is_short_tree("tree(e5m10, fan=8)", true));
}

}  // namespace test_block_trees
