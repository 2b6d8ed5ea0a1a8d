#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "edges.hpp"
#include "limb_ways.hpp"
#include "targets.hpp"
#include "tests/turns.hpp"

namespace test_exact_chains {

// Chains of exact sums in limbs against the reference: all products of a block at once.
namespace {

using namespace widthwise;
using namespace tests;

// The ways that take it: lanes of 52-bit limbs have products of up to 309 digits.
std::vector<std::string> ways_for(const Unit& u) {
  std::vector<std::string> all = ways();
  std::erase_if(all, [&](const std::string& way) { return !takes(way, u); });
  REQUIRE(!all.empty());
  return all;
}

class ComparingAll : Comparing {
 public:
  void compare(const Unit& u, std::initializer_list<Rival::Shape> shapes) {
    for (const std::string& way : ways_for(u)) Comparing::compare(way, u, shapes);
  }
};

// Columns of terms, +-2^e or +-3/2 2^e or none, each times one: a dot product a column, so that
// lanes meet different ones.
class Columns {
 public:
  struct Term {
    int sign;  // 0: none
    std::int64_t exponent;
    bool half;
  };
  void add(std::vector<Term> column) { columns_.push_back(std::move(column)); }

  std::size_t size() const { return columns_.size(); }

  // As they are, from the last to the first, and turned: so many times.
  static constexpr std::uint64_t times = 4;
  void compare(const std::string& way, const Unit& u, Tally& tally) const {
    for (const bool reversed : {false, true})
      for (const int turn : {1, -1}) {
        const std::size_t k = columns_.front().size();
        CodeList terms(u.b.fmt, columns_.size() * k);
        for (std::size_t i = 0; i < columns_.size(); ++i)
          for (std::size_t t = 0; t < k; ++t) {
            const Term& x = columns_[i][reversed ? k - 1 - t : t];
            if (x.sign) terms.set(i * k + t, code(u.b.fmt, x, turn));
          }
        const CodeList ones = tests::ones(u.a.fmt, k);
        MatrixProduct p;
        p.m = 1, p.k = k, p.n = columns_.size();
        p.a = ones.rows(k), p.b = terms.rows(k);
        std::swap(p.b.row, p.b.column);
        Rival(way, u, tally, true).compare(p, reversed ? "from the last" : "as they are");
      }
  }

 private:
  static WideCode code(const Format& f, const Term& x, int turn) {
    const WideCode sign = x.sign * turn < 0 ? bit<WideCode>(f.magnitude_bits()) : WideCode{};
    const WideCode fraction = x.half ? bit<WideCode>(f.frac_bits - 1) : WideCode{};
    return sign | WideCode(x.exponent + f.bias) << f.frac_bits | fraction;
  }

  std::vector<std::vector<Term>> columns_;
};

// Compares units on columns, by every way that takes them.
class ComparingColumns {
 public:
  void compare(const Columns& columns, const Unit& u) {
    for (const std::string& way : ways_for(u)) {
      columns.compare(way, u, tally_);
      expected_ += Columns::times * columns.size();
    }
  }
  ~ComparingColumns() { tally_.expect(expected_); }

 private:
  Tally tally_;
  std::uint64_t expected_ = 0;
};

// Eight terms a column, in a few binades or in many; many cancel.
Columns few_terms(ProductRandom& random, int count) {
  Columns columns;
  for (int i = 0; i < count; ++i) {
    std::vector<Columns::Term> column;
    const auto reach = static_cast<std::int64_t>(16) << random() % 7;
    for (int t = 0; t < 8; ++t) {
      const bool same = t > 0 && random() % 3 == 0;  // and likely to cancel
      const auto down =
          same ? column.back().exponent
               : -static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reach));
      column.push_back({random() % 9 ? (random() % 2 ? 1 : -1) : 0, down, random() % 2 == 0});
    }
    columns.add(column);
  }
  return columns;
}

}  // namespace

TEST_CASE("limbs: exact sums of blocks, and of all products") {
  ComparingAll all;
  for (const int p : {2, 24, 63, 64, 65, 113, 127, 128, 129, 192, 193, 310, 385})
    for (const char* mode : {"rne", "rdn"}) {
      const auto unit = [&](const char* text) {
        return parse_unit(fmt::format(fmt::runtime(text), p - 1, mode));
      };
      all.compare(unit("dot(e15m{0}, lanes=4, out=e15m{0}:{1})"), {{2, 3, 9}, {9, 9, 3}});
      all.compare(unit("dot(e15m{0}, out=e15m{0}:{1})"), {{2, 1, 9}, {9, 7, 3}});
      all.compare(unit("kulisch(e8m{0}, out=e8m{0}:{1})"), {{2, 1, 9}, {9, 7, 3}});
    }
  for (const int p : {513, 1023, 1024, 1025, 1088})
    all.compare(parse_unit(fmt::format("dot(e20m{}, lanes=3)", p - 1)), {{2, 7, 3}});
}

TEST_CASE("limbs: exact sums by every rounding, of every number of lanes") {
  ComparingAll all;
  for (const char* mode : {"rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz",
                           "odd", "sr1", "sr13", "sr33:half", "sr60", "sr60:even"})
    for (const int p : {64, 113})
      all.compare(parse_unit(fmt::format("dot(e15m{0}, lanes=3, out=e15m{0}:{1})", p - 1, mode)),
                  {{2, 3, 9}, {3, 7, 4}});
  for (const int lanes : {2, 5, 8, 16, 33, 64, 65, 130})
    all.compare(parse_unit(fmt::format("dot(e15m112, lanes={})", lanes)),
                {{2, 3, 4}, {3, 140, 2}, {1, 64, 3}});
  all.compare(parse_unit("dot(e15m63)"), {{1, 5000, 2}});  // carries between parts along k
}

TEST_CASE("limbs: exact sums of rounded products, promotion, and C at the end") {
  ComparingAll all;
  const auto rounded = [](Unit& u) { u.product.round = Round{.fmt = ieee_format(15, 80)}; };
  const auto drawn = [](Unit& u) {
    u.product.round = Round{.fmt = u.a.fmt, .rm = parse_rounding("sr9")};
  };
  const auto last = [](Unit& u) {
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = ieee_format(15, 80)};
  };
  for (const char* text : {"dot(e15m112, lanes=4)", "dot(e15m63, lanes=3, out=e15m112:rup)",
                           "dot(e15m63)", "dot(binary64, lanes=2, out=e15m112)"})
    for (const auto change : {+rounded, +last})
      all.compare(with(text, change), {{2, 1, 9}, {3, 9, 10}});
  all.compare(with("dot(e15m112, lanes=4)", drawn), {{3, 9, 5}});
  for (const char* text :
       {"dot(e15m112, lanes=4, promote=8:e15m112)", "dot(e15m63, lanes=2, promote=64:e15m150:rdn)",
        "dot(e15m112, lanes=3, promote=3:binary64, c=e8m7)",
        "dot(e15m112, lanes=70, promote=140:e15m112)", "dot(e62m112, lanes=4)",
        "dot(e62m63, lanes=9, out=e62m63:rup)", "dot(e3m66, lanes=4)",
        "dot(e15m112, lanes=4, b=e8m7, c=e11m52, out=e11m52:odd)",
        "dot(e15m63, lanes=4, final=e5m10:rtz)", "kulisch(e11m63, b=e5m10, c=e8m7, out=binary64)"})
    all.compare(parse_unit(text), {{2, 1, 9}, {3, 9, 10}, {1, 150, 2}});
}

// Every place of a limb.
TEST_SUITE("exhaustive") {
  TEST_CASE("limbs: exact sums where carries meet what has left the window") {
    ComparingColumns all;
    for (const int p : {50, 64, 113}) {
      Columns columns;
      // A tie less one digit at place m, and three terms, below that, which together are more.
      for (std::int64_t m = p + 1; m < p + 420; ++m)
        for (const std::int64_t down : {1, 2, 65})
          columns.add({{1, 0, false},
                       {1, -p, false},
                       {-1, -m, false},
                       {1, -m - down, true},
                       {1, -m - down, true},
                       {1, -m - down, true}});
      for (const char* mode : in_turn<const char*>({"rne", "rdn", "rup", "rtz"}, 4))
        for (const char* form :
             {"dot(e15m{0}, lanes=6, out=e15m{0}:{1})", "dot(e15m{0}, lanes=2, out=e15m{0}:{1})",
              "dot(e15m{0}, out=e15m{0}:{1})"}) {
          all.compare(columns, parse_unit(fmt::format(fmt::runtime(form), p - 1, mode)));
        }
    }
  }

  TEST_CASE("limbs: exact sums that stand as low in their window as they may, and lower") {
    ComparingColumns all;
    for (const int p : {64, 113}) {
      Columns columns;
      // As above, anywhere between two limbs, and the window is where a larger number was.
      for (std::int64_t e = 0; e > -64; --e)
        for (const std::int64_t top : {30, 60, 94, 124, 158, 188})
          for (std::int64_t m = p + 50; m < p + 68; ++m)
            columns.add({{1, top, false},
                         {1, e, false},
                         {-1, top, false},
                         {1, e - p, false},
                         {-1, e - m, false},
                         {1, e - m - 1, true},
                         {1, e - m - 1, true},
                         {1, e - m - 1, true}});
      for (const char* form :
           in_turn<const char*>({"dot(e15m{0}, lanes=8)", "dot(e15m{0}, out=e15m{0}:rdn)"}, 2)) {
        all.compare(columns, parse_unit(fmt::format(fmt::runtime(form), p - 1)));
      }
    }
  }

  TEST_CASE("limbs: exact sums that cancel down to what has left the window, and past it") {
    ComparingColumns all;
    for (const int p : {50, 64, 113}) {
      Columns columns;
      for (std::int64_t j = 0; j < 520; j += 9)
        for (const std::int64_t m : {1, 60, 127, 130, 200, 257, 333, 449, 530, 2000}) {
          columns.add(
              {{1, 0, true}, {-1, -m, true}, {1, -j, false}, {-1, 0, true}, {-1, -j, true}});
          columns.add(
              {{1, 0, false}, {1, -m, false}, {-1, 0, false}, {-1, -j, false}, {0, 0, false}});
          columns.add(
              {{-1, -m, true}, {-1, 0, true}, {1, 0, false}, {1, -1, false}, {1, -j, true}});
        }
      for (const char* mode : in_turn<const char*>({"rne", "rdn", "rup", "sr13"}, 4))
        for (const char* form :
             {"dot(e15m{0}, lanes=5, out=e15m{0}:{1})", "dot(e15m{0}, out=e15m{0}:{1})"}) {
          all.compare(columns, parse_unit(fmt::format(fmt::runtime(form), p - 1, mode)));
        }
    }
  }
}

TEST_CASE("limbs: exact sums of few terms at any distance" * doctest::test_suite("unsanitized")) {
  ComparingColumns all;
  ProductRandom random(3);
  for (const int p : {50, 64, 113, 200}) {
    const Columns columns = few_terms(random, 1500);
    for (const char* form : {"dot(e15m{0}, lanes=8)", "dot(e15m{0}, lanes=3, out=e15m{0}:rdn)",
                             "dot(e15m{0}, out=e15m{0}:sr60)", "kulisch(e9m{0}, a=e5m2)"}) {
      all.compare(columns, parse_unit(fmt::format(fmt::runtime(form), p - 1)));
    }
  }
}

TEST_CASE("limbs: sums of terms cut below the largest exponent") {
  ComparingAll all;
  for (const char* mode :
       {"rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"})
    for (const int places : {0, 1, 25, 51, 52, 53, 103, 104, 113, 230})
      all.compare(parse_unit(fmt::format("dot(e15m112, lanes=4, align={}:{})", places, mode)),
                  {{2, 9, 5}});
  for (int places = 2; places < 130; ++places)
    all.compare(parse_unit(fmt::format("dot(e15m63, lanes=3, align={}:rdn)", places)), {{2, 3, 9}});
  for (const int lanes : {1, 2, 5, 8, 33, 63, 64})
    all.compare(parse_unit(fmt::format("dot(e15m112, lanes={}, align=90)", lanes)),
                {{2, 3, 4}, {2, 140, 2}});
  for (const char* text :
       {"dot(binary64, lanes=8, align=70:rtz)", "dot(binary64, lanes=8, align=110, out=e15m112)",
        "dot(e15m112, lanes=4, align=30:rtz, floor=-3)", "dot(e5m10, lanes=16, align=24, floor=-9)",
        "dot(e15m1, lanes=4, align=3:rno)", "dot(e15m63, lanes=4, align=60, out=e15m63:sr13)",
        "dot(e15m63, lanes=4, align=60:rtz, promote=8:e15m112)", "dot(e62m112, lanes=4, align=80)",
        "dot(e15m112, lanes=4, align=80, b=e8m7, c=e11m52, out=e11m52:odd)",
        "dot(e15m300, lanes=2, align=400)", "dot(e15m112, lanes=4, align=230)",
        "dot(e15m112, lanes=4, align=231)", "dot(e10m30, lanes=16, align=70:rdn)",
        "dot(e8m7, lanes=4, align=155:rup)", "dot(e7m8, lanes=8, align=30:rtz, out=e15m63:sr8)",
        "dot(e3m66, lanes=4, align=40)"})
    all.compare(parse_unit(text), {{2, 1, 9}, {3, 9, 10}, {1, 150, 2}});
}

TEST_CASE("limbs: sums of all terms, cut below the largest exponent of any part of them") {
  ComparingAll all;
  for (const char* text :
       {"dot(e15m112, align=90)", "dot(e15m112, align=25:rtz)",
        "dot(e15m63, align=60:rna, floor=3)", "dot(binary64, align=110, out=e15m112)",
        "dot(e8m7, align=30:rdn, out=e15m63:sr8)", "dot(e3m66, align=40, out=e3m40;ftz)",
        "dot(e62m112, align=80:rup)"})
    all.compare(parse_unit(text), {{2, 1, 1}, {3, 64, 9}, {2, 65, 3}, {1, 200, 9}, {130, 129, 1}});
}

TEST_CASE("limbs: sums of few cut terms at any distance" * doctest::test_suite("unsanitized")) {
  ComparingColumns all;
  ProductRandom random(4);
  for (const int p : {50, 64, 113}) {
    const Columns columns = few_terms(random, 1000);
    for (const char* mode : {"rne", "rno", "rtz", "rdn", "raz"})
      for (const int places : {0, 7, 40, 100})
        for (const char* form : {"dot(e15m{0}, lanes=8, align={1}:{2})",
                                 "dot(e15m{0}, lanes=3, align={1}:{2}, out=e15m{0}:rdn)"}) {
          all.compare(columns, parse_unit(fmt::format(fmt::runtime(form), p - 1, places, mode)));
        }
  }
}

namespace {

// 2^exponent or minus that.
WideCode power_of_two(const Format& f, std::int64_t exponent, bool minus) {
  const WideCode sign = minus ? bit<WideCode>(f.magnitude_bits()) : WideCode{};
  return sign | WideCode(exponent + f.bias) << f.frac_bits;
}

// One sum of four products of powers of two by every way, mode and place of the cut.
void compare_cut_far_below(const char* formats, std::array<std::optional<std::int64_t>, 4> of_a,
                           std::array<std::int64_t, 4> of_b) {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* mode : {"rne", "rtz", "rdn", "rup", "raz", "odd"})
    for (int places = 0; places < 130; ++places) {
      const Unit u =
          parse_unit(fmt::format("dot({}, lanes=4, align={}:{})", formats, places, mode));
      CodeList a(u.a.fmt, 4), b(u.b.fmt, 4);
      for (std::size_t i = 0; i < 4; ++i) {
        if (of_a[i]) a.set(i, power_of_two(u.a.fmt, *of_a[i], false));
        b.set(i, power_of_two(u.b.fmt, of_b[i], i % 2 != 0));
      }
      MatrixProduct p;
      p.m = p.n = 1, p.k = 4;
      p.a = a.rows(4), p.b = b.rows(1);
      for (const std::string& way : ways_for(u)) {
        Rival(way, u, tally, true).compare(p, "far below");
        ++expected;
      }
    }
  tally.expect(expected);
}

}  // namespace

TEST_CASE("limbs: terms that are cut as far below the largest exponent as 62 bits reach") {
  // Two large products that cancel, and two of the least that are normal, of both signs.
  constexpr std::int64_t far = std::int64_t{1} << 60;
  compare_cut_far_below("e62m63", {far, far, 1 - far, 1 - far}, {far, far, 1 - far, -far});
}

TEST_CASE("limbs: a zero has no vote on the largest exponent, whatever it is multiplied by") {
  // Its own exponent is the least of all; times the largest number's it is the least normal one's,
  // and the other terms are subnormal.
  constexpr std::int64_t most = (std::int64_t{1} << 61) - 1;
  compare_cut_far_below("e8m7, b=e62m63, out=e62m63", {std::nullopt, std::nullopt, -30, -32},
                        {most, most, 1 - most, 1 - most});
}

TEST_CASE("limbs: exact sums that nobody vouches for, and their neighbours") {
  const Border border("wide");
  const auto promote = [](Unit& u) { u.chain.promote = Promote{4, {.fmt = u.out.fmt}}; };
  border.lies_between("dot(e15m112, lanes=64, align=25)", "dot(e15m112, lanes=65, align=25)");
  border.lies_between("dot(e15m112, lanes=4, align=0)", "dot(e15m112, lanes=4, align=-1)");
  border.lies_between("dot(e15m112, align=25)", promote);
  border.lies_between("dot(e15m63)", promote);
  border.lies_between("dot(e15m63, lanes=4, promote=4:e15m63)", [](Unit& u) { u.lanes = 0; });
  border.lies_between("dot(e15m112, lanes=4, align=9)",
                      [](Unit& u) { u.product.round = Round{.fmt = u.a.fmt}; });
  border.lies_between("dot(e15m112, lanes=4, align=9)",
                      [](Unit& u) { u.group_sum.align.drop_c_below = 4; });
  border.lies_between("dot(e15m112, lanes=4)", [](Unit& u) { u.c_level = CLevel::block; });
  border.lies_between(
      "dot(e15m112, lanes=2)", [](Unit& u) { u.product.round = u.out; },
      [](Unit& u) { u.product.round = u.out, u.chain.compensation = Compensation::kahan; });
  // Roundings that are more than a format and a mode.
  border.lies_between("dot(e5m10, lanes=16, align=25:rtz, c=binary32, out=binary32:rtz)",
                      [](Unit& u) { u.out.zero_sign = ZeroSign::plus; });
  // A register that has the last digit of every term, and one that has not.
  border.lies_between("kulisch(e11m63)", [](Unit& u) { --u.group_sum.align.frac_bits; });
  border.lies_between("kulisch(e11m63)", [](Unit& u) { u.group_sum.width = 9000; });
  CHECK(takes("wide", with("kulisch(e11m63)", [](Unit& u) { ++u.group_sum.align.frac_bits; })));
  if (ways().size() > 1)
    Border("wide52").lies_between("dot(e5m10, lanes=4, align=622)",
                                  "dot(e5m10, lanes=4, align=623)");
}

}  // namespace test_exact_chains
