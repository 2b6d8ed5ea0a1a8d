#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "cuda/kernels/error_sums.hpp"
#include "cuda/sweep.hpp"
#include "host_kernels.hpp"
#include "tests/sim/edges.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_sweep {

// Sweeps whose kernels run on the CPU, against each unit's product by the planner's engine.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t k = 24;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Values {
  std::size_t m, n;
  std::vector<double> a, b, exact;

  explicit Values(double scale, std::size_t rows = 5, std::size_t columns = 9)
      : m(rows), n(columns), a(m * k), b(k * n), exact(m * n) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (double& x : a) x = scale * normal(random);
    for (double& x : b) x = normal(random);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l) exact[i * n + j] += a[i * k + l] * b[l * n + j];
    exact[3] = 0;
  }
  cuda::SweepValues sweep(const Rounding& rounding = {}) const {
    return {m, k, n, a.data(), b.data(), exact.data(), rounding};
  }
};

std::vector<std::byte> converted(const Format& from, const void* x, std::size_t count,
                                 const Format& to, const Rounding& rounding) {
  std::vector<std::byte> z(count * static_cast<std::size_t>(item_bytes(to.width())));
  const CodeArray operands[] = {{from, x}};
  elementwise(Operation::convert, to, {.rounding = rounding}, operands, count, z.data(), nullptr);
  return z;
}

// The unit's results as doubles.
std::vector<double> results(const Unit& u, const cuda::SweepValues& v, std::uint64_t seed) {
  const auto a = converted(binary64, v.a, v.m * v.k, u.a.fmt, v.rounding),
             b = converted(binary64, v.b, v.k * v.n, u.b.fmt, v.rounding);
  std::vector<std::byte> z(v.m * v.n *
                           static_cast<std::size_t>(item_bytes(result_round(u).fmt.width())));
  MatrixProduct p;
  p.m = v.m, p.k = v.k, p.n = v.n;
  p.a = {a.data(), static_cast<std::ptrdiff_t>(v.k), 1};
  p.b = {b.data(), static_cast<std::ptrdiff_t>(v.n), 1}, p.result = z.data();
  p.seed = seed;
  prepare({u, v.k}, "reference").product->run(p, 0, v.m);
  const auto bytes = converted(result_round(u).fmt, z.data(), v.m * v.n, binary64, {});
  std::vector<double> x(v.m * v.n);
  std::memcpy(x.data(), bytes.data(), bytes.size());
  return x;
}

// As Python's METRICS have them, in another order of sums.
cuda::ErrorMetrics measured(const std::vector<double>& computed, const std::vector<double>& exact) {
  double most = -1, sum = 0, most_relative = -1, relative = 0, squares = 0, whole = 0;
  double not_zero = 0, right = 0, not_finite = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const bool number = std::isfinite(computed[i]);
    const double error = number ? std::fabs(computed[i] - exact[i]) : infinity;
    not_finite += !number, right += error == 0, sum += error, most = std::max(most, error);
    squares = std::hypot(squares, error), whole = std::hypot(whole, exact[i]);
    if (number && exact[i] == 0) continue;
    ++not_zero, relative += error / std::fabs(exact[i]);
    most_relative = std::max(most_relative, error / std::fabs(exact[i]));
  }
  return {most,
          sum / static_cast<double>(computed.size()),
          most_relative,
          relative / not_zero,
          squares / whole,
          right / static_cast<double>(computed.size()),
          not_finite};
}

// Approx finds no infinity near itself.
void check_near(double x, double y) {
  if (std::isinf(y))
    CHECK(x == y);
  else
    CHECK(x == doctest::Approx(y).epsilon(1e-13));
}

void check_alike(const cuda::ErrorMetrics& x, const cuda::ErrorMetrics& y) {
  CHECK(x.exact == y.exact);
  CHECK(x.not_finite == y.not_finite);
  CHECK(x.max_abs == y.max_abs);
  CHECK(x.max_rel == y.max_rel);
  check_near(x.mean_abs, y.mean_abs);
  check_near(x.mean_rel, y.mean_rel);
  check_near(x.rel_norm, y.rel_norm);
}

// More than a launch takes, of several sequences and both lanes, and of every other way.
std::vector<Unit> many() {
  std::vector<Unit> units;
  for (int e = 4; e <= 8; e += 2)
    for (int f = 1; f <= 22; f += 2)
      for (const char* form : {"mac(e{}m{})", "fma(e{}m{})"})
        units.push_back(parse_unit(fmt::format(fmt::runtime(form), e, f)));
  for (const char* text : {"mac(e5m10, sum=e5m10:sr9)", "kulisch(e4m3fn)", "hopper.f16.f32",
                           "mac(binary32)", "mac(e5m10, sum=e5m10:rtz)", "cdna3.f16"})
    units.push_back(parse_unit(text));
  return units;
}

}  // namespace

TEST_CASE("a sweep measures every unit as its own product would be measured") {
  for (const double scale : {1.0, 3000.0}) {
    const Values values(scale);
    const Rounding rounding = scale == 1 ? Rounding{} : Rounding(RoundingMode::rtz);
    const cuda::DeviceSweep sweep(host_device(), values.sweep(rounding));
    const std::vector<Unit> units = many();
    host_device().most_layers = 0;
    const std::vector<cuda::ErrorMetrics> found = sweep.run(units, 7);
    CHECK(host_device().most_layers > 10);
    REQUIRE(found.size() == units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      INFO(to_string(units[i]));
      check_alike(found[i], measured(results(units[i], values.sweep(rounding), 7), values.exact));
    }
  }
  CHECK(host_device().taken == 0);
}

TEST_CASE("a sweep goes in parts where memory is short") {
  const Values values(1);
  std::vector<Unit> units = many();
  units.resize(12);
  const std::vector<cuda::ErrorMetrics> whole =
      cuda::DeviceSweep(host_device(), values.sweep()).run(units, 1);
  host_device().memory = std::size_t{1} << 20;
  const std::vector<cuda::ErrorMetrics> parts =
      cuda::DeviceSweep(host_device(), values.sweep()).run(units, 1);
  host_device().memory = std::size_t{1} << 28;
  for (std::size_t i = 0; i < units.size(); ++i) CHECK(whole[i].rel_norm == parts[i].rel_norm);
}

TEST_CASE(
    "a product of a sweep that is larger than the device's memory goes in parts of its rows") {
  const Values values(1, 301, 100);
  const cuda::DeviceSweep sweep(host_device(), values.sweep());
  HostDevice& device = host_device();
  const std::size_t taken = device.taken;
  device.memory = device.most_taken = taken + (std::size_t{1} << 20);
  for (const char* text : {"mac(e5m9)", "mac(e5m10, sum=e5m10:sr9)", "mac(e5m10, sum=e5m10:odd)",
                           "kulisch(e5m10)", "hopper.f16.f32", "kahan(e5m10)"}) {
    CAPTURE(text);
    const Unit units[] = {parse_unit(text), parse_unit("mac(e4m3)")};
    const std::vector<cuda::ErrorMetrics> found = sweep.run(units, 5);
    REQUIRE(found.size() == 2);
    for (std::size_t i = 0; i < 2; ++i)
      check_alike(found[i], measured(results(units[i], values.sweep(), 5), values.exact));
  }
  CHECK(device.most_taken <= device.memory);
  CHECK(device.taken == taken);
  device.memory = taken + (std::size_t{1} << 15);
  CHECK_THROWS_WITH_AS(sweep.run(many(), 5),
                       "this CPU: its memory does not hold one row of 24 values times 100 columns "
                       "beside the values of a sweep; engine = 'auto' computes the same on the CPU",
                       std::runtime_error);
  device.memory = std::size_t{1} << 28;
}

namespace {

// One more than a grid has of the smallest tiles, and a few.
struct Tall {
  std::vector<double> a, exact;
  double b = 1 - 0x1p-12;

  Tall() : a(std::size_t{65535} * 32 + 37), exact(a.size()) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = 1 + static_cast<double>(i % 8191) / 8192, exact[i] = a[i] * b;
  }
  cuda::SweepValues sweep() const { return {a.size(), 1, 1, a.data(), &b, exact.data(), {}}; }
};

}  // namespace

TEST_CASE("a sweep of more rows than a grid has goes in parts") {
  std::size_t launched = 0;
  const auto nothing = [](const void*, const cuda::Grid&) {};
  const auto counted = [&](const void*, const cuda::Grid& grid) { launched += grid.blocks_z; };
  HostDevice counting({{"tile_double_rounded_normal", counted},
                       {"decode_double", nothing},
                       {"encode_double", nothing},
                       {"chain_rounded_32", counted},
                       {"unpack_chain_32", nothing},
                       {"list_marks", nothing},
                       {"elements_64", nothing},
                       {"measure_errors", nothing},
                       {"join_errors", nothing}});
  const Tall values;
  const Unit units[] = {parse_unit("mac(e8m15)"), parse_unit("mac(e8m15, sum=e8m15:odd)")};
  cuda::DeviceSweep(counting, values.sweep()).run(units, 1);
  CHECK(launched == 4);
}

TEST_CASE("the parts of a sweep are measured as a whole, each with its own random bits") {
  const Tall values;
  Unit u = parse_unit("mac(e5m10, sum=e5m6:sr9)");
  u.lanes = 2;  // no tile has it: the definition is quicker on a CPU
  const std::vector<cuda::ErrorMetrics> found =
      cuda::DeviceSweep(host_device(), values.sweep()).run({&u, 1}, 3);
  check_alike(found[0], measured(results(u, values.sweep(), 3), values.exact));
}

TEST_CASE("a result that is no number is an infinite error, where the exact one is 0 too") {
  for (const double wrong : {infinity, -infinity, std::nan("")}) {
    for (const double exact : {0.0, 1.5}) {
      CAPTURE(exact);
      cuda::ErrorSums sums, right;
      right.add(2, 2), sums.add(wrong, exact), sums.join(right);
      CHECK(std::isinf(sums.largest + sums.total));
      CHECK(std::isinf(sums.largest_relative + sums.total_relative));
      CHECK(std::isinf(sums.errors.root()));
      CHECK(sums.exacts.root() == std::hypot(2, exact));
      CHECK(sums.right == 1);
      CHECK(sums.not_finite == 1);
    }
  }
}

TEST_CASE("an infinity is right where it is the exact result, and NaN is nowhere") {
  cuda::ErrorSums same;
  same.add(infinity, infinity), same.add(-infinity, -infinity), same.add(1, 2);
  CHECK(same.right == 2);
  CHECK(same.not_finite == 2);
  CHECK(same.largest == 1);
  CHECK(same.largest_relative == 0.5);
  CHECK(same.exacts.root() == 2);
  for (const double exact : {infinity, std::nan("")})
    for (const double computed : {1.0, -infinity, std::nan("")}) {
      cuda::ErrorSums wrong;
      wrong.add(computed, exact);
      CHECK(wrong.outputs == 1);
      CHECK(wrong.right == 0);
      CHECK(std::isinf(wrong.largest));
      CHECK(std::isinf(wrong.largest_relative));
    }
}

TEST_CASE("squares of any size are summed") {
  const auto root = [](std::initializer_list<double> values) {
    cuda::Squares sum;
    for (const double x : values) sum.add(x);
    return sum.root();
  };
  CHECK(root({}) == 0);
  CHECK(root({3, 4}) == 5);
  CHECK(root({3e300, 4e300}) == doctest::Approx(5e300).epsilon(1e-15));
  CHECK(root({3e-310, 4e-310}) == doctest::Approx(5e-310).epsilon(1e-12));
  CHECK(root({5e-324}) == 5e-324);
  CHECK(root({1e300, 1}) == 1e300);
  CHECK(root({1, 1e-300}) == 1);
  CHECK(std::isinf(root({infinity, 1})));
}

TEST_CASE("a sweep measures results of 64 bits, of numbers that threads hold, without scales") {
  const Border border([](const Unit& u) { return cuda::why_no_sweep(u, 64).empty(); });
  border.lies_between("mac(e15m48)", "mac(e15m49)");
  border.lies_between("mac(e15m112, final=e5m10)", "mac(e15m113, final=e5m10)");
  border.lies_between("fma(e4m3fn)", "fma(e4m3fn, scale=e8m0fnu:32:term)");
}

}  // namespace test_sweep
