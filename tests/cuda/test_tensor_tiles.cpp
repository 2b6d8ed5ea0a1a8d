#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cuda/kernels/tensor_tile.hpp"
#include "cuda/kernels/unit_outputs.hpp"
#include "cuda/kernels/values.hpp"
#include "cuda/tensor_tiles.hpp"
#include "host_device.hpp"
#include "phases.hpp"
#include "sim/engine/numbers.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// Tensor units on a GPU's threads, run on the CPU, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

// What the tiles that run are to do, and what they did.
Barriers barriers = Barriers::all;
std::uint64_t outputs = 0, redone = 0;

template <tensor::Finish finish, class Sum>
HostDevice::Body tile() {
  using Tile = cuda::TensorTile<finish, Sum>;
  return [](const void* argument, const cuda::Grid& grid) {
    static std::mt19937_64 random(1);
    const auto& args = *static_cast<const cuda::TensorArgs*>(argument);
    const Tile kernel(args);
    PhaseRun<Tile>(kernel, barriers, random)
        .blocks(static_cast<int>(grid.blocks_x), static_cast<int>(grid.blocks_y));
    const auto count = static_cast<std::size_t>(args.m) * static_cast<std::size_t>(args.n);
    outputs += count;
    redone += static_cast<std::uint64_t>(std::count(args.redo, args.redo + count, 1));
  };
}

HostDevice& device() {
  using enum tensor::Finish;
  static HostDevice device({
      {"tensor_truncate_32", tile<truncate, std::int32_t>()},
      {"tensor_truncate_64", tile<truncate, std::int64_t>()},
      {"tensor_nearest_32", tile<nearest, std::int32_t>()},
      {"tensor_nearest_64", tile<nearest, std::int64_t>()},
      {"pack_operands", each_thread<cuda::PackOperands>()},
      {"decode_float", each_thread<cuda::DecodeValues<float>>()},
      {"encode_float", each_thread<cuda::EncodeValues<float>>()},
      {"unit_small", each_thread<cuda::UnitOutputs<uint128, std::uint64_t>>()},
      {"unit_medium", each_thread<cuda::UnitOutputs<Wide<12>, uint128>>()},
  });
  return device;
}

// The way alone, for whole products.
class TensorTiles final : public ProductEngine {
 public:
  explicit TensorTiles(const ProductTask& task)
      : unit_(task.unit), way_(cuda::tensor_tiles(task, device())) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const cuda::RegionMemory memory(device(), unit_, {p, cuda::Memory::host},
                                    {first, 0, last - first, p.n});
    way_->compute(memory.there(), nullptr);
    memory.bring_home();
  }

 private:
  Unit unit_;
  std::unique_ptr<const cuda::Way> way_;
};

constexpr const char* engine = "cuda tensor tiles on the CPU";
const bool offered = [] {
  add_engines([] {
    return std::vector<Engine>{
        {engine,
         false,
         false,
         [](const ProductTask& task) {
           const std::string why = cuda::why_no_tensor_tiles(task);
           return Opinion{engine, why.empty(), why, 1};
         },
         [](const ProductTask& task) { return std::make_unique<TensorTiles>(task); },
         {}}};
  });
  return true;
}();

Unit preset(std::string_view name) { return find_preset(name)->unit; }
Unit with(std::string_view name, void (*change)(Unit&)) {
  Unit u = preset(name);
  change(u);
  return u;
}
std::vector<Preset> presets_taken() {
  std::vector<Preset> taken;
  for (const Preset& p : presets())
    if (opinion(engine, p.unit).takes) taken.push_back(p);
  return taken;
}

// Units beside the presets: other windows, formats and block lengths.
std::vector<Unit> relatives() {
  return {
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 20; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 3; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 1; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.f16.f32", [](Unit& u) { u.out.keep_frac = 5; }),
      with("hopper.f16.f32", [](Unit& u) { u.b.fmt = e4m3fn; }),
      with("hopper.f16.f16", [](Unit& u) { u.a.fmt = u.b.fmt = bfloat16; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.e_floor = -126; }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 14; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.a.fmt = e2m1fn, u.b.fmt = e3m2fn; }),
      with("ampere.tf32.f32", [](Unit& u) { u.a.fmt = tf32, u.a.keep_frac.reset(); }),
  };
}

CodeList encoded(const Format& f, std::vector<double> numbers) {
  CodeList z(f, numbers.size());
  Codec<double>(f).encode(numbers.data(), numbers.size(), static_cast<std::byte*>(z.data()));
  return z;
}

// One output, of numbers that their formats have.
struct Dot {
  std::string what;
  Unit unit;
  std::vector<double> a, b;
  double c = 0;
  bool redone = false;  // whether the tile is to leave it to the definition
};

void compare(const Dot& dot, Tally& tally) {
  CAPTURE(dot.what);
  const CodeList a = encoded(dot.unit.a.fmt, dot.a), b = encoded(dot.unit.b.fmt, dot.b),
                 c = encoded(dot.unit.c.fmt, {dot.c});
  REQUIRE(dot.a.size() == dot.b.size());
  MatrixProduct p;
  p.m = p.n = 1, p.k = dot.a.size();
  p.a = a.rows(p.k), p.b = b.rows(1), p.c = c.rows(1);
  redone = 0;
  Rival(engine, dot.unit, tally).compare(p, dot.what);
  CHECK(redone == dot.redone);
}
void compare(const std::vector<Dot>& dots) {
  Tally tally;
  for (const Dot& dot : dots) compare(dot, tally);
  tally.expect(dots.size());
}

std::vector<double> all(std::size_t count, double x) { return std::vector<double>(count, x); }
double power(int e) { return std::ldexp(1.0, e); }
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("tensor tiles give the reference's codes: every preset, all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  const std::vector<Preset> taken = presets_taken();
  CHECK(taken.size() == 31);
  for (const Preset& preset : taken) {
    CAPTURE(preset.name);
    outputs = redone = 0;
    for (const Rival::Shape& s : {Rival::Shape{3, 1, 70}, {2, 33, 67}, {5, 150, 3}}) {
      Rival(engine, preset.unit, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
    CHECK(redone < outputs / 2);
  }
  tally.expect(expected);
  CHECK(device().taken == 0);
}

TEST_CASE("tensor tiles give the reference's codes: relatives of the presets") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : relatives()) {
    CAPTURE(to_string(u));
    REQUIRE(opinion(engine, u).reason.empty());
    for (const Rival::Shape& s : {Rival::Shape{3, 1, 7}, {2, 101, 67}, {66, 35, 3}}) {
      Rival(engine, u, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  tally.expect(expected);
}

TEST_CASE("tensor tiles leave few outputs of ordinary operands to the definition") {
  ProductRandom random(3);
  Tally tally;
  const Rival::Shape s{130, 96, 70};
  for (const Preset& preset : presets_taken()) {
    CAPTURE(preset.name);
    const Unit& u = preset.unit;
    const CodeList a = codes(u.a.fmt, s.m * s.k, Manner::about_one, random),
                   b = codes(u.b.fmt, s.k * s.n, Manner::about_one, random);
    MatrixProduct p;
    p.m = s.m, p.k = s.k, p.n = s.n;
    p.a = a.rows(s.k), p.b = b.rows(s.n);
    outputs = redone = 0;
    Rival(engine, u, tally).compare(p, "about one");
    CHECK(outputs == s.m * s.n);
    CHECK(redone < outputs / 500);
  }
  tally.expect(31 * s.m * s.n);
}

TEST_CASE("tensor tiles align C: larger than all products, far smaller, or alone") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16"),
             e4m3 = preset("hopper.e4m3.f32");
  compare({
      {"C far larger", f32, {1.75, -1.75, 1.5}, {1.25, 1, 1}, 0x1.23456ap60},
      {"C larger, products lose digits", f32, {0x1.ffcp-3, -0x1.ffcp-4}, {1, 0x1.ffcp0}, -0x1p10},
      {"C below the last digit", f32, {1.5}, {1}, -0x1.fffffep-26},
      {"C far smaller", f32, {1.5}, {1}, -power(-149)},
      {"C loses digits", f32, {1.5, power(4)}, {1, 1}, -0x1.fffffep0},
      {"zeros and C", f32, all(40, 0), all(40, 1), -0x1.fffffep30},
      {"zeros and a subnormal C", f32, all(3, 0), all(3, 1), -power(-149)},
      {"zeros and the least normal C", f32, all(3, 0), all(3, 1), 0x1.fffffep-126},
      {"zeros and the largest C but one", f32, all(3, 0), all(3, 1), 0x1.fffffcp127},
      {"zeros and a C that loses digits", e4m3, all(40, 0), all(40, 1), -0x1.fffffep30},
      {"zeros and a subnormal C that loses all", e4m3, all(3, 0), all(3, 1), power(-149)},
      {"and leaves a zero with its sign", e4m3, all(3, 0), all(3, 1), -power(-149), true},
      {"zeros and a subnormal C of binary16", f16, all(3, 0), all(3, 1), -power(-24)},
      {"a term that the floor cuts off",
       f16,
       {power(-14), power(-24)},
       {power(-11), power(-24)},
       0},
      {"and one it keeps", f16, {power(-14), power(-24)}, {power(-11), power(-23)}, 0},
  });
}

TEST_CASE("tensor tiles know the sign of a zero, or leave it to the definition") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16");
  compare({
      {"+0 and zeros of both signs", f32, {0.0, -0.0}, {1, 1}, 0},
      {"+0 and zeros that are minus", f32, {-0.0, -0.0}, {1, 1}, 0},
      {"-0 and zeros that are minus", f32, all(16, -0.0), all(16, 1), -0.0, true},
      {"-0 and one that is plus", f32, {-0.0, 0.0}, {1, 1}, -0.0, true},
      {"-0 and a number", f32, {-0.0, 1.0}, {1, 1}, -0.0},
      {"products that cancel", f32, {1.5, -1.5}, {1, 1}, 0},
      {"products that cancel C", f32, {-1.5}, {1}, 1.5},
      {"products that cancel a C that is minus", f32, {1.5}, {1}, -1.5, true},
      {"a positive sum that underflows", f16, {power(-14)}, {power(-14)}, 0},
      {"a negative one", f16, {-power(-14)}, {power(-14)}, 0, true},
      {"and then a number", f16,
       [] {
         std::vector<double> a = all(17, 0);
         a[0] = -power(-14), a[16] = 1;
         return a;
       }(),
       all(17, power(-14)), 0},
  });
}

TEST_CASE("tensor tiles round at the ends: subnormals, ties, overflow") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16"),
             bf16 = preset("hopper.bf16.f32");
  compare({
      {"subnormal factors", f32, {power(-24), 3 * power(-24)}, {power(-24), power(-20)}, 0},
      {"the least number", bf16, {power(-75)}, {power(-74)}, 0},
      {"half of it", bf16, {power(-75)}, {power(-75)}, 0},
      {"nearly twice", bf16, {power(-75), power(-76)}, {power(-74), 0x1.fcp-74}, 0},
      {"far below", bf16, {power(-126)}, {power(-126)}, 0},
      {"subnormal factors of it", bf16, {3 * power(-133)}, {power(20)}, 0x1.8p-140},
      {"past the range and back", bf16, {power(127), -power(127), 1}, all(3, power(100)), 1},
      {"past the range", bf16, {power(127)}, {2}, 0, true},
      {"past the range, negative", bf16, {-power(127)}, {power(120)}, 0, true},
      {"a tie to even", f16, {1, power(-11)}, {1, 1}, 0},
      {"a tie to odd's neighbour", f16, {0x1.004p0, power(-11)}, {1, 1}, 0},
      {"just past a tie", f16, {1, power(-11), power(-24)}, {1, 1, 0.5}, 0},
      {"just before one", f16, {0x1.004p0, power(-11), -power(-24)}, {1, 1, 0.5}, 0},
      {"a tie below the least number", f16, {power(-13)}, {power(-12)}, 0},
      {"just past it", f16, {power(-13), power(-24)}, {power(-12), power(-14)}, 0},
      {"a tie of subnormals", f16, {power(-13)}, {3 * power(-12)}, 0},
      {"the largest number", f16, {65504, 15}, {1, 1}, 0},
      {"a tie with infinity", f16, {65504, 16}, {1, 1}, 0, true},
  });
}

// Of 64 bits the last is one of the four that go, and what is left a tie.
TEST_CASE("tensor tiles round a sum of more than 32 bits by all of its digits") {
  const Unit u = with("hopper.f16.f16", [](Unit& v) { v.group_sum.align.frac_bits = 28; });
  std::vector<double> a = all(7, 1.5), b = a;
  for (const double x : {0.5, power(-3), power(-14)}) a.push_back(x), b.push_back(x);
  b[8] = power(-4);
  compare({{"just past a tie", u, a, b, 0},
           {"a tie",
            u,
            {a.begin(), a.end() - 1},
            [&] {
              b.pop_back();
              return b;
            }(),
            0}});
}

TEST_CASE("tensor tiles leave infinities and NaN to the definition") {
  const Unit f32 = preset("hopper.f16.f32");
  compare({
      {"infinity", f32, {infinity, 1}, {1, 1}, 0, true},
      {"infinity times 0", f32, {infinity, 1}, {0, 1}, 0, true},
      {"infinity less infinity", f32, {infinity, 1}, {1, infinity}, -infinity, true},
      {"NaN times 0", f32, {0, 1}, {std::nan(""), 1}, 0, true},
      {"C infinite", f32, {1}, {1}, infinity, true},
      {"C infinite, with zeros", f32, all(33, 0), all(33, 0), -infinity, true},
      {"C NaN", f32, {1}, {1}, std::nan(""), true},
      {"FP8's NaN", preset("ada.e4m3.f32"), {1, std::nan("")}, {1, 1}, 0, true},
  });
}

TEST_CASE("tensor tiles hold every sum of products, and see where C takes one past 32 bits") {
  const Unit f16 = preset("hopper.f16.f32"), e4m3 = preset("blackwell.e4m3.f32");
  const double largest = 0x1.ffcp0, most = 0x1.fffffep0;
  compare({
      {"all largest", f16, all(16, largest), all(16, largest), 0},
      {"all least", f16, all(16, -largest), all(16, largest), 0},
      {"and a small C", f16, all(16, largest), all(16, largest), power(-6)},
      {"and a large C", f16, all(16, largest), all(16, largest), most, true},
      {"and one that is minus", f16, all(16, -largest), all(16, largest), -most, true},
      {"two blocks", f16, all(32, largest), all(32, largest), 0},
      {"32 products of 27 bits", e4m3, all(32, 1.875), all(32, 1.875), most},
      {"and minus", e4m3, all(64, -1.875), all(64, 1.875), -most},
      {"34 bits, every one set", e4m3, all(32, 1.875), all(32, 1.875), 0x1.554p-1},
  });
}

TEST_CASE("a barrier left out of a tensor tile is seen") {
  ProductRandom random(4);
  const Unit u = preset("hopper.f16.f32");
  const std::size_t m = 70, k = 160, n = 90;
  const CodeList a = codes(u.a.fmt, m * k, Manner::about_one, random),
                 b = codes(u.b.fmt, k * n, Manner::about_one, random);
  CodeList want(u.out.fmt, m * n), got = want;
  MatrixProduct p;
  p.m = m, p.k = k, p.n = n;
  p.a = a.rows(k), p.b = b.rows(n);
  p.result = want.data();
  prepare({u, k}, "reference").product->run(p, 0, m);
  p.result = got.data();
  for (const Barriers some : {Barriers::none_after_load, Barriers::none_after_compute}) {
    barriers = some;
    prepare({u, k}, engine).product->run(p, 0, m);
    barriers = Barriers::all;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < m * n; ++i) differ += !got.same(want, i);
    CHECK(differ > m * n / 2);
  }
}

TEST_CASE("tensor tiles refuse what they cannot do, and say why") {
  const auto reason = [](const Unit& u, bool flags = false, std::size_t k = 1) {
    return cuda::why_no_tensor_tiles({.unit = u, .k = k, .flags = flags});
  };
  const Unit u = preset("hopper.f16.f32");
  CHECK(reason(u).empty());
  CHECK(reason(u, true) == "flags are wanted");
  CHECK(reason(u, false, 0) == "of a length that tiles have not");
  CHECK(reason(preset("blackwell.mxfp8")) == "block scales");
  CHECK(reason(with("blackwell.e4m3.f32", [](Unit& v) { v.lanes = 33; })) ==
        "more than 32 products a block");
  CHECK(reason(with("hopper.f16.f32", [](Unit& v) {
          v.a.fmt = ieee_format(5, 16), v.b.fmt = e4m3fn;
        })) == "significands of more than 16 digits");
  CHECK(reason(with("hopper.f16.f32", [](Unit& v) { v.group_sum.align.frac_bits = 19; })) ==
        "products that lose digits whatever the exponents");
  CHECK(cuda::tensor_tiles({preset("blackwell.mxfp8"), 64}, device()) == nullptr);
}
