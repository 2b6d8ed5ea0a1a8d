#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "dot_text.hpp"
#include "tests/lib/tally.hpp"
#include "tests/oracle/csv.hpp"
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_vectors {

// The reference against recorded answers: directed vectors, and what GPUs gave.
namespace {

using namespace tests;
using oracle::Row;

const std::string data = "tests/data/";

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Engines made once for all rows of the same unit and length.
class Engines {
 public:
  const ReferenceUnit& at(const std::string& name, const Unit& unit, std::size_t k) {
    auto& engine = made_[name + ' ' + std::to_string(k)];
    if (!engine) engine = make_reference(unit, k);
    return *engine;
  }

 private:
  std::map<std::string, std::unique_ptr<ReferenceUnit>> made_;
};

std::string disagreement(const std::string& what, const std::string& got, const std::string& want) {
  return what + ": got " + got + ", want " + want;
}

void check_dot(Tally& tally, const ReferenceUnit& engine, const Dot& dot, const std::string& what,
               const std::string& want) {
  const std::string got = dot.run(engine), traced = dot.at_the_end_of_the_trace(engine);
  tally.check(got == want, [&] { return disagreement(what, got, want); });
  tally.check(traced == want, [&] { return disagreement(what + ", traced", traced, want); });
}

// --- Conversions: one rounding slot, no sums -----------------------------------------------------

using M = Wide<10>;
using Slot128 = RoundingSlot<uint128>;

// num / den down to its 400th digit, what is left below as one more digit.
Term<M> fraction(std::uint64_t num, std::uint64_t den) {
  constexpr int digits = 400;
  Term<M> t = finite_term<M>(false, M(num / den), -digits - 1);
  std::uint64_t rest = num % den;
  for (int i = 0; i < digits; ++i) {
    rest *= 2;
    t.m = t.m << 1 | M(rest >= den ? 1 : 0);
    rest %= den;
  }
  t.m = t.m << 1 | M(rest != 0 ? 1 : 0);
  return t;
}

// The vector files write inf, nan, -0, p/q and hexadecimal integers with a binary exponent.
Term<M> value(std::string text) {
  const bool negative = text[0] == '-';
  if (negative) text.erase(0, 1);
  Term<M> t = finite_term<M>(false, M{}, 0);
  if (text == "inf") {
    t.endless = true;
  } else if (text == "nan") {
    t.endless = t.zero = true;
  } else if (text == "0") {
    t.zero = true;
  } else if (const auto slash = text.find('/'); slash != text.npos) {
    t = fraction(std::stoull(text), std::stoull(text.substr(slash + 1)));
  } else {
    const auto p = text.find('p');
    for (char c : text.substr(2, p - 2))
      t.m = t.m << 4 | M(std::stoi(std::string(1, c), nullptr, 16));
    t.q = std::stoll(text.substr(p + 1));
  }
  t.negative = negative;
  return t;
}

std::string converted(const Round& r, const std::string& text, Where where = {}) {
  Progress progress{where};
  NoTrace trace;
  const uint128 code = rounded(Slot128(Slot::out, r), value(text), 0, progress, trace);
  return oracle::hexadecimal(static_cast<std::uint64_t>(code), r.fmt.width());
}

}  // namespace

TEST_CASE("conversions.csv: a unit's rounding gives every recorded code") {
  Tally tally;
  for (const Row& row : oracle::read_csv(data + "vectors/conversions.csv"))
    for (int m = 0; m < deterministic_modes; ++m) {
      const Rounding mode(static_cast<RoundingMode>(m));
      const Round r{.fmt = parse_format(row.at("format")),
                    .rm = mode,
                    .overflow = parse_overflow(row.at("overflow"))};
      const std::string got = converted(r, row.at("value")), want = row.at(to_string(mode));
      tally.check(got == want, [&] {
        return disagreement(
            row.at("test") + " " + row.at("format") + " " + row.at("value") + " " + to_string(mode),
            got, want);
      });
    }
  tally.expect(484 * deterministic_modes);
}

TEST_CASE("matrix_units.csv: the reference gives every recorded result") {
  Tally tally;
  Engines engines;
  for (const Row& row : oracle::read_csv(data + "vectors/matrix_units.csv")) {
    const std::string& name = row.at("preset");
    const Unit& unit = find_preset(name)->unit;
    const Dot dot(unit,
                  {row.at("A_hex_lane0_first"), row.at("B_hex_lane0_first"), row.at("C_hex")});
    CHECK(dot.k() == std::stoull(row.at("K")));
    check_dot(tally, engines.at(name, unit, dot.k()), dot, row.at("test") + " " + name,
              row.at("D_hex_expected"));
  }
  tally.expect(2 * 693);
}

TEST_CASE("matrix_units_scaled.csv: the reference gives every recorded result") {
  Tally tally;
  Engines engines;
  for (const Row& row : oracle::read_csv(data + "vectors/matrix_units_scaled.csv")) {
    const std::string& name = row.at("preset");
    const Unit& unit = find_preset(name)->unit;
    const Dot dot(unit, {row.at("A_hex"), row.at("B_hex"), row.at("C_hex"), row.at("SA_hex"),
                         row.at("SB_hex")});
    CHECK(dot.k() == std::stoull(row.at("K")));
    check_dot(tally, engines.at(name, unit, dot.k()), dot, row.at("test") + " " + name,
              row.at("D_hex_expected"));
  }
  tally.expect(2 * 19);
}

TEST_CASE("stochastic.csv: every slot draws its own bits, elementwise rounding too") {
  Tally tally;
  Engines engines;
  std::map<std::string, Unit> units;
  for (const NamedUnit& u : units_from_toml(text_of(data + "units/stochastic.toml")))
    units[u.name] = u.unit;
  for (const Row& row : oracle::read_csv(data + "vectors/stochastic.csv")) {
    const std::uint64_t seed = std::stoull(row.at("seed"), nullptr, 16);
    const std::uint64_t index = std::stoull(row.at("index"), nullptr, 16);
    const std::string& name = row.at("unit");
    if (!name.empty()) {
      const Unit& unit = units.at(name);
      const Dot dot(unit, {row.at("A"), row.at("B"), row.at("C"), "", "", seed, index});
      check_dot(tally, engines.at(name, unit, dot.k()), dot, row.at("test") + " " + name,
                row.at("D"));
      continue;
    }
    const Round r{.fmt = parse_format(row.at("format")), .rm = parse_rounding(row.at("rounding"))};
    const std::string got = converted(r, row.at("value"), {seed, index});
    tally.check(got == row.at("D"), [&] { return disagreement(row.at("test"), got, row.at("D")); });
  }
  tally.expect(65 + 2 * 61);
}

bool is_of_silicon(const Preset& p) {
  return p.evidence == Evidence::silicon || p.evidence == Evidence::but_floor;
}

// Whether some sum of least products would be cut otherwise from that floor on.
bool shows_floor(const Unit& u, std::int64_t floor) {
  const auto last = [](const Format& f) { return f.emin() - f.frac_bits; };
  return floor > u.a.fmt.emin() + u.b.fmt.emin() &&
         floor - u.group_sum.align.frac_bits > last(u.a.fmt) + last(u.b.fmt);
}

TEST_CASE("silicon: no recorded output depends on a floor, and the evidence says so") {
  std::uint64_t outputs = 0, changed = 0;
  for (const Row& set : oracle::read_csv(data + "silicon/index.csv"))
    for (const int by : {-8, -1, 1, 8}) {
      Unit moved = find_preset(set.at("unit"))->unit;
      *moved.group_sum.align.e_floor += by;
      Engines engines;
      for (const Row& row : oracle::read_csv(data + "silicon/" + set.at("file"))) {
        const Dot dot(moved, {row.at("a"), row.at("b"), row.at("c")});
        changed += dot.run(engines.at(set.at("unit"), moved, dot.k())) != row.at("d");
        ++outputs;
      }
    }
  CHECK(outputs == 4 * 12'000);
  CHECK(changed == 0);
  std::uint64_t doubtful = 0;
  for (const Preset& preset : presets()) {
    if (!is_of_silicon(preset)) continue;
    // wgmma has no floor that a sum could show; that it has not mma's is one model's word.
    const bool is_doubtful = preset.name == "hopper.wgmma.f16.f16" ||
                             shows_floor(preset.unit, *preset.unit.group_sum.align.e_floor + 1);
    CAPTURE(preset.name);
    CHECK((preset.evidence == Evidence::but_floor) == is_doubtful);
    doubtful += is_doubtful;
  }
  CHECK(doubtful == 14);
}

TEST_CASE("silicon: the reference gives what each GPU gave, on all 12,000 recorded vectors") {
  Tally tally;
  Engines engines;
  std::uint64_t files = 0;
  for (const Row& set : oracle::read_csv(data + "silicon/index.csv")) {
    ++files;
    const std::string& name = set.at("unit");
    const Unit& unit = find_preset(name)->unit;
    CHECK(is_of_silicon(*find_preset(name)));
    for (const Row& row : oracle::read_csv(data + "silicon/" + set.at("file"))) {
      const Dot dot(unit, {row.at("a"), row.at("b"), row.at("c")});
      check_dot(tally, engines.at(name, unit, dot.k()), dot, set.at("file"), row.at("d"));
    }
  }
  CHECK(files == 48);
  tally.expect(2 * 12'000);
}

TEST_CASE(
    "silicon: a preset is checked where it comes of a GPU that gave results, and nowhere else") {
  const std::vector<Row> sets = oracle::read_csv(data + "silicon/index.csv");
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const auto is_source = [&](const Row& set) {
      return preset.source.find(set.at("gpu")) != std::string_view::npos;
    };
    CHECK(is_of_silicon(preset) == std::ranges::any_of(sets, is_source));
  }
}

}  // namespace test_vectors
