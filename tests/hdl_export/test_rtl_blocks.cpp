#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "rtl_cases.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/text.hpp"

// Quantisers of blocks as RTL, held to the simulator: elements and scales to its blocks, flags and
// elements to its scaleb or division, which round each number over the scale by itself.
using namespace tests;
using namespace widthwise;

namespace {

constexpr const char* rules[] = {"floor", "ceil", "rceil", "even", "midmax", "nearest"};

struct Quantised {
  std::vector<std::byte> elements, scales;
};

std::size_t item(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

std::vector<float> as_binary32(const std::vector<Code>& numbers, const Format& from) {
  std::vector<float> x(numbers.size());
  const std::vector<std::byte> codes = packed(numbers, from);
  const CodeArray operand{from, codes.data()};
  elementwise(Operation::convert, binary32, {}, {&operand, 1}, x.size(), x.data(), nullptr);
  return x;
}

// All blocks side by side, as an array has them.
Quantised by_blocks(const BlockQuantisation& q, const Rounding& rm,
                    const std::vector<Code>& numbers) {
  const std::size_t n = numbers.size(), block = q.numbers();
  const std::vector<float> x = as_binary32(numbers, q.from);
  const BlockGrid grid{1, 1, n, 1, block};
  const auto run =
      BlockQuantiser::of<float>(q.to, grid, {.rounding = rm, .tensor_scale = q.tensor_scale});
  Quantised z{std::vector<std::byte>(n * item(q.to.element)),
              std::vector<std::byte>(n / block * item(q.to.scale))};
  BlockTally tally;
  for (std::size_t i = 0; i < run.panels(); ++i)
    run.run(i, x.data(), z.elements.data(), z.scales.data(), tally);
  REQUIRE(!tally.refused);
  return z;
}

// The numbers of one block over 2^exponent.
std::vector<std::byte> by_scaleb(const BlockQuantisation& q, const Rounding& rm,
                                 const std::vector<std::byte>& numbers, std::int64_t exponent,
                                 std::uint8_t& flags) {
  const std::vector<std::int64_t> by(q.numbers(), -exponent);
  std::vector<std::byte> elements(q.numbers() * item(q.to.element));
  std::vector<std::uint8_t> each(q.numbers());
  scaleb(q.element(), {.rounding = rm}, {q.from, numbers.data()}, by.data(), by.size(),
         elements.data(), each.data());
  flags = 0;
  for (const std::uint8_t one : each) flags |= one;
  return elements;
}

using Bytes = std::vector<std::byte>;

std::uint8_t divide(const Format& to, const Rounding& rm, const CodeArray& x, const CodeArray& by,
                    std::size_t n, Bytes& quotients) {
  const CodeArray operands[] = {x, by};
  std::vector<std::uint8_t> each(n);
  quotients.resize(n * item(to));
  elementwise(Operation::divide, to, {.rounding = rm}, operands, n, quotients.data(), each.data());
  std::uint8_t flags = 0;
  for (const std::uint8_t one : each) flags |= one;
  return flags;
}

// The numbers of one block over its scale, and its tensor's: in one step, or by way of binary32.
Bytes by_division(const BlockQuantisation& q, const Rounding& rm, const Bytes& numbers,
                  const Code& scale, std::uint8_t& flags) {
  double by = 0;
  const Bytes code = packed({scale}, q.to.scale);
  const CodeArray operand{q.to.scale, code.data()};
  elementwise(Operation::convert, binary64, {}, {&operand, 1}, 1, &by, nullptr);
  const std::size_t n = q.numbers();
  const std::vector<double> divisors(n, by == 0 ? 1 : by * static_cast<double>(q.tensor_scale)),
      ones(n, 1.0);
  const CodeArray x{q.from, numbers.data()}, d{binary64, divisors.data()};
  Bytes elements, quotients;
  if (q.to.takes_tensor_scale()) {
    flags = divide(q.element(), rm, x, d, n, elements);
    return elements;
  }
  flags = divide(binary32, {}, x, d, n, quotients);
  flags |=
      divide(q.element(), rm, {binary32, quotients.data()}, {binary64, ones.data()}, n, elements);
  return elements;
}

std::vector<Code> codes_of(const std::byte* bytes, std::size_t count, const Format& f) {
  std::vector<Code> codes;
  for (std::size_t i = 0; i < count; ++i)
    codes.push_back(load_code<Code>(bytes + i * item(f), static_cast<int>(item(f))));
  return codes;
}

bool is_special(const std::vector<Code>& block, const Format& from) {
  const std::vector<float> x = as_binary32(block, from);
  return std::ranges::any_of(x, [](float each) { return !std::isfinite(each); });
}

// A block that has no codes as one of zeros.
std::vector<Code> with_codes(const BlockQuantisation& q, std::vector<Code> numbers) {
  const auto n = static_cast<std::ptrdiff_t>(q.numbers());
  for (auto at = numbers.begin(); at != numbers.end() && q.to.refuses_specials(); at += n)
    if (is_special({at, at + n}, q.from)) std::fill(at, at + n, Code());
  return numbers;
}

// Numbers of blocks one after the other, in every mode.
Dut dut(const std::string& name, const char* text, const std::vector<Code>& numbers) {
  const BlockQuantisation q = parse_block_quantisation(text);
  const std::size_t n = q.numbers();
  const int lanes = static_cast<int>(n);
  Dut d{
      .name = name,
      .files = hdl::rtl(q, name, {.rounding_port = true}),
      .inputs = {{"a", q.from.width() * lanes}, {"rm", 4}},
      .outputs = {{"y", q.to.element.width() * lanes}, {"scale", q.to.scale.width()}, {"flags", 5}},
      .vectors = {},
      .taps = {}};
  for (int mode = 0; mode < deterministic_modes; ++mode) {
    const Rounding rm(static_cast<RoundingMode>(mode));
    const Quantised z = by_blocks(q, rm, with_codes(q, numbers));
    for (std::size_t i = 0; i < numbers.size() / n; ++i) {
      const std::vector<Code> block(numbers.begin() + static_cast<std::ptrdiff_t>(i * n),
                                    numbers.begin() + static_cast<std::ptrdiff_t>(i * n + n));
      const std::byte* elements = &z.elements[i * n * item(q.to.element)];
      const bool special = is_special(block, q.from);
      const Code scale = special ? ones<Code>(q.to.scale.width())
                                 : codes_of(&z.scales[i * item(q.to.scale)], 1, q.to.scale)[0];
      std::uint8_t flags = 16;
      if (!special) {
        const auto exponent = static_cast<std::int64_t>(scale.limb[0]) - q.to.scale.bias;
        const Bytes x = packed(block, q.from);
        const Bytes second = q.to.power_of_two() ? by_scaleb(q, rm, x, exponent, flags)
                                                 : by_division(q, rm, x, scale, flags);
        const bool alike = std::equal(second.begin(), second.end(), elements);
        if (!q.to.flush) REQUIRE(alike);
      }
      d.vectors.push_back(bus_digits(block, q.from.width()) + hex(rm_codes[mode], 4) +
                          bus_digits(codes_of(elements, n, q.to.element), q.to.element.width()) +
                          hex(scale.limb[0], q.to.scale.width()) + hex(flags, 5));
    }
  }
  return d;
}

// Blocks of two: all pairs of codes, those apart that binary32 does not take.
std::vector<Code> all_pairs(const Format& f) {
  std::vector<Code> all;
  const std::uint64_t count = std::uint64_t{1} << f.width();
  for (std::uint64_t a = 0; a < count; ++a)
    for (std::uint64_t b = 0; b < count; ++b) {
      all.emplace_back(a);
      all.emplace_back(b);
    }
  return all;
}

std::vector<Dut> pair_duts(const char* from, const std::vector<const char*>& blocks) {
  std::vector<Dut> duts;
  const std::vector<Code> numbers = all_pairs(parse_format(from));
  for (const char* block : blocks)
    for (const char* rule : rules)
      duts.push_back(dut(fmt::format("blocks{}", duts.size()),
                         fmt::format("blocks({};scale={}, a={})", block, rule, from).c_str(),
                         numbers));
  return duts;
}

// Numbers near one another in every other block; else any.
std::vector<Code> aimed(const BlockQuantisation& q, std::size_t blocks, Random& random) {
  std::vector<Code> all;
  for (std::size_t i = 0; i < blocks; ++i) {
    const Code first =
        i % 8 ? random_code(q.from, random) : named(q.from)[random() % named(q.from).size()];
    all.push_back(first);
    for (std::size_t k = 1; k < q.numbers(); ++k)
      all.push_back(i % 2 ? near(first, q.from, random) : random_code(q.from, random));
  }
  return all;
}

}  // namespace

TEST_CASE("all pairs of a small float in every mode, under every scale rule, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator,
            pair_duts("e3m2", in_turn<const char*>(
                                  {"block(e2m1fn,2,e8m0fnu)", "block(fixed4.2,2,e3m0fnu)"}, 2)));
}

TEST_CASE("all pairs of other floats to other elements, under some rules, in Verilator") {
  if (!have("verilator")) return;
  std::vector<Dut> duts;
  const std::vector<const char*> all{
      "blocks(block(e4m3fn,2,e2m0fnu);scale=even, a=e3m2fn)",
      "blocks(block(posit6es1,2,e4m0fnu);scale=midmax, a=e2m3)",
      "blocks(block(fixed5.3,2,e8m0fnu);scale=nearest;clamp=full, "
      "a=e3m2;nan=negative_zero;inf=no)",
      "blocks(block(e3m2fn,1x2,e5m0fnu);scale=rceil, a=ue3m2;nan=none;inf=no)"};
  for (const char* text : in_turn(all, 2)) {
    const BlockQuantisation q = parse_block_quantisation(text);
    duts.push_back(dut(fmt::format("other{}", duts.size()), text, all_pairs(q.from)));
  }
  check_all(HdlSimulator::verilator, duts);
}

TEST_CASE("all pairs of small floats under scales that divide, in every mode, in Verilator") {
  if (!have("verilator")) return;
  std::vector<Dut> duts;
  const std::vector<const char*> all{
      "blocks(block(e2m1fn,2,ue4m3fn), a=e3m2)",
      "blocks(block(e2m1fn,2,ue4m3fn), a=e3m3;inf=no;nan=none, tensor_scale=0.00371551513671875)",
      "blocks(block(fixed5.3,2,ue4m3fn), a=e3m2, tensor_scale=0.3333333432674408)",
      "blocks(block(posit6es1,2,ue4m3fn), a=e2m3, tensor_scale=100)",
      "blocks(block(e4m3fn,2,binary32), a=e3m2)",
      "blocks(block(e5m2,1x2,binary32), a=e2m3fn)",
      "blocks(block(fixed8.6,2,binary32), a=ue3m2;nan=none;inf=no)"};
  for (const char* text : in_turn(all, 3)) {
    const BlockQuantisation q = parse_block_quantisation(text);
    duts.push_back(dut(fmt::format("divided{}", duts.size()), text, all_pairs(q.from)));
  }
  check_all(HdlSimulator::verilator, duts);
}

TEST_CASE("all pairs of 8 bits in every mode, under every rule, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  for (const char* block : {"block(e4m3fn,2,e8m0fnu)", "block(fixed8.6,2,e4m0fnu)"})
    check_all(HdlSimulator::verilator, pair_duts("e5m2", {block}));
}

TEST_CASE("blocks of wide floats, in Icarus") {
  if (!have("iverilog")) return;
  Random random(51);
  std::vector<Dut> duts;
  const std::vector<const char*> all = {
      "blocks(mxfp8_e5m2;scale=nearest)",
      "blocks(mxfp4;flush=block, a=bfloat16)",
      "blocks(block(e4m3fn,1,e8m0fnu);scale=even, a=binary16)",
      "blocks(block(int8,5,e3m0fnu);scale=ceil, a=binary32)",
      "blocks(nvfp4)",
      "blocks(block(e3m2fn,5,ue4m3fn), tensor_scale=1.401298464324817e-45)",
      "blocks(block(e4m3fn,1x3,binary32), a=bfloat16)",
      "blocks(block(int8,2x2,binary32))"};
  for (const char* text : in_turn(all, 2)) {
    const BlockQuantisation q = parse_block_quantisation(text);
    duts.push_back(dut(fmt::format("wide{}", duts.size()), text, aimed(q, 24, random)));
  }
  check_all(HdlSimulator::icarus, duts);
}

TEST_CASE("a quantiser that was changed in one place fails its vectors") {
  if (!have("iverilog")) return;
  const auto pairs = [](const char* text) {
    return thinned(dut("mutant", text, all_pairs(parse_format("e3m2"))), 6000);
  };
  const Change down[] = {
      {"ww_largest_magnitude.v", "high > low ? high : low", "high"},
      {"ww_block_scale.v", "- EMAX + up - down", "- EMAX + up"},
      {"ww_block_scale.v", "{1'b0, sig} < DOWN", "{1'b0, sig} <= DOWN"},
      {"ww_block_scale.v", "wanted < -TOP ? -TOP", "wanted < -TOP ? TOP"},
      {"ww_block_scale.v", "special ? {CODE{1'b1}}", "1'b0 ? {CODE{1'b1}}"},
      {"ww_rescale.v", "exp - scale", "exp + scale"},
      {"mutant.v", "special ? 5'd16", "1'b0 ? 5'd16"},
      {"mutant.v", "(|a_nan) | (|a_inf)", "(|a_nan)"},
  };
  check_caught(pairs("blocks(block(e2m1fn,2,e2m0fnu);scale=nearest, a=e3m2)"), down);
  const Change up[] = {
      {"ww_block_scale.v", "{1'b0, sig} >= UP", "{1'b0, sig} > UP"},
      {"ww_block_scale.v", "- EMAX + up - down", "- EMAX - down"},
      {"ww_block_scale.v", "wanted > TOP ? TOP : wanted", "wanted"},
  };
  check_caught(pairs("blocks(block(fixed3.1,2,e2m0fnu);scale=rceil, a=e3m2)"), up);
  const Change flush[] = {
      {"ww_block_scale.v", "FLUSH && exp < LEAST", "1'b0"},
      {"ww_block_scale.v", "exp < LEAST", "exp <= LEAST"},
      {"ww_rescale.v", "none ? {W{1'b0}} : sig", "sig"},
  };
  std::vector<Code> each;
  for (int code = 0; code < 1024; ++code) each.emplace_back(code);
  check_caught(dut("mutant", "blocks(block(e4m3fn,1,e8m0fnu);flush=block, a=e8m1)", each), flush);
  const Change divided[] = {
      {"ww_divide.v", "left >= divisor", "left > divisor"},
      {"ww_divide.v", "{digits, |left}", "{digits, 1'b0}"},
      {"ww_divide.v", "{digits, |left}", "{digits, 1'b1}"},
      {"ww_divide.v", "n_exp - d_exp", "n_exp + d_exp"},
      {"mutant.v", "peak_zero ? 7'd0", "peak_zero ? 7'd1"},
      {"mutant.v", "special ? 7'h7f", "1'b0 ? 7'h7f"},
  };
  check_caught(pairs("blocks(block(e2m1fn,2,ue4m3fn), a=e3m2)"), divided);
  const Change least[] = {{"mutant.v", "wanted_code == 7'd0 ? 7'd1", "1'b0 ? 7'd1"}};
  check_caught(pairs("blocks(block(e2m1fn,2,ue4m3fn), a=e3m2, tensor_scale=1024)"), least);
  const Change twice[] = {
      {"mutant.v", " | single_flags[5 +: 5]", ""},
      {"mutant.v", "wanted_code == 32'd0 ? 32'h3f800000", "wanted_code == 32'd0 ? 32'h00000001"},
  };
  check_caught(pairs("blocks(block(e4m3fn,2,binary32), a=e3m2)"), twice);
}

TEST_CASE("registers behind a quantiser's stages, and Yosys on it") {
  const BlockQuantisation q = parse_block_quantisation("blocks(mxfp4, a=bfloat16)");
  const std::vector<std::string> stages = hdl::rtl_stages(q);
  CHECK(stages == std::vector<std::string>{"unpack", "largest", "scale", "align", "normalise",
                                           "denormalise", "round", "pack"});
  if (!have("yosys")) return;
  for (const auto& pipeline : {hdl::RtlPipeline{}, hdl::RtlPipeline{stages}}) {
    const Scratch folder;
    for (const auto& file : hdl::rtl(q, "dut", {.pipeline = pipeline}))
      write(folder / file.name, file.text);
    const Ran ran =
        run(folder.path(),
            "yosys -q -p 'read_verilog *.v; hierarchy -check -top dut; proc; opt -fast; "
            "check -assert; select -assert-none t:$dlatch t:$_DLATCH_P_ t:$_DLATCH_N_'");
    CAPTURE(ran.output);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("what no quantiser is made of is refused by one line that says what does it") {
  const std::pair<const char*, const char*> refused[] = {
      {"blocks(block(e4m3fn,1x128,binary32);scale=pow2)",
       "scale=pow2 rounds a quotient twice, which is not built; scales in e8m0fnu by scale=rceil "
       "are, and ww.blocks takes any"},
      {"blocks(mxfp4, tensor_scale=2)",
       "tensor_scale = 2: there is none; nvfp4 and other scales in ue4m3fn have one"},
      {"blocks(nvfp4, tensor_scale=0.1)",
       "tensor_scale = 0.1: a number of binary32 is wanted, as 0.10000000149011612"},
      {"blocks(nvfp4, tensor_scale=-1)", "tensor_scale = -1: a finite, positive number is wanted"},
      {"blocks(nvfp4, arithmetic=f32)",
       "arithmetic=: its steps in binary32 are not built, hardware divides exactly; leave it out, "
       "or quantise with ww.blocks"},
      {"blocks(block(fixed8.8,4,binary32))",
       "elements whose largest number is in the binade of 2^-2: under scales that divide it is 1 "
       "to 2^121"},
      {"blocks(mxfp4, rounding=sr8)", "rounding = sr8: it takes random bits; ww.blocks draws them"},
      {"blocks(mxfp4, a=binary64)",
       "a = e11m52: numbers are of a float format that binary32 holds, as bfloat16"},
      {"blocks(block(int8,0,e8m0fnu))",
       "a whole axis has no length; give one, as in block(int8,32,e8m0fnu)"},
      {"blocks(bfp(8,32,e8);carry=raise)",
       "carry=raise rounds a second time, which is not built; leave it out, or quantise with "
       "ww.blocks"},
      {"blocks(mxfp8_e5m2;specials=element)",
       "specials=element is not built; specials=block gives such blocks the NaN scale, and "
       "ww.blocks keeps NaN and infinity in elements"},
  };
  for (const auto& [text, why] : refused) {
    CAPTURE(text);
    try {
      parse_block_quantisation(text);
      CHECK(false);
    } catch (const std::invalid_argument& e) {
      const std::string_view said = e.what();
      CHECK_MESSAGE(said.ends_with(std::string(": ") + why), said);
    }
  }
}
