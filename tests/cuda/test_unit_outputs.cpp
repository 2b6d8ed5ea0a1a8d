#include <fmt/format.h>

#include <cstdlib>

#include "cuda/block_tiles.hpp"
#include "cuda/chain_tiles.hpp"
#include "cuda/exact_tiles.hpp"
#include "cuda/kernels/marks.hpp"
#include "cuda/lane_tiles.hpp"
#include "cuda/pair_tiles.hpp"
#include "cuda/product.hpp"
#include "cuda/tensor_tiles.hpp"
#include "host_kernels.hpp"
#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "tests/turns.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_unit_outputs {

// The CUDA engine whose kernels run on the CPU by their own bodies, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

HostDevice& device() { return host_device(); }

constexpr const char* engine = cuda_on_the_cpu;

constexpr Rival::Shape shapes[] = {{3, 1, 7}, {2, 33, 5}};

void compare(const Unit& u, bool flags, Tally& tally, ProductRandom& random) {
  const Rival rival(engine, u, tally, flags);
  for (const Rival::Shape& s : shapes) rival.compare_random(s, random);
}
// At a length: scales may not suit another one.
Opinion opinion_at(const Unit& u, std::size_t k) { return cuda::opinion({u, k}, engine, device()); }

std::uint64_t outputs_of_a_unit() {
  std::uint64_t n = 0;
  for (const Rival::Shape& s : shapes) n += outputs_compared(s);
  return n;
}

}  // namespace

TEST_CASE("the definition on threads computes every preset, with flags") {
  Tally tally;
  ProductRandom random(1);
  for (const Preset& preset : presets()) compare(preset.unit, true, tally, random);
  tally.expect(presets().size() * outputs_of_a_unit());
  CHECK(device().taken == 0);
}

TEST_CASE("the definition on threads computes units of any kind") {
  Tally tally;
  ProductRandom random(2);
  random_units::Random of_units(2);
  std::uint64_t taken = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_units::unit(of_units);
    const auto takes = [&](const Rival::Shape& s) { return opinion_at(u, s.k).takes; };
    if (std::ranges::all_of(shapes, takes)) compare(u, true, tally, random), ++taken;
  }
  CHECK(taken > 200);
  tally.expect(taken * outputs_of_a_unit());
}

TEST_CASE("the definition on threads computes formats wider than a word") {
  Tally tally;
  ProductRandom random(3);
  for (const char* unit : {"mac(binary64)", "fma(e15m63)", "mac(e15m112)", "mac(e20m49)"})
    compare(parse_unit(unit), true, tally, random);
  tally.expect(4 * outputs_of_a_unit());
}

TEST_CASE("a product larger than the device's memory goes in parts") {
  Tally tally;
  ProductRandom random(4);
  device().memory = device().most_taken = 1 << 16;
  const std::size_t before = device().launches;
  for (const char* unit : {"mac(e5m10, sum=e5m10:sr9)", "blackwell.mxfp8"})
    Rival(engine, parse_unit(unit), tally, true).compare_random({30, 64, 100}, random);
  CHECK(device().launches > before + 2 * sorts_of_operands() * sorts_of_c());
  CHECK(device().most_taken <= device().memory);
  const CodeList a = codes(binary16, 4000, Manner::bits, random);
  CodeList result(binary16, 1);
  MatrixProduct p;
  p.m = p.n = 1, p.k = 4000;
  p.a = a.rows(4000), p.b = a.rows(1), p.result = result.data();
  const Prepared wide = prepare({parse_unit("mac(e5m10)"), 4000}, engine);
  device().memory = device().taken + 4096;
  CHECK_THROWS_WITH_AS(
      wide.product->run(p, 0, 1),
      "this CPU: its memory does not hold the operands of one output, of length 4000; "
      "engine = 'auto' computes the same on the CPU",
      std::runtime_error);
  device().memory = std::size_t{1} << 28;
}

TEST_CASE("outputs that are marked are listed to the last one, and no further") {
  alignas(8) std::uint8_t marks[16] = {};
  marks[3] = marks[8] = marks[10] = marks[11] = marks[15] = 1;
  unsigned long long count = 0;
  std::size_t list[16] = {};
  cuda::ListMarks{marks, 11, &count, list}.run(0, 1);
  CHECK(count == 3);
  CHECK(std::vector<std::size_t>(list, list + 3) == std::vector<std::size_t>{3, 8, 10});
}

// Of the smallest tiles and of larger ones.
TEST_CASE("a product of more rows or columns than a grid holds goes in parts") {
  std::size_t launched = 0, most = 0;
  const auto nothing = [](const void*, const cuda::Grid&) {};
  const auto counted = [&](const void*, const cuda::Grid& grid) {
    ++launched;
    most = std::max({most, grid.blocks_x, grid.blocks_y});
  };
  HostDevice counting({{"tile_float_rounded_normal", counted},
                       {"decode_float", nothing},
                       {"encode_float", nothing},
                       {"chain_rounded_32", counted},
                       {"unpack_chain_32", nothing},
                       {"list_marks", nothing}});
  const std::size_t lines = std::size_t{65535} * 32 + 1;
  std::vector<std::uint8_t> many(lines), one(1), result(lines);
  MatrixProduct p;
  p.k = 1, p.result = result.data();
  for (const char* unit : {"mac(e4m3fn)", "mac(e4m3fn, sum=e4m3fn:odd)"})
    for (const bool tall : {false, true}) {
      launched = most = 0;
      p.m = tall ? lines : 1, p.n = tall ? 1 : lines;
      p.a = {tall ? many.data() : one.data(), 1, 1};
      p.b = {tall ? one.data() : many.data(), static_cast<std::ptrdiff_t>(p.n), 1};
      cuda::make({parse_unit(unit), p.k}, counting)->run(p, 0, p.m);
      CHECK(launched == 2);
      CHECK(most <= 65535);
    }
}

// Without flags value lanes take chains of multiply-adds: every sequence that they know.
TEST_CASE("value lanes on threads compute chains of multiply-adds") {
  Tally tally;
  ProductRandom random(5);
  std::uint64_t units = 0;
  for (const char* unit : {"mac(e5m9)",
                           "mac(e9m6)",
                           "mac(e4m3fn, sum=e5m10)",
                           "mac(e4m3fn)",
                           "fma(e5m9)",
                           "fma(e8m15)",
                           "mac(e8m15)",
                           "mac(binary32)",
                           "fma(binary32)",
                           "mac(binary64)",
                           "fma(e5m10, sum=binary32)",
                           "mac(binary32, product=binary32:rtz, sum=binary32:rtz)",
                           "fma(e4m3fn, sum=binary32:rup)",
                           "mac(e8m7, product=binary64:rdn, sum=binary64:rdn)",
                           "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                           "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                           "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                           "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
                           "mac(e2m1fn, sum=e3m2fn)",
                           "mac(e5m10, sum=e5m10:sr13)",
                           "mac(e4m3fn, sum=e5m10:sr1)",
                           "mac(e8m7, sum=e8m7:sr16)"}) {
    INFO(unit);
    CHECK_FALSE(cuda::why_no_pair_tiles({parse_unit(unit), 33}).empty());
    CHECK(cuda::why_no_lane_tiles({parse_unit(unit), 33}).empty());
    compare(parse_unit(unit), false, tally, random);
    ++units;
  }
  tally.expect(units * outputs_of_a_unit());
}

TEST_CASE("a GPU's own 16-bit arithmetic computes chains of binary16 and bfloat16") {
  Tally tally;
  ProductRandom random(7);
  std::uint64_t units = 0;
  for (const char* unit :
       {"mac(e5m10)", "mac(e8m7)", "fma(e5m10)", "fma(e8m7)", "fma(e4m3fn, sum=e5m10)",
        "mac(e5m2, product=e5m10, sum=e5m10)", "fma(e5m2, sum=e8m7)"}) {
    INFO(unit);
    CHECK(cuda::why_no_pair_tiles({parse_unit(unit), 33}).empty());
    compare(parse_unit(unit), false, tally, random);
    ++units;
  }
  tally.expect(units * outputs_of_a_unit());
}

// A tile and more of columns, and of k. The CPU takes ten seconds for each: with --long for others.
TEST_CASE("a GPU's own 16-bit arithmetic goes on past a tile") {
  Tally tally;
  ProductRandom random(8);
  std::vector<const char*> units{"mac(e5m10)", "fma(e8m7)"};
  if (is_long())
    units.insert(units.end(), {"mac(e8m7)", "fma(e5m10)", "fma(e4m3fn, sum=e5m10)",
                               "mac(e5m2, product=e5m10, sum=e5m10)", "fma(e5m2, sum=e8m7)"});
  for (const char* unit : units) {
    INFO(unit);
    Rival(engine, parse_unit(unit), tally).compare_random({3, 40, 129}, random);
  }
  tally.expect(units.size() * outputs_compared({3, 40, 129}));
}

TEST_CASE("what a GPU's own 16-bit arithmetic does not do goes another way") {
  for (const char* unit :
       {"mac(e5m10, sum=e5m10:rtz)", "mac(e4m3fn, sum=e5m10)", "mac(e5m11, sum=e5m10)",
        "mac(e5m10, sum=e8m7)", "fma(binary32, sum=e5m10)", "mac(e5m10, sum=e5m10:sr3)"})
    CHECK_FALSE(cuda::why_no_pair_tiles({parse_unit(unit), 33}).empty());
}

// Wider than a tile, longer than what one call of the generator serves, and a part of a whole.
TEST_CASE("value lanes on threads draw the definition's random bits") {
  Tally tally;
  ProductRandom random(6);
  device().memory = std::size_t{1} << 17;
  for (const char* unit : {"mac(e5m10, sum=e5m10:sr13)", "mac(e4m3fn, sum=e5m10:sr5)"}) {
    const Unit u = parse_unit(unit);
    Rival(engine, u, tally).compare_random({70, 37, 130}, random);
  }
  device().memory = std::size_t{1} << 28;
  tally.expect(2 * outputs_compared({70, 37, 130}));
}

// The upper half of their indices is drawn by, too, and changes in the middle.
TEST_CASE("random bits are the definition's where outputs pass 2^32") {
  Tally tally;
  ProductRandom random(8);
  const Unit u = parse_unit("mac(e5m10, sum=e5m10:sr13)");
  const CodeList a = codes(u.a.fmt, 3 * 40, Manner::about_one, random),
                 b = codes(u.b.fmt, 40 * 5, Manner::about_one, random);
  for (const std::uint64_t before : {0, 1, 7, 14, 15}) {
    MatrixProduct p;
    p.m = 3, p.k = 40, p.n = 5;
    p.a = a.rows(40), p.b = b.rows(5);
    p.first_index = (std::uint64_t{1} << 32) - before;
    Rival(engine, u, tally).compare(p, fmt::format("{} before", before));
  }
  tally.expect(5 * 15);
}

TEST_CASE("value lanes on threads see a sum that overflows on its way and comes back") {
  const Prepared product = prepare({parse_unit("mac(e5m10, product=e6m10, sum=e5m10)"), 2}, engine);
  CodeList a(binary16, 2), b(binary16, 2), c(binary16, 1), sum(binary16, 1);
  a.set(0, 0x4c00), a.set(1, 0xd640);  // 16, -100
  b.set(0, 0x3c00), b.set(1, 0x3c00);
  c.set(0, 0x7bff);
  MatrixProduct p;
  p.m = p.n = 1, p.k = 2;
  p.a = a.rows(2), p.b = b.rows(1), p.c = c.rows(1), p.result = sum.data();
  product.product->run(p, 0, 1);
  CHECK(sum[0] == 0x7c00);
}

// By every way that there is, in six turns.
TEST_CASE("infinite sums stay so beside NaN on threads for as long as k is") {
  Tally tally;
  const std::vector<const char*> all{"mac(e5m10)",
                                     "fma(e8m7)",
                                     "mac(e5m9)",
                                     "mac(e4m3fn, sum=e5m10)",
                                     "mac(binary32)",
                                     "mac(e8m15)",
                                     "fma(e5m9)",
                                     "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                     "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                     "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                                     "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
                                     "mac(e5m10, sum=e5m10:sr13)",
                                     "mac(e5m10, sum=e5m10:odd)",
                                     "mac(e11m30)",
                                     "hopper.f16.f32",
                                     "cdna3.f16",
                                     "cdna2.f16",
                                     "cdna1.bf16",
                                     "tree8.f32",
                                     "hopper.e4m3.promote128",
                                     "kulisch(e5m10)",
                                     "fix24.sat",
                                     "kahan(e5m10)"};
  const auto units = in_turn(all, 6);
  for (const char* text : units) {
    CAPTURE(text);
    const Rival threads(engine, parse_unit(text), tally);
    for (const std::size_t k : {257, 600}) threads.compare_lasting(k);
  }
  tally.expect(std::size(units) * 2 * Rival::lasting);
}

TEST_CASE("few outputs are worth no transfers") {
  const Unit u = parse_unit("mac(e5m10)");
  const auto rate = [&](std::size_t outputs) {
    return cuda::opinion({.unit = u, .k = 64, .outputs = outputs}, engine, device()).rate;
  };
  CHECK(rate(64) < 2e7);
  CHECK(rate(std::size_t{1} << 24) > 1e10);
  CHECK(rate(0) == rate(std::size_t{1} << 20));
}

TEST_CASE("units of numbers too wide for threads are refused") {
  CHECK(opinion_at(parse_unit("mac(e15m112)"), 64).takes);
  CHECK_FALSE(opinion_at(parse_unit("mac(e15m113)"), 64).takes);
}

TEST_CASE("tiles compute all presets") {
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    const ProductTask task{p.unit, 1};
    const std::string why_none[] = {cuda::why_no_lane_tiles(task), cuda::why_no_tensor_tiles(task),
                                    cuda::why_no_block_tiles(task), cuda::why_no_exact_tiles(task),
                                    cuda::why_no_chain_tiles(task)};
    CHECK(std::ranges::any_of(why_none, &std::string::empty));
  }
}

}  // namespace test_unit_outputs
