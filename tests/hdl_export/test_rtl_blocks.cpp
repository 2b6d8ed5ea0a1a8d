#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_cases.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/text.hpp"

// Quantisers of blocks as RTL, held to the simulator: elements and scales to its blocks, flags and
// elements to its scaleb, which rounds each number over the scale by itself.
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
  const auto run = BlockQuantiser::of<float>(q.to, grid, {.rounding = rm});
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

std::vector<Code> codes_of(const std::byte* bytes, std::size_t count, const Format& f) {
  std::vector<Code> codes;
  for (std::size_t i = 0; i < count; ++i)
    codes.push_back(load_code<Code>(bytes + i * item(f), static_cast<int>(item(f))));
  return codes;
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
    const Quantised z = by_blocks(q, rm, numbers);
    for (std::size_t i = 0; i < numbers.size() / n; ++i) {
      const std::vector<Code> block(numbers.begin() + static_cast<std::ptrdiff_t>(i * n),
                                    numbers.begin() + static_cast<std::ptrdiff_t>(i * n + n));
      const std::byte* elements = &z.elements[i * n * item(q.to.element)];
      const Code scale = codes_of(&z.scales[i * item(q.to.scale)], 1, q.to.scale)[0];
      const bool special = scale == ones<Code>(q.to.scale.width());
      std::uint8_t flags = 16;
      if (!special) {
        const auto exponent = static_cast<std::int64_t>(scale.limb[0]) - q.to.scale.bias;
        const auto second = by_scaleb(q, rm, packed(block, q.from), exponent, flags);
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

std::vector<Dut> pair_duts(const char* from, std::initializer_list<const char*> blocks) {
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
            pair_duts("e3m2", {"block(e2m1fn,2,e8m0fnu)", "block(fixed4.2,2,e3m0fnu)"}));
}

TEST_CASE("all pairs of other floats to other elements, under some rules, in Verilator") {
  if (!have("verilator")) return;
  std::vector<Dut> duts;
  for (const char* text :
       {"blocks(block(e4m3fn,2,e2m0fnu);scale=even, a=e3m2fn)",
        "blocks(block(posit6es1,2,e4m0fnu);scale=midmax, a=e2m3)",
        "blocks(block(fixed5.3,2,e8m0fnu);scale=nearest;clamp=full, "
        "a=e3m2;nan=negative_zero;inf=no)",
        "blocks(block(e3m2fn,1x2,e5m0fnu);scale=rceil, a=ue3m2;nan=none;inf=no)"}) {
    const BlockQuantisation q = parse_block_quantisation(text);
    duts.push_back(dut(fmt::format("other{}", duts.size()), text, all_pairs(q.from)));
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
  for (const char* text :
       {"blocks(mxfp8_e5m2;scale=nearest)", "blocks(mxfp4;flush=block, a=bfloat16)",
        "blocks(block(e4m3fn,1,e8m0fnu);scale=even, a=binary16)",
        "blocks(block(int8,5,e3m0fnu);scale=ceil, a=binary32)"}) {
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
      {"blocks(nvfp4)",
       "its scales divide, and no divider is built; scales that are powers of two "
       "are, as mxfp4's, and ww.blocks quantises to any"},
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
