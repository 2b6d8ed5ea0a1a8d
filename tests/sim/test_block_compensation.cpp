#include <doctest/doctest.h>

#include "products.hpp"
#include "sim/blocks/plan.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

// Compensated sums in tiles of the machine's own floats and doubles against the reference, and
// which units have them.
using namespace widthwise;
using namespace tests;

namespace {

bool in_machine_tiles(const char* unit, bool flags = false) {
  const blocks::Answer answer = blocks::plan({parse_unit(unit), 64, flags});
  return answer.rules && answer.rules->machine_compensation;
}

// Kahan sums in binary32, as the text goes on.
std::string sums(const std::string& more) {
  return R"({c.fmt = "e8m23", lanes = 1, c_level = "late", out.fmt = "e8m23", )"
         R"(chain.compensation = "kahan", )" +
         more + "}";
}
std::string rounded(const std::string& more) {
  return sums(R"(a.fmt = "e8m23", b.fmt = "e8m23", product.round.fmt = "e8m23")" + more);
}

}  // namespace

TEST_CASE("compensated sums of floats and doubles, in tiles") {
  ProductRandom random(21);
  Tally tally;
  std::uint64_t expected = 0;
  const auto compare = [&](const std::string& text, const Rival::Shape& s) {
    CAPTURE(text);
    REQUIRE(in_machine_tiles(text.c_str()));
    Rival("blocks", parse_unit(text), tally).everywhere().compare_random(s, random);
    expected += outputs_compared(s) * Rival::times_everywhere();
  };
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
  tally.expect(expected);
}

TEST_CASE("compensated sums go in tiles where the machine rounds them, and nothing else does") {
  CHECK(in_machine_tiles("kahan(binary32)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32)", true));  // flags
  CHECK_FALSE(in_machine_tiles("mac(binary32)"));
  CHECK_FALSE(in_machine_tiles("kahan(e8m22)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32;ftz)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32;daz)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, sum=binary32:rtz)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, sum=binary64)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary64, sum=binary64:rna)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, scale=e8m0fnu:4:term)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, c=e8m24)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, c=e9m10)"));
  CHECK_FALSE(in_machine_tiles("kahan(binary32, b=e9m10)"));
  const auto is_rounded = [](const char* more) { return in_machine_tiles(rounded(more).c_str()); };
  CHECK(is_rounded(""));
  CHECK_FALSE(is_rounded(R"(, a.keep_frac = 5)"));
  CHECK_FALSE(is_rounded(R"(, c.keep_frac = 5)"));
  CHECK_FALSE(is_rounded(R"(, out.zero_sign = "plus")"));
  CHECK(is_rounded(R"(, product.round.zero_sign = "plus")"));  // products keep their signs
  CHECK_FALSE(is_rounded(R"(, product.round.overflow = "max")"));
  CHECK_FALSE(is_rounded(R"(, out.overflow = "max")"));
  CHECK_FALSE(is_rounded(R"(, product.overflow_to_inf_at = 3)"));
  const auto is_exact = [](const char* b) {
    return in_machine_tiles(sums(R"(a.fmt = "e5m10", b.fmt = ")" + std::string(b) + '"').c_str());
  };
  CHECK(is_exact("e5m12"));
  CHECK_FALSE(is_exact("e5m13"));
}
