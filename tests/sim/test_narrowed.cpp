#include <cmath>

#include "edges.hpp"
#include "random_units.hpp"
#include "sim/narrowed/recode.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/unit_text.hpp"

// Units with more exponents than a double's, by those with fewer, against the reference.
namespace {

using namespace widthwise;
using namespace tests;
using narrowed::least, narrowed::most, narrowed::Recoding, narrowed::Span, narrowed::Window;

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {3, 33, 67}, {1, 130, 3}};

constexpr const char* units[] = {
    "mac(e15m20)",
    "mac(e12m10, product=e12m10:rtz, sum=e12m20:rup)",
    "fma(e15m10, sum=e15m20:rdn)",
    "fma(e15m20, c=e5m10, sum=e15m20:rna)",
    "mac(e15m20, sum=e15m20:odd)",
    "mac(e5m10, sum=e15m20:sr8)",
    "mac(e15m20, b=e5m10, product=e15m23, sum=e4m3fn)",
    "mac(e15m10, sum=e8m23:raz, final=e15m5:sr9)",
    "mac(e11m40, sum=e15m47)",
    "mac(e40m3)",
    "mac(e15m20;daz;ftz)",
    "tree(e15m10, fan=4, node=e5m10:rup, sum=e15m20)",
    "dot(e15m10, lanes=8, align=13:rtz, out=e15m23:rtz)",
    "dot(e15m10, lanes=4)",
    "mac(e15m10, promote=4:e15m20)",
    "kahan(e15m10, sum=e15m20)",
    "neumaier(e15m10, sum=e15m10:rup)",
    "fixedacc(e5m10, c=e15m10, frac=40, width=70, overflow=saturate, out=e15m20)",
    "{a.fmt = \"e15m10\", a.keep_frac = 4, a.keep_rm = \"raz\", b.fmt = \"e15m10\", "
    "c.fmt = \"e15m7\", c_level = \"late\", lanes = 2, product.exponent = \"normalised\", "
    "group_sum.align.reference = \"max_exponent\", group_sum.align.frac_bits = 9, "
    "group_sum.align.rm = \"rtz\", out.fmt = \"e15m12\", out.post_norm_frac = 20, "
    "chain.c_at = \"last\", chain.c_round.fmt = \"e15m8\", chain.c_round.zero_sign = \"plus\"}",
};

// How a span of one operand's exponents, and 1 for all else, does.
bool holds(const Window& w, const Span& a, const Span& b = {}, const Span& c = {}) {
  return w.holds(a, b, c);
}
Span only(std::int64_t exponent) { return {exponent, exponent}; }

}  // namespace

TEST_CASE("narrowed: the reference's codes and flags, in the window and out of it") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const bool flags : {false, true}) {
      CAPTURE(opinion("narrowed", u, flags).reason);
      REQUIRE(opinion("narrowed", u, flags).takes);
      for (const Rival::Shape& s : shapes) {
        Rival("narrowed", u, tally, flags).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
  }
  tally.expect(expected);
}

TEST_CASE("narrowed: past one tile of rows and columns, in parts, with random bits") {
  ProductRandom random(2);
  Tally tally;
  for (const char* text : {"mac(e15m10, sum=e15m12:sr7)", "mac(e15m10, sum=e8m7:sr7)"}) {
    const Unit u = parse_unit(text);
    const Rival::Shape down{259, 13, 3}, across{2, 3, 515}, wide{3, 13, 7};
    Rival("narrowed", u, tally).compare_random(down, random);
    Rival("narrowed", u, tally).in_tiles(600).compare_random(across, random);
    Rival("narrowed", u, tally).compare_random(wide, random);
  }
  tally.expect(2 * (outputs_compared({259, 13, 3}) + outputs_compared({2, 3, 515}) +
                    outputs_compared({3, 13, 7})));
}

TEST_CASE("narrowed: units of any fields") {
  ProductRandom random(3);
  Tally tally;
  const Rival::Shape shape{2, 19, 9};
  std::uint64_t expected = 0;
  for (int taken = 0; taken < 60;) {
    Unit u = random_units::unit(random);
    for (Format* f : {&u.a.fmt, &u.b.fmt, &u.c.fmt, &u.out.fmt})
      if (random() % 2) *f = ieee_format(11 + static_cast<int>(random() % 30), f->frac_bits % 32);
    if (!random_units::passes(u) || !has_length(u, shape.k) || !opinion("narrowed", u).takes)
      continue;
    CAPTURE(to_string(u));
    Rival("narrowed", u, tally, true).compare_random(shape, random);
    expected += outputs_compared(shape), ++taken;
  }
  tally.expect(expected);
}

TEST_CASE("narrowed: what an operand and a product may be, to the binade") {
  const Window w(parse_unit("mac(e15m20)"), 1);
  CHECK(holds(w, only(least + 40)));  // whose product with 1 ends at 2^least
  CHECK_FALSE(holds(w, {least + 39, 0}));
  CHECK(holds(w, only(-200), only(least + 40 + 200)));
  CHECK_FALSE(holds(w, only(-200), only(least + 39 + 200)));
  CHECK(holds(w, only(0), only(0), only(least + 20)));
  CHECK_FALSE(holds(w, only(0), only(0), only(least + 19)));
  CHECK_FALSE(holds(w, only(least - 1), only(100)));
  CHECK_FALSE(holds(w, only(most), only(-100)));
  CHECK_FALSE(holds(w, only(-100), only(most)));
}

TEST_CASE("narrowed: what a sum may be, to the binade") {
  const auto highest = [](const char* text, std::size_t k, bool of_c) {
    const Window w(parse_unit(text), k);
    std::int64_t e = most;
    while (!holds(w, only(of_c ? 0 : e), {}, only(of_c ? e : 0))) --e;
    return most - e;
  };
  // C below 2^(e + 1), two binades for terms that are added, and one for all roundings' lifts.
  CHECK(highest("mac(e15m20)", 1, true) == 1 + 2 + 1);
  // Products below 2^(e + 2); of 1, one more.
  CHECK(highest("mac(e15m20)", 1, false) == 2 + 1 + 2 + 1);
  CHECK(highest("mac(e15m20)", 255, false) == 2 + 8 + 2 + 1);
  // 2 log2(1 + 2^-7) a rounding: of 257 and one product.
  CHECK(highest("mac(e15m7)", 255, true) == 1 + 2 + 6);
  CHECK(highest("mac(e15m7)", 511, true) == 1 + 2 + 12);
  CHECK(highest("mac(e15m20, promote=1:e15m7)", 255, true) == 1 + 2 + 6);
  // Of 64 blocks of 5 terms.
  CHECK(highest("tree(e15m10, fan=4, node=e15m7, sum=e15m20)", 255, true) == 1 + 2 + 8);
  // Four of them a step, and what a compensation may come to.
  CHECK(highest("kahan(e15m10)", 255, true) == 1 + 2 + (8 + 3) + 3);
  // A least number of 2^401, or 2^495, is what any sum may become.
  const Window far(parse_unit("mac(e15m20, sum=e4m3;bias=-400)"), 1);
  CHECK(holds(far, {}));
  CHECK_FALSE(holds(Window(parse_unit("mac(e15m20, sum=e4m3;bias=-494)"), 255), {}));
  // So is what a register's last digit adds.
  CHECK(holds(Window(parse_unit("fixedacc(e5m10, c=e15m10, frac=-495, width=70, out=e15m20)"), 1),
              {}));
  CHECK_FALSE(holds(
      Window(parse_unit("fixedacc(e5m10, c=e15m10, frac=-505, width=70, out=e15m20)"), 1), {}));
}

TEST_CASE("narrowed: numbers that formats and registers make whatever the operands") {
  const auto held = [](const char* text, std::size_t k = 1) {
    return holds(Window(parse_unit(text), k), {});
  };
  // Largest numbers of formats without infinities, which an infinity becomes.
  CHECK(held("mac(e15m10, product=e9m10;bias=10, sum=e15m20)"));
  CHECK(held("mac(e15m10, product=e9m10;bias=10;inf=no, sum=e15m20)"));
  CHECK_FALSE(held("mac(e15m10, product=e9m10;bias=9;inf=no, sum=e15m20)"));
  CHECK(held("mac(e15m10, product=e9m10;bias=9, sum=e15m20)"));
  // Least numbers, one of every lane that pads a block.
  const auto padded = [](const char* lanes) {
    return std::string("{a.fmt = \"e15m10\", b.fmt = \"e15m10\", c.fmt = \"e15m10\", lanes = ") +
           lanes + ", c_level = \"block\", out.fmt = \"e15m20\", product.round.fmt = " +
           "\"e2m3;zero=no;nan=none;inf=no;bias=-490\"}";
  };
  CHECK(held(padded("511").c_str()));
  CHECK_FALSE(held(padded("512").c_str()));
}

TEST_CASE("narrowed: infinities that become numbers, and padding that does") {
  Tally tally;
  const char* const into_numbers[] = {
      "mac(e15m10, a=e5m10, product=e9m10;bias=0;inf=no;overflow=max, sum=e15m20)",
      "mac(e15m10, a=e5m10, product=e9m10;bias=1;nan=none;inf=no, sum=e15m20)"};
  for (const char* text : into_numbers)
    Rival("narrowed", parse_unit(text), tally, true)
        .compare_doubles(std::vector<double>(4, INFINITY), std::vector<double>(4, 1), 0);
  for (const char* level : {"late", "block"}) {
    const std::string text =
        std::string(
            "{a.fmt = \"e15m10\", b.fmt = \"e15m10\", c.fmt = \"e15m10\", lanes = 4096, "
            "out.fmt = \"e15m20\", product.round.fmt = "
            "\"e2m3;zero=no;nan=none;inf=no;bias=-501\", c_level = \"") +
        level + "\"}";
    Rival("narrowed", parse_unit(text), tally, true).compare_doubles({1}, {1}, 0);
  }
  tally.expect(4);
}

TEST_CASE("narrowed: infinities and NaN among numbers of the window" *
          doctest::test_suite("unsanitized")) {
  std::mt19937_64 random(4);
  Tally tally;
  std::uint64_t outputs = 0;
  const std::vector<double> some{1, -1, 0, -0.0, 1.5, -3, 0x1p-20, INFINITY, -INFINITY, NAN};
  const auto draw = [&](std::size_t n) {
    std::vector<double> all(n);
    for (double& x : all) x = some[random() % 4 == 0 ? random() % some.size() : random() % 7];
    return all;
  };
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (int i = 0; i < 200; ++i, outputs += 2)
      for (const bool flags : {false, true})
        Rival("narrowed", u, tally, flags).compare_doubles(draw(4), draw(4), draw(1)[0]);
  }
  tally.expect(outputs);
}

TEST_CASE("narrowed: numbers at the window's ends, that cancel to their last digits") {
  Tally tally;
  const Unit u = parse_unit("mac(e15m20)");
  std::uint64_t outputs = 0;
  for (const int at : {-530, -491, -490, -489, -300, 300, 500, 508, 509, 510, 511, 600}) {
    CAPTURE(at);
    const auto scaled = [&](double x, int e) { return std::ldexp(x, e); };
    // 1 + 2^-20 and 1 - 2^-20 times 2^at, whose sums cancel, and end at its last digit.
    const double up = scaled(1 + 0x1p-20, at), down = scaled(1 - 0x1p-20, at);
    for (const double c : {0.0, up, -up, down, -down, scaled(1, at)})
      for (const auto& a : {std::vector<double>{up, -down}, {-up, up}, {up, up}, {down, -up}}) {
        Rival("narrowed", u, tally, true).compare_doubles(a, {1, 1}, c);
        ++outputs;
      }
  }
  tally.expect(outputs);
}

TEST_CASE("narrowed: every code of a format is moved, and comes back") {
  for (const char* text : {"e11m4", "e12m3", "e11m3;daz", "ue13m3"}) {
    CAPTURE(text);
    const Format f = parse_format(text), g = narrowed::narrowed(f);
    REQUIRE(g.exp_bits == 10);
    const Layout<std::uint64_t> from(f), to(g);
    const Recoding recoding(f);
    const std::size_t all = std::size_t{1} << f.width();
    std::uint64_t inside = 0;
    for (std::size_t i = 0; i < all; ++i) {
      CodeList code(f, 1);
      code.set(0, i);
      std::vector<std::byte> held, back(8);
      const auto part = recoding.narrow(code.rows(1), 1, 1, held);
      const Factor<std::uint64_t> x = factor(from, std::uint64_t{i});
      if (part.span.lowest < least || part.span.highest > most) continue;
      const int bytes = recoding.narrow_bytes();
      const auto moved =
          load_code<std::uint64_t>(static_cast<const std::byte*>(part.codes.data), bytes);
      const Factor<std::uint64_t> y = factor(to, moved);
      REQUIRE(x.kind() == y.kind());
      REQUIRE(x.negative == y.negative);
      REQUIRE(x.m == y.m);
      if (x.kind() == Kind::finite && x.m != 0) REQUIRE(x.q == y.q);
      recoding.widen(static_cast<const std::byte*>(part.codes.data), 1, back.data());
      REQUIRE(load_code<std::uint64_t>(back.data(), item_bytes(f.width())) == i);
      ++inside;
    }
    // Zeros, 1,022 binades, and one of infinities and NaN.
    CHECK(inside == (f.is_signed() ? 2U : 1U) * (1 + (1023U << f.frac_bits)));
  }
}

TEST_CASE("narrowed refuses what may tell the difference, and nothing less") {
  const Border border("narrowed", false, 64);
  CHECK(opinion("narrowed", parse_unit("mac(e15m10)"), false, 1 << 20).takes);
  CHECK_FALSE(opinion("narrowed", parse_unit("mac(e15m10)"), false, (1 << 20) + 1).takes);
  border.lies_between("mac(e12m51)", "mac(e11m52)");  // whose exponents are a double's
  border.lies_between("fma(e15m10)", "fma(e15m10, scale=e8m0fnu:32:term)");
  border.lies_between("mac(e15m10, sum=e10m10)", "mac(e15m10, sum=e10m10;bias=600)");
  border.lies_between("mac(e15m10, sum=e9m10;bias=501)", "mac(e15m10, sum=e9m10;bias=502)");
  border.lies_between("mac(e15m10, sum=e9m10;bias=0)", "mac(e15m10, sum=e9m10;bias=-1)");
  border.lies_between("mac(e15m10, sum=e15m10)", "mac(e15m10, sum=e15m10;inf=no)");
  border.lies_between("mac(e15m10)", "mac(e15m10;nan=negative_zero)");
  border.lies_between("mac(e15m10)", "mac(e15m10;zero=no)");
  border.lies_between("mac(e15m1)", "mac(e15m0;nan=ieee)");
  border.lies_between("mac(e15m48)", "mac(e15m49)");
  border.lies_between("dot(e15m10, lanes=4, align=9:rtz)", "dot(e15m10, lanes=4, align=9:rdn)");
  border.lies_between("fixedacc(e15m10, frac=510, width=80)",
                      "fixedacc(e15m10, frac=511, width=80)");
  border.lies_between("kahan(e15m4)", "kahan(e15m3)");
  border.lies_between("dot(e15m10, lanes=2)", [](Unit& u) { u.group_sum.width = 60; });
  border.lies_between("dot(e15m10, lanes=2)", [](Unit& u) { u.out.nan_bits = 0x1fffe01; });
}
