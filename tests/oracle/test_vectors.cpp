#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "csv.hpp"
#include "tests/lib/tally.hpp"
#include "walk.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/mpfr_unit.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_vectors {

// The oracles against recorded answers: directed vectors, and what real GPUs gave.
namespace {

using namespace widthwise;
using oracle::Row;
using tests::Tally;

const std::string data = "tests/data/";

std::map<std::string, Unit> units(const std::string& file) {
  std::ifstream in(data + "units/" + file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::map<std::string, Unit> all;
  for (NamedUnit& u : units_from_toml(text)) all.emplace(u.name, std::move(u.unit));
  return all;
}

std::string got_and_want(const std::string& what, const std::string& got, const std::string& want) {
  return what + ": got " + got + ", want " + want;
}

// A fraction p/q or hexadecimal literal as the walking oracle takes it; no inf, nan or zero.
struct Literal {
  bool negative;
  oracle::Exact exact;
};
Literal literal(std::string text) {
  Literal x{text[0] == '-', {}};
  if (x.negative) text.erase(0, 1);
  if (const auto slash = text.find('/'); slash != std::string::npos) {
    x.exact.num = std::stoll(text.substr(0, slash));
    x.exact.den = std::stoll(text.substr(slash + 1));
  } else {
    const auto p = text.find('p');
    x.exact.num = oracle::Big(text.substr(0, p));
    x.exact.exp = std::stoll(text.substr(p + 1));
  }
  return x;
}

bool is_number(const std::string& text) {
  return text.find_first_of("123456789") != std::string::npos && text != "-0" && text != "0";
}

std::string dot(const Unit& u, const Row& row, const std::string& a, const std::string& b,
                const std::string& c, std::uint64_t seed = 0, std::uint64_t index = 0) {
  const auto cells = [&](const std::string& name, const Format& f) {
    const auto cell = row.find(name);
    return cell == row.end() ? std::vector<std::uint64_t>{}
                             : oracle::codes(cell->second, f.width());
  };
  const auto xa = cells(a, u.a.fmt), xb = cells(b, u.b.fmt), xc = cells(c, u.c.fmt);
  const Format scale = u.scale ? u.scale->fmt : e8m0fnu;
  const auto sa = cells("SA_hex", scale), sb = cells("SB_hex", scale);
  const auto d = mpfr_dot(u, {xa, xb, xc, sa, sb}, seed, index);
  return oracle::hexadecimal(d[0], result_round(u).fmt.width());
}

Env env_of(const std::string& rounding) { return {.rounding = parse_rounding(rounding)}; }

}  // namespace

TEST_CASE("conversions.csv: MPFR gives every recorded code") {
  Tally tally;
  for (const Row& row : oracle::read_csv(data + "vectors/conversions.csv")) {
    Format f = parse_format(row.at("format"));
    f.overflow = parse_overflow(row.at("overflow"));
    for (int m = 0; m < deterministic_modes; ++m) {
      const std::string mode = to_string(Rounding(static_cast<RoundingMode>(m)));
      const OracleResult z = mpfr_from_text(f, env_of(mode), row.at("value"));
      const std::string got = oracle::hexadecimal(z.code[0], f.width());
      tally.check(got == row.at(mode), [&] {
        return got_and_want(
            row.at("test") + " " + row.at("format") + " " + row.at("value") + " " + mode, got,
            row.at(mode));
      });
    }
  }
  tally.expect(484 * 11);
}

TEST_CASE("conversions.csv: walking gives every recorded code, and MPFR's flags") {
  Tally tally;
  for (const Row& row : oracle::read_csv(data + "vectors/conversions.csv")) {
    Format f = parse_format(row.at("format"));
    f.overflow = parse_overflow(row.at("overflow"));
    if (f.width() > 16 || !is_number(row.at("value"))) continue;
    const Literal x = literal(row.at("value"));
    const oracle::Outcome exact = oracle::real(oracle::values(f), x.negative, x.exact);
    for (int m = 0; m < deterministic_modes; ++m)
      for (Tininess t : {Tininess::before_rounding, Tininess::after_rounding}) {
        const Env env{.rounding = static_cast<RoundingMode>(m), .tininess = t};
        const oracle::Answer z = oracle::deliver(exact, env);
        const std::string mode = to_string(env.rounding);
        const std::string got = oracle::hexadecimal(z.code, f.width());
        const Flags flags = mpfr_from_text(f, env, row.at("value")).flags;
        tally.check(got == row.at(mode) && z.flags == flags, [&] {
          return got_and_want(row.at("test") + " " + row.at("format") + " " + mode,
                              got + " flags " + std::to_string(z.flags),
                              row.at(mode) + " flags " + std::to_string(flags));
        });
      }
  }
  tally.expect(7260);
}

TEST_CASE("matrix_units.csv: the MPFR unit gives every recorded result") {
  Tally tally;
  const auto presets = units("presets.toml");
  for (const Row& row : oracle::read_csv(data + "vectors/matrix_units.csv")) {
    const std::string got =
        dot(presets.at(row.at("preset")), row, "A_hex_lane0_first", "B_hex_lane0_first", "C_hex");
    tally.check(got == row.at("D_hex_expected"), [&] {
      return got_and_want(row.at("test") + " " + row.at("preset"), got, row.at("D_hex_expected"));
    });
  }
  tally.expect(693);
}

TEST_CASE("matrix_units_scaled.csv: the MPFR unit gives every recorded result") {
  Tally tally;
  const auto presets = units("presets.toml");
  for (const Row& row : oracle::read_csv(data + "vectors/matrix_units_scaled.csv")) {
    const std::string got = dot(presets.at(row.at("preset")), row, "A_hex", "B_hex", "C_hex");
    tally.check(got == row.at("D_hex_expected"),
                [&] { return got_and_want(row.at("test"), got, row.at("D_hex_expected")); });
  }
  tally.expect(19);
}

TEST_CASE("stochastic.csv: MPFR and the MPFR unit give every recorded result") {
  Tally tally;
  const auto named = units("stochastic.toml");
  for (const Row& row : oracle::read_csv(data + "vectors/stochastic.csv")) {
    const std::uint64_t seed = std::stoull(row.at("seed"), nullptr, 16);
    const std::uint64_t index = std::stoull(row.at("index"), nullptr, 16);
    std::string got;
    if (row.at("unit").empty()) {
      const Format f = parse_format(row.at("format"));
      const Env env = env_of(row.at("rounding"));
      const std::uint64_t random = mpfr_random_bits(env.rounding.random_bits, seed, index);
      got = oracle::hexadecimal(mpfr_from_text(f, env, row.at("value"), random).code[0], f.width());
      if (f.width() <= 16 && is_number(row.at("value"))) {
        const Literal x = literal(row.at("value"));
        const auto exact = oracle::real(oracle::values(f), x.negative, x.exact);
        const auto walked = oracle::deliver(exact, env, random).code;
        CHECK(oracle::hexadecimal(walked, f.width()) == got);
      }
    } else {
      got = dot(named.at(row.at("unit")), row, "A", "B", "C", seed, index);
    }
    tally.check(got == row.at("D"), [&] {
      return got_and_want(row.at("test") + " " + row.at("unit"), got, row.at("D"));
    });
  }
  tally.expect(126);
}

TEST_CASE("silicon: the MPFR unit gives what each GPU gave, on all 12,000 recorded vectors") {
  Tally tally;
  const auto presets = units("presets.toml");
  for (const Row& set : oracle::read_csv(data + "silicon/index.csv"))
    for (const Row& row : oracle::read_csv(data + "silicon/" + set.at("file"))) {
      const std::string got = dot(presets.at(set.at("unit")), row, "a", "b", "c");
      tally.check(got == row.at("d"),
                  [&] { return got_and_want(set.at("file"), got, row.at("d")); });
    }
  tally.expect(12'000);
}

}  // namespace test_vectors
