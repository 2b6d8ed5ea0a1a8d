#include <doctest/doctest.h>
#include <fmt/format.h>

#include "container_rivals.hpp"
#include "cuda/elements.hpp"
#include "cuda/gpu_device.hpp"
#include "ordinary.hpp"
#include "tests/sim/products.hpp"
#include "tests/sim/random_units.hpp"
#include "wide_product.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// The engine "cuda" on a GPU, against the reference and the CPU's engines. What its kernels compute
// is for the other tests of this room, on the CPU; here it is that the GPU does so.
namespace {

using namespace widthwise;
using namespace tests;

// Operands of every manner, and ordinary ones of several blocks of threads: the reference, an
// output at a time, is what all this waits for.
constexpr Rival::Shape small[] = {{3, 1, 7}, {2, 33, 5}}, wide{3, 33, 70}, large{150, 77, 203};

// Where there is none, says so once for every test.
bool gpu_is_here() {
  cuda::offer_engine();
  if (cuda::gpus().why_none.empty()) return true;
  fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
  return false;
}

// How many outputs were compared.
std::uint64_t compare(const Unit& u, bool flags, Tally& tally, ProductRandom& random,
                      const Multiplier& multiply = {}) {
  const Rival rival("cuda", u, tally, flags, multiply);
  std::uint64_t outputs = large.m * large.n;
  for (const Rival::Shape& s : {small[0], small[1], wide}) {
    rival.compare_random(s, random);
    outputs += outputs_compared(s);
  }
  rival.compare(Ordinary(u, large, random).p, "about one");
  return outputs;
}

Opinion opinion_at(const Unit& u, std::size_t k) {
  for (Opinion& o : opinions({u, k, true}))
    if (o.engine == "cuda") return o;
  return {};
}

// Every kernel of tiles, of chains and of exact sums has one that goes by it.
constexpr const char* sequences[] = {
    "mac(e5m10)",
    "mac(e8m7)",
    "fma(e5m10)",
    "fma(e8m7)",
    "mac(e4m3fn)",
    "mac(e4m3fn, sum=e5m10)",
    "mac(e2m1fn, sum=e3m2fn)",
    "mac(e5m9)",
    "mac(e9m6)",
    "fma(e5m9)",
    "mac(e8m15)",
    "fma(e8m15)",
    "mac(binary32)",
    "mac(binary32, product=binary32:rtz, sum=binary32:rtz)",
    "fma(e5m10, sum=binary32:rup)",
    "fma(binary32)",
    "fma(binary64)",
    "fma(e5m3, sum=e4m24)",
    "mac(binary64)",
    "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
    "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
    "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
    "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
    "mac(e5m10, sum=e5m10:sr13)",
    "mac(e5m10, sum=e5m10:odd)",
    "fma(e5m10, sum=e5m10:odd)",
    "mac(e11m30)",
    "fma(e11m30)",
    "mac(e5m10, sum=e5m10:sr20)",
    "mac(e11m30, sum=e11m30:sr9)",
    "fma(e11m30, sum=e11m30:sr9)",
    "fma(e4m3fn, sum=e5m9)",
    "mac(e4m3fn, product=e6m10, sum=e8m15)",
    "mac(e6m7, product=e6m7, sum=e5m7)",
    "mac(e6m20, product=e6m20, sum=e5m20)",
    "fma(e4m3fn, sum=e5m10:sr13)",
    "fma(e4m3fn)",
    "fma(e4m3fn, sum=e5m10:rtz)",
    "fma(e4m3fn, sum=e5m10:rdn)",
    "fma(e4m3fn, sum=e5m10:rna)",
    "fma(e5m10, sum=e5m10:sr11)",
    "fma(e5m15, sum=e8m24)",
    "mac(e8m24, product=e8m24:rtz, sum=e8m24:rtz)",
    "fma(e8m15, sum=e8m24:rtz)",
    "mac(e8m24, product=e8m24:rdn, sum=e8m24:rdn)",
    "fma(e8m15, sum=e8m24:rdn)",
    "mac(e8m24, product=e8m24:rup, sum=e8m24:rup)",
    "fma(e8m15, sum=e8m24:rup)",
    "mac(e8m24, product=e8m24:rna, sum=e8m24:rna)",
    "fma(e8m15, sum=e8m24:rna)",
    "kulisch(e4m3fn)",
    "kulisch(e5m10)",
    "kulisch(binary32)",
    "fixedacc(e5m10, width=20, frac=8, align=rup)",
    "fixedacc(e5m10, width=20, frac=8, align=rup, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rne)",
    "fixedacc(e5m10, width=20, frac=8, align=rne, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=raz)",
    "fixedacc(e5m10, width=20, frac=8, align=rtz, overflow=saturate)"};

// Of carriers of both sizes.
constexpr const char* by_multipliers[] = {"mac(e4m3fn)", "fma(e5m10)", "mac(binary64)",
                                          "hopper.f16.f32", "blackwell.mxfp8"};

std::uint64_t compare_multiplied(const Multiplier& multiply, Tally& tally, ProductRandom& random) {
  std::uint64_t outputs = 0;
  for (const char* unit : by_multipliers)
    outputs += compare(parse_unit(unit), true, tally, random, multiply);
  return outputs;
}

// An operation on `count` codes of random bits, on the GPU and on the CPU.
void compare_elements(Operation op, const Format& to, const Env& env, const Format& from,
                      bool flags, std::size_t count, Tally& tally, ProductRandom& random) {
  const auto bytes = static_cast<std::size_t>(item_bytes(to.width())) * count;
  const auto read = static_cast<std::size_t>(item_bytes(from.width())) * count;
  const std::vector<Format> formats(static_cast<std::size_t>(arity(op)), from);
  cuda::Device& gpu = cuda::gpu(0);
  std::vector<CodeList> operands;
  std::vector<cuda::Buffer> there;
  std::vector<const void*> at_home, at_gpu;
  for (std::size_t j = 0; j < formats.size(); ++j) {
    operands.push_back(codes(from, count, Manner::bits, random));
    there.emplace_back(gpu, read);
    gpu.copy_in(there[j].at(), operands[j].data(), read);
    at_home.push_back(operands[j].data()), at_gpu.push_back(there[j].at());
  }
  const cuda::Buffer result(gpu, bytes), raised(gpu, count);
  CodeList of_gpu(to, count), of_cpu(to, count);
  std::vector<std::uint8_t> gpu_flags(count), cpu_flags(count);
  const cuda::DeviceElementwise operation(gpu, op, to, env, formats, flags);
  operation.run(at_gpu, count, result.at(), flags ? raised.at<std::uint8_t>() : nullptr, {7, 8});
  gpu.copy_out(of_gpu.data(), result.at(), bytes);
  if (flags) gpu.copy_out(gpu_flags.data(), raised.at(), count);
  Elementwise(op, to, env, formats, flags, count)
      .run(at_home, count, of_cpu.data(), flags ? cpu_flags.data() : nullptr, {7, 8});
  for (std::size_t i = 0; i < count; ++i)
    tally.check(of_gpu.same(of_cpu, i) && gpu_flags[i] == cpu_flags[i], [&] {
      return fmt::format("{} to {} {} by {}, element {} of {}: {} on the GPU, {} on the CPU",
                         to_string(from), to_string(to), to_string(env.rounding), operation.way(),
                         i, operands[0].hexadecimal(i), of_gpu.hexadecimal(i),
                         of_cpu.hexadecimal(i));
    });
}

}  // namespace

TEST_CASE("a GPU converts, adds, multiplies and fuses codes as the CPU does, in every mode") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(5);
  constexpr std::size_t count = 70001;
  std::uint64_t compared = 0;
  std::vector<Rounding> roundings{{8, StochasticVariant::plain}};
  for (int mode = 0; mode < deterministic_modes; ++mode)
    roundings.emplace_back(static_cast<RoundingMode>(mode));
  const auto each = [&](Operation op, const char* to, const char* from) {
    for (const Rounding& r : roundings)
      for (const bool flags : {false, true}) {
        compare_elements(op, parse_format(to), {r}, parse_format(from), flags, count, tally,
                         random);
        compared += count;
      }
  };
  for (const char* to : {"e4m3fn", "e5m2", "e4m3fnuz", "e5m10", "bfloat16", "e8m0fnu", "binary32"})
    for (const char* from : {"binary32", "binary64", "binary16", "bfloat16", "e4m3fn"})
      each(Operation::convert, to, from);
  for (const char* f : {"e4m3fn", "e5m10", "bfloat16", "binary32", "binary64", "binary128"})
    for (const Operation op :
         {Operation::add, Operation::multiply, Operation::divide, Operation::sqrt, Operation::fma})
      each(op, f, f);
  tally.expect(compared);
}

TEST_CASE("a GPU makes blocks and affine integers as the CPU does, reads them and packs codes") {
  if (!gpu_is_here()) return;
  compare_blocks(cuda::gpu(0));
  compare_affine(cuda::gpu(0));
  check_ranges(cuda::gpu(0));
  compare_packing(cuda::gpu(0));
}

TEST_CASE("a GPU computes every preset") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(1);
  std::uint64_t outputs = 0;
  for (const Preset& preset : presets())
    for (const bool flags : {false, true}) outputs += compare(preset.unit, flags, tally, random);
  tally.expect(outputs);
}

TEST_CASE("a GPU computes chains of multiply-adds and exact sums by every sequence") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(2);
  std::uint64_t outputs = 0;
  for (const char* unit : sequences)
    for (const bool flags : {false, true})
      outputs += compare(parse_unit(unit), flags, tally, random);
  tally.expect(outputs);
}

TEST_CASE("a GPU computes units of any kind") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(3);
  random_units::Random of_units(3);
  std::uint64_t outputs = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_units::unit(of_units);
    for (const Rival::Shape& s : small) {
      if (!opinion_at(u, s.k).takes) continue;
      Rival("cuda", u, tally, true).compare_random(s, random);
      outputs += outputs_compared(s);
    }
  }
  CHECK(outputs > 300 * outputs_compared(small[0]));
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

// Bit patterns of 16-bit formats, specials among them, by the thousand million: in sums so short
// that most of them are numbers.
TEST_CASE("a GPU and the CPU's engines agree on a thousand million products of random bits") {
  if (!gpu_is_here()) return;
  Tally tally;
  ProductRandom random(4);
  constexpr std::size_t n = 8192, k = 16;
  static_assert(n * n * k >= 1'000'000'000);
  for (const char* text : {"mac(e5m10)", "mac(e8m7)", "hopper.f16.f32"}) {
    const Unit u = parse_unit(text);
    const CodeList a = codes(u.a.fmt, n * k, Manner::bits, random),
                   b = codes(u.b.fmt, k * n, Manner::about_one, random);
    CodeList of_gpu(result_round(u).fmt, n * n), of_cpu(result_round(u).fmt, n * n);
    MatrixProduct p;
    p.m = p.n = n, p.k = k;
    p.a = a.rows(k), p.b = b.rows(n);
    p.result = of_gpu.data();
    prepare({u, k}, "cuda").product->run(p, 0, n);
    p.result = of_cpu.data();
    for (const Opinion& o : opinions({u, k}))
      if (!o.engine.starts_with("cuda")) {
        prepare({u, k}, o.engine).product->run(p, 0, n);
        break;
      }
    const Layout<std::uint64_t> result(result_round(u).fmt);
    std::size_t finite = 0;
    for (std::size_t i = 0; i < n * n; ++i) {
      finite += (of_cpu[i] & result.magnitude_mask) <= result.max_finite;
      tally.check(of_gpu.same(of_cpu, i), [&] {
        return fmt::format("{}, output {}: {} on the GPU, {} on the CPU", text, i,
                           of_gpu.hexadecimal(i), of_cpu.hexadecimal(i));
      });
    }
    CHECK(finite > n * n / 4);
  }
  tally.expect(3 * n * n);
}
