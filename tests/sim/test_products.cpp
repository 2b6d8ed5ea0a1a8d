#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "dot_text.hpp"
#include "sim/dot/make.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_products {

// Matrix products: memory layouts, parts of the work, carriers, and what is refused.
namespace {

using namespace tests;
using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

// Small enough to look at each output alone; stochastic, so that its place shows.
Unit unit_of_bytes() {
  Unit u = fused(e5m2, 4);
  u.out.rm = Rounding(5, StochasticVariant::plain);
  return u;
}

Bytes random_codes(std::size_t n, Random& random) {
  Bytes codes(n);
  for (auto& x : codes) x = static_cast<std::uint8_t>(random() % 256);
  return codes;
}

std::string hex(const std::vector<std::uint8_t>& codes) {
  std::string text;
  for (std::uint8_t x : codes) {
    text += "0123456789abcdef"[x / 16];
    text += "0123456789abcdef"[x % 16];
  }
  return text;
}

// Row-major operands of an m x k times k x n product of bytes.
struct Matrices {
  std::size_t m, n, k;
  Bytes a, b, c;

  Matrices(std::size_t rows, std::size_t columns, std::size_t length, Random& random)
      : m(rows),
        n(columns),
        k(length),
        a(random_codes(m * k, random)),
        b(random_codes(k * n, random)),
        c(random_codes(m * n, random)) {}

  MatrixProduct plain(Bytes& result) const {
    result.assign(m * n, 0xee);
    MatrixProduct p;
    p.m = m, p.n = n, p.k = k;
    p.a = {a.data(), static_cast<std::ptrdiff_t>(k), 1};
    p.b = {b.data(), static_cast<std::ptrdiff_t>(n), 1};
    p.c = {c.data(), static_cast<std::ptrdiff_t>(n), 1};
    p.result = result.data();
    p.seed = 7;
    return p;
  }

  // Output (i, j) by itself.
  std::string alone(const Unit& u, std::size_t i, std::size_t j) const {
    Bytes row, column;
    for (std::size_t t = 0; t < k; ++t) row.push_back(a[i * k + t]), column.push_back(b[t * n + j]);
    return dot(u, {hex(row), hex(column), hex({c[i * n + j]}), "", "", 7, i * n + j});
  }
};

Bytes transposed(const Bytes& x, std::size_t rows, std::size_t columns) {
  Bytes z(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) z[j * rows + i] = x[i * columns + j];
  return z;
}

Bytes run(const Unit& u, const MatrixProduct& p, const Bytes& result) {
  make_reference(u, p.k)->run(p, 0, p.m);
  return result;
}

}  // namespace

TEST_CASE("a matrix product is its dot products, over more columns than are decoded at a time") {
  Random random(1);
  const Unit u = unit_of_bytes();
  const Matrices x(3, 70, 11, random);
  Bytes result;
  run(u, x.plain(result), result);
  Tally tally;
  for (std::size_t i = 0; i < x.m; ++i)
    for (std::size_t j = 0; j < x.n; ++j) {
      const std::string got = hex({result[i * x.n + j]}), want = x.alone(u, i, j);
      tally.check(got == want, [&] {
        return std::to_string(i) + ", " + std::to_string(j) + ": got " + got + ", want " + want;
      });
    }
  tally.expect(210);
}

TEST_CASE("any strides give the same product: transposed, backwards, out of a larger array") {
  Random random(2);
  const Unit u = unit_of_bytes();
  const Matrices x(5, 6, 9, random);
  Bytes want, got;
  run(u, x.plain(want), want);

  const Bytes a = transposed(x.a, x.m, x.k), b = transposed(x.b, x.k, x.n),
              c = transposed(x.c, x.m, x.n);
  MatrixProduct p = x.plain(got);
  p.a = {a.data(), 1, 5}, p.b = {b.data(), 1, 9}, p.c = {c.data(), 1, 5};
  CHECK(run(u, p, got) == want);

  const Bytes reversed(x.a.rbegin(), x.a.rend());
  p = x.plain(got);
  p.a = {reversed.data() + reversed.size() - 1, -9, -1};
  CHECK(run(u, p, got) == want);

  Bytes wide(5 * 20);
  for (std::size_t i = 0; i < x.m; ++i)
    std::copy_n(x.a.begin() + static_cast<std::ptrdiff_t>(i * 9), 9,
                wide.begin() + static_cast<std::ptrdiff_t>(i * 20 + 3));
  p = x.plain(got);
  p.a = {wide.data() + 3, 20, 1};
  CHECK(run(u, p, got) == want);
}

TEST_CASE("a stride of 0 broadcasts a row, a column or one C") {
  Random random(3);
  Unit u = unit_of_bytes();
  u.out.rm = RoundingMode::rne;
  const Matrices x(4, 4, 6, random);
  Bytes result;
  MatrixProduct p = x.plain(result);
  p.a.row = p.b.column = p.c.row = p.c.column = 0;
  run(u, p, result);
  CHECK(result == Bytes(16, result[0]));
  Matrices first = x;  // its row 0 and column 0
  first.b.clear();
  for (std::size_t t = 0; t < x.k; ++t) first.b.push_back(x.b[t * x.n]);
  first.n = 1;
  CHECK(hex({result[0]}) == first.alone(u, 0, 0));
}

TEST_CASE("without C the sum starts at +0") {
  Random random(4);
  const Unit u = unit_of_bytes();
  Matrices x(3, 3, 5, random);
  Bytes without, with_zeros;
  MatrixProduct p = x.plain(without);
  p.c = {};
  run(u, p, without);
  x.c.assign(9, 0);
  run(u, x.plain(with_zeros), with_zeros);
  CHECK(without == with_zeros);
}

TEST_CASE(
    "results do not depend on how rows are shared out, and rows not asked for stay untouched") {
  Random random(5);
  const Unit u = unit_of_bytes();
  const Matrices x(7, 40, 10, random);
  Bytes whole, parts;
  run(u, x.plain(whole), whole);
  MatrixProduct p = x.plain(parts);
  const auto engine = make_reference(u, x.k);
  engine->run(p, 4, 7);
  CHECK(Bytes(parts.begin(), parts.begin() + 4 * 40) == Bytes(4 * 40, 0xee));
  engine->run(p, 1, 4);
  engine->run(p, 0, 1);
  engine->run(p, 3, 3);
  CHECK(parts == whole);
}

TEST_CASE("a part of a larger array draws the random bits of its place there") {
  Random random(6);
  const Unit u = unit_of_bytes();
  const Matrices x(6, 5, 8, random);
  Bytes whole, lower;
  run(u, x.plain(whole), whole);
  MatrixProduct p = x.plain(lower);
  p.m = 4;
  p.a.data = x.a.data() + 2 * x.k;
  p.c.data = x.c.data() + 2 * x.n;
  p.first_index = 2 * x.n;
  lower.resize(4 * x.n);
  p.result = lower.data();
  CHECK(run(u, p, lower) == Bytes(whole.begin() + 2 * 5, whole.end()));
}

TEST_CASE("columns too long to be decoded many at a time give the same product") {
  Random random(7);
  Unit u = fused(e5m2, 0);
  u.out.fmt = binary32;
  Matrices x(2, 3, 40'000, random);
  for (Bytes* codes : {&x.a, &x.b})
    for (auto& code : *codes) code = static_cast<std::uint8_t>((code & 0x83) | 0x38);  // about 1
  std::vector<float> result(6);
  MatrixProduct p;
  p.m = 2, p.n = 3, p.k = x.k;
  p.a = {x.a.data(), 40'000, 1}, p.b = {x.b.data(), 3, 1};
  p.result = result.data();
  make_reference(u, x.k)->run(p, 0, 2);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;  // sixteenths, exactly
      const auto value = [](std::uint8_t c) {
        return (c & 0x80 ? -1.0 : 1.0) * (4 + (c & 3)) / 4 * 0.5;
      };
      for (std::size_t t = 0; t < x.k; ++t) sum += value(x.a[i * x.k + t]) * value(x.b[t * 3 + j]);
      CHECK(result[i * 3 + j] == static_cast<float>(sum));
    }
}

TEST_CASE("every carrier gives every preset the same bits, flags included") {
  Random random(8);
  Tally tally;
  std::uint64_t compared = 0;
  for (const Preset& preset : presets()) {
    const Unit& u = preset.unit;
    const std::size_t k = u.lanes ? static_cast<std::size_t>(u.lanes) * 2 : 7;
    const Capacity need = capacity(u, static_cast<std::int64_t>(k));
    const auto bytes = [](const Format& f) {
      return static_cast<std::size_t>(item_bytes(f.width()));
    };
    const std::size_t scales = u.scale ? (k + static_cast<std::size_t>(u.scale->block) - 1) /
                                             static_cast<std::size_t>(u.scale->block)
                                       : 0;
    for (int round = 0; round < 20; ++round) {
      const Bytes a = random_codes(k * bytes(u.a.fmt), random),
                  b = random_codes(k * bytes(u.b.fmt), random);
      const Bytes c = random_codes(bytes(u.c.fmt), random), sa = random_codes(scales, random),
                  sb = random_codes(scales, random);
      const auto result = [&](const ReferenceUnit& engine) {
        Bytes d(bytes(result_round(u).fmt));
        std::uint8_t flags = 0;
        MatrixProduct p;
        p.m = p.n = 1;
        p.k = k;
        p.a = {a.data(), 0, 1}, p.b = {b.data(), 1, 0}, p.c = {c.data(), 0, 0};
        if (u.scale) p.scale_a = {sa.data(), 0, 1}, p.scale_b = {sb.data(), 1, 0};
        p.result = d.data(), p.flags = &flags;
        engine.run(p, 0, 1);
        return hex(d) + " " + std::to_string(flags);
      };
      const std::string heap = result(*make_heap(u, k, {}));
      for (const Carriers& c : all_carriers) {
        if (!c.hold(need) || c.make == &make_heap) continue;
        const auto unit = c.make(u, k, {});
        const std::string got = result(*unit);
        tally.check(got == heap, [&] {
          return std::string(preset.name) + ": " + got + " with " + unit->carriers() + ", " + heap;
        });
        ++compared;
      }
    }
  }
  CHECK(compared >= 20 * presets().size());
  tally.expect(compared);
}

TEST_CASE("a group of one lane passes no node: carriers have room for all of its register") {
  Random random(10);
  Tally tally;
  std::uint64_t compared = 0;
  const auto try_unit = [&](const std::string& groups, const std::string& align) {
    const Unit u =
        parse_unit("{a.fmt = \"e4m3fn\", b.fmt = \"e4m3fn\", c.fmt = \"e8m23\", lanes = 5, " +
                   groups + ", group_sum.order = \"sequential\", " + align +
                   "group_sum.node_round.fmt = \"e5m10\", c_level = \"late\", "
                   "out.fmt = \"e8m23\", c_sum.align.reference = \"max_exponent\", "
                   "c_sum.align.frac_bits = 20}");
    for (int round = 0; round < 20; ++round, ++compared) {
      const DotText x{hex(random_codes(5, random)), hex(random_codes(5, random)), "00000000"};
      const Dot dot(u, x);
      const std::string got = dot.run(*make_reference(u, 5)), want = dot.run(*make_heap(u, 5, {}));
      tally.check(got == want, [&] {
        return to_string(u) + " of " + x.a + " and " + x.b + ": " + got + ", want " + want;
      });
    }
  };
  for (const char* groups : {"groups.consecutive = 4", "groups.strided = 3"}) {
    try_unit(groups, "");
    for (const char* reference : {"max_exponent", "fixed_lsb"})
      for (int frac = 0; frac <= 120; frac += 2)
        try_unit(groups, std::string("group_sum.align.reference = \"") + reference +
                             "\", group_sum.align.frac_bits = " + std::to_string(frac) + ", ");
  }
  tally.expect(compared);
}

TEST_CASE("a scaled group that cancelled may lie far from the others: it is zero there, too") {
  const Unit u = parse_unit(
      "{a.fmt = \"e2m1fn\", b.fmt = \"e2m1fn\", c.fmt = \"e8m23\", lanes = 4, "
      "groups.consecutive = 2, c_sum.align.reference = \"max_exponent\", "
      "c_sum.align.frac_bits = 30, c_level = \"late\", out.fmt = \"e8m23\", "
      "scale.fmt = \"e3m2;bias=40;nan=none\", scale.block = 4, scale.apply = \"group\"}");
  CHECK(dot(u, {"2a20", "2220", "00000000", "01", "01"}) == "16800000");  // 1 - 1, and 1 + 0
}

TEST_CASE(
    "codes are the same where flags are not asked for, and a NaN that stays ends a chain early") {
  Random random(9);
  Tally tally;
  std::vector<Unit> units;
  for (const char* text :
       {"mac(e5m2)", "fma(e4m3fn, sum=e5m2)", "kahan(e5m2)", "neumaier(e5m2)", "mac(e5m2fnuz)",
        "mac(e5m2, promote=3:e4m3)", "mac(e5m2, promote=2:e2m3fn)", "mac(e5m2, sum=e2m3fn)",
        "mac(e5m2, final=e3m2fn)", "dot(e5m2, lanes=2, out=e4m3fn)", "mac(e5m2, sum=ue4m3)"})
    units.push_back(parse_unit(text));
  for (std::size_t i = 0; i < 4; ++i)
    units.push_back(
        with(units[i], [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; }));
  for (const Unit& u : units)
    for (int round = 0; round < 10; ++round) {
      const Matrices x(5, 5, 13, random);
      Bytes all, codes;
      Bytes flags(25);
      MatrixProduct with_flags = x.plain(all), without = x.plain(codes);
      with_flags.flags = flags.data();
      const auto unit = make_reference(u, 13);
      unit->run(with_flags, 0, 5);
      unit->run(without, 0, 5);
      tally.check(all == codes, [&] { return to_string(u); });
    }
  tally.expect(10 * units.size());
}

// Sanitized builds have few of them.
TEST_CASE("the least pair of carriers that holds a unit is taken" *
          doctest::test_suite("unsanitized")) {
  const auto carriers = [](std::string_view unit, std::size_t k) {
    return make_reference(parse_unit(unit), k)->carriers();
  };
  CHECK(carriers("hopper.f16.f32", 16) == "magnitudes of 64 bits, codes of 64");
  CHECK(carriers("mac(binary32)", 4) == "magnitudes of 128 bits, codes of 64");
  CHECK(carriers("fma(binary64)", 4) == "magnitudes of 256 bits, codes of 128");
  CHECK(carriers("mac(e15m112)", 4) == "magnitudes of 640 bits, codes of 128");
  CHECK(carriers("mac(e15m112, sum=e15m112:sr13)", 4) == "magnitudes of 640 bits, codes of 256");
  CHECK(carriers("mac(e15m230)", 4) == "magnitudes of 1,280 bits, codes of 256");
  CHECK(carriers("kulisch(binary64)", 4) == "magnitudes on the heap, codes of 4,160 bits");
}

// --- What is refused -----------------------------------------------------------------------------

TEST_CASE("an exact sum past 2^20 bits is refused, with its size and the way out") {
  Unit u = fused(ieee_format(20, 50), 4);
  u.group_sum.order = Order::sequential;
  CHECK_THROWS_WITH_AS(make_reference(u, 4),
                       "unit: its exact sums over k=4 need 2097255 bits, the limit is 1048576; "
                       "align them (align=F:rtz), round their "
                       "nodes, or take formats of fewer exponent bits",
                       std::invalid_argument);
  CHECK_NOTHROW(make_reference(fused(ieee_format(20, 50), 4), 4));  // its gaps are closed
}

TEST_CASE("scales go with a scaled unit and no other") {
  const std::byte code{};
  MatrixProduct p;
  CHECK_THROWS_WITH_AS(check(find_preset("blackwell.mxfp8")->unit, p),
                       "scale_a, scale_b: this unit scales its blocks, give both",
                       std::invalid_argument);
  p.scale_a.data = &code;
  CHECK_THROWS_WITH_AS(check(find_preset("blackwell.mxfp8")->unit, p),
                       "scale_a, scale_b: this unit scales its blocks, give both",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(check(find_preset("hopper.f16.f32")->unit, p),
                       "scale_a, scale_b: this unit has no block scales, give none",
                       std::invalid_argument);
  p.scale_b.data = &code;
  CHECK_NOTHROW(check(find_preset("blackwell.mxfp8")->unit, p));
}

TEST_CASE("a group of lanes with two scales is refused once k is known") {
  Unit u = fused(e5m2, 0);
  u.c_level = CLevel::block;
  u.scale = Scale{e8m0fnu, 4, ScaleApply::group};
  CHECK_NOTHROW(make_reference(u, 4));
  CHECK_THROWS_WITH_AS(make_reference(u, 6),
                       "unit: scale.block: 4 elements a scale, but at k=6 elements 0 and 4 are "
                       "summed in one group before they are scaled; "
                       "take groups that lie inside one scale's elements, or scale.apply = term",
                       std::invalid_argument);
  u.groups = Groups{.consecutive = 2};
  CHECK_NOTHROW(make_reference(u, 6));
  u.chain.lane_permutation = LanePermutation{1, 2};  // 0 2 | 4 1 | 3 5
  CHECK_THROWS_AS(make_reference(u, 6), std::invalid_argument);
}

TEST_CASE("lanes may be dealt to more streams than there are lanes") {
  Unit u = fused(e5m2, 4);
  u.chain.lane_permutation = LanePermutation{3, max_exponent_magnitude};
  CHECK(dot(u, {1, 2, 3}, {1, 1, 1}) == codes(e5m2, {6}));
  u.chain.lane_permutation = LanePermutation{max_exponent_magnitude, 2};
  CHECK(dot(u, {1, 2, 3}, {1, 1, 1}) == codes(e5m2, {6}));
}

TEST_CASE("rows and chain are integers: names that are taken, and listed nowhere") {
  const auto listed = engine_names();
  for (const char* text : {"mac(e5m10, sum=e5m10:rna)", "fma(binary64)"}) {
    const ProductTask task{.unit = parse_unit(text), .k = 16, .flags = true};
    for (const std::string& old : old_engine_names()) {
      CAPTURE(old);
      CHECK(std::ranges::find(listed, old) == listed.end());
      CHECK(opinion(task, old).engine == "integers");
      CHECK(prepare(task, old).engine == "integers");
    }
  }
}

// In which words is an engine's own business.
TEST_CASE("every engine says why it takes a unit or refuses it, and what is too many") {
  const auto all_say_why = [](const Unit& u, bool flags) {
    for (const Opinion& o : opinions({.unit = u, .k = 16, .flags = flags})) {
      CAPTURE(o.engine);
      CHECK_FALSE(o.reason.empty());
    }
  };
  std::vector<Unit> units;
  for (const Preset& preset : presets()) units.push_back(preset.unit);
  for (const char* text : {"mac(e15m112)", "mac(e30m1200)", "kahan(e5m10;zero=no)",
                           "kulisch(e16m10)", "tree(e8m0fnu, fan=100)"})
    units.push_back(parse_unit(text));
  for (const Unit& u : units) {
    CAPTURE(to_string(u));
    for (const bool flags : {false, true}) all_say_why(u, flags);
  }
  const auto all = opinions({.unit = parse_unit("mac(e15m113)"), .k = 1});
  const Opinion& rows = *std::ranges::find(all, "integers", &Opinion::engine);
  CHECK_FALSE(rows.takes);
  CHECK(rows.reason.find("129") != std::string::npos);  // digits
}

}  // namespace test_products
