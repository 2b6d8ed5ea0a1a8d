#include "edges.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/text.hpp"

namespace test_block_borders {

// Which units the blocks engine takes, one step inside each condition and one outside.
namespace {

using namespace widthwise;
using namespace tests;

Opinion opinion_at(const Unit& u, std::size_t k, bool flags = true) {
  return opinion("blocks", u, flags, k);
}

}  // namespace

TEST_CASE("the blocks engine refuses what double lanes cannot vouch for, and nothing less") {
  const Border border("blocks"), with_flags("blocks", true);
  const auto flagged = [](Unit& u) { u.group_sum.overflow = RegisterOverflow::flag; };
  with_flags.lies_between("fix24.wrap", flagged);
  CHECK(opinion_at(with("fix24.wrap", flagged), 1, false).takes);
  CHECK(opinion_at(parse_unit("cdna3.f16"), 1).takes);
  CHECK_FALSE(opinion_at(parse_unit("cdna3.f16"), 0).takes);
  CHECK(opinion_at(parse_unit("fix24.wrap"), 16384).takes);
  CHECK_FALSE(opinion_at(parse_unit("fix24.wrap"), 16385).takes);
  border.excludes_each("blackwell.nvfp4", {[](Unit& u) { u.group_sum.order = Order::sequential; },
                                           [](Unit& u) {
                                             u.group_sum.node_round = Round{.fmt = binary32};
                                           }});  // whose groups are scaled
}

TEST_CASE("blocks: the user's own products are of all digits of operands") {
  const auto takes = [](Change change) {
    const auto all = opinions({with("cdna3.f16", change), 1, false, mitchell()});
    return std::ranges::find(all, "blocks", &Opinion::engine)->takes;
  };
  CHECK(takes([](Unit&) {}));
  CHECK_FALSE(takes([](Unit& u) { u.a.keep_frac = 3; }));
  CHECK_FALSE(takes([](Unit& u) { u.b.keep_frac = 3; }));
  CHECK(opinion_at(with("cdna3.f16", [](Unit& u) { u.a.keep_frac = u.b.keep_frac = 3; }), 1).takes);
}

TEST_CASE("blocks: doubles hold the digits of products, sums and registers") {
  const Border border("blocks");
  // Products, and what of them lies below a window that does not cut them first.
  border.lies_between("dot(e6m26, b=e6m25, lanes=2, align=50, c=binary32, out=binary32)",
                      "dot(e6m26, b=e6m26, lanes=2, align=50, c=binary32, out=binary32)");
  border.lies_between("dot(e6m26, lanes=2, align=49, c=binary32, out=binary32)",
                      "dot(e6m26, lanes=2, align=50, c=binary32, out=binary32)");
  border.lies_between(
      "blackwell.mxfp8",
      [](Unit& u) { u.product.round = Round{.fmt = ieee_format(8, 42)}, u.scale->fmt = e3m4; },
      [](Unit& u) { u.product.round = Round{.fmt = ieee_format(8, 43)}, u.scale->fmt = e3m4; });
  border.lies_between(
      "blackwell.nvfp4",
      [](Unit& u) { u.a.fmt = u.b.fmt = e4m3fn, u.scale->fmt = ieee_format(4, 5); },
      [](Unit& u) { u.a.fmt = u.b.fmt = e4m3fn, u.scale->fmt = ieee_format(4, 6); });
  // Windows: of sums that others follow, and of those that are rounded at once.
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.group_sum.align.frac_bits = 47; },
      [](Unit& u) { u.group_sum.align.frac_bits = 48; });
  border.lies_between("dot(e5m10, lanes=2, align=80, c=binary32, out=binary32)",
                      "dot(e5m10, lanes=2, align=81, c=binary32, out=binary32)");
  border.lies_between("dot(e5m10, lanes=2, align=-80, c=binary32, out=binary32)",
                      "dot(e5m10, lanes=2, align=-81, c=binary32, out=binary32)");
  // An exact sum that C joins late; the number that the reason names is worked out for it alone.
  const Change of_53_digits = [](Unit& u) {
    u.group_sum.align = {}, u.a.fmt = ieee_format(4, 9), u.b.fmt = ieee_format(4, 10);
  };
  const Change of_54_digits = [](Unit& u) {
    u.group_sum.align = {}, u.a.fmt = u.b.fmt = ieee_format(4, 10);
  };
  border.lies_between("cdna3.f16", of_53_digits, of_54_digits);
  CHECK(opinion_at(with("cdna3.f16", of_54_digits), 1).reason.find("54") != std::string::npos);
  // Registers, with a width and without.
  border.lies_between(
      "fix24.wrap", [](Unit& u) { u.group_sum.width = 50; },
      [](Unit& u) { u.group_sum.width = 51; });
  border.lies_between(
      "fix24.wrap", [](Unit& u) { u.group_sum.align.frac_bits = 80; },
      [](Unit& u) { u.group_sum.align.frac_bits = 81; });
  border.lies_between(
      "fix24.wrap", [](Unit& u) { u.group_sum.align.frac_bits = -80; },
      [](Unit& u) { u.group_sum.align.frac_bits = -81; });
  border.lies_between("fixedacc(e4m3fn, frac=33)", "fixedacc(e4m3fn, frac=34)");
}

TEST_CASE("blocks: doubles hold the exponents of operands and of all that comes of them") {
  const Border border("blocks");
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.a.fmt = ieee_format(11, 20); },
      [](Unit& u) { u.a.fmt = ieee_format(12, 20); });
  // Scales that are no powers of two have to leave them room.
  border.lies_between(
      "blackwell.mxfp8", [](Unit& u) { u.a.fmt = u.b.fmt = bfloat16; },
      [](Unit& u) { u.a.fmt = u.b.fmt = u.scale->fmt = bfloat16; });
  // From 2^-765 to 2^135, and from 2^-766 on.
  border.lies_between(
      "blackwell.mxfp8", [](Unit& u) { u.scale->fmt = e3m4, u.scale->fmt.bias = 358; },
      [](Unit& u) { u.scale->fmt = e3m4, u.scale->fmt.bias = 358, ++u.a.fmt.bias; });
}

TEST_CASE("blocks: sums are rounded to formats and by bits that lanes have, and no others") {
  const Border border("blocks");
  const auto takes = [](Change change) { return opinion_at(with("cdna3.f16", change), 1).takes; };
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.out.rm = Rounding(27, StochasticVariant::plain); },
      [](Unit& u) { u.out.rm = Rounding(28, StochasticVariant::plain); });
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.out.post_norm_frac = 50; },
      [](Unit& u) { u.out.post_norm_frac = 51; });
  // Neither the format nor the random bits alone, but both together.
  CHECK(takes([](Unit& u) { u.out.rm = Rounding(8, StochasticVariant::plain); }));
  CHECK(takes([](Unit& u) { u.out.fmt.subnormals = false; }));
  CHECK_FALSE(takes([](Unit& u) {
    u.out.fmt.subnormals = false, u.out.rm = Rounding(8, StochasticVariant::plain);
  }));
  // Subnormals are read as zeros of their signs, and some number is left.
  CHECK(takes([](Unit& u) { u.out.fmt.daz = true; }));
  for (const Change change :
       {+[](Unit& u) { u.out.fmt = e4m3fnuz; }, +[](Unit& u) { u.out.fmt = ue4m3fn; },
        +[](Unit& u) { u.out.fmt = ieee_format(1, 7), u.out.fmt.bias = 1; }}) {
    Unit u = with("cdna3.f16", change);
    CAPTURE(to_string(u));
    CHECK(opinion_at(u, 1).takes);
    u.out.fmt.daz = true;
    CHECK_FALSE(opinion_at(u, 1).takes);
  }
}

}  // namespace test_block_borders
