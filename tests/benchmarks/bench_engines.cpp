#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "sim/engine/lines.hpp"
#include "sim/lanes/kernels.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/paired_dots.hpp"
#include "widthwise/sim/unit_text.hpp"

// Matrix products of 512 x 512 x 512, codes in and out, one core, beside the machine's own binary32
// multiply-adds in registers: how many of those go into the time of one product. An argument names
// the rows to be run: those that contain it.
namespace {

using namespace widthwise;

constexpr std::size_t n = 512;

// Of this process's own time: what others do meanwhile on the machine counts little.
template <class Run>
double best_seconds(const Run& run, double budget = 0.7) {
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  double best = 1e300;
  for (const double start = now(); now() - start < budget;) {
    const double begin = now();
    run();
    best = std::min(best, now() - begin);
  }
  return best;
}

// Fused multiply-adds a second of a tile that never leaves the first cache: the best so far, for a
// shared machine's clock comes and goes.
double native_rate(double budget = 0.1) {
  static double best = 0;
  using namespace lanes;
  const Kernel<float> kernel =
      lanes::kernel<float>({.multiply = Multiply::exact, .add = Add::native});
  if (!kernel) return 0;
  constexpr std::size_t k = 100, width = tile_columns<float>;
  Lines<float> a(tile_rows * k, 1.25f), b(k * width, 0.5f), sum(tile_rows * width);
  Tile<float> tile{};
  tile.a = a.data(), tile.a_stride = tile.k = k, tile.interval = 1;
  tile.b = b.data(), tile.sum = sum.data(), tile.columns = width;
  const auto run = [&] {
    for (int i = 0; i < 1000; ++i) kernel(tile, {});
  };
  best = std::max(best, 1000.0 * tile_rows * k * width / best_seconds(run, budget));
  return best;
}

// Normal data of that deviation, rounded to the format; without signs where that has none.
std::vector<std::byte> codes(const Format& f, double deviation, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, deviation);
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  std::vector<std::byte> items(n * n * bytes);
  std::vector<double> numbers(n * n);
  for (double& x : numbers) x = f.is_signed() ? normal(random) : std::abs(normal(random));
  const CodeArray from{binary64, numbers.data()};
  elementwise(Operation::convert, f, {}, {&from, 1}, numbers.size(), items.data(), nullptr);
  return items;
}

double seconds_of(const Unit& u, double deviation, bool flags, const Prepared& engine) {
  std::mt19937_64 random(1);
  const auto a = codes(u.a.fmt, deviation, random), b = codes(u.b.fmt, deviation, random);
  std::vector<std::byte> result(n * n *
                                static_cast<std::size_t>(item_bytes(result_round(u).fmt.width())));
  MatrixProduct p;
  p.m = p.n = p.k = n;
  p.a = {a.data(), n, 1}, p.b = {b.data(), n, 1};
  p.result = result.data();
  std::vector<std::byte> scales;
  if (u.scale) {
    scales = codes(u.scale->fmt, 1, random);
    p.scale_a = {scales.data(), n, 1}, p.scale_b = {scales.data(), n, 1};
  }
  std::vector<std::uint8_t> raised(n * n);
  if (flags) p.flags = raised.data();
  const std::size_t rows = engine.engine == "reference" ? 2 : n;  // its rate needs no more
  return best_seconds([&] { engine.product->run(p, 0, rows); }) * static_cast<double>(n) /
         static_cast<double>(rows);
}

// 1,024 dot products of 256 that share no operand, products a second.
double rate_of_dots(const Unit& u) {
  constexpr std::size_t dots = 1024, k = 256;
  static_assert(dots * k <= n * n);
  std::mt19937_64 random(1);
  const auto a = codes(u.a.fmt, 1, random), b = codes(u.b.fmt, 1, random);
  std::vector<std::byte> result(dots * 8);
  ProductBatch batch{.first = {}, .axes = {{.size = dots, .a = k, .b = k}}};
  batch.first.m = batch.first.n = 1, batch.first.k = k;
  batch.first.a = {a.data(), k, 1}, batch.first.b = {b.data(), 1, 1};
  batch.first.result = result.data();
  const auto paired = PairedDots::of({.unit = u, .k = k, .outputs = dots});
  const std::size_t most = paired->at_once();
  return dots * k / best_seconds([&] {
           for (std::size_t i = 0; i < dots; i += most)
             paired->run(batch, i, std::min(dots, i + most));
         });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  fmt::print("the machine's own: {:.1f} thousand million multiply-adds a second\n",
             native_rate(1) / 1e9);
  fmt::print("{:<46}{:<11}{:>18}{:>14}{:>8}\n", "unit", "engine", "million products/s",
             "native / it", "asked");
  struct Subject {
    const char* unit;
    double asked;          // of native / it, at most; 0: a rate of 60 million products a second
    double deviation = 1;  // of the data: of 256, every tile of e5m10 meets infinities and NaN
    bool flags = false;
    const char* multiplier = "exact";
    const char* engine = "auto";
  };
  for (const Subject& s : {Subject{"mac(e5m10)", 5.5},
                           {"mac(e5m10)", 5.5, 1, false, "exact", "lanes"},
                           {"mac(e5m10)", 16, 256},
                           {"mac(e5m10)", 16, 256, false, "exact", "lanes"},
                           {"mac(e4m3fn, sum=e5m10)", 7},
                           {"mac(e8m7)", 7},
                           {"fma(e5m10)", 7},
                           {"mac(e8m15)", 11},
                           {"mac(binary32)", 1.3},
                           {"mac(binary64)", 2.6},
                           {"mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)", 5},
                           {"mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)", 8},
                           {"mac(e5m10, product=e5m10:rna, sum=e5m10:rna)", 8},
                           {"mac(e5m10, sum=e5m10:sr13)", 15},
                           {"hopper.f16.f32", 5},
                           {"hopper.e4m3.f32", 5},
                           {"cdna3.f16", 10},
                           {"cdna3.bf16", 10},
                           {"cdna3.xf32", 10},
                           {"cdna3.fp8", 10},
                           {"cdna2.f16", 10},
                           {"cdna1.f16", 10},
                           {"cdna1.bf16", 10},
                           {"blackwell.mxfp8", 15},
                           {"blackwell.nvfp4", 15},
                           {"lowered.e4m3.f32", 10},
                           {"lowered.e4m3.f16", 10},
                           {"volta.f16.f16", 10},
                           {"hopper.e4m3.promote128", 10},
                           {"tree8.f32", 0},
                           {"mac(fixed16.8)", 0},
                           {"kulisch(e4m3fn)", 6},
                           {"kulisch(e5m10)", 20},
                           {"mac(e5m10)", 0, 1, true},
                           {"mac(binary64)", 0, 1, true},
                           {"cdna3.f16", 0, 1, true},
                           {"tree8.f32", 0, 1, true},
                           {"kahan(e5m10)", 0},
                           {"neumaier(e8m7)", 0},
                           {"mac(e4m3fn)", 0, 1, false, "mitchell"},
                           {"fma(e5m10)", 0, 1, false, "drum6"},
                           {"mac(e8m23)", 0, 1, false, "truncated_operands8"},
                           {"mac(e4m3fnuz)", 0},
                           {"mac(e5m10, sum=e5m10:rtz)", 0},
                           {"mac(e5m10, sum=e5m10:sr20)", 0},
                           {"mac(e8m26)", 0},
                           {"fma(e8m7)", 0},
                           {"kulisch(e8m7)", 0},
                           {"kulisch.f32", 0},
                           {"fix24.wrap", 0},
                           {"fix24.sat", 0},
                           {"fixedacc(e5m10, width=24, frac=12, align=rna)", 0},
                           {"kulisch(binary64)", 0},
                           {"dot(binary32, lanes=4)", 0},
                           {"dot(binary32, lanes=4, align=60)", 0},
                           {"dot(binary64, lanes=4)", 0},
                           {"kahan(binary64)", 0},
                           {"tree(binary64, fan=8)", 0},
                           {"mac(binary64, sum=binary64:sr8)", 0},
                           {"mac(e15m112)", 0},
                           {"dot(e5m10, lanes=4, scale=e8m23:4:term)", 0},
                           {"fixedacc(binary128, width=200, frac=100)", 0}}) {
    if (std::string_view(s.unit).find(wanted) == std::string_view::npos) continue;
    const Unit u = parse_unit(s.unit);
    const Multiplier multiplier = parse_multiplier(s.multiplier);
    const std::string beside = s.flags      ? " with flags"
                               : multiplier ? fmt::format(" by {}", s.multiplier)
                                            : "";
    const Prepared engine = prepare({u, n, s.flags, multiplier}, s.engine);
    const double rate =
        static_cast<double>(n * n * n) / seconds_of(u, s.deviation, s.flags, engine);
    fmt::print("{:<46}{:<11}{:>18.1f}{:>14.1f}{:>8}\n", s.unit + beside, engine.engine, rate / 1e6,
               native_rate() / rate, s.asked > 0 ? fmt::format("{:.1f}", s.asked) : "60 M/s");
  }
  for (const char* text : {"mac(e5m10)", "mac(e8m7)", "fma(e5m10)", "mac(binary32)",
                           "mac(e5m10, sum=e5m10:sr13)", "kahan(binary32)", "tree8.f32"}) {
    const std::string name = fmt::format("{}, 1,024 dots", text);
    if (name.find(wanted) == std::string::npos) continue;
    const double rate = rate_of_dots(parse_unit(text));
    fmt::print("{:<46}{:<11}{:>18.1f}{:>14.1f}{:>8}\n", name, "paired", rate / 1e6,
               native_rate() / rate, "60 M/s");
  }
}
