// Kills: datapath/align.hpp datapath/block.hpp datapath/chain.hpp datapath/compensation.hpp
// Kills: datapath/gaps.hpp datapath/magnitude.hpp datapath/operand.hpp datapath/product.hpp
// Kills: datapath/register.hpp datapath/rounding_slot.hpp datapath/sum.hpp datapath/term.hpp
// Kills: round.hpp rounder.hpp
// Reads: tests/oracle/dpu_blocks.py 10000 1
// Flags: -fsanitize=shift -fno-sanitize-recover=all
// Flags: build/tests/sim/libdot_text.a build/tests/sim/libproducts.a build/tests/oracle/libwalk.a
// Flags: build/tests/sim/librandom_units.a build/sim/libwidthwise.a
// Flags: -lfmt -lhwy -ltomlplusplus
#define DOCTEST_CONFIG_IMPLEMENT  // operands that are drawn come with tests
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "sim/dot/big.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/dot/reference.hpp"
#include "tests/oracle/csv.hpp"
#include "tests/sim/closing_gaps.hpp"
#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "tests/sim/traced_units.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/running.hpp"
#include "widthwise/sim/unit_text.hpp"

// Exits at the first dot product that differs from what dpu_ref.py, the recorded vectors, a trace
// by hand or, of units and operands drawn, the build's own reference says. Only the engine is
// compiled from the tree under test; the libraries that read units and operands are the build's.
namespace {

using namespace tests;

// Pairs of carriers of their own: the build's engines, which nobody has changed, are other classes.
using Small = UnitOver<uint128, uint128>;
using Large = UnitOver<Wide<11>, uint128>;
using Boundless = UnitOver<Big, Wide<3>>;

void demand(bool good, const char* what) {
  if (good) return;
  std::printf("%s: not as it was\n", what);
  std::exit(1);
}

class Engines {
 public:
  // Null where codes are too long for the carriers.
  const ReferenceUnit* at(const std::string& name, const Unit& unit, std::size_t k) {
    auto [place, is_new] = made_.try_emplace(name + ' ' + std::to_string(k));
    if (is_new) {
      const Capacity need = capacity(unit, static_cast<std::int64_t>(k));
      if (need.magnitude_bits <= 126 && need.code_digits <= 128)
        place->second = std::make_unique<Small>(unit, k, Multiplier{}, "");
      else if (need.magnitude_bits <= 702 && need.code_digits <= 128)
        place->second = std::make_unique<Large>(unit, k, Multiplier{}, "");
      else if (need.code_digits <= 192)
        place->second = std::make_unique<Boundless>(unit, k, Multiplier{}, "");
    }
    return place->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<ReferenceUnit>> made_;
};

void demand_result(const ReferenceUnit* engine, const Dot& dot, const std::string& want,
                   const char* what) {
  demand(engine, "a unit of short codes");
  demand(dot.run(*engine) == want, what);
  demand(dot.at_the_end_of_the_trace(*engine) == want, what);
}

Flags flags_of(const Dot& dot, const ReferenceUnit& engine) {
  Flags flags = 0;
  dot.run(engine, flags);
  return flags;
}

void demand_trace(const TracedUnit& t, const Dot& dot, const ReferenceUnit& engine) {
  demand(flags_of(dot, engine) == t.flags, "flags");
  demand(dot.trace(engine) == t.rows, "trace");
}

void demand_traces() {
  for (const TracedUnit& t : traced_units()) {
    Engines engines;
    const Dot dot(t.unit, t.operands);
    demand_trace(t, dot, *engines.at("", t.unit, dot.k()));
    demand_trace(t, dot, Boundless(t.unit, dot.k(), Multiplier{}, ""));
  }
}

void demand_flags() {
  const Unit unit = overflowing().unit;
  for (const FlaggedSum& x : flagged_sums) {
    const std::vector<double> ones(x.terms.size(), 1);
    const Dot dot(unit, {codes(binary32, x.terms), codes(binary32, ones), codes(binary32, {0})});
    Engines engines;
    demand(flags_of(dot, *engines.at("", unit, dot.k())) == x.flags, "flags of a register");
  }
}

void demand_gaps_closed() {
  closing_gaps::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Round r = closing_gaps::slot(random);
    const auto terms = closing_gaps::clusters(random, reach_of(r));
    demand(closing_gaps::with_gaps_closed(r, terms, 0) == closing_gaps::exactly(r, terms, 0),
           "closed gaps");
  }
}

void demand_vectors(const std::string& file, const char* a, const char* b, const char* c,
                    bool scaled) {
  Engines engines;
  for (const oracle::Row& row : oracle::read_csv("tests/data/vectors/" + file)) {
    const std::string& name = row.at("preset");
    const Unit& unit = find_preset(name)->unit;
    const Dot dot(unit, {row.at(a), row.at(b), row.at(c), scaled ? row.at("SA_hex") : "",
                         scaled ? row.at("SB_hex") : ""});
    demand_result(engines.at(name, unit, dot.k()), dot, row.at("D_hex_expected"), file.c_str());
  }
}

void demand_questions(const char* path) {
  std::ifstream in(path);
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const Question x(line);
    const Unit unit = unit_from_toml(x.unit_text);
    const Dot dot(unit, x.operands);
    Engines engines;
    demand_result(engines.at("", unit, dot.k()), dot, x.want, "dpu_ref.py");
  }
  demand(count > 0, path);
}

// Quires that their sums fill, and what else no unit drawn has.
constexpr const char* more_units[] = {
    "kulisch(posit8es0, width=25)",
    "kulisch(posit6es1, width=34, overflow=wrap)",
    "kulisch(posit16es2, width=256)",
    "mac(fixed8.4, sum=fixed10.4:rna)",
    "mac(posit8es2)",
    "fixedacc(int8, width=16, frac=0, out=int32)",
    "mac(e2m1, scale=e2m1:1:group)",
    "neumaier(e3m5, sum=e3m2:rup)",
};

struct Output {
  tests::CodeList codes;
  std::vector<std::uint8_t> flags;
  bool operator==(const Output& other) const {
    bool same = flags == other.flags;
    for (std::size_t i = 0; i < codes.size(); ++i) same = same && codes.same(other.codes, i);
    return same;
  }
};

template <class Run>
Output output_of(const Unit& u, MatrixProduct p, std::size_t count, const Run& run) {
  Output z{{result_round(u).fmt, count}, std::vector<std::uint8_t>(count)};
  p.result = z.codes.data(), p.flags = z.flags.data();
  run(p);
  return z;
}

void demand_as_built(const ReferenceUnit& ours, const Unit& u, std::size_t k,
                     std::mt19937_64& random, const Multiplier& multiplier = {}) {
  const auto built = make_reference(u, k, multiplier);
  const DrawnProduct drawn(u, {1, k, 2},
                           {any_manner(random), any_manner(random), any_manner(random)}, random);
  const auto of = [&](const ReferenceUnit& engine) {
    return output_of(u, drawn.product(), 2, [&](const MatrixProduct& p) { engine.run(p, 0, 1); });
  };
  demand(of(ours) == of(*built), "a unit drawn");
  if (!runs_in_one_pass(u)) return;
  const auto running = [&](const ReferenceUnit& engine) {
    return output_of(u, drawn.product(), 2 * k,
                     [&](const MatrixProduct& p) { engine.run_running(p, 0, 1); });
  };
  demand(running(ours) == running(*built), "running results of a unit drawn");
}

// In carriers of a length that fits, and in those that have none; how many such there were.
int demand_as_built(const Unit& u, std::size_t k, std::mt19937_64& random) {
  if (!has_length(u, k) || capacity(u, static_cast<std::int64_t>(k)).code_digits > 192) return 0;
  Engines engines;
  demand_as_built(*engines.at("", u, k), u, k, random);
  demand_as_built(Boundless(u, k, Multiplier{}, ""), u, k, random);
  return 1;
}

void demand_drawn() {
  std::mt19937_64 random(1);
  int count = 0;
  for (int i = 0; i < 1800; ++i) {
    const Unit u = random_units::unit(random);
    count += demand_as_built(u, 1 + random() % 12, random);
  }
  demand(count > 600, "how many units are drawn");
  for (const char* text : more_units)
    for (int i = 0; i < 80; ++i)
      demand(demand_as_built(parse_unit(text), 1 + random() % 40, random) == 1, text);
}

// Products that come from outside may lose all their digits.
void demand_multiplied() {
  std::mt19937_64 random(1);
  const Unit u = parse_unit("dot(e3m3, lanes=4, align=4)");
  const Multiplier lossy = [](std::uint64_t a, std::uint64_t b) {
    return uint128{a * b >> 6 << 6};
  };
  for (int i = 0; i < 50; ++i) demand_as_built(Small(u, 3, lossy, ""), u, 3, random, lossy);
}

// Of as many digits as the carrier of codes has, and more or fewer.
void demand_leading_digits() {
  for (const int top : {190, 191, 192, 193}) {
    const auto x = leading_digits<Wide<3>>(Big((Big(1) << top) + Big(3)));
    const auto y = leading_digits<Wide<3>>(Wide<11>((Wide<11>(1) << top) + Wide<11>(3)));
    demand(x.sig == y.sig && x.weight == y.weight, "leading digits");
  }
}

// What only rows of outputs ask for.
void demand_for_rows() {
  demand(longest_register(parse_unit("fma(e5m2, promote=2:e5m10)")) == 11, "a promoted register");
  const Layout<std::uint64_t> f(e4m3fn);
  for (std::uint64_t code = 0; code < 256; ++code) {
    const auto full = factor(f, code), quick = plain_factor(f, code);
    demand(!plain(f, code) || (full.negative == quick.negative && full.m == quick.m &&
                               full.q == quick.q && full.e == quick.e),
           "a plain code");
  }
}

}  // namespace

int main(int, char** arguments) {
  demand_traces();
  demand_flags();
  demand_gaps_closed();
  demand_vectors("matrix_units.csv", "A_hex_lane0_first", "B_hex_lane0_first", "C_hex", false);
  demand_vectors("matrix_units_scaled.csv", "A_hex", "B_hex", "C_hex", true);
  demand_questions(arguments[1]);
  demand_drawn();
  demand_multiplied();
  demand_leading_digits();
  demand_for_rows();
}
