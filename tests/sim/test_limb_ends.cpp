#include <fmt/format.h>

#include "limb_ways.hpp"
#include "tests/turns.hpp"

namespace test_limb_ends {

// Limbs at the ends of formats: results that are subnormal, come to the least normal number or to
// zero, lie in the top binade or overflow. And sums at the ends of a limb.
namespace {

using namespace widthwise;
using namespace tests;

constexpr const char* modes[] = {"rne", "rna", "rnz", "rnp", "rnm", "rno",      "rtz",
                                 "rdn", "rup", "raz", "odd", "sr3", "sr5:even", "sr9:half"};

CodeList all_codes(const Format& f) {
  const std::size_t count = std::size_t{1} << f.width();
  CodeList x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, i);
  return x;
}
CodeList one(const Format& f) {
  CodeList x(f, 1);
  x.set(0, WideCode(f.bias) << f.frac_bits);
  return x;
}

// Compares every product of two codes, or every sum of a C and a code.
class EveryPair {
 public:
  void products(const Unit& u) {
    const CodeList a = all_codes(u.a.fmt), b = all_codes(u.b.fmt);
    MatrixProduct p = shape(a, b);
    p.a = a.rows(1), p.b = b.rows(p.n);
    compare(u, p);
  }
  void sums(const Unit& u) { sums(u, all_codes(u.c.fmt), all_codes(u.b.fmt)); }
  void sums(const Unit& u, const CodeList& c, const CodeList& b) {
    const CodeList a = one(u.a.fmt);
    MatrixProduct p = shape(c, b);
    p.a = a.rows(1), p.b = b.rows(p.n), p.c = c.rows(1);
    p.a.row = 0, p.c.column = 0;  // the same one in every row, a row's C in every column
    compare(u, p);
  }
  ~EveryPair() { tally_.expect(expected_); }

 private:
  static MatrixProduct shape(const CodeList& rows, const CodeList& columns) {
    MatrixProduct p;
    p.m = rows.size(), p.n = columns.size(), p.k = 1;
    return p;
  }
  void compare(const Unit& u, const MatrixProduct& p) {
    INFO(to_string(u));
    for (const std::string& way : ways()) REQUIRE(takes(way, u));
    expected_ += Rival("", u, tally_).compare_engines(ways(), p);
  }

  Tally tally_;
  std::uint64_t expected_ = 0;
};

// Numbers a limb or two apart, which with others of their exponent cancel down to some limb.
CodeList about_a_limb(const Format& f) {
  const int last = f.frac_bits;
  std::vector<WideCode> fractions{WideCode{}, bit<WideCode>(0), ones<WideCode>(last)};
  for (const int i : {last - 65, last - 64, last - 63, last - 62, last - 1})
    if (i > 0) fractions.push_back(bit<WideCode>(i));
  std::vector<WideCode> all;
  for (const std::int64_t down : {0, 1, 62, 63, 64, 65, 127, 128})
    for (const WideCode& fraction : fractions)
      for (const WideCode& sign : {WideCode{}, bit<WideCode>(f.magnitude_bits())})
        all.push_back(sign | WideCode(f.bias - down) << f.frac_bits | fraction);
  CodeList x(f, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) x.set(i, all[i]);
  return x;
}

Unit unit(const char* form, const char* format, const char* mode) {
  return parse_unit(fmt::format(fmt::runtime(form), format, mode));
}

// What has infinities, a NaN and a number in its top binade, numbers alone, or so by its bias.
constexpr const char* formats[] = {"e3m2", "e3m3;nan=all_ones;inf=no", "e3m1;nan=none;inf=no",
                                   "e4m3;bias=3;overflow=max", "e3m2;nan=all_ones;inf=top"};

const std::vector<const char*> every_mode(std::begin(modes), std::end(modes));

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("limbs: every product of small formats, rounded to any of them") {
    EveryPair all;
    for (const char* format : formats)
      for (const char* mode : in_turn(every_mode, 3))
        for (const char* form :
             {"mac(e3m4, product={}:{}, sum=e9m60)", "fma(e3m4, b=e4m2, sum={}:{})",
              "tree(e3m4, b=e4m2, fan=1, product={}:{}, node=e9m60, sum=e9m60)"})
          all.products(unit(form, format, mode));
  }

  TEST_CASE("limbs: every sum of small formats, rounded to any of them") {
    EveryPair all;
    for (const char* format : formats)
      for (const char* mode : in_turn(every_mode, 3))
        for (const char* form : {"mac(e2m3, b=e4m3, c=e3m4, product=e9m60, sum={}:{})",
                                 "fma(e2m3, b=e4m3, c=e3m4, sum={}:{})",
                                 "dot(e2m3, b=e4m3, c=e3m4, lanes=2, out={}:{})"})
          all.sums(unit(form, format, mode));
  }
}

TEST_CASE("limbs: sums about a limb apart, or that cancel down to one" *
          doctest::test_suite("unsanitized")) {
  EveryPair all;
  for (const int p : {40, 63, 64, 65, 113, 128, 129, 192, 193, 256, 257})
    for (const char* mode : in_turn<const char*>({"rne", "rnz", "rdn", "odd", "sr9:half"}, 2))
      for (const char* form : {"mac(e15m{0}, sum=e15m{0}:{1})", "fma(e15m{0}, sum=e15m{0}:{1})"}) {
        const Unit u = parse_unit(fmt::format(fmt::runtime(form), p - 1, mode));
        const CodeList numbers = about_a_limb(u.b.fmt);
        all.sums(u, numbers, numbers);
      }
}

TEST_CASE("limbs: chains whose results go below the normal numbers and come back") {
  Comparing all;
  for (const std::string& way : ways())
    for (const char* mode : modes)
      for (const char* form :
           {"mac(e4m80, sum=e4m80:{})", "mac(e4m3, product=e3m2:{}, sum=e15m112)",
            "fma(e15m112, sum=e4m3:{})", "kahan(e4m80, sum=e4m60:{})",
            "neumaier(e5m80, sum=e5m9:{})", "tree(e15m112, fan=4, node=e4m3:{}, sum=e15m112)",
            "mac(e15m112, promote=2:e3m30:{0}, final=e4m100)", "dot(e4m80, lanes=3, out=e4m80:{})",
            "dot(e5m80, lanes=4, align=90, out=e5m2:{})", "mac(e4m400, sum=e4m300:{})"})
        all.compare(way, parse_unit(fmt::format(fmt::runtime(form), mode)),
                    {{1, 1, 9}, {2, 12, 9}});
}

TEST_CASE("limbs: a sum of cut terms that is subnormal has its field's vote") {
  // 2^-2 - (2^-2 - 2^-6), a subnormal number, and 2^-4 + 2^-8, of which 2^-8 is cut by its field.
  const Unit u = parse_unit("dot(e3m66, lanes=2, align=4:rtz)");
  const auto number = [](std::uint64_t field, std::uint64_t sixteenths, bool minus) {
    const WideCode sign = minus ? bit<WideCode>(69) : WideCode{};
    return sign | WideCode(field) << 66 | WideCode(sixteenths) << 62;
  };
  CodeList a(u.a.fmt, 4), b(u.b.fmt, 4);
  a.set(0, number(3, 0, false)), b.set(0, number(1, 0, false));
  a.set(1, number(2, 14, true)), b.set(1, number(1, 0, false));
  a.set(2, number(1, 0, false)), b.set(2, number(1, 1, false));
  MatrixProduct p;
  p.m = p.n = 1, p.k = 4;
  p.a = a.rows(4), p.b = b.rows(1);
  Tally tally;
  for (const std::string& way : ways()) Rival(way, u, tally, true).compare(p, "a field's vote");
  tally.expect(ways().size());
}

TEST_CASE("limbs: exact sums of products that were rounded to zero") {
  Comparing all;
  for (const char* mode : modes) {
    Unit u = parse_unit("dot(e15m112, lanes=3)");
    u.product.round = unit("mac(e15m112, product={}:{})", "e3m2", mode).product.round;
    all.compare("wide", u, {{3, 9, 10}, {2, 40, 9}});
  }
}

TEST_CASE("limbs leave outputs to another engine: blocks, rows, parts of them, and some alone") {
  // Rows and columns whose products overflow.
  constexpr struct {
    std::size_t row, row_end, column, column_end;
  } regions[] = {{0, 40, 0, 300}, {4, 40, 0, 300}, {0, 4, 0, 300},    {0, 40, 32, 300},
                 {0, 4, 0, 32},   {4, 9, 0, 32},   {0, 40, 256, 300}, {0, 40, 0, 256},
                 {7, 8, 9, 10},   {0, 40, 0, 40}};
  constexpr std::size_t m = 40, k = 3, n = 300;
  ProductRandom random(52);
  Tally tally;
  std::uint64_t expected = 0;
  for (const std::string& way : ways())
    for (const char* text : {"fma(e4m59)", "mac(e4m20, sum=e4m56:sr5)", "kahan(e5m58)"}) {
      const Unit u = parse_unit(text);
      INFO(way << ' ' << text);
      REQUIRE(takes(way, u));
      for (const auto& at : regions) {
        CodeList a = codes(u.a.fmt, m * k, Manner::about_one, random),
                 b = codes(u.b.fmt, n * k, Manner::about_one, random);
        const CodeList large_a = codes(u.a.fmt, m * k, Manner::overflow, random),
                       large_b = codes(u.b.fmt, n * k, Manner::overflow, random);
        for (std::size_t i = at.row * k; i < at.row_end * k; ++i) a.set(i, large_a[i]);
        for (std::size_t i = at.column * k; i < at.column_end * k; ++i) b.set(i, large_b[i]);
        MatrixProduct p;
        p.m = m, p.k = k, p.n = n;
        p.a = a.rows(k), p.b = b.rows(k);
        std::swap(p.b.row, p.b.column);
        Rival(way, u, tally, true).compare(p, fmt::format("rows from {}", at.row));
        expected += m * n;
      }
    }
  tally.expect(expected);
}

}  // namespace test_limb_ends
