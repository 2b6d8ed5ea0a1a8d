#include "rtl_cases.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "../sim/random_units.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {
namespace {

// Units whose operands are few enough to try them all.
constexpr const char* small_operations[] = {
    "add e4m3fn e4m3fn -> e4m3fn",
    "multiply e4m3fn e4m3fn -> e4m3fn",
    "multiply e5m2 e5m2 -> e5m2",
    "add e5m2 e5m2 -> e5m2",
    "add e5m2 e5m2 -> e5m2 tininess=before",
    "add e4m3fnuz e4m3fnuz -> e4m3fnuz",
    "subtract e4m3fnuz e4m3fnuz -> e4m3fnuz",
    "multiply e4m3fnuz e4m3fnuz -> e4m3fnuz",
    "add e2m1fn e2m1fn -> e2m1fn",
    "multiply e2m1fn e2m1fn -> e2m1fn",
    "fma e2m1fn e2m1fn e2m1fn -> e2m1fn",
    "multiply e4m3fn e5m2 -> binary16",
    "add binary8p3se binary8p3se -> binary8p3se",
    "multiply binary8p1uf binary8p1uf -> binary8p1uf",
    "add ue5m2 ue5m2 -> ue5m2",
    "subtract ue4m2 ue4m2 -> ue4m2",
    "multiply e4m3fn;daz;ftz e4m3fn;daz;ftz -> e4m3fn;ftz;overflow=max",
    // What is flushed, by each rule of tininess, and infinities that saturate.
    "multiply e4m3;ftz e4m3;ftz -> e4m3;ftz",
    "multiply e4m3;ftz e4m3;ftz -> e4m3;ftz tininess=before",
    "multiply e4m3;ftz e4m3;ftz -> e4m3;ftz tininess=delivered",
    "multiply e3m2;sub=no e3m2;sub=no -> e3m2;sub=no tininess=delivered",
    "add e5m2 e5m2 -> e5m2;overflow=satfinite",
    "convert binary16 -> e5m2;overflow=satfinite",
    "convert binary16 -> e4m3fn",
    "convert bfloat16 -> e3m2fn",
    "convert e8m0fnu -> binary32",
    // Results without subnormals, and without zero.
    "add e4m3;sub=no e4m3;sub=no -> e4m3;sub=no",
    "multiply e4m3;sub=no e4m3;sub=no -> e4m3;sub=no",
    "multiply e5m2;sub=no e4m3fn -> e5m2;sub=no tininess=before",
    "subtract e3m4;sub=no;inf=top;nan=negative_zero e4m3 -> e3m4;sub=no;inf=top;nan=negative_zero",
    "add ue4m3;sub=no ue4m3;sub=no -> ue4m3;sub=no;ftz",
    "multiply e5m0;sub=no;nan=all_ones e5m0;sub=no;nan=all_ones -> e5m0;sub=no;nan=all_ones",
    "fma e2m1;sub=no;inf=no;nan=none e2m1fn e3m2;sub=no -> e2m1;sub=no;inf=no;nan=none",
    "multiply e3m2;sub=no;zero=no e3m2;sub=no;zero=no -> e3m2;sub=no;zero=no;overflow=nan",
    "convert binary16 -> e4m3;sub=no",
    "convert e5m9;sub=no -> e4m3;sub=no sr5",
    "convert e5m9;sub=no -> e4m3;sub=no sr1:half tininess=before",
    "convert e5m9;sub=no -> e4m3;sub=no sr4:even",
    "convert bfloat16 -> e8m0fnu",
    // Which NaN is delivered: its sign and payload, from one encoding to another.
    "add e5m2 e5m2 -> e5m2 nan=x86",
    "multiply e5m2 e5m2 -> e5m2 nan=propagate",
    "subtract e5m2 e5m2 -> e5m2 nan=negative",
    "multiply e4m3fn e4m3fn -> e4m3fn nan=x86",
    "add e4m3fn e5m2 -> e4m3fn nan=negative",
    "multiply e4m3fnuz e3m4 -> e5m2 nan=x86",
    "add e5m2 e3m4 -> e4m3fnuz nan=x86",
    "multiply ue5m2 e4m3 -> e5m4 nan=propagate",
    "add e5m2 e5m2 -> ue5m2 nan=x86",
    "add e2m1fn e5m2 -> e3m2fn nan=x86",
    "convert binary16 -> e5m2 nan=x86",
    "convert e5m2 -> binary32 nan=propagate",
    "convert e5m9;sub=no -> e5m2 sr5 nan=x86",
    "fma e2m2 e2m2 e2m2 -> e2m2 nan=propagate",
    "fma e2m2 e2m2 e2m2 -> e2m2 nan=x86",
    "fma e2m2 e2m1 e2m1;nan=all_ones -> e3m1 nan=x86",
};

}  // namespace

// Wider ones, of every encoding and of exponents as wide as there are.
const std::vector<std::string>& wide_operations() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> texts{
        "add e8m7 e8m7 -> e8m7 sr8",
        "fma e4m3fn e4m3fn e8m23 -> e5m10 sr3:half",
        "multiply e5m10 e5m10 -> e5m10 sr5:even tininess=before",
        "add e5m10 e8m7 -> e8m23",
        "fma binary32 binary32 binary32 -> binary32 nan=x86",
        "fma binary32 binary16 binary32 -> binary32 nan=propagate",
        "add binary32 binary32 -> binary32 nan=propagate",
        "multiply binary32 binary32 -> binary16 nan=x86",
        "subtract e15m112 e15m112 -> e15m112 nan=negative",
        "convert binary32 -> e15m112 nan=x86",
        "subtract e8m7 e5m10 -> e4m3fnuz rtz",
        "fma e5m2 e5m10 e3m4 -> e8m7 tininess=before",
        "fma e5m10;daz e5m10;daz e8m23 -> e5m10;ftz",
        "multiply e62m1 e62m1 -> e62m1",
        "add e62m3 e62m3 -> e62m3",
        "fma e61m5 e61m5 e61m5 -> e61m5",
        "fma ue6m9 ue6m9 ue6m9 -> ue6m9",
        "fma e4m3fnuz e4m3fnuz e4m3fnuz -> e4m3fnuz",
        "convert e15m112 -> e8m15",
        "convert e5m10 -> e15m112",
        "multiply e8m0fnu e8m0fnu -> e8m0fnu",
        "fma e5m10;sub=no e5m10;sub=no e8m23 -> e5m10;sub=no",
        "add e8m23;sub=no e8m23;sub=no -> e8m23;sub=no sr11:half",
    };
    for (const char* f : {"e4m3fn", "e5m2", "e4m3fnuz", "e2m1fn", "e8m7", "e5m10", "e8m23", "e6m9",
                          "e8m15", "e20m49", "e15m112"}) {
      texts.push_back(fmt::format("add {0} {0} -> {0}", f));
      texts.push_back(fmt::format("multiply {0} {0} -> {0}", f));
      texts.push_back(fmt::format("fma {0} {0} {0} -> {0}", f));
    }
    return texts;
  }();
  return all;
}

std::vector<Dut> small_duts() {
  std::vector<Dut> duts;
  for (const char* text : small_operations) {
    const auto op = operation(text);
    duts.push_back(dut(fmt::format("small{}", duts.size()), op, every_tuple(op.s.read())));
  }
  return duts;
}

std::vector<Dut> fma_duts(int count) {
  Random random(12);
  std::vector<Dut> duts;
  for (const char* f : small_fma_formats) {
    const auto op = operation(fmt::format("fma {0} {0} {0} -> {0}", f));
    duts.push_back(
        dut(fmt::format("fma{}", duts.size()), op, aimed_tuples(op.s.read(), count, random)));
  }
  return duts;
}

std::vector<Dut> wide_duts(int count) {
  Random random(5);
  std::vector<Dut> duts;
  for (const std::string& text : wide_operations()) {
    const auto op = operation(text);
    duts.push_back(
        dut(fmt::format("wide{}", duts.size()), op, aimed_tuples(op.s.read(), count, random)));
  }
  return duts;
}

namespace {

struct TestedUnit {
  const char* text;
  widthwise::hdl::RtlOptions options{};
};

const TestedUnit tested_units[] = {
    {"mac(e5m10)"},
    {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)"},
    {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)", {.rounding_port = true}},
    {"mac(e5m10, sum=e8m13:sr8:half)"},
    {"mac(e4m3;ftz, tininess=before)"},
    {"fma(e4m3;ftz, sum=e5m6;ftz;overflow=satfinite)"},
    {"fma(e5m10)", {.rounding_port = true}},
    {"fma(e4m3fn, sum=e8m23)"},
    {"fma(e8m23)"},
    {"mac(e4m3fn, product=e5m7;sub=no:sr6, sum=e5m7;sub=no)", {.rounding_port = true}},
    {"dot(e4m3;sub=no, c=e5m10;sub=no, out=e5m10;sub=no, lanes=4)", {.lanes = 8}},
    {"dot(e4m3fn, c=e5m10, out=e5m10, lanes=4)", {.rounding_port = true}},
    {"dot(e4m3fn, c=e5m10, out=e5m10, lanes=4, align=12:rtz)", {.rounding_port = true}},
    {"dot(e5m2, c=e8m23, out=e8m23, lanes=5, align=9:rdn)"},
    {"dot(e5m2, c=e8m7, out=e8m7, lanes=3, align=4:rne, floor=-20)"},
    {"dot(e2m1fn, c=e8m23, lanes=4)"},
    {"tree(e4m3fn, fan=4, product=e5m7:rtz, node=e5m10, sum=e8m13:raz)"},
    {"tree(e5m2, fan=5)"},
    {"kulisch(e4m3fn)", {.lanes = 6}},
    {"kulisch(e5m2, c=e5m10, out=e8m23)", {.lanes = 3}},
    {"fixedacc(e4m3fn, width=16, frac=8, overflow=saturate, out=e5m10)", {.lanes = 6}},
    {"fixedacc(e4m3fn, width=14, frac=6, overflow=wrap, out=e5m10)", {.lanes = 6}},
    // A fused sum has no nodes: node_round changes nothing, the carriers' widths included.
    {"{a.fmt = 'e8m23', b.fmt = 'e4m3fnuz', c.fmt = 'e2m1fn', lanes = 9, c_level = 'group', "
     "group_sum.node_round.fmt = 'e4m6', out.fmt = 'e2m1fn', out.rm = 'rna', out.keep_frac = 1}"},
    // Registers that wrap, saturate or tell, below the largest exponent too.
    {"fixedacc(e4m3fn, width=12, frac=7, overflow=flag, out=e5m10)", {.lanes = 5}},
    {"{a.fmt = 'e4m3fn', b.fmt = 'e4m3fn', c.fmt = 'e5m10', lanes = 4, c_level = 'group', "
     "group_sum.align = {reference = 'max_exponent', frac_bits = 6, rm = 'rne'}, "
     "group_sum.width = 9, group_sum.overflow = 'saturate', out.fmt = 'e5m10'}"},
    {"{a.fmt = 'e4m3fn', b.fmt = 'e4m3fn', c.fmt = 'e5m10', lanes = 4, c_level = 'group', "
     "group_sum.align = {reference = 'max_exponent', frac_bits = 5, rm = 'rdn'}, "
     "group_sum.width = 8, group_sum.overflow = 'flag', out.fmt = 'e5m10'}"},
    // Chains: blocks in a row, and what is done at their end.
    {"fma(e5m10)", {.rounding_port = true, .lanes = 3}},
    {"mac(e4m3fn, product=e5m7:sr6, sum=e8m13:sr8:even)", {.lanes = 3}},
    {"dot(e4m3fn, c=e4m3fn, out=e5m10, lanes=2, align=6:rtz, promote=4:e8m7, final=e5m2)",
     {.lanes = 10}},
    {"dot(e2m1fn, c=e8m7, out=e5m10, lanes=4, scale=e8m0fnu:2:term)", {.lanes = 8}},
    {"tree(e4m3fn, fan=3, product=e5m7:sr4, node=e5m10:sr5:half, sum=e8m13)", {.lanes = 6}},
    {"kahan(e4m3fn, product=e5m7, sum=e5m3)", {.rounding_port = true, .lanes = 3}},
    {"neumaier(e4m3fn, product=e5m7, sum=e5m3, final=e5m2)", {.lanes = 3}},
    {"neumaier(e5m2, product=e5m7:sr7, sum=e5m3:sr9, promote=2:e5m5)", {.lanes = 3}},
    {"kahan(e5m2, product=e5m7, sum=e5m3:sr9:half)", {.lanes = 3}},
    {"lowered.e5m2.f16"},
    {"mac.bf16.f32.bf16"},
    // Operands cut, sums joined late, a cut before the rounding.
    {"{a = {fmt = 'e8m7', keep_frac = 3, keep_rm = 'rne'}, b = {fmt = 'e5m2', keep_frac = 0, "
     "keep_rm = 'raz'}, c = {fmt = 'e5m10', keep_frac = 4, keep_rm = 'rup'}, lanes = 3, "
     "product.exponent = 'normalised', c_level = 'late', group_sum.align = {reference = "
     "'max_exponent', frac_bits = 5, rm = 'rtz'}, c_sum.align = {reference = 'max_exponent', "
     "frac_bits = 9, rm = 'rdn', drop_c_below = 3}, out = {fmt = 'e5m10', rm = 'rdn', "
     "post_norm_frac = 8, post_norm_rm = 'rup', zero_sign = 'plus'}}"},
    {"{a.fmt = 'e4m3', b.fmt = 'e4m3', c.fmt = 'e5m2', lanes = 2, c_level = 'group', out = {fmt = "
     "{exp_bits = 3, frac_bits = 2, bias = 3, nan = 'none', inf = 'no', zero = false}, "
     "post_norm_frac = 3, post_norm_rm = 'rtz', zero_sign = 'always_plus'}}"},
    {"ampere.tf32.f32"},
    {"approx.f16"},
    {"cdna3.f16"},
    {"cdna3.fp8"},
    {"hopper.e4m3.f32"},
    {"hopper.f16.f16"},
    {"ampere.f16.f32"},
    {"volta.f16.f32"},
    {"ada.e5m2.f16"},
    {"cdna1.f16"},
    {"cdna2.f16"},
    {"blackwell.mxfp8"},
    {"blackwell.nvfp4"},
    {"blackwell.mxfp4"},
};

}  // namespace

std::vector<Dut> unit_duts(int count) {
  Random random(9);
  std::vector<Dut> duts;
  for (const TestedUnit& t : tested_units)
    duts.push_back(dut(fmt::format("unit{}", duts.size()), widthwise::parse_unit(t.text), count,
                       random, t.options));
  return duts;
}

Dut named_unit_dut(std::size_t which, int count, Random& random) {
  const widthwise::Multiplier approximate = widthwise::mitchell();
  const TestedUnit units[] = {
      {"mac(e5m10)"},
      {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)"},
      {"fma(e5m10)", {.lanes = 3}},
      {"fma(e4m3fn, sum=e8m23)", {.lanes = 3}},
      {"kulisch(e4m3fn)", {.lanes = 4}},
      {"fixedacc(e4m3fn, width=16, frac=8, overflow=saturate, out=e5m10)", {.lanes = 4}},
      {"hopper.e4m3.f32"},
      {"ampere.f16.f32"},
      {"cdna3.f16"},
      {"blackwell.nvfp4"},
      {"mac(e5m10)", {.multiply = approximate}},
  };
  static_assert(std::size(units) == named_units);
  const TestedUnit& u = units[which];
  return dut("named", widthwise::parse_unit(u.text), count, random, u.options, u.options.multiply);
}

std::vector<Dut> preset_duts(int count) {
  Random random(11);
  std::vector<Dut> duts;
  for (const widthwise::Preset& p : widthwise::presets())
    duts.push_back(dut(fmt::format("preset{}", duts.size()), p.unit, count, random,
                       {.lanes = p.unit.lanes ? 0 : 4}));
  return duts;
}

std::vector<Dut> multiplier_duts(int count) {
  using namespace widthwise;
  struct Tested {
    const char* unit;
    Multiplier multiply;
  };
  const Tested tested[] = {
      {"mac(e5m10)", mitchell()},
      {"mac(e4m3fn, b=e5m10, product=e8m23, sum=e8m23)", mitchell()},
      {"dot(e8m7, c=e8m23, out=e8m23, lanes=3, align=24:rtz)", drum(4)},
      {"mac(e2m1fn, b=e8m23, product=e8m23, sum=e8m23)", drum(3)},
      {"mac(e5m10)", truncated_array(9)},
      {"mac(e4m3fn, b=e5m10, product=e8m23, sum=e8m23)", truncated_array(17)},
      {"fma(e5m10)", truncated_operands(4)},
      {"mac(e2m1fn, b=e5m2, product=e8m23, sum=e8m23)", truncated_operands(3)},
      {"approx.f16", mitchell()},
      // A table of the user's: not commutative, and lost where a is the least number.
      {"mac(e4m3fn, b=e5m2)",
       [](std::uint64_t a, std::uint64_t b) { return uint128{a * b - (a & 3)}; }},
  };
  Random random(10);
  std::vector<Dut> duts;
  for (const Tested& t : tested)
    duts.push_back(dut(fmt::format("multiplier{}", duts.size()), parse_unit(t.unit), count, random,
                       {.multiply = t.multiply}, t.multiply));
  return duts;
}

namespace {

// Without what is not built anyway, so that what remains is met more often.
widthwise::Unit plainer(widthwise::Unit u, Random& random) {
  for (auto* s : {&u.group_sum, &u.block_sum, &u.c_sum}) {
    if (s->align.reference == widthwise::Reference::exact || random() % 2) s->width.reset();
    if (random() % 2) s->order = widthwise::Order::fused, s->node_round.reset();
  }
  if (random() % 2) u.chain = {};
  return u;
}

}  // namespace

std::vector<Dut> random_duts(std::uint64_t seed, std::size_t units, int count, const Turn& turn) {
  Random random(seed);
  std::vector<Dut> duts;
  while (duts.size() < units) {
    widthwise::Unit u = plainer(random_units::unit(random, 6, 11), random);
    if (turn) turn(u, random);
    const int lanes = u.lanes == 0 ? 3 : static_cast<int>(u.lanes) * static_cast<int>(random() % 3);
    try {
      duts.push_back(dut(fmt::format("random{}", duts.size()), u, count, random, {.lanes = lanes}));
    } catch (const std::invalid_argument&) {
      // by check() too, for what was taken away
    }
  }
  return duts;
}

std::vector<Dut> all_duts(int count) {
  std::vector<Dut> all = unit_duts(count);
  for (Dut& d : wide_duts(count)) all.push_back(std::move(d));
  return all;
}

Dut pipelined(const std::string& name, TestedOperation op, std::size_t count, Random& random) {
  op.options.pipeline = rtl_stages(op.s, op.options);
  Dut d = thinned(dut(name, op, aimed_tuples(op.s.read(), 200, random)), count);
  d.timing = rtl_timing(op.s, op.options);
  return d;
}

Dut pipelined(const std::string& name, const widthwise::Unit& unit,
              widthwise::hdl::RtlOptions options, int count, Random& random) {
  options.pipeline = rtl_stages(unit, options);
  Dut d = dut(name, unit, count, random, options);
  d.timing = rtl_timing(unit, options);
  return d;
}

void check_caught(const Dut& right, std::span<const Change> changes) {
  CHECK(!fails(right));
  for (const Change& change : changes) {
    CAPTURE(change.file);
    CAPTURE(change.to);
    Dut d = right;
    bool changed = false;
    for (auto& file : d.files) {
      const std::size_t at =
          file.name == change.file ? file.text.find(change.from) : std::string::npos;
      if (at == std::string::npos) continue;
      file.text.replace(at, change.from.size(), change.to);
      changed = true;
    }
    CHECK(changed);
    CHECK(fails(d));
  }
}

Dut thinned(Dut d, std::size_t count) {
  std::vector<std::string> kept;
  const std::size_t step = d.vectors.size() / count | 1;
  for (std::size_t i = 0; i < d.vectors.size(); i += step) kept.push_back(d.vectors[i]);
  d.vectors = std::move(kept);
  return d;
}

}  // namespace tests
