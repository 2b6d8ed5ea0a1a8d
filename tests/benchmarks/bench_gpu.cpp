#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <random>
#include <vector>

#include "cuda/block_tiles.hpp"
#include "cuda/chain_tiles.hpp"
#include "cuda/definition.hpp"
#include "cuda/driver.hpp"
#include "cuda/exact_tiles.hpp"
#include "cuda/gpu_device.hpp"
#include "cuda/lane_tiles.hpp"
#include "cuda/pair_tiles.hpp"
#include "cuda/tensor_tiles.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/cuda/memory.hpp"
#include "widthwise/cuda/sweep.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Matrix products on a GPU: of codes that lie there already, and from this machine's memory and
// back; conversions beside a copy; a sweep. With --json FILE also as JSON, which
// tests/benchmarks/gpu_table.py makes a table of. With units, products by those alone.
namespace {

using namespace widthwise;

// The least of a few, of wall time: a GPU's work is not this process's.
template <class Run>
double best_seconds(const Run& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300, spent = 0;
  for (int i = 0; i < 3 || (spent < 2 && i < 20); ++i) {
    const auto start = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

std::vector<std::byte> normal_codes(const Format& f, std::size_t count) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& x : numbers) x = normal(random);
  std::vector<std::byte> codes(count * static_cast<std::size_t>(item_bytes(f.width())));
  const CodeArray from{binary64, numbers.data()};
  elementwise(Operation::convert, f, {}, {&from, 1}, count, codes.data(), nullptr);
  return codes;
}

struct Rates {
  const char* way;
  double there, whole;  // products a second
};
Rates rates(const Unit& u, std::size_t n) {
  const auto a = normal_codes(u.a.fmt, n * n), b = normal_codes(u.b.fmt, n * n);
  std::vector<std::byte> result(n * n *
                                static_cast<std::size_t>(item_bytes(result_round(u).fmt.width())));
  MatrixProduct p;
  p.m = p.n = p.k = n;
  p.a = {a.data(), static_cast<std::ptrdiff_t>(n), 1}, p.b = {b.data(), p.a.row, 1};
  p.result = result.data();
  cuda::Device& device = cuda::gpu(0);
  const cuda::RegionMemory memory(device, u, {p, cuda::Memory::host}, {0, 0, n, n});
  auto way = cuda::pair_tiles({u, n}, device);
  const char* name = "pairs";
  if (!way) name = "value lanes", way = cuda::lane_tiles({u, n}, device);
  if (!way) name = "tensor tiles", way = cuda::tensor_tiles({u, n}, device);
  if (!way) name = "small blocks", way = cuda::block_tiles({u, n}, device);
  if (!way) name = "exact sums", way = cuda::exact_tiles({u, n}, device);
  if (!way) name = "chains", way = cuda::chain_tiles({u, n}, device);
  if (!way) name = "definition", way = cuda::definition({u, n}, device);
  const auto engine = prepare({u, n}, "cuda");
  const double products = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const auto there = [&] {
    way->compute(memory.there(), nullptr);
    device.wait();  // kernels are launched, and not yet through
  };
  return {name, products / best_seconds(there),
          products / best_seconds([&] { engine.product->run(p, 0, n); })};
}

// Conversions of numbers that lie there, and a copy of as many there: bytes read and written.
struct Quantised {
  std::string text;
  double bytes, copied;  // a second
};
Quantised quantised(const Format& to, RoundingMode mode) {
  constexpr std::size_t count = std::size_t{1} << 26;
  const std::vector<std::byte> numbers = normal_codes(binary32, count);
  const auto codes_bytes = static_cast<std::size_t>(item_bytes(to.width()));
  const cuda::Queue queue;
  const cuda::DeviceMemory from(0, 4 * count), copy(0, 4 * count), codes(0, codes_bytes * count);
  const auto at = [](const cuda::DeviceMemory& m) { return reinterpret_cast<void*>(m.address()); };
  cuda::copy_in(queue, at(from), numbers.data(), numbers.size());
  const CodeArray source{binary32, at(from)};
  const double converting = best_seconds([&] {
    cuda::elementwise(queue, Operation::convert, to, Env{.rounding = mode}, {&source, 1}, count,
                      at(codes), nullptr, {});
  });
  const cuda::Axis all{count, 1};
  const double copying = best_seconds([&] {
    cuda::gather(queue, at(copy), at(from), 4, {&all, 1});
  });
  const auto moved = static_cast<double>(count);
  return {fmt::format("{}:{}", to_string(to), to_string(Rounding(mode))),
          moved * (4 + static_cast<double>(codes_bytes)) / converting, moved * 8 / copying};
}

// A thousand units of one product, their errors measured there, and the plain kernel's rate.
struct Swept {
  double products, plain;  // a second
};
Swept swept() {
  constexpr std::size_t n = 1024;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> a(n * n), b(n * n), exact(n * n);
  for (double& x : a) x = normal(random);
  for (double& x : b) x = normal(random);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t j = 0; j < n; ++j) exact[i * n + j] += a[i * n + t] * b[t * n + j];
  std::vector<Unit> units;
  for (int sum = 1; sum <= 10; ++sum)
    for (int product = 1; product <= sum; ++product)
      for (int of_a = 1; of_a <= 10; ++of_a)
        for (int exponent = 6; exponent <= 7 && units.size() < 1000; ++exponent)
          units.push_back(parse_unit(fmt::format("mac(e5m{}, product=e5m{}, sum=e{}m{}, c=e{}m1)",
                                                 of_a, product, exponent, sum, exponent)));
  const auto sweep = cuda::sweep_on_gpu(0, {n, n, n, a.data(), b.data(), exact.data(), {}});
  const double seconds = best_seconds([&] { sweep->run(units, 0); });
  return {static_cast<double>(units.size()) * static_cast<double>(n * n * n) / seconds,
          rates(parse_unit("mac(e5m9)"), n).there};
}

// What the figures are of.
std::string card() {
  const cuda::Driver& driver = *cuda::driver();
  cuda::DeviceHandle device = 0;
  cuda::expect(driver.device(&device, 0), "GPU 0");
  const auto ask = [&](cuda::DeviceAttribute attribute) {
    int x = 0;
    cuda::expect(driver.device_attribute(&x, attribute, device), "GPU 0");
    return x;
  };
  int cuda_version = 0;
  cuda::expect(driver.version(&cuda_version), "the driver's version");
  std::string version;
  std::getline(std::ifstream("/sys/module/nvidia/version") >> std::ws, version);
  using enum cuda::DeviceAttribute;
  return fmt::format(R"("card": "{}", "driver": "{}", "cuda": "{}.{}", "multiprocessors": {}, )"
                     R"("clock_mhz": {}, "memory_clock_mhz": {})",
                     cuda::gpus().names[0], version, cuda_version / 1000, cuda_version % 1000 / 10,
                     ask(multiprocessor_count), ask(clock_khz) / 1000,
                     ask(memory_clock_khz) / 1000);
}

// Where tiles compute a unit there is enough to do for larger products.
std::size_t length_for(const Unit& u) {
  const ProductTask task{u, 4096};
  for (const auto why_not : {cuda::why_no_lane_tiles, cuda::why_no_tensor_tiles,
                             cuda::why_no_block_tiles, cuda::why_no_exact_tiles})
    if (why_not(task).empty()) return 4096;
  return cuda::why_no_chain_tiles(task).empty() ? 2048 : 512;
}

// The lines of products and of conversions, as JSON.
std::string measured_products(std::span<const std::string> units) {
  fmt::print("{:<48}{:<14}{:>18}{:>18}\n", "unit", "way", "10^9 products/s", "with transfers");
  std::string lines;
  for (const std::string& text : units) {
    const Unit u = parse_unit(text);
    const std::size_t n = length_for(u);
    const Rates z = rates(u, n);
    fmt::print("{:<48}{:<14}{:>18.1f}{:>18.1f}\n", text, z.way, z.there / 1e9, z.whole / 1e9);
    lines += fmt::format(
        R"({}    {{"unit": "{}", "n": {}, "way": "{}", "products_s": {:.4g}, "whole_s": {:.4g}}})",
        lines.empty() ? "" : ",\n", text, n, z.way, z.there, z.whole);
  }
  return lines;
}
std::string measured_conversions() {
  fmt::print("\n{:<48}{:>18}{:>18}\n", "binary32 to", "10^9 bytes/s", "a copy");
  std::string lines;
  for (const Format& to : {binary16, bfloat16, e4m3fn, e5m2})
    for (const RoundingMode mode : {RoundingMode::rne, RoundingMode::rdn}) {
      const Quantised z = quantised(to, mode);
      fmt::print("{:<48}{:>18.1f}{:>18.1f}\n", z.text, z.bytes / 1e9, z.copied / 1e9);
      lines += fmt::format(R"({}    {{"to": "{}", "bytes_s": {:.4g}, "copy_s": {:.4g}}})",
                           lines.empty() ? "" : ",\n", z.text, z.bytes, z.copied);
    }
  return lines;
}

// For most kernels one that goes by it.
const std::vector<std::string> all_units{"mac(e5m10)",
                                         "mac(e5m9)",
                                         "fma(e4m3fn, sum=e5m9)",
                                         "mac(e8m7)",
                                         "fma(e5m10)",
                                         "mac(e8m15)",
                                         "mac(binary32)",
                                         "mac(binary64)",
                                         "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                         "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                         "hopper.f16.f32",
                                         "mac(e5m10, sum=e5m10:sr13)",
                                         "mac(e5m10, sum=e5m10:odd)",
                                         "mac(e11m30)",
                                         "kulisch(e4m3fn)",
                                         "kulisch(e5m10)",
                                         "kulisch.f32",
                                         "fix24.sat",
                                         "cdna2.f16",
                                         "kahan(e5m10)"};

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> told(arguments + 1, arguments + count);
  const bool json = told.size() == 2 && told[0] == "--json", units = !json && !told.empty();
  if (units && told[0].starts_with("-")) {
    fmt::print(stderr, "usage: gpu-bench [--json FILE | UNIT...]\n");
    return 2;
  }
  cuda::offer_engine();
  if (!cuda::gpus().why_none.empty()) {
    fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
    return 0;
  }
  fmt::print("{}\n", cuda::gpus().names[0]);
  if (units) {
    measured_products(told);
    return 0;
  }
  const std::string products = measured_products(all_units), conversions = measured_conversions();
  const Swept all = swept();
  fmt::print("\n{:<48}{:>18.1f}{:>18.1f}\n", "1,000 units of 1024^3: 10^9 products/s; plain",
             all.products / 1e9, all.plain / 1e9);
  if (json)
    std::ofstream(told[1]) << fmt::format(
        "{{\n  {},\n  \"products\": [\n{}\n  ],\n  \"quantise\": [\n{}\n  ],\n  "
        "\"sweep\": {{\"products_s\": {:.4g}, \"plain_s\": {:.4g}}}\n}}\n",
        card(), products, conversions, all.products, all.plain);
}
