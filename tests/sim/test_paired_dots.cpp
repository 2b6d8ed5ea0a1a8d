#include <fmt/format.h>

#include "products.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/paired_dots.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Dot products whose products are formed first, against the reference's.
namespace {

using namespace widthwise;
using namespace tests;

std::optional<PairedDots> paired(const Unit& u, std::size_t k, bool flags = false) {
  return PairedDots::of({.unit = u, .k = k, .flags = flags, .outputs = 100});
}

// A batch of dot products: operands apart by more than their length, backwards, or by columns.
struct Trial {
  static constexpr std::size_t outer = 2, inner = 9;

  Trial(const Unit& u, std::size_t k, Manner manner, bool by_columns, ProductRandom& random)
      : unit(u),
        a(codes(u.a.fmt, outer * inner * (k + 1), manner, random)),
        b(codes(u.b.fmt, outer * inner * k, manner, random)),
        c(codes(u.c.fmt, inner, manner, random)) {
    MatrixProduct& p = batch.first;
    p.m = p.n = 1, p.k = k, p.seed = random(), p.first_index = 7;
    const auto length = static_cast<std::ptrdiff_t>(k), dots = std::ptrdiff_t{inner};
    p.a = a.rows(k + 1), p.b = b.rows(1), p.c = c.rows(1);
    batch.axes = {{outer, dots * (length + 1), dots * length, 0},
                  {inner, length + 1, by_columns ? 1 : length, 1}};
    if (by_columns) p.b.row = dots;
    if (manner == Manner::bits) {  // C from the last to the first, or none
      p.c = c.rows(1, inner - 1);
      batch.axes[1].c = -1;
    } else if (manner == Manner::about_one) {
      p.c = {};
    }
  }

  // The first and last dot products may be left to others.
  void compare(const PairedDots& dots, std::size_t first, std::size_t last, Tally& tally) {
    const Format& f = result_round(unit).fmt;
    CodeList expected(f, batch.count()), found(f, batch.count());
    batch.first.result = expected.data();
    const auto reference = make_reference(unit, batch.first.k);
    for (std::size_t i = 0; i < batch.count(); ++i) reference->run(batch.at(unit, i), 0, 1);
    batch.first.result = found.data();
    dots.run(batch, first, last);
    for (std::size_t i = first; i < last; ++i)
      tally.check(expected.same(found, i), [&] {
        return fmt::format("{}, dot product {} of {} steps: got {}, want {}", to_string(unit), i,
                           batch.first.k, found.hexadecimal(i), expected.hexadecimal(i));
      });
  }

  const Unit& unit;
  CodeList a, b, c;
  ProductBatch batch;
};

constexpr const char* units[] = {
    "mac(e5m10)",
    "mac(e4m3fnuz)",
    "mac(e2m1fn)",
    "mac(e8m7, product=e5m2:rup, sum=e8m7:rdn)",
    "mac(e4m3fn, b=e8m0fnu, product=ue4m3fn:rna, sum=e5m10)",
    "mac(e5m10, product=e4m3;overflow=max:rtz, sum=e5m10:sr13)",
    "mac(binary32, sum=binary32:sr5)",
    "mac(binary64)",
    "mac(e8m26, promote=4:binary32)",
    "fma(e5m10)",
    "fma(e4m3fn, b=e5m2, sum=e8m13:rtz)",
    "fma(binary32)",
    "kahan(e5m10)",
    "neumaier(e8m7, product=binary32, sum=binary32)",
    "tree(e8m7, fan=4)",
    "dot(e5m10, lanes=4, out=e5m10:rup)",
    "dot(e3m2fn, c=binary32, out=binary32)",
    "kulisch(e4m3fn)",
    "fixedacc(e4m3fn, frac=9, width=16, overflow=saturate)",
    "fixedacc(e4m3fn, frac=9, width=16, overflow=wrap)",
};

}  // namespace

TEST_CASE("dot products by products first: the reference's codes, all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const std::size_t k : {1, 37}) {
      const auto dots = paired(u, k);
      REQUIRE(dots);
      for (std::size_t i = 0; i < manners; ++i) {
        const auto manner = static_cast<Manner>(i);
        Trial(u, k, manner, i % 2 == 1, random).compare(*dots, 0, 18, tally);
        Trial(u, k, manner, i % 2 == 0, random).compare(*dots, 5, 14, tally);
        expected += 18 + 9;
      }
    }
  }
  tally.expect(expected);
}

TEST_CASE("dot products by products first: only where products are numbers by themselves") {
  const auto refused = [](const char* text, void (*change)(Unit&)) {
    Unit u = parse_unit(text);
    change(u);
    CAPTURE(to_string(u));
    CHECK_FALSE(paired(u, 10));
  };
  const auto as_it_is = [](Unit&) {};
  CHECK(paired(parse_unit("mac(e5m10)"), 10));
  CHECK_FALSE(paired(parse_unit("mac(e5m10)"), 10, true));
  CHECK_FALSE(paired(parse_unit("mac(e5m10)"), 0));
  for (const char* text :
       {"dot(e5m10, lanes=4, align=24)", "mac(e5m10, product=e5m10:sr3)", "fma(binary64)",
        "mac(e5m10, product=e5m10;daz)", "mac(e11m60)", "dot(e2m1fn, scale=e8m0fnu:32:term)"})
    refused(text, as_it_is);
  refused("dot(e5m10, lanes=4)", [](Unit& u) { u.group_sum.width = 20; });
  refused("mac(e5m10)", [](Unit& u) { u.a.keep_frac = 4; });
  refused("mac(e5m10)", [](Unit& u) { u.b.subnormals = Flush::flush_pos_zero; });
  refused("mac(e5m10)", [](Unit& u) { u.product.round->overflow = Overflow::max; });
  refused("mac(e5m10)", [](Unit& u) { u.product.round->subnormals = Flush::flush_pos_zero; });
  refused("mac(e5m10)", [](Unit& u) { u.product.overflow_to_inf_at = 9; });
}

TEST_CASE("dot products by products first: so many at once as fill lanes and fit a cache") {
  const Unit u = parse_unit("mac(e5m10)");
  CHECK(paired(u, 1)->at_once() == 1 << 19);
  CHECK(paired(u, 1 << 13)->at_once() == 64);
  CHECK(paired(u, 1 << 16)->at_once() == 64);
  CHECK(paired(u, 1 << 17)->at_once() == 32);
  CHECK(paired(u, 1 << 19)->at_once() == 8);
  CHECK(paired(u, (1 << 19) + 1)->at_once() == 0);
}
