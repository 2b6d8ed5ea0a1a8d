#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "wide_product.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

// The engine "cuda" on a GPU, against the reference and the CPU's engines. What its kernels compute
// is for the other tests of this room, on the CPU; here it is that the GPU does so.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{3, 1, 7}, {2, 33, 5}, {150, 77, 203}};

// Where there is none, says so once for every test.
bool gpu_is_here() {
  cuda::offer_engine();
  if (!cuda::gpus().names.empty()) return true;
  fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
  return false;
}

void compare(const Unit& u, bool flags, Tally& tally, ProductRandom& random) {
  const Rival rival("cuda", u, tally, flags);
  for (const Rival::Shape& s : shapes) rival.compare_random(s, random);
}

Opinion opinion_at(const Unit& u, std::size_t k) {
  for (Opinion& o : opinions({u, k, true}))
    if (o.engine == "cuda") return o;
  return {};
}

constexpr const char* chains[] = {"mac(e5m10)",
                                  "mac(e8m7)",
                                  "mac(e4m3fn, sum=e5m10)",
                                  "mac(e4m3fn)",
                                  "fma(e5m10)",
                                  "fma(e8m7)",
                                  "mac(e8m15)",
                                  "mac(binary32)",
                                  "fma(binary32)",
                                  "mac(binary64)",
                                  "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                  "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                  "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                                  "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
                                  "mac(e5m10, sum=e5m10:sr13)"};

// Of carriers of both sizes.
constexpr const char* by_multipliers[] = {"mac(e4m3fn)", "fma(e5m10)", "mac(binary64)",
                                          "hopper.f16.f32", "blackwell.mxfp8"};

std::uint64_t compare_multiplied(const Multiplier& multiply, Tally& tally, ProductRandom& random) {
  std::uint64_t outputs = 0;
  for (const char* unit : by_multipliers)
    for (const Rival::Shape& s : shapes) {
      Rival("cuda", parse_unit(unit), tally, true, multiply).compare_random(s, random);
      outputs += outputs_compared(s);
    }
  return outputs;
}

}  // namespace

TEST_CASE("a GPU computes every preset") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(1);
  for (const Preset& preset : presets())
    for (const bool flags : {false, true}) compare(preset.unit, flags, tally, random);
  std::uint64_t outputs = 0;
  for (const Rival::Shape& s : shapes) outputs += outputs_compared(s);
  tally.expect(2 * presets().size() * outputs);
}

TEST_CASE("a GPU computes chains of multiply-adds by every sequence") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(2);
  for (const char* unit : chains)
    for (const bool flags : {false, true}) compare(parse_unit(unit), flags, tally, random);
  std::uint64_t outputs = 0;
  for (const Rival::Shape& s : shapes) outputs += outputs_compared(s);
  tally.expect(2 * std::size(chains) * outputs);
}

TEST_CASE("a GPU computes units of any kind") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(3);
  random_units::Random of_units(3);
  std::uint64_t outputs = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_units::unit(of_units);
    for (const Rival::Shape& s : {shapes[0], shapes[1]}) {
      if (!opinion_at(u, s.k).takes) continue;
      Rival("cuda", u, tally, true).compare_random(s, random);
      outputs += outputs_compared(s);
    }
  }
  CHECK(outputs > 400 * outputs_compared(shapes[0]));
  tally.expect(outputs);
}

TEST_CASE("a GPU multiplies by the shipped multipliers") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(5);
  std::uint64_t outputs = 0;
  for (const char* name : {"mitchell", "drum3", "truncated_array9", "truncated_operands3"})
    outputs += compare_multiplied(parse_multiplier(name), tally, random);
  tally.expect(outputs);
}

TEST_CASE("a GPU multiplies by a text, and tells of too many digits") {
  if (!gpu_is_here()) return;
  const TextProduct lopsided{product_source("mp = uint128(ma) * (mb >> 1) + bit_length(ma) % 2;"),
                             [](auto a, auto b, uint128* mp) {
                               *mp = uint128{a} * (b >> 1) + std::uint64_t(bit_length(a)) % 2;
                             }};
  for (const Opinion& o :
       opinions({.unit = parse_unit("mac(e5m10)"), .k = 4, .multiplier = lopsided}))
    if (o.engine == "cuda" && !o.takes) {
      fmt::print("SKIPPED: no NVRTC for this GPU: {}\n", o.reason);
      return;
    }
  Tally tally;
  ProductRandom random(6);
  std::uint64_t outputs = compare_multiplied(lopsided, tally, random);
  outputs += compare_multiplied(exchanged(lopsided), tally, random);
  tally.expect(outputs);

  check_wide_product("cuda", {product_source(wide_text), &wide_product});
}

// Bit patterns of 16-bit formats, specials among them, by the thousand million.
TEST_CASE("a GPU and the CPU's engines agree on a thousand million products of random bits") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(4);
  constexpr std::size_t n = 1024;
  for (const char* text : {"mac(e5m10)", "mac(e8m7)", "hopper.f16.f32"}) {
    const Unit u = parse_unit(text);
    const CodeList a = codes(u.a.fmt, n * n, Manner::bits, random),
                   b = codes(u.b.fmt, n * n, Manner::about_one, random);
    CodeList of_gpu(result_round(u).fmt, n * n), of_cpu(result_round(u).fmt, n * n);
    MatrixProduct p;
    p.m = p.n = p.k = n;
    p.a = a.rows(n), p.b = b.rows(n);
    p.result = of_gpu.data();
    prepare({u, n}, "cuda").product->run(p, 0, n);
    p.result = of_cpu.data();
    for (const Opinion& o : opinions({u, n}))
      if (!o.engine.starts_with("cuda")) {
        prepare({u, n}, o.engine).product->run(p, 0, n);
        break;
      }
    for (std::size_t i = 0; i < n * n; ++i)
      tally.check(of_gpu.same(of_cpu, i), [&] {
        return fmt::format("{}, output {}: {} on the GPU, {} on the CPU", text, i,
                           of_gpu.hexadecimal(i), of_cpu.hexadecimal(i));
      });
  }
  tally.expect(3 * n * n);
}
