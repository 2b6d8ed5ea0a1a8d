#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "edges.hpp"
#include "sim/integers/row_kernels.hpp"
#include "sim/integers/row_plan.hpp"
#include "targets.hpp"
#include "widthwise/sim/unit_text.hpp"

// How rows of integers add: where carriers and registers end, and what is lost.
using namespace widthwise;
using namespace tests;

namespace {

// A power of two as operands lie in memory.
struct Power {
  std::int64_t exponent;
  bool zero = false;
};

// Whether rows of two words leave the sum of two products x 1 and y 1 and of C, all of them powers
// of two in e9m10, to the reference.
bool is_lost(const Unit& u, const Power& x, const Power& y, const Power& c = {-254, true},
             const rows::Widths& widths = {1, 2}) {
  const auto words = [](const Power& p) {
    const auto q = static_cast<std::uint64_t>(p.exponent - 10);
    return std::array<std::uint64_t, 4>{p.zero ? 0u : 1u << 10, q, q + 10,
                                        p.zero ? unsigned{rows::zero} : 0u};
  };
  constexpr std::size_t columns = rows::most_columns;
  std::vector<std::uint64_t> a(8), b(8 * columns), addend(4 * columns), code(columns),
      flags(columns), lost(columns);
  for (std::size_t i = 0; i < 4; ++i) {
    a[i] = words(x)[i], a[4 + i] = words(y)[i];
    for (std::size_t j = 0; j < columns; ++j) {
      b[i * columns + j] = b[(4 + i) * columns + j] = words({0})[i];
      addend[i * columns + j] = words(c)[i];
    }
  }
  rows::kernel(widths)(u, {.a = a.data(),
                           .scale_a = nullptr,
                           .b = b.data(),
                           .scale_b = nullptr,
                           .c = addend.data(),
                           .scale_of = nullptr,
                           .rows = 1,
                           .columns = columns,
                           .panel = columns,
                           .lanes = 2,
                           .scales = 0,
                           .first = 0,
                           .total = 2,
                           .chains = nullptr,
                           .code = code.data(),
                           .flags = flags.data(),
                           .lost = lost.data(),
                           .seed = 0,
                           .index = 0,
                           .next_row = columns,
                           .codes_only = false});
  CHECK(std::ranges::adjacent_find(lost, std::not_equal_to{}) == lost.end());
  return lost[0] != 0;
}

Unit two_products(const std::string& more) {
  return parse_unit(R"({a.fmt = "e9m10", b.fmt = "e9m10", c.fmt = "e9m10", lanes = 2, )"
                    R"(c_level = "group", out.fmt = "e9m10")" +
                    more + "}");
}

}  // namespace

TEST_CASE("rows leave to the reference what two words have no room for, and nothing else") {
  on_every_target([] {
    // Of 126 digits two are for carries of three terms, and 22 are a product's.
    const Unit exact = two_products("");
    CHECK_FALSE(is_lost(exact, {102}, {0}));
    CHECK(is_lost(exact, {103}, {0}));
    CHECK_FALSE(is_lost(exact, {103}, {0, true}));   // zeros have no place
    CHECK_FALSE(is_lost(exact, {112}, {112}, {0}));  // C has ten digits less
    CHECK(is_lost(exact, {113}, {113}, {0}));
    for (const int frac_bits : {122, 123}) {
      const Unit window = two_products(fmt::format(
          R"(, group_sum.align.reference = "max_exponent", group_sum.align.frac_bits = {})",
          frac_bits));
      CHECK(is_lost(window, {5}, {-80}) == (frac_bits > 122));
    }
    for (const char* overflow : {"wrap", "saturate"}) {
      const Unit fixed = two_products(fmt::format(
          R"(, group_sum.align.reference = "fixed_lsb", group_sum.align.frac_bits = 20, )"
          R"(group_sum.width = 90, group_sum.overflow = "{}")",
          overflow));
      CHECK_FALSE(is_lost(fixed, {102}, {0}));
      CHECK(is_lost(fixed, {103}, {0}) == (overflow == std::string("saturate")));
    }
    // The last digit is C's, a zero's, at 2^-264; the register holds what lies 3 digits above.
    const Unit wide = two_products(", group_sum.width = 130");
    CHECK_FALSE(is_lost(wide, {-241}, {-241}));
    CHECK(is_lost(wide, {-240}, {-240}));
    CHECK(is_lost(two_products(", group_sum.width = 100"), {0}, {0}) == false);  // it wraps
    // Two that a rounding follows: of 60 digits it sees all, whatever lies below.
    for (const int digits : {57, 58}) {
      const Unit node = two_products(fmt::format(
          R"(, group_sum.order = "sequential", group_sum.node_round.fmt = "e9m{}")", digits));
      CHECK(is_lost(node, {100}, {0}, {0}, {1, 1}) == (digits > 57));
      CHECK_FALSE(is_lost(node, {100}, {0}, {0}, {1, 2}));
    }
  });
}

namespace {

// Doubles that are zeros or normal numbers of the format.
CodeList codes_of(const Format& f, std::initializer_list<double> numbers) {
  CodeList all(f, numbers.size());
  std::size_t i = 0;
  for (const double x : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t field = (bits >> 52 & 0x7ff) + static_cast<std::uint64_t>(f.bias) - 1023;
    const std::uint64_t of_double = bits & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t fraction =
        f.frac_bits > 52 ? of_double << (f.frac_bits - 52) : of_double >> (52 - f.frac_bits);
    const std::uint64_t magnitude = x == 0 ? 0 : field << f.frac_bits | fraction;
    all.set(i++, (bits >> 63) << f.magnitude_bits() | magnitude);
  }
  return all;
}

// One block of these products onto nothing, each by two such scales if the unit has some.
void compare_block(const std::string& text, std::initializer_list<double> a,
                   std::initializer_list<double> b, Tally& tally, double scale = 1) {
  CAPTURE(text);
  const Unit u = parse_unit(text);
  const CodeList x = codes_of(u.a.fmt, a), y = codes_of(u.b.fmt, b),
                 scales = codes_of(u.scale ? u.scale->fmt : u.a.fmt, {scale, scale});
  MatrixProduct p;
  p.m = p.n = 1, p.k = a.size(), p.a = x.rows(p.k), p.b = y.rows(1);
  if (u.scale) {
    p.scale_a = scales.rows(p.k / static_cast<std::size_t>(u.scale->block));
    p.scale_b = scales.rows(1);
  }
  REQUIRE(opinion("integers", u, true, p.k).takes);
  Rival("integers", u, tally, true).compare(p, "one block");
}

}  // namespace

TEST_CASE("rows place the last digits of exact sums where registers see them") {
  Tally tally;
  const auto formats = [](const char* f) {
    return fmt::format(R"({{a.fmt = "{0}", b.fmt = "{0}", c.fmt = "{0}", out.fmt = "{0}", )"
                       R"(lanes = 4, c_level = "late", )",
                       f);
  };
  // Nodes of a fused sum do not round.
  compare_block(formats("e9m10") + R"(groups.consecutive = 2, group_sum.node_round.fmt = "e9m10", )"
                                   R"(block_sum.width = 24})",
                {0x1p40, 0, 0x1p40, 0}, {1, 0, 1, 0}, tally);
  // The first two terms' sum is a multiple of more than the zero's last digit.
  const double high = 0x1.8p66, near = 0x1.00000004p67;
  for (const char* overflow : {"wrap", "saturate", "flag"})
    compare_block(formats("e9m30") + fmt::format(R"(group_sum.order = "sequential", )"
                                                 R"(group_sum.width = 200, )"
                                                 R"(group_sum.overflow = "{}"}})",
                                                 overflow),
                  {high, 0, -high, 0x1.8p103}, {near, 0, near, 0x1.8p103}, tally);
  // No node rounds the last product: its sum lies at the register's last digit.
  for (const char* overflow : {"wrap", "saturate", "flag"})
    compare_block(
        fmt::format(R"({{a.fmt = "e5m2", b.fmt = "e5m2", c.fmt = "e5m2", lanes = 3, )"
                    R"(groups.consecutive = 2, group_sum.order = "sequential", )"
                    R"(group_sum.align.reference = "fixed_lsb", group_sum.align.frac_bits = 20, )"
                    R"(group_sum.node_round.fmt = "e5m2", block_sum.width = 12, )"
                    R"(block_sum.overflow = "{}", c_level = "late", out.fmt = "e8m23"}})",
                    overflow),
        {1, 1, 1}, {1, 1, 1}, tally);
  // A window that ends further from C's than a carrier is long.
  for (const int frac : {127, 130, 200})
    compare_block(formats("e9m10") + fmt::format(R"(c_sum.align.reference = "max_exponent", )"
                                                 R"(c_sum.align.rm = "raz", )"
                                                 R"(late_frac.F_sum = 0, late_frac.F_C = {}}})",
                                                 frac),
                  {1, 1, 0x1p-90, 0}, {1, -1, 1, 0}, tally);
  // A register that is longer than a carrier has a top, too.
  for (const char* overflow : {"wrap", "saturate", "flag"})
    compare_block(fmt::format("fixedacc(e5m10, width=150, frac=150, overflow={})", overflow),
                  {1.5, 1}, {1, 1}, tally);
  tally.expect(13);
}

TEST_CASE("rows pass infinite groups on: no register or node beside them raises a flag") {
  Tally tally;
  for (const char* sums :
       {R"(block_sum.align.reference = "fixed_lsb", block_sum.width = 4, )"
        R"(block_sum.overflow = "flag")",
        R"(block_sum.order = "sequential", block_sum.node_round.fmt = "e2m1fn")",
        // Infinite before they are scaled.
        R"(group_sum.order = "sequential", group_sum.node_round.fmt = "e3m2")"}) {
    CAPTURE(sums);
    const Unit u = parse_unit(
        fmt::format(R"({{a.fmt = "e3m2", b.fmt = "e3m2", c.fmt = "e3m3", lanes = 4, )"
                    R"(groups.consecutive = 2, c_level = "block", out.fmt = "e3m4", )"
                    R"(scale.fmt = "e3m2", scale.block = 2, scale.apply = "group", {}}})",
                    sums));
    const CodeList six = codes_of(u.a.fmt, {6, 6, 6, 6});
    CodeList one = codes_of(u.scale->fmt, {1, 1}), infinite_one = one;
    infinite_one.set(0, 0x1c);
    MatrixProduct p;
    p.m = p.n = 1, p.k = 4, p.a = six.rows(4), p.b = six.rows(1);
    p.scale_a = infinite_one.rows(2), p.scale_b = one.rows(1);
    Rival("integers", u, tally, true).compare(p, "infinity and 72");
  }
  tally.expect(3);
}

TEST_CASE("rows lose a group sum of more digits than its scales leave room for") {
  // Times two scales of 24 digits: of 128 digits only the lower ones would be left.
  Tally tally;
  const std::string scaled =
      R"({a.fmt = "e9m10", b.fmt = "e9m10", c.fmt = "e9m10", out.fmt = "e9m10", )"
      R"(scale.fmt = "e3m23", scale.block = 2, scale.apply = "group", groups.consecutive = 2, )";
  compare_block(scaled + R"(lanes = 2, c_level = "block"})", {0x1p45, 1}, {0x1p45, 1}, tally);
  // By three digits; what is left would be short again.
  compare_block(scaled + R"(lanes = 2, c_level = "block"})", {0x1.dp30, 1}, {0x1p30, 1}, tally,
                1.5);
  // One product beside a zero, whose last digit a register shows: all digits left would be zeros.
  compare_block(scaled + R"(lanes = 4, block_sum.width = 200, c_level = "late"})",
                {0x1p42, 0, 0, 0}, {0x1p42, 1, 1, 1}, tally, 1.5);
  tally.expect(3);
}

TEST_CASE("rows let a product's last digit break a tie, however far below") {
  // (1 + t)(1 - t + t^2) = 1 + t^3: half a last digit of the sum, and one past all 125 digits.
  const double t = 0x1p-26;
  Tally tally;
  for (const char* out : {"e11m45", "e11m46", "e11m47"})
    Rival("integers",
          parse_unit(fmt::format(R"({{a.fmt = "binary64", b.fmt = "binary64", c.fmt = "binary64", )"
                                 R"(lanes = 1, c_level = "late", out.fmt = "{}"}})",
                                 out)),
          tally, true)
        .compare_doubles({1 + t}, {std::ldexp(1 - t + t * t, -47)}, 1);
  tally.expect(3);
}

TEST_CASE("rows promote to a register of more digits than two terms with a jammed one may have") {
  // Of 123 digits, and far above what comes after: two words do not hold the sum.
  const Unit u = parse_unit("fma(e9m10, promote=1:e5m122)");
  const rows::Widths w = rows::plan(u, 2).widths;
  REQUIRE(fmt::format("{} {}", w.code_words, w.magnitude_words) == "2 2");
  Tally tally;
  Rival("integers", u, tally, true).compare_doubles({0x1p7, 0x1p-100}, {0x1p7, 0x1p-100}, 0);
  tally.expect(1);
}

TEST_CASE("rows keep the signs of zero sums beside a NaN") {
  const Unit u = parse_unit("fma(e5m57, sum=e5m57:rdn)");
  Tally tally;
  const CodeList a = codes_of(u.a.fmt, {1}), c = codes_of(u.c.fmt, {0});
  CodeList b = codes_of(u.b.fmt, {0, 0, 1});
  b.set(1, std::uint64_t{0x1f} << 57 | 1);
  MatrixProduct p;
  p.m = p.k = 1, p.n = 3, p.a = a.rows(1), p.b = b.rows(1), p.c = {c.rows(1).data, 0, 0};
  Rival("integers", u, tally, true).compare(p, "+0, NaN and 1");
  tally.expect(3);
}

namespace {

// 2^exponent times 1 and a fraction.
WideCode code_of(const Format& f, bool negative, int exponent, const WideCode& fraction) {
  const WideCode field(static_cast<std::uint64_t>(exponent + f.bias));
  return (WideCode(negative ? 1 : 0) << (f.width() - 1)) + (field << f.frac_bits) + fraction;
}
// Fractions of one and many digits: what is added to ties, cancels, or carries.
std::vector<WideCode> fractions(const Format& f) {
  const WideCode one(1), half = one << (f.frac_bits - 1);
  return {WideCode(0), one, half, half + one, (half << 1) - one};
}

// Every distance of a product from C, on both sides of where the rounding looks, of both signs.
std::uint64_t compare_distances(const Unit& u, int farthest, Tally& tally) {
  const Format &f = u.a.fmt, &sum = u.c.fmt;  // which is that of the sums
  const std::vector<WideCode> of_products = fractions(f), of_sums = fractions(sum);
  MatrixProduct p;
  p.k = 1, p.m = of_products.size();
  p.n = 2 * of_products.size() * static_cast<std::size_t>(2 * farthest + 1);
  const int base = static_cast<int>(sum.emin()) + 1;  // from where C has room above it
  CodeList a(f, p.m), b(f, p.n), c(sum, 2 * of_sums.size());
  for (std::size_t i = 0; i < p.m; ++i) a.set(i, code_of(f, false, 0, of_products[i]));
  for (std::size_t j = 0; j < p.n; ++j) {
    const int distance = static_cast<int>(j / 2 / of_products.size()) - farthest;
    b.set(j, code_of(f, j % 2 != 0, base + distance, of_products[j / 2 % of_products.size()]));
  }
  for (std::size_t i = 0; i < 2 * of_sums.size(); ++i)
    c.set(i, code_of(sum, i % 2 != 0, base, of_sums[i / 2]));
  p.a = a.rows(1), p.b = b.rows(p.n);
  for (std::size_t i = 0; i < 2 * of_sums.size(); ++i) {
    p.c = {c.rows(1, i).data, 0, 0};
    Rival("integers", u, tally).everywhere().compare(p, fmt::format("C {}", i));
  }
  return 2 * of_sums.size() * p.m * p.n * Rival::times_everywhere();
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("rows add two at every distance: sums that tie, cancel, or come next to either") {
    Tally tally;
    std::uint64_t expected = 0;
    const auto compare = [&](const Unit& u, const char* widths, int farthest) {
      CAPTURE(to_string(u));
      const rows::Widths w = rows::plan(u, 1).widths;
      REQUIRE(fmt::format("{} {}", w.code_words, w.magnitude_words) == widths);
      expected += compare_distances(u, farthest, tally);
    };
    for (int mode = 0; mode < deterministic_modes; ++mode) {
      const Rounding rm(static_cast<RoundingMode>(mode));
      for (const char* text :
           {"fma(e9m28, c=e5m57, sum=e5m57)", "fma(e9m28, c=e6m56, sum=e6m56)"}) {
        Unit u = parse_unit(text);
        u.out.rm = rm;
        compare(u, "1 1", 70);
      }
      Unit two = parse_unit("fma(e9m60, c=e6m120, sum=e6m120)");
      two.out.rm = rm;
      if (mode % 3 == 0) compare(two, "2 2", 134);
      Unit cut = parse_unit("fma(e9m28, c=e6m30, sum=e6m30)");
      cut.out.post_norm_frac = 57, cut.out.post_norm_rm = rm;
      compare(cut, "1 1", 70);
    }
    for (const char* rm : {"sr34", "sr34:half", "sr34:even"})
      compare(parse_unit(fmt::format("fma(e9m28, c=e6m23, sum=e6m23:{})", rm)), "1 1", 70);
    tally.expect(expected);
  }
}

TEST_CASE("rows add C to a sum of more digits than two terms with a jammed one may have") {
  // Six products of all their digits and one far below; C takes the six off again. With 126 digits
  // the last one, which the result has, is one too many.
  const Unit u =
      parse_unit(R"({a.fmt = "binary64", b.fmt = "binary64", c.fmt = "binary64", lanes = 7, )"
                 R"(c_level = "late", out.fmt = "e11m112"})");
  Tally tally;
  for (const int e : {15, 16, 17, 18}) {
    const double x = 1.9375, large = std::ldexp(x, e), small = 1 + 0x1p-52;
    Rival("integers", u, tally, true)
        .compare_doubles({large, large, large, large, large, large, small},
                         {x, x, x, x, x, x, small}, -6 * x * large);
  }
  tally.expect(4);
}

TEST_CASE("rows are as wide as what they cannot split, and no wider") {
  const auto widths = [](const char* text) {
    const rows::Answer x = rows::plan(parse_unit(text), 64);
    return x.takes ? fmt::format("{} {}", x.widths.code_words, x.widths.magnitude_words) : "none";
  };
  CHECK(widths("hopper.f16.f32") == "1 1");
  CHECK(widths("mac(binary32)") == "1 1");
  CHECK(widths("mac(e11m52)") == "1 2");
  CHECK(widths("fma(e9m29, sum=e5m57)") == "1 1");
  CHECK(widths("fma(e9m30, sum=e5m57)") == "1 2");
  CHECK(widths("fma(e9m29, sum=e4m58)") == "1 2");
  CHECK(widths("fma(e9m3, sum=e9m23:sr34)") == "1 1");
  CHECK(widths("fma(e9m3, sum=e9m23:sr35)") == "1 2");
  CHECK(widths("fma(e9m3, sum=e9m10, promote=4:e5m57)") == "1 1");
  CHECK(widths("fma(e9m3, sum=e9m10, promote=4:e4m58)") == "1 2");
  CHECK(widths("kahan(e9m28, sum=e5m57)") == "1 1");
  CHECK(widths("tree(e9m28, fan=4, node=e5m57, sum=e5m57)") == "1 1");
  CHECK(widths("fma(e5m57)") == "1 2");
  CHECK(widths("fma(e5m58, sum=e5m10)") == "1 2");
  CHECK(widths("fma(e5m59)") == "2 2");
  CHECK(widths("fma(binary128)") == "2 4");
  CHECK(widths("fma(e3m3, scale=e3m98:4:term)") == "2 4");
}

TEST_CASE("rows refuse what they cannot compute, and nothing less") {
  const Border border([](const Unit& u) { return rows::plan(u, 64).takes; });
  border.lies_between("mac(e15m112)", "mac(e15m113)");
  border.lies_between("fma(e15m112, scale=e3m13:4:term)", "fma(e15m112, scale=e3m14:4:term)");
  border.lies_between("mac(e54m3)", "mac(e55m3)");
  border.lies_between("mac(e5m10;bias=18014398509481984)", "mac(e5m10;bias=18014398509481985)");
  border.lies_between("kulisch(e18m10)", "kulisch(e19m10)");  // past what any engine adds
  CHECK(rows::plan(parse_unit("kulisch(e5m10)"), 4096).takes);
  CHECK_FALSE(rows::plan(parse_unit("kulisch(e5m10)"), 4097).takes);
  border.lies_between("dot(e15m112, lanes=511)", "dot(e15m112, lanes=512)");  // 254 and 256 digits
  CHECK(rows::plan(parse_unit("fma(e5m10)"), 1'000'000).takes);
}
