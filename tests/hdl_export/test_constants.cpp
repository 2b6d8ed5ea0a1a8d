#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tables.hpp"
#include "tests/sim/random_units.hpp"
#include "widthwise/hdl/verilog.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using widthwise::hdl::check_identifier;
using widthwise::hdl::unit_constants;

namespace {

std::string error_of(std::string_view name) {
  try {
    check_identifier(name);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const std::string& name, const std::string& reason) {
  return "unit name \"" + name + "\" is no Verilog identifier: " + reason +
         "; take a letter or _, then letters, digits, _ or $, and no reserved word, as mac_unit";
}

// Names differ and values fill their widths; another run gives the same text.
void check_table(const widthwise::Unit& unit) {
  const std::string spec = widthwise::to_string(unit);
  CAPTURE(spec);
  const ConstantTable table = unit_constants(unit, "unit");
  std::set<std::string> names;
  bool fitting = true;
  for (const Constant& c : table) {
    names.insert(c.name);
    const auto* pattern = std::get_if<widthwise::hdl::Pattern>(&c.value);
    if (pattern && pattern->width % 64)
      fitting = fitting && pattern->limbs.back() >> pattern->width % 64 == 0;
  }
  CHECK(fitting);
  CHECK(names.size() == table.size());
  CHECK(table.size() > 150);
  CHECK(widthwise::hdl::verilog_localparams(table) ==
        widthwise::hdl::verilog_localparams(unit_constants(unit, "unit")));
}

// The policy's number is the number of the name.
void check_code(const ConstantTable& t, const std::string& policy, const std::string& name) {
  CAPTURE(policy);
  CHECK(code(t, policy) == code(t, name));
}

}  // namespace

TEST_CASE("every preset has a table, and so has every unit that check() lets pass") {
  std::vector<widthwise::Unit> units;
  REQUIRE_FALSE(widthwise::presets().empty());
  for (const widthwise::Preset& preset : widthwise::presets()) units.push_back(preset.unit);
  random_units::Random random(3);
  for (int i = 0; i < 2000; ++i) units.push_back(random_units::unit(random));
  for (int i = 0; i < 500; ++i) units.push_back(random_units::unit(random, 62, 4095));
  for (const widthwise::Unit& unit : units) check_table(unit);
}

TEST_CASE("the model hash is FNV-1a of the unit's TOML text, whatever the unit is called") {
  const widthwise::Unit unit = widthwise::parse_unit("fma(e5m10)");
  CHECK(widthwise::to_toml(unit) ==
        "a.fmt = \"e5m10\"\nb.fmt = \"e5m10\"\nc.fmt = \"e5m10\"\nlanes = 1\n"
        "c_level = \"group\"\nout.fmt = \"e5m10\"\n");
  CHECK(widthwise::hdl::model_hash(unit) == 0x01e84f584bb9b28e);
  for (const char* name : {"x", "y"})
    CHECK(code(unit_constants(unit, name), "MODEL_HASH") ==
          Code(std::uint64_t{0x01e84f584bb9b28e}));
}

TEST_CASE("presets and the units of the tests have hashes of their own") {
  std::set<std::uint64_t> hashes;
  std::set<std::string> texts;
  for (const widthwise::Preset& preset : widthwise::presets()) {
    hashes.insert(widthwise::hdl::model_hash(preset.unit));
    texts.insert(widthwise::to_toml(preset.unit));
  }
  for (const std::string& unit : units()) {
    hashes.insert(widthwise::hdl::model_hash(widthwise::parse_unit(unit)));
    texts.insert(widthwise::to_toml(widthwise::parse_unit(unit)));
  }
  CHECK(hashes.size() == texts.size());
  CHECK(texts.size() > 50);
}

// The datapath page, 2.4.
TEST_CASE("widths of published units") {
  struct Known {
    std::string unit;
    std::int64_t product, frac, acc, exponent, terms;
  };
  for (const Known& k :
       {Known{"volta.f16.f32", 22, 23, 29, 9, 4}, Known{"ampere.f16.f32", 22, 24, 31, 9, 8},
        Known{"hopper.f16.f32", 22, 25, 33, 9, 16}, Known{"hopper.e4m3.f32", 8, 13, 22, 9, 32},
        Known{"blackwell.e4m3.f32", 8, 25, 34, 9, 32}, Known{"blackwell.mxfp8", 8, 25, 34, 10, 32},
        Known{"blackwell.nvfp4", 4, 35, 49, 9, 64}}) {
    CAPTURE(k.unit);
    const ConstantTable t = table_of(k.unit);
    CHECK(integer(t, "PROD_SIG_WIDTH") == k.product);
    CHECK(integer(t, "ACC_FRAC_WIDTH") == k.frac);
    CHECK(integer(t, "ACC_WIDTH") == k.acc);
    CHECK(integer(t, "ACC_INT_WIDTH") == k.acc - k.frac - 1);
    CHECK(integer(t, "ACC_EXP_WIDTH") == k.exponent);
    CHECK(integer(t, "NUM_TERMS") == k.terms);
    CHECK_FALSE(flag(t, "ACC_CAN_OVERFLOW"));
    check_code(t, "ACC_ALIGN", "ALIGN_MAX_EXPONENT");
    check_code(t, "ACC_ALIGN_RM", "RM_RTZ");
  }
}

TEST_CASE("e4m3 products: the numbers of a hand-made header") {
  const ConstantTable t = table_of("hopper.e4m3.f32");
  CHECK(integer(t, "PROD_FRAC_WIDTH") == 6);
  CHECK(integer(t, "PROD_EXP_WIDTH") == 6);
  CHECK(integer(t, "PROD_EXP_MIN") == -12);
  CHECK(integer(t, "PROD_EXP_MAX") == 16);
  CHECK(integer(t, "PROD_LSB_EXP_MIN") == -18);
  CHECK(integer(t, "ACC_GUARD_WIDTH") == 7);
  CHECK(integer(t, "ACC_E_FLOOR") == -133);
  CHECK(integer(t, "Y_KEEP_FRAC") == 13);
  CHECK(code(t, "Y_QNAN") == Code(0x7fffffff));
  CHECK(code(t, "C_QNAN") == Code(0x7fc00000));
  check_code(t, "Y_OVERFLOW", "OVERFLOW_INF");
  check_code(t, "RM_DEFAULT", "RM_RTZ");
}

TEST_CASE("a register has the weights of its ends, and is proved too narrow where it is") {
  const ConstantTable exact = table_of("kulisch.f32");
  CHECK(integer(exact, "ACC_WIDTH") == 640);
  CHECK(integer(exact, "ACC_LSB_EXP") == -298);
  CHECK(integer(exact, "ACC_MSB_EXP") == 341);
  CHECK(integer(exact, "ACC_GUARD_WIDTH") == 0);
  CHECK(integer(exact, "NUM_TERMS") == std::int64_t{1} << 32);
  CHECK(flag(exact, "WHOLE_SUM"));
  CHECK_FALSE(flag(exact, "ACC_CAN_OVERFLOW"));
  check_code(exact, "ACC_ALIGN", "ALIGN_FIXED_LSB");

  const ConstantTable narrow = table_of("fix24.sat");
  CHECK(integer(narrow, "ACC_WIDTH") == 24);
  CHECK(integer(narrow, "ACC_INT_WIDTH") == 11);
  CHECK(flag(narrow, "ACC_CAN_OVERFLOW"));
  check_code(narrow, "ACC_OVERFLOW", "REGISTER_SATURATE");
  check_code(narrow, "ACC_ALIGN_RM", "RM_RDN");
}

TEST_CASE("Y is the rounding that a result goes through last; the others keep their names") {
  const ConstantTable lowered = table_of("lowered.e4m3.f32");
  check_code(lowered, "Y_RM", "RM_RNE");
  check_code(lowered, "OUT_RM", "RM_RTZ");
  CHECK(flag(lowered, "C_AT_LAST"));
  CHECK(integer(lowered, "LANE_RUN") == 2);
  CHECK(integer(lowered, "LANE_WAYS") == 2);
  CHECK(find(lowered, "LAST_SUM_WIDTH") != nullptr);

  const ConstantTable final = table_of("mac.bf16.f32.bf16");
  CHECK(integer(final, "Y_WIDTH") == 16);
  CHECK(integer(final, "OUT_WIDTH") == 32);
  CHECK(integer(final, "PROD_ROUND_WIDTH") == 32);

  const ConstantTable promoted = table_of("hopper.e4m3.promote128");
  CHECK(integer(promoted, "PROMOTE_INTERVAL") == 128);
  CHECK(integer(promoted, "OUT_KEEP_FRAC") == 13);
  CHECK(integer(promoted, "Y_KEEP_FRAC") == 23);
  CHECK(find(promoted, "PROMOTE_SUM_WIDTH") != nullptr);
}

TEST_CASE("sums before the accumulator, groups and scales stand where the unit has them") {
  const ConstantTable cdna3 = table_of("cdna3.fp8");
  CHECK(integer(cdna3, "GROUP_STRIDE") == 2);
  CHECK(integer(cdna3, "GROUP_SUM_TERMS") == 8);
  CHECK(integer(cdna3, "BLOCK_SUM_TERMS") == 2);
  CHECK(integer(cdna3, "ACC_TERMS") == 2);
  CHECK(integer(cdna3, "ACC_DROP_C_BELOW") == 25);
  CHECK(integer(cdna3, "ACC_SUM_FRAC_WIDTH") == 32);
  CHECK(integer(cdna3, "ACC_C_FRAC_WIDTH") == 24);
  CHECK(integer(cdna3, "Y_POST_NORM_FRAC") == 31);
  check_code(cdna3, "C_LEVEL", "C_LEVEL_LATE");
  check_code(cdna3, "BLOCK_SUM_ALIGN_RM", "RM_RDN");

  const ConstantTable nvfp4 = table_of("blackwell.nvfp4");
  CHECK(integer(nvfp4, "SCALE_WIDTH") == 7);
  CHECK(integer(nvfp4, "SCALE_BLOCK") == 16);
  CHECK(integer(nvfp4, "GROUP_LANES") == 16);
  CHECK(integer(nvfp4, "GROUP_SUM_WIDTH") == 13);
  CHECK(flag(nvfp4, "SCALE_OF_GROUP"));

  const ConstantTable plain = table_of("hopper.f16.f32");
  for (const char* absent : {"GROUP_SUM_WIDTH", "BLOCK_SUM_WIDTH", "SCALE_WIDTH", "OUT_WIDTH",
                             "PROD_ROUND_WIDTH", "GROUP_STRIDE", "PROMOTE_INTERVAL"})
    CHECK(find(plain, absent) == nullptr);
}

TEST_CASE("nodes are there where a sum has nodes") {
  widthwise::Unit unit = widthwise::parse_unit("tree(e4m3fn, fan=4, node=e5m10)");
  CHECK(integer(unit_constants(unit, "unit"), "GROUP_NODE_WIDTH") == 16);
  unit.group_sum.order = widthwise::Order::fused;
  CHECK(find(unit_constants(unit, "unit"), "GROUP_NODE_WIDTH") == nullptr);
}

TEST_CASE("flushing is told for operands and results, whether unit or format asks for it") {
  const ConstantTable cdna2 = table_of("cdna2.f16"), daz = table_of("fma(e5m10;daz;ftz)");
  check_code(cdna2, "A_FLUSH", "FLUSH_POS_ZERO");
  check_code(cdna2, "Y_FLUSH", "FLUSH_SIGNED_ZERO");
  check_code(cdna2, "GROUP_NODE_FLUSH", "FLUSH_SIGNED_ZERO");
  check_code(cdna2, "GROUP_SUM_ORDER", "ORDER_PAIRWISE_TREE");
  check_code(daz, "A_FLUSH", "FLUSH_SIGNED_ZERO");
  check_code(daz, "Y_FLUSH", "FLUSH_SIGNED_ZERO");
  for (const ConstantTable& t : {cdna2, daz}) CHECK((flag(t, "FTZ_IN") && flag(t, "FTZ_OUT")));
  for (const char* one :
       {"fma(e5m10, a=e5m10;daz, b=e5m10)", "fma(e5m10, b=e5m10;daz)", "fma(e5m10, c=e5m10;daz)"})
    CHECK(flag(table_of(one), "FTZ_IN"));
  const ConstantTable kept = table_of("fma(e5m10, sum=e5m10)");
  CHECK_FALSE((flag(kept, "FTZ_IN") || flag(kept, "FTZ_OUT")));
}

TEST_CASE("rounding codes: RISC-V's and odd in three bits, all twelve in four") {
  const ConstantTable narrow = table_of("hopper.f16.f32");
  CHECK(integer(narrow, "RM_WIDTH") == 3);
  CHECK(find(narrow, "RM_RAZ") == nullptr);

  const ConstantTable wide = table_of("mac(e5m10, sum=e8m13:sr8:half)");
  CHECK(integer(wide, "RM_WIDTH") == 4);
  const std::pair<const char*, int> codes[] = {
      {"RM_RNE", 0}, {"RM_RTZ", 1}, {"RM_RDN", 2},  {"RM_RUP", 3},  {"RM_RMM", 4}, {"RM_ODD", 6},
      {"RM_RAZ", 8}, {"RM_RNZ", 9}, {"RM_RNP", 10}, {"RM_RNM", 11}, {"RM_SR", 12}, {"RM_RNO", 13}};
  for (const auto& [name, number] : codes) {
    CHECK(code(wide, name) == Code(number));
    if (number < 8) CHECK(code(narrow, name) == Code(number));
  }
  CHECK(integer(wide, "Y_SR_WIDTH") == 8);
  check_code(wide, "Y_SR", "SR_HALF");
  check_code(wide, "RM_DEFAULT", "RM_SR");
}

TEST_CASE("names are identifiers in every dialect: capitals, digits and single underscores") {
  int names = 0;
  for (const std::string& unit : units())
    for (const Constant& c : table_of(unit)) {
      CAPTURE(c.name);
      const bool good =
          c.name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == c.name.npos &&
          c.name.find("__") == c.name.npos && c.name.back() != '_' && 'A' <= c.name.front();
      CHECK((good && c.name.front() != '_'));
      ++names;
    }
  CHECK(names > 5000);
}

TEST_CASE("flags, tininess and latency") {
  const ConstantTable t = table_of("fma(e5m10, sum=e5m10)");
  const std::pair<const char*, int> bits[] = {
      {"FLAG_NV", 4}, {"FLAG_DZ", 3}, {"FLAG_OF", 2}, {"FLAG_UF", 1}, {"FLAG_NX", 0}};
  for (const auto& [name, number] : bits) CHECK(integer(t, name) == number);
  CHECK(integer(t, "FLAGS_WIDTH") == 5);
  CHECK(integer(t, "LATENCY") == 0);
  CHECK(integer(t, "MODEL_ABI") == widthwise::hdl::model_abi);
  CHECK(flag(t, "TININESS_AFTER_ROUNDING"));
}

TEST_CASE("unit names: Verilog's identifiers, or an error that says what is wrong") {
  for (const char* good : {"mac_unit", "_", "a$1", "Module", "e4m3"})
    CHECK_NOTHROW(check_identifier(good));
  CHECK_NOTHROW(check_identifier(std::string(1024, 'a')));
  CHECK(error_of("") == refusal("", "it is empty"));
  CHECK(error_of("2fast") == refusal("2fast", "it begins with '2'"));
  CHECK(error_of("hopper.e4m3") == refusal("hopper.e4m3", "character 7 is '.'"));
  CHECK(error_of("a b") == refusal("a b", "character 2 is ' '"));
  CHECK(error_of("a\n") == refusal("a?", "character 2 is the byte 0x0a"));
  CHECK(error_of("\xc3\xa9") == refusal("??", "it begins with the byte 0xc3"));
  CHECK(error_of("module") == refusal("module", "it is a reserved word"));
  CHECK(error_of("logic") == refusal("logic", "it is a reserved word"));
  CHECK(error_of(std::string(1025, 'a')) ==
        refusal(std::string(40, 'a'), "it has 1025 characters, 1024 are the most"));
  CHECK_THROWS_AS(unit_constants(widthwise::parse_unit("fma(e5m10)"), "2fast"),
                  std::invalid_argument);
}

TEST_CASE("a compensated sum says how, and what its adders hold") {
  const ConstantTable t = table_of("kahan(e4m3fn, product=e5m10, sum=binary32)");
  check_code(t, "COMPENSATION", "COMPENSATION_KAHAN");
  CHECK(integer(t, "COMPENSATION_SUM_WIDTH") == 149 + 128 + 1 + 1);
  check_code(table_of("neumaier(e5m10)"), "COMPENSATION", "COMPENSATION_NEUMAIER");
}

TEST_CASE("a unit that contradicts itself has no table") {
  widthwise::Unit unit = widthwise::parse_unit("fma(e5m10)");
  unit.lanes = -1;
  CHECK_THROWS_WITH_AS(unit_constants(unit, "unit"), "unit: lanes: -1 is not in 0 to 1048576",
                       std::invalid_argument);
}
