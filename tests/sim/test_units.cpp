#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "parse_errors.hpp"
#include "random_units.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_units {

namespace {

using namespace widthwise;
using tests::error_of, tests::unit_error;

std::string data(const std::string& name) {
  std::ifstream file("tests/data/units/" + name);
  REQUIRE_MESSAGE(file, "tests/data/units/", name, " is read from the repository's root");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Both texts are the same unit, and the first prints as `printed`.
void check_same(const std::string& text, const std::string& toml, const std::string& printed) {
  CAPTURE(text);
  const Unit u = parse_unit(text);
  CHECK(u == unit_from_toml(toml));
  CHECK(to_string(u) == printed);
  CHECK(parse_unit(printed) == u);
}

TEST_CASE("presets: names, order and every field are those of presets.toml") {
  const auto stored = units_from_toml(data("presets.toml"));
  REQUIRE_FALSE(stored.empty());
  REQUIRE(presets().size() == stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    CAPTURE(stored[i].name);
    CHECK(presets()[i].name == stored[i].name);
    CHECK(presets()[i].unit == stored[i].unit);
  }
}

TEST_CASE("presets: each passes check, prints, parses, and says how it is known") {
  std::set<Evidence> known;
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    CHECK_NOTHROW(check(p.unit));
    CHECK(find_preset(p.name) == &p);
    CHECK(parse_unit(p.name) == p.unit);
    CHECK(parse_unit(to_string(p.unit)) == p.unit);
    CHECK(unit_from_toml(to_toml(p.unit)) == p.unit);
    CHECK(unit_from_toml(to_toml(p.unit, p.name)) == p.unit);
    CHECK_FALSE(p.source.empty());
    known.insert(p.evidence);
  }
  CHECK(known == std::set{Evidence::silicon, Evidence::but_floor, Evidence::two_models,
                          Evidence::one_model, Evidence::textbook});
  CHECK(to_string(Evidence::two_models) == "agrees with two models");
  CHECK(find_preset("ampere") == nullptr);
}

TEST_CASE("long form: the units of stochastic.toml print and parse in the document's order") {
  const auto stored = units_from_toml(data("stochastic.toml"));
  REQUIRE(stored.size() == 13);
  CHECK(stored.front().name == "mac.f16.sr8");
  CHECK(stored.back().name == "promoted");
  std::string again;
  for (const NamedUnit& n : stored) {
    CHECK(parse_unit(to_string(n.unit)) == n.unit);
    again += to_toml(n.unit, n.name) + "\n";
  }
  const auto reread = units_from_toml(again);
  REQUIRE(reread.size() == stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    CHECK(reread[i].name == stored[i].name);
    CHECK(reread[i].unit == stored[i].unit);
  }
}

TEST_CASE(
    "long form: what is printed is every field that is not its default, in the page's order") {
  CHECK(to_toml(parse_unit("cdna3.bf8"), "cdna3.bf8") ==
        "[\"cdna3.bf8\"]\n"
        "a.fmt = \"e5m2fnuz\"\n"
        "b.fmt = \"e5m2fnuz\"\n"
        "c.fmt = \"e8m23\"\n"
        "lanes = 16\n"
        "groups.strided = 2\n"
        "group_sum.align.reference = \"max_exponent\"\n"
        "group_sum.align.frac_bits = 24\n"
        "group_sum.align.rm = \"rtz\"\n"
        "block_sum.align.reference = \"max_exponent\"\n"
        "block_sum.align.frac_bits = 24\n"
        "block_sum.align.rm = \"rdn\"\n"
        "c_sum.align.reference = \"max_exponent\"\n"
        "c_sum.align.frac_bits = 32\n"
        "c_sum.align.rm = \"rdn\"\n"
        "c_sum.align.e_floor = -126\n"
        "c_sum.align.drop_c_below = 25\n"
        "c_level = \"late\"\n"
        "late_frac.F_sum = 32\n"
        "late_frac.F_C = 24\n"
        "out.fmt = \"e8m23\"\n"
        "out.post_norm_frac = 31\n"
        "out.post_norm_rm = \"rdn\"\n");
}

TEST_CASE("long form: formats may be tables, codes past 2^63 stand in quotes, names are escaped") {
  const std::string rest =
      "b.fmt = {exp_bits = 3, frac_bits = 2, signed = false, subnormals = false, nan = \"none\"}\n"
      "c.fmt = {exp_bits = 6, frac_bits = 9, inf = \"no\"}\n"
      "lanes = 2\nc_level = \"late\"\n"
      "out.fmt = {exp_bits = 2, frac_bits = 0, bias = 1, nan = \"all_ones\", zero = false}\n";
  const Unit u = unit_from_toml(
      "a.fmt = {exp_bits = 4, frac_bits = 3, bias = 8, nan = \"negative_zero\", inf = \"top\"}\n" +
      rest);
  CHECK(to_string(u.a.fmt) == "e4m3;bias=8;inf=top;nan=negative_zero");
  CHECK(to_string(u.b.fmt) == "ue3m2;nan=none;sub=no");
  CHECK(to_string(u.c.fmt) == "e6m9;inf=no");
  CHECK(to_string(u.out.fmt) == "e2m0;nan=all_ones;zero=no");
  CHECK(unit_from_toml(to_toml(u)) == u);

  Unit wide = parse_unit("fma(binary64)");
  wide.out.nan_bits = 0xfff8000000000000;
  CHECK(to_toml(wide).find("out.nan_bits = \"0xfff8000000000000\"\n") != std::string::npos);
  CHECK(unit_from_toml(to_toml(wide)) == wide);
  const std::string odd_name = "a \"b\"\\\n\x7f";
  CHECK(units_from_toml(to_toml(wide, odd_name)).at(0).name == odd_name);
}

TEST_CASE("long form: one line in braces is a unit's text where no short form is") {
  const Unit u = unit_from_toml(
      "a.fmt='half'\nb.fmt='half'\nc.fmt='half'\nlanes=3\nc_level='late'\nout.fmt='half'\n");
  CHECK(to_string(u) ==
        "{a.fmt = \"e5m10\", b.fmt = \"e5m10\", c.fmt = \"e5m10\", lanes = 3, c_level = \"late\", "
        "out.fmt = \"e5m10\"}");
  CHECK(parse_unit(to_string(u)) == u);
  CHECK(parse_unit("  " + to_string(u) + " ") == u);
}

TEST_CASE("short forms: the first format stands for every format not given (T2)") {
  check_same("mac(e5m10)",
             "a.fmt='e5m10'\nb.fmt='e5m10'\nc.fmt='e5m10'\nlanes=1\nproduct.round.fmt='e5m10'\n"
             "c_level='late'\nout.fmt='e5m10'",
             "mac(e5m10)");
  check_same("mac(e4m3fn, b=e5m2, product=e5m7:rtz, sum=e8m13)",
             "a.fmt='e4m3fn'\nb.fmt='e5m2'\nc.fmt='e4m3fn'\nlanes=1\nproduct.round.fmt='e5m7'\n"
             "product.round.rm='rtz'\nc_level='late'\nout.fmt='e8m13'",
             "mac(e4m3fn, b=e5m2, product=e5m7:rtz, sum=e8m13)");
  check_same("mac(e4m3fn, c=e5m10, sum=e8m13)",
             "a.fmt='e4m3fn'\nb.fmt='e4m3fn'\nc.fmt='e5m10'\nlanes=1\nproduct.round.fmt='e4m3fn'\n"
             "c_level='late'\nout.fmt='e8m13'",
             "mac(e4m3fn, c=e5m10, sum=e8m13)");
  check_same("FMA( Half , SUM=single:rtz )",
             "a.fmt='half'\nb.fmt='half'\nc.fmt='half'\nlanes=1\nc_level='group'\n"
             "out.fmt='single'\nout.rm='rtz'",
             "fma(e5m10, sum=e8m23:rtz)");
  check_same("tree(bfloat16, fan=4, product=binary32, node=binary32, sum=binary32)",
             "a.fmt='bfloat16'\nb.fmt='bfloat16'\nc.fmt='bfloat16'\nlanes=4\n"
             "product.round.fmt='binary32'\ngroup_sum.order='pairwise_tree'\n"
             "group_sum.node_round.fmt='binary32'\nc_level='late'\nout.fmt='binary32'",
             "tree(e8m23, a=e8m7, c=e8m7, fan=4)");
}

TEST_CASE("short forms: dot and the registers") {
  check_same("dot(e5m10)",
             "a.fmt='e5m10'\nb.fmt='e5m10'\nc.fmt='e5m10'\nlanes=0\nc_level='group'\n"
             "out.fmt='e5m10'",
             "dot(e5m10)");
  check_same("dot(binary16, lanes=8, align=24:rtz, floor=-132, out=binary32:rtz)",
             "a.fmt='half'\nb.fmt='half'\nc.fmt='half'\nlanes=8\n"
             "group_sum.align.reference='max_exponent'\ngroup_sum.align.frac_bits=24\n"
             "group_sum.align.rm='rtz'\ngroup_sum.align.e_floor=-132\nc_level='group'\n"
             "out.fmt='single'\nout.rm='rtz'",
             "dot(e5m10, lanes=8, align=24:rtz, floor=-132, out=e8m23:rtz)");
  check_same("kulisch(e4m3fn, out=binary32)",
             "a.fmt='e4m3fn'\nb.fmt='e4m3fn'\nc.fmt='e4m3fn'\nlanes=0\n"
             "group_sum.align.reference='fixed_lsb'\ngroup_sum.align.frac_bits=18\n"
             "c_level='group'\nout.fmt='single'",
             "kulisch(e4m3fn, out=e8m23)");
  CHECK(parse_unit("kulisch(binary32)").group_sum.align.frac_bits == 298);
  CHECK(parse_unit("kulisch(e4m3fn)").group_sum.align.frac_bits == 18);
  CHECK(parse_unit("kulisch(e4m3fn, scale=e8m0fnu:32:term)").group_sum.align.frac_bits == 18 + 254);
  check_same("fixedacc(e5m10, width=24, frac=12, overflow=saturate)",
             "a.fmt='half'\nb.fmt='half'\nc.fmt='half'\nlanes=0\n"
             "group_sum.align.reference='fixed_lsb'\ngroup_sum.align.frac_bits=12\n"
             "group_sum.align.rm='rdn'\ngroup_sum.width=24\ngroup_sum.overflow='saturate'\n"
             "c_level='group'\nout.fmt='half'",
             "fixedacc(e5m10, width=24, frac=12, overflow=saturate)");
  CHECK(to_string(parse_unit("fixedacc(e5m10, c=binary32, width=24, frac=12, out=binary32)")) ==
        "fix24.wrap");
}

TEST_CASE("short forms: kahan and neumaier are mac with a compensation") {
  const std::string mac =
      "a.fmt='e4m3fn'\nb.fmt='e4m3fn'\nc.fmt='e4m3fn'\nlanes=1\nproduct.round.fmt='half'\n"
      "c_level='late'\nout.fmt='half'\nout.rm='rtz'\n";
  check_same("kahan(e4m3fn, product=half, sum=half:rtz)", mac + "chain.compensation='kahan'",
             "kahan(e4m3fn, product=e5m10, sum=e5m10:rtz)");
  check_same("neumaier(e4m3fn, product=half, sum=half:rtz)", mac + "chain.compensation='neumaier'",
             "neumaier(e4m3fn, product=e5m10, sum=e5m10:rtz)");
  Unit u = parse_unit("mac(e5m10)");
  u.chain.compensation = Compensation::kahan;
  CHECK(to_string(u) == "kahan(e5m10)");
  u.product.round.reset();  // no short form says that products are exact
  CHECK(to_string(u).starts_with("{a.fmt"));
  CHECK(parse_unit(to_string(u)) == u);
}

TEST_CASE("short forms: final, promote and scale in any kind") {
  const Unit u = parse_unit(
      "dot(e4m3fn, lanes=32, align=13:rtz, out=e8m23, final=e5m10:sr8:half, "
      "promote=128:binary32:rtz, scale=e8m0fnu:32:term)");
  CHECK(u.chain.final == Round{.fmt = binary16, .rm = Rounding(8, StochasticVariant::half)});
  REQUIRE(u.chain.promote.has_value());
  CHECK(u.chain.promote->interval == 128);
  CHECK(u.chain.promote->round == Round{.fmt = binary32, .rm = RoundingMode::rtz});
  CHECK(u.scale == Scale{e8m0fnu, 32, ScaleApply::term});
  CHECK(parse_unit(to_string(u)) == u);
  const Unit biased = parse_unit("mac(e5m10;bias=20;daz, sum=e8m23;ftz:rup)");
  CHECK(biased.a.fmt.bias == 20);
  CHECK(biased.out.fmt.ftz);
  CHECK(biased.out.rm == Rounding(RoundingMode::rup));
  CHECK(to_string(biased) == "mac(e5m10;bias=20;daz, sum=e8m23;ftz:rup)");
}

// A short form with random arguments, as often as not beside the point.
std::string random_short_form(random_units::Random& random) {
  const auto pick = [&](auto... texts) {
    const std::string all[] = {texts...};
    return all[random() % sizeof...(texts)];
  };
  const auto format = [&] {
    return pick("e5m10", "e8m7", "e4m3fn", "e8m23", "e6m9;bias=40", "e5m2");
  };
  const auto rounded = [&] { return format() + pick("", "", ":rtz", ":sr8:half", ":odd"); };
  const std::string kind =
      pick("mac", "fma", "tree", "pairwise", "dot", "kulisch", "fixedacc", "kahan", "neumaier");
  std::string text = kind + "(" + format();
  const auto maybe = [&](const std::string& key, const std::string& value) {
    if (random() % 3 == 0) text += ", " + key + "=" + value;
  };
  for (const std::string key : {"a", "b", "c"}) maybe(key, format());
  const bool compensated = kind == "kahan" || kind == "neumaier";
  const bool nodes = kind == "tree" || kind == "pairwise";
  if (kind == "mac" || nodes || compensated) maybe("product", rounded());
  if (kind == "mac" || nodes || kind == "fma" || compensated) maybe("sum", rounded());
  if (kind == "tree") text += ", fan=" + std::to_string(random() % 9);
  if (nodes) maybe("node", rounded());
  if (kind == "dot") maybe("lanes", std::to_string(random() % 40));
  if (kind == "dot" && random() % 2)
    text += ", align=" + std::to_string(random() % 40) + pick("", ":rtz", ":rdn") +
            pick("", ", floor=-132");
  if (kind == "fixedacc") text += ", frac=" + std::to_string(random() % 30);
  if (kind == "fixedacc") maybe("width", std::to_string(1 + random() % 60));
  if (kind == "fixedacc") maybe("align", pick("rne", "rdn", "rtz"));
  if (kind == "fixedacc") maybe("overflow", pick("wrap", "saturate", "flag"));
  if (kind == "dot" || kind == "kulisch" || kind == "fixedacc") maybe("out", rounded());
  maybe("final", rounded());
  maybe("scale", "e8m0fnu:32:term");
  return text + ")";
}

TEST_CASE("short forms: 3,000 random ones print as one no longer, and give the unit back") {
  random_units::Random random(3);
  int cases = 0;
  for (; cases < 3000; ++cases) {
    const std::string text = random_short_form(random);
    CAPTURE(text);
    const Unit u = parse_unit(text);
    const std::string printed = to_string(u);
    REQUIRE(parse_unit(printed) == u);
    REQUIRE(printed[0] != '{');
    REQUIRE(std::ranges::count(printed, ',') <= std::ranges::count(text, ','));
  }
  CHECK(cases == 3000);
}

TEST_CASE("units: 5,000 random ones print and parse in every form" *
          doctest::test_suite("unsanitized")) {
  random_units::Random random(4);
  int cases = 0;
  std::set<std::string> texts;
  for (; cases < 5000; ++cases) {
    const Unit u = random_units::unit(random);
    const std::string text = to_string(u), toml = to_toml(u, "some \"unit\"");
    CAPTURE(toml);
    REQUIRE(parse_unit(text) == u);
    REQUIRE(parse_unit(to_toml(u)) == u);
    const auto named = units_from_toml(toml);
    REQUIRE(named.size() == 1);
    REQUIRE(named[0].unit == u);
    REQUIRE(named[0].name == "some \"unit\"");
    REQUIRE(to_toml(named[0].unit, named[0].name) == toml);
    texts.insert(text);
  }
  CHECK(cases == 5000);
  CHECK(texts.size() == 5000);
}

TEST_CASE("units: errors of names and short forms give the column and the way out") {
  CHECK(
      unit_error("hopper.e4m3.f3") ==
      "unit 'hopper.e4m3.f3', column 1: no unit 'hopper.e4m3.f3'; nearest name: "
      "'hopper.e4m3.f32'; write a preset's name as hopper.f16.f32, a short form as mac(e5m10), or "
      "TOML");
  CHECK(unit_error("e5m10") ==
        "unit 'e5m10', column 1: no unit 'e5m10'; it is a format: take mac(e5m10) or fma(e5m10); "
        "write a preset's name as hopper.f16.f32, a short form as mac(e5m10), or TOML");
  CHECK(unit_error("mca(e5m10)") ==
        "unit 'mca(e5m10)', column 1: no kind 'mca'; there are mac, fma, tree, pairwise, "
        "dot, kulisch, fixedacc, kahan and neumaier");
  CHECK(unit_error("kulish(e5m10)").find("nearest name: 'kulisch'") != std::string::npos);
  CHECK(unit_error("mac(e5m10, prodct=e5m10)") ==
        "unit 'mac(e5m10, prodct=e5m10)', column 12: mac has no 'prodct'; nearest name: 'product'; "
        "its keys are a, b, sum, c, product, final, promote, scale, tininess");
  CHECK(unit_error("mac(e5m10, sum=e5m1x)") ==
        "unit 'mac(e5m10, sum=e5m1x)', column 20: found 'x'; wanted ';' and an option, or the end; "
        "nearest name: 'e5m2'");
  CHECK(unit_error("mac(e5m10, sum=e5m10:rz)")
            .starts_with(
                "unit 'mac(e5m10, sum=e5m10:rz)', column 22: no rounding 'rz'; here it is rtz"));
  CHECK(unit_error("mac(e5m10, e5m2)") ==
        "unit 'mac(e5m10, e5m2)', column 12: wanted key=value: only the first argument is a format "
        "by itself; as sum=e5m2");
  CHECK(unit_error("mac(e5m10, a=e5m2, a=e5m2)") ==
        "unit 'mac(e5m10, a=e5m2, a=e5m2)', column 20: a is given twice");
  CHECK(unit_error("mac(e5m10") == "unit 'mac(e5m10', column 10: the text ends; wanted ',' or ')'");
  CHECK(unit_error("mac(e5m10) x") == "unit 'mac(e5m10) x', column 12: found 'x'; wanted the end");
  CHECK(unit_error("mac()") ==
        "unit 'mac()', column 1: mac: a= is missing, and no first format stands for it");
  CHECK(unit_error("dot(e5m10, floor=3)") ==
        "unit 'dot(e5m10, floor=3)', column 12: dot: floor= goes with align=");
  CHECK(unit_error("dot(e5m10, align=3:sr8)") ==
        "unit 'dot(e5m10, align=3:sr8)', column 1: group_sum.align.rm: sr8: stochastic rounding is "
        "refused here; take rtz, rdn, odd or a nearest mode");
  CHECK(unit_error("dot(e5m10, lanes=-1)") ==
        "unit 'dot(e5m10, lanes=-1)', column 1: lanes: -1 is not in 0 to 1048576");
  CHECK(unit_error("fma(e5m10, promote=128)") ==
        "unit 'fma(e5m10, promote=128)', column 23: found ')'; wanted ':' and the format, as in "
        "promote=128:binary32");
  CHECK(unit_error("fma(e5m10, scale=e8m0fnu:32)").find("as in scale=e8m0fnu:32:term") !=
        std::string::npos);
  CHECK(unit_error("fma(mxfp4)")
            .starts_with("unit 'fma(mxfp4)', column 5: 'mxfp4' is a block format; this version "
                         "knows floats as e5m10"));
  CHECK(unit_error("kulisch(e62m10)").find("4611686018427387904 is not in") != std::string::npos);
  CHECK(unit_error("").starts_with("unit '', column 1: no unit ''; write a preset's name"));
  CHECK(
      unit_error("Turing") ==
      "unit 'Turing', column 1: no unit 'turing'; there are turing.f16.f32, turing.f16.f16; write "
      "a preset's name as hopper.f16.f32, a short form as mac(e5m10), or TOML");
  CHECK(unit_error("turing_fp16_tensor_core").find("; there are turing.f16.f32,") !=
        std::string::npos);
}

TEST_CASE("units: errors of the long form give key, line and column") {
  const std::string head = "a.fmt = \"e5m10\"\nb.fmt = \"e5m10\"\nc.fmt = \"e5m10\"\n";
  const std::string whole = head + "lanes = 3\nc_level = \"group\"\nout.fmt = \"half\"\n";
  CHECK(unit_error(whole + "out.modes = 1\n") ==
        "unit text, line 7, column 5: out.modes: there is no such key");
  CHECK(unit_error(whole + "group_sum.algin.rm = 'rtz'\n") ==
        "unit text, line 7, column 11: group_sum.algin: there is no such key; nearest name: "
        "'align'");
  CHECK(unit_error(head) == "unit text, line 1, column 1: lanes: the key is missing");
  CHECK(unit_error(head + "lanes = \"3\"") ==
        "unit text, line 4, column 9: lanes: wanted an integer");
  CHECK(unit_error(head + "lanes = 1\nc_level = \"groups\"") ==
        "unit text, line 5, column 11: c_level: 'groups': wanted group, block or late, in quotes");
  CHECK(unit_error("a.fmt = \"e5x\"") ==
        "unit text, line 1, column 9: a.fmt: format 'e5x', column 3: found 'x'; wanted 'm' and the "
        "fraction bits, as in e5m10");
  CHECK(unit_error("a.fmt = 7") ==
        "unit text, line 1, column 9: a.fmt: wanted a format: its text, as \"e5m10\", or a table");
  CHECK(unit_error("a = 7") == "unit text, line 1, column 5: a: wanted a table");
  CHECK(unit_error("a.fmt = {exp_bits = 4}") ==
        "unit text, line 1, column 9: a.fmt.frac_bits: the key is missing");
  CHECK(unit_error("a.fmt = {exp_bits = 4, frac_bits = 2, signed = 1}") ==
        "unit text, line 1, column 48: a.fmt.signed: wanted true or false");
  CHECK(unit_error("a.fmt = {exp_bits = 5000000000, frac_bits = 2}") ==
        "unit text, line 1, column 21: a.fmt.exp_bits: 5000000000 is out of any range");
  CHECK(unit_error("a.fmt = {exp_bits = 64, frac_bits = 2}") ==
        "unit text, line 1, column 9: a.fmt: 64 exponent bits: there may be 1 to 62");
  CHECK(unit_error(whole + "out.rm = 8") ==
        "unit text, line 7, column 10: out.rm: wanted a rounding in quotes, as \"rne\"");
  CHECK(unit_error(whole + "out.nan_bits = -1").find("out.nan_bits: wanted a code, as 0x7fff") !=
        std::string::npos);
  CHECK(unit_error(whole + "chain.promote.interval = 4\nchain.promote.round.fmt = \"half\"\n") ==
        "unit text, line 7, column 26: chain.promote.interval: 4 is not a multiple of lanes = 3");
  CHECK(
      unit_error(whole + "out.rm = ") ==
      "unit text, line 7, column 10: Error while parsing key-value pair: encountered end-of-file");
  CHECK(unit_error("{a.fmt = 7}") ==
        "unit text, line 1, column 10: a.fmt: wanted a format: its "
        "text, as \"e5m10\", or a table");
  CHECK(error_of(units_from_toml, "x = 1") ==
        "unit text, line 1, column 1: x: wanted a table [\"name\"] for every unit");
  CHECK(error_of(units_from_toml, "\n[x]\nlanes = 3") ==
        "unit text, line 2, column 1: x.a: the key is missing");
}

}  // namespace

}  // namespace test_units
