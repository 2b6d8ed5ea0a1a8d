#include <fmt/format.h>

#include <chrono>
#include <random>
#include <vector>

#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/unit_text.hpp"

// Products a second of the reference on one core, and how many of the host's own multiply-adds
// (binary32, as the compiler leaves them) go into the time of one.
namespace {

using namespace widthwise;
using Clock = std::chrono::steady_clock;

constexpr std::size_t m = 64, n = 64, k = 256;
constexpr double asked = 5e6;  // of hopper.f16.f32

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Codes of numbers about 1: operands as they come from scaled data, no specials.
std::vector<std::byte> codes(const Format& f, std::size_t count, std::mt19937_64& random) {
  const int bytes = item_bytes(f.width());
  std::vector<std::byte> items(count * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t field = static_cast<std::uint64_t>(f.bias) - random() % 4;
    const std::uint64_t fraction = random() & ((std::uint64_t{1} << f.frac_bits) - 1);
    const std::uint64_t sign = (random() & 1) << f.magnitude_bits();
    store_code(items.data() + i * static_cast<std::size_t>(bytes), bytes,
               sign | field << f.frac_bits | fraction);
  }
  return items;
}

// The best of repeated runs: other work on the machine only ever adds.
template <class Run>
double products_a_second(Run&& run) {
  double best = 0;
  for (const auto start = Clock::now(); seconds_since(start) < 1.0;) {
    const auto begin = Clock::now();
    run();
    best = std::max(best, static_cast<double>(m * n * k) / seconds_since(begin));
  }
  return best;
}

double host_rate() {
  std::vector<float> a(m * k, 1.25f), b(k * n, 0.75f), c(m * n);
  const double rate = products_a_second([&] {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::size_t t = 0; t < k; ++t) sum += a[i * k + t] * b[j * k + t];
        c[i * n + j] = sum;
      }
    a[0] = c[7];  // or the work might be left out
  });
  return rate;
}

double rate(const Unit& u) {
  std::mt19937_64 random(1);
  const auto a = codes(u.a.fmt, m * k, random), b = codes(u.b.fmt, k * n, random),
             c = codes(u.c.fmt, m * n, random);
  std::vector<std::byte> result(m * n *
                                static_cast<std::size_t>(item_bytes(result_round(u).fmt.width())));
  MatrixProduct p;
  p.m = m, p.n = n, p.k = k;
  p.a = {a.data(), static_cast<std::ptrdiff_t>(k), 1};
  p.b = {b.data(), static_cast<std::ptrdiff_t>(n), 1};
  p.c = {c.data(), static_cast<std::ptrdiff_t>(n), 1};
  p.result = result.data();
  const auto engine = make_reference(u, k);
  return products_a_second([&] { engine->run(p, 0, m); });
}

}  // namespace

int main() {
  const double host = host_rate();
  fmt::print("{:<20}{:>22}{:>26}\n", "unit", "million products/s", "host multiply-adds each");
  for (const char* text :
       {"hopper.f16.f32", "hopper.e4m3.f32", "mac(e5m10)", "kulisch(e5m10)", "fma(binary64)"}) {
    const double speed = rate(parse_unit(text));
    fmt::print("{:<20}{:>22.2f}{:>26.1f}\n", text, speed / 1e6, host / speed);
    if (std::string_view(text) == "hopper.f16.f32")
      fmt::print("{:<20}{:>22.2f} times what is asked, {:.0f} million\n", "", speed / asked,
                 asked / 1e6);
  }
}
