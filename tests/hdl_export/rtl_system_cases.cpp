#include <fmt/core.h>

#include "rtl_cases.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {
namespace {

// Fixed point, posits and takums whose operands are few enough to try them all.
constexpr const char* small_operations[] = {
    "add fixed8.4 fixed8.4 -> fixed8.4",
    "multiply fixed8.4 fixed8.4 -> fixed8.4",
    "add posit8es2 posit8es2 -> posit8es2",
    "multiply posit8es2 posit8es2 -> posit8es2",
    // Every overflow rule; negative results without a sign; one bit alone.
    "add fixed6.2 fixed6.2 -> fixed6.2;overflow=symmetric",
    "subtract fixed6.2 fixed6.2 -> fixed6.2;overflow=zero",
    "add fixed6.2 fixed6.2 -> fixed6.2;overflow=wrap",
    "multiply fixed6.2 fixed6.2 -> fixed6.2;overflow=wrap",
    "multiply fixed6.2 fixed6.2 -> fixed6.2;overflow=wrap_sm",
    "multiply fixed6.2 fixed6.2 -> fixed6.2;overflow=keep_sign",
    "subtract ufixed6.3 ufixed6.3 -> ufixed6.3",
    "subtract ufixed6.3 ufixed6.3 -> ufixed6.3;overflow=wrap",
    "subtract uint6 uint6 -> uint6;overflow=keep_sign",
    "multiply ufixed6.8 fixed6.-2 -> fixed7.1;overflow=zero",
    "add int1 int1 -> int1",
    "multiply int1 int1 -> int2;overflow=wrap_sm",
    "add uint1 uint1 -> uint1;overflow=wrap",
    "fma fixed4.1 fixed4.1 fixed4.1 -> fixed4.1",
    "fma fixed4.2 ufixed4.0 fixed5.3 -> fixed5.1;overflow=wrap_sm",
    "fma int4 int4 fixed4.9 -> int3;overflow=wrap",
    // Between floats and fixed point: specials, far exponents, and zeros' signs.
    "convert e5m10 -> fixed8.4",
    "convert e5m6 -> fixed8.4;overflow=wrap_sm",
    "convert e5m6 -> ufixed8.12;overflow=zero",
    "convert e5m6 -> int6;overflow=keep_sign",
    "convert fixed12.4 -> e4m3fn",
    "convert fixed8.4 -> posit8es2",
    "add e4m3 fixed5.2 -> fixed5.2;overflow=wrap",
    "subtract fixed5.2 fixed5.2 -> e4m3",
    "fma e3m1 fixed3.1 e2m1 -> fixed5.2;overflow=symmetric",
    "multiply e4m3fn fixed6.3 -> e4m3fn",
    // Posits of every es, takums, and numbers of one digit.
    "add posit6es0 posit6es0 -> posit6es0",
    "multiply posit6es1 posit6es1 -> posit6es1",
    "subtract posit6es2 posit6es2 -> posit6es2",
    "multiply posit6es3 posit6es3 -> posit6es3",
    "add posit7es4 posit5es4 -> posit6es4",
    "add posit3es0 posit3es4 -> posit3es2",
    "fma posit4es1 posit4es1 posit4es1 -> posit4es1",
    "fma posit4es0 posit4es2 posit5es2 -> posit6es1",
    "convert posit13es2 -> posit8es2",
    "convert posit12es3 -> e5m10",
    "convert e5m10 -> posit8es2",
    "convert e5m6 -> posit9es0",
    "convert e8m4 -> takum9",
    "convert posit8es2 -> fixed8.4",
    "convert posit8es2 -> int5;overflow=wrap",
    "add takum7 takum7 -> takum7",
    "multiply takum6 takum6 -> takum6",
    "subtract takum4 takum3 -> takum5",
    "fma takum4 takum4 takum4 -> takum4",
    "convert takum14 -> takum8",
    "convert takum13 -> posit9es3",
    "convert takum12 -> e8m7",
    // Tables, read alone: shipped ones, a second zero, NaN, values far apart, codes without a
    // value.
    "convert table(nf4) -> e5m10",
    "convert table(dynamic8) -> e4m3fn",
    "multiply table(nf4) e4m3fn -> e5m10",
    "multiply table(fp4) table(af4) -> e4m3",
    "subtract table(af4) e2m3fn -> e5m2",
    "add table(-1,-0.3,0,0.125,3,nan,1e-12) e5m2 -> e8m7",
    "multiply table(-0,0,1e-319,1e300) e4m3 -> e11m4",
    "fma table(nf4) e2m1fn table(0,1,-2) -> e4m3fn",
    "add table(nf4) fixed5.3 -> fixed6.4;overflow=wrap",
    "multiply table(apot4) posit6es1 -> posit8es1",
    "convert table(nf4) -> e3m1 sr5",
    // Random bits, and which NaN is delivered.
    "convert e5m10 -> fixed8.4 sr5",
    "convert e5m10 -> posit8es2 sr4:half",
    "convert e5m9 -> takum8 sr6:even",
    "convert posit12es1 -> fixed5.1 sr1",
    "multiply posit6es1 posit6es1 -> posit6es1 nan=x86",
    "add posit6es1 e4m3 -> e4m3 nan=propagate",
    "multiply e4m3 e4m3 -> posit8es1 nan=propagate",
};

}  // namespace

std::vector<Dut> small_system_duts() {
  std::vector<Dut> duts;
  for (const char* text : small_operations) {
    const auto op = operation(text);
    duts.push_back(dut(fmt::format("system{}", duts.size()), op, every_tuple(op.s.read())));
  }
  return duts;
}

namespace {

constexpr const char* far_operations[] = {
    "add fixed16.8 fixed16.8 -> fixed16.8",
    "multiply fixed32.16 fixed32.16 -> fixed32.16;overflow=wrap",
    "fma fixed16.8 fixed16.8 fixed32.16 -> fixed32.16;overflow=symmetric",
    "add fixed100.-300 fixed70.20 -> fixed40.-310;overflow=wrap",
    "add fixed24.200 ufixed24.-200 -> fixed60.30",
    "multiply fixed200.100 fixed200.-7 -> fixed200.50;overflow=wrap_sm",
    "convert fixed1000.500 -> e11m52",
    "convert e8m23 -> fixed300.150;overflow=wrap",
    "convert e11m52 -> fixed16.8",
    "convert e62m3 -> fixed16.8",
    "add e5m10 e5m10 -> fixed12.20;overflow=wrap",
    "fma e5m10 e4m3 fixed20.3 -> fixed24.30;overflow=wrap_sm",
    "add posit16es2 posit16es2 -> posit16es2",
    "subtract posit32es2 posit32es2 -> posit32es2",
    "multiply posit64es4 posit64es4 -> posit64es4",
    "fma posit8es2 posit8es2 posit8es2 -> posit8es2",
    "fma posit16es1 posit16es1 posit16es1 -> posit16es1",
    "fma posit32es2 posit32es2 posit32es2 -> posit64es3",
    "multiply posit16es2 fixed16.8 -> fixed24.10",
    "fma posit16es2 fixed8.4 e8m7 -> posit16es2",
    "add e8m23 posit64es0 -> posit64es0",
    "convert e15m112 -> posit64es4",
    "convert posit64es2 -> e8m23",
    "add takum16 takum16 -> takum16",
    "multiply takum32 takum32 -> takum32",
    "fma takum64 takum64 takum64 -> takum64",
    "fma takum12 posit12es2 fixed12.4 -> e8m23",
    "convert e11m52 -> takum24",
    "add posit16es2 posit16es2 -> posit16es2 sr9",
    "multiply fixed16.8 fixed16.8 -> fixed16.8 sr12:half",
    "fma takum16 takum16 takum16 -> takum16 sr7:even",
    "fma posit16es2 posit16es2 posit16es2 -> e5m10 nan=x86",
};

struct TestedUnit {
  const char* text;
  widthwise::hdl::RtlOptions options{};
};

const TestedUnit tested_units[] = {
    {"mac(fixed8.4)", {.rounding_port = true}},
    {"mac(fixed8.4, product=fixed12.6:rdn, sum=fixed14.7;overflow=wrap:rtz)"},
    {"mac(fixed8.4, sum=fixed12.6:sr5)", {.lanes = 3}},
    {"mac(int8, sum=int32)"},
    {"fma(uint1, c=int1, sum=uint1;overflow=wrap)"},
    {"mac(int8, sum=int12;overflow=wrap_sm)", {.lanes = 4}},
    {"mac(fixed6.2, b=ufixed5.4, sum=fixed9.3;overflow=zero)", {.lanes = 3}},
    {"mac(e4m3fn, sum=fixed16.4)"},
    {"mac(e5m2, sum=fixed10.2;overflow=wrap)", {.lanes = 2}},
    {"dot(int8, c=int32, out=int32, lanes=4)"},
    {"dot(uint8, b=int8, c=int20, out=int16;overflow=symmetric, lanes=5)"},
    {"dot(fixed8.4, c=e5m10, out=e5m10, lanes=4, align=12:rtz)"},
    {"dot(fixed8.4, c=fixed16.8, out=fixed16.8, lanes=4, align=5:rdn)", {.rounding_port = true}},
    {"tree(fixed8.4, fan=4, product=fixed10.6:rne, node=fixed11.6;overflow=wrap, sum=fixed12.5)"},
    {"fixedacc(int8, width=16, frac=0, overflow=saturate, out=int16)", {.lanes = 6}},
    {"fixedacc(fixed8.4, width=14, frac=5, overflow=wrap, out=fixed14.5;overflow=wrap)",
     {.lanes = 6}},
    {"fixedacc(fixed8.4, width=13, frac=6, overflow=flag, out=fixed8.4)", {.lanes = 5}},
    {"fixedacc(ufixed8.4, b=fixed8.6, width=18, frac=7, align=rne, out=fixed10.3:rnp)",
     {.lanes = 3}},
    {"fixedacc(posit8es1, width=24, frac=10, overflow=saturate, out=posit8es1)", {.lanes = 3}},
    {"kulisch(fixed8.4, out=fixed20.8)", {.lanes = 5}},
    {"kahan(fixed8.4, product=fixed12.5, sum=fixed10.3)", {.lanes = 3}},
    {"mac(posit8es2)", {.rounding_port = true}},
    {"mac(posit8es2)", {.lanes = 4}},
    {"mac(posit8es2, product=posit8es2:rtz, sum=posit12es2:sr6)", {.lanes = 3}},
    {"mac(posit8es2, sum=e8m23)"},
    {"fma(posit16es2)"},
    {"dot(posit8es2, c=posit16es2, out=posit16es2, lanes=4)"},
    {"dot(posit8es0, c=fixed16.8, out=fixed16.8, lanes=3, align=9:rne)"},
    {"dot(e4m3fn, c=posit16es1, out=posit16es1, lanes=4, align=14:rtz)"},
    {"tree(posit8es1, fan=4, product=posit8es1, node=posit8es2, sum=posit16es1)"},
    {"kulisch(posit8es2)", {.lanes = 4}},
    {"kulisch(posit16es2)", {.lanes = 3}},
    {"kulisch(posit8es0, c=posit12es1, out=posit16es1)", {.lanes = 5}},
    {"kulisch(posit8es2, width=97)", {.lanes = 4}},
    {"kulisch(posit8es2, width=98, overflow=wrap)", {.rounding_port = true, .lanes = 4}},
    {"kulisch(posit3es0, width=5)", {.lanes = 3}},
    {"kulisch(posit3es1, b=posit4es0, width=9, overflow=wrap, out=e5m2)", {.lanes = 5}},
    {"kulisch(posit5es0, b=posit5es2, c=posit6es1, width=33, out=fixed8.4;overflow=wrap)",
     {.lanes = 6}},
    {"{a.fmt = 'posit4es0', b.fmt = 'posit4es0', c.fmt = 'posit6es0', lanes = 6, "
     "groups.strided = 2, c_level = 'block', group_sum = {width = 9, overflow = 'nar', align = "
     "{reference = 'fixed_lsb', frac_bits = 4, rm = 'rtz'}}, block_sum = {width = 10, overflow = "
     "'wrap_nar', align = {reference = 'fixed_lsb', frac_bits = 3, rm = 'rdn'}}, out.fmt = "
     "'posit6es0'}"},
    {"{a.fmt = 'e4m3', b.fmt = 'e4m3', c.fmt = 'e5m10', lanes = 3, c_level = 'late', group_sum = "
     "{width = 14, overflow = 'nar', align = {reference = 'fixed_lsb', frac_bits = 6, rm = "
     "'rne'}}, c_sum = {width = 11, overflow = 'nar', align = {reference = 'fixed_lsb', frac_bits "
     "= 3, rm = 'rtz'}}, out.fmt = 'e5m10'}"},
    {"{a.fmt = 'posit5es0', b.fmt = 'posit5es0', c.fmt = 'posit6es0', lanes = 4, c_level = "
     "'group', group_sum = {order = 'sequential', width = 8, overflow = 'nar', node_round.fmt = "
     "'posit8es1', align = {reference = 'fixed_lsb', frac_bits = 4, rm = 'rna'}}, out.fmt = "
     "'posit8es1'}"},
    {"neumaier(posit8es2, product=posit12es2, sum=posit8es1, final=posit6es1)", {.lanes = 3}},
    {"dot(posit8es2, c=posit8es2, out=posit12es2, lanes=2, promote=4:posit16es2, final=fixed12.3)",
     {.lanes = 6}},
    {"fma(table(nf4), b=e5m10, sum=e8m23)", {.rounding_port = true}},
    {"mac(table(fp4), product=posit8es1, sum=fixed12.6)", {.lanes = 3}},
    {"dot(table(nf4), b=table(af4), c=e8m23, out=e8m23, lanes=4, align=12:rtz)"},
    {"dot(e4m3fn, b=table(dynamic8), c=table(nf4), out=e5m10, lanes=3, align=20:rdn, floor=-9)"},
    {"fixedacc(table(apot4), b=int8, width=20, frac=8, overflow=saturate, out=int16)",
     {.lanes = 4}},
    {"kulisch(table(-1,0,nan,0.75), b=e4m3, out=e8m23)", {.lanes = 3}},
    {"mac(takum8, sum=takum12)", {.rounding_port = true}},
    {"dot(takum8, c=takum16, out=takum16, lanes=3, align=20:rtz)"},
    {"kulisch(takum8)", {.lanes = 2}},
    {"dot(int8, c=e8m23, out=e8m23, lanes=4, scale=e8m0fnu:4:term)"},
    {"{a.fmt = 'fixed4.2', b.fmt = 'posit5es1', c.fmt = 'fixed16.4', lanes = 8, "
     "groups.consecutive = 4, c_level = 'block', scale = {fmt = 'ufixed4.2', block = 4, apply = "
     "'group'}, out.fmt = 'fixed16.4'}"},
    {"{a = {fmt = 'posit8es2'}, b = {fmt = 'fixed8.4'}, c = {fmt = 'takum9'}, lanes = 3, "
     "product = {exponent = 'normalised', overflow_to_inf_at = 20}, c_level = 'late', "
     "group_sum.align = {reference = 'max_exponent', frac_bits = 6, rm = 'rtz'}, "
     "c_sum.align = {reference = 'max_exponent', frac_bits = 9, rm = 'rdn', drop_c_below = 3}, "
     "out = {fmt = 'posit10es1', rm = 'rup'}}"},
};

}  // namespace

std::vector<Dut> wide_system_duts(int count) {
  Random random(6);
  std::vector<Dut> duts;
  for (const char* text : far_operations) {
    const auto op = operation(text);
    duts.push_back(
        dut(fmt::format("far{}", duts.size()), op, aimed_tuples(op.s.read(), count, random)));
  }
  return duts;
}

std::vector<Dut> system_unit_duts(int count) {
  Random random(10);
  std::vector<Dut> duts;
  for (const TestedUnit& t : tested_units)
    duts.push_back(dut(fmt::format("unit{}", duts.size()), widthwise::parse_unit(t.text), count,
                       random, t.options));
  return duts;
}

void turn_to_other_systems(widthwise::Unit& u, Random& random) {
  static const char* const texts[] = {"fixed6.3",
                                      "ufixed5.7",
                                      "fixed9.2;overflow=wrap",
                                      "int4",
                                      "fixed8.-1;overflow=zero",
                                      "posit6es1",
                                      "posit9es2",
                                      "posit5es0",
                                      "takum9"};
  const auto other = [&] { return widthwise::parse_format(texts[random() % std::size(texts)]); };
  const auto stays = [&] { return random() % 4 == 0; };
  const auto turn = [&](std::optional<widthwise::Round>& r) {
    if (r && !stays()) r = widthwise::Round{.fmt = other(), .rm = r->rm, .zero_sign = r->zero_sign};
  };
  for (widthwise::Operand* x : {&u.a, &u.b, &u.c})
    if (!stays()) *x = {.fmt = other()};
  for (widthwise::Sum* s : {&u.group_sum, &u.block_sum, &u.c_sum}) turn(s->node_round);
  std::optional<widthwise::Round> out = u.out;
  turn(out);
  u.out = *out;
  turn(u.product.round);
  turn(u.chain.c_round);
  turn(u.chain.final);
  if (u.chain.promote) {
    out = u.chain.promote->round;
    turn(out);
    u.chain.promote->round = *out;
  }
  if (u.scale && !stays()) u.scale->fmt = other();
}

namespace {

constexpr const char* clocked_operations[] = {
    "multiply fixed8.4 fixed8.4 -> fixed8.4",
    "add fixed8.4 e5m10 -> fixed8.4;overflow=wrap sr5",
    "fma posit8es2 posit8es2 posit8es2 -> posit8es2",
    "convert e8m23 -> takum16",
    "add posit16es1 posit16es1 -> posit16es1 sr9",
};
const TestedUnit clocked_units[] = {
    {"mac(fixed8.4, product=fixed12.6:rdn, sum=fixed14.7;overflow=wrap:rtz)"},
    {"dot(posit8es2, c=posit16es2, out=posit16es2, lanes=4)"},
    {"tree(takum8, fan=4, product=takum8, node=takum12:sr5, sum=takum16)"},
    {"kulisch(posit8es0)", {.lanes = 3}},
    {"kulisch(posit8es0, width=25, overflow=wrap)", {.lanes = 3}},
};
const TestedUnit running_units[] = {
    {"mac(fixed8.4)"},
    {"mac(uint1, c=int1, sum=uint1;overflow=wrap)"},
    {"mac(posit8es2, sum=posit12es2:sr8)"},
    {"kulisch(posit8es2)", {.lanes = 2}},
    {"kulisch(posit8es0, width=25)", {.lanes = 2}},
    {"kulisch(posit4es1, c=posit6es1, width=17, overflow=wrap)", {.lanes = 3}},
    {"kulisch(fixed8.4, c=fixed12.6, out=fixed16.4)", {.lanes = 2}},
    {"fixedacc(int8, width=14, frac=0, overflow=saturate, out=int14)", {.lanes = 3}},
    {"fixedacc(fixed8.4, width=12, frac=5, overflow=wrap, out=fixed12.5;overflow=wrap)",
     {.lanes = 2}},
};

}  // namespace

std::vector<Dut> clocked_system_duts(int count) {
  Random random(18);
  std::vector<Dut> duts;
  const auto name = [&] { return fmt::format("clocked{}", duts.size()); };
  for (const char* text : clocked_operations)
    duts.push_back(pipelined(name(), operation(text), static_cast<std::size_t>(count), random));
  for (const TestedUnit& t : clocked_units)
    duts.push_back(pipelined(name(), widthwise::parse_unit(t.text), t.options, count, random));
  for (const TestedUnit& t : running_units)
    duts.push_back(running_dut(name(), widthwise::parse_unit(t.text), {1, 2, 1, 3, 1, 9, 4, 30},
                               random, t.options));
  return duts;
}

}  // namespace tests
