#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <regex>
#include <set>

#include "cuda/gpu_device.hpp"
#include "gpu_text.hpp"
#include "tensor_core_ptx.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/values.hpp"

// A GPU's own tensor cores against the presets that are said to be theirs.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t rows = 16, columns = 8, threads = 32;

struct Instruction {
  const char *type, *sum;
  std::size_t k;
  int bits;             // of an operand in a register
  bool is_warpgroup;    // of Hopper alone
  int least;            // compute capability, 10 times
  const char* version;  // of PTX
};
constexpr Instruction instructions[] = {
    {"f16", "f32", 16, 16, false, 80, "7.0"},  {"f16", "f16", 16, 16, false, 80, "7.0"},
    {"bf16", "f32", 16, 16, false, 80, "7.0"}, {"tf32", "f32", 8, 32, false, 80, "7.0"},
    {"e4m3", "f32", 32, 8, false, 89, "8.4"},  {"e4m3", "f16", 32, 8, false, 89, "8.7"},
    {"e5m2", "f32", 32, 8, false, 89, "8.4"},  {"e5m2", "f16", 32, 8, false, 89, "8.7"},
    {"f16", "f32", 16, 16, true, 90, "8.0"},   {"f16", "f16", 16, 16, true, 90, "8.0"},
    {"bf16", "f32", 16, 16, true, 90, "8.0"},  {"tf32", "f32", 8, 32, true, 90, "8.0"},
    {"e4m3", "f32", 32, 8, true, 90, "8.0"},   {"e4m3", "f16", 32, 8, true, 90, "8.0"},
    {"e5m2", "f32", 32, 8, true, 90, "8.0"},   {"e5m2", "f16", 32, 8, true, 90, "8.0"}};

bool has(int capability, const Instruction& x) {
  return x.is_warpgroup ? capability == 90 : capability >= x.least;
}

// Datapath page, 1.1: Hopper and B200 have no warp's instruction for 8-bit operands and lower it.
// Null of what nobody has described.
const Preset* preset_of(const Instruction& x, int capability) {
  const char* family = capability < 89    ? "ampere"
                       : capability < 90  ? "ada"
                       : capability < 100 ? "hopper"
                                          : "blackwell";
  if (x.bits == 8 && !x.is_warpgroup && capability >= 90 && capability < 120) family = "lowered";
  const bool is_own = x.is_warpgroup && std::string_view(x.type) == x.sum;  // its own floor
  return find_preset(fmt::format("{}{}.{}.{}", family, is_own ? ".wgmma" : "", x.type, x.sum));
}

// 8-bit operands with sums in binary16, of compute capability 12.0.
bool is_undescribed(const Instruction& x, int capability) {
  return capability == 120 && x.bits == 8 && std::string_view(x.sum) == "f16";
}

// Where the elements of a tile lie among the registers of 32 threads.
struct Place {
  std::size_t word;
  int shift;
};
struct Fragments {
  int bits;

  // (row, k) of A, 4 registers a thread; (k, column) of B, 2 of them.
  Place a(std::size_t row, std::size_t k) const {
    return place(row % 8, k, row / 8 + k / (4 * held()) * 2, 4);
  }
  Place b(std::size_t k, std::size_t column) const { return place(column, k, k / (4 * held()), 2); }
  // Of C and the result, both of so many bits.
  static Place c(std::size_t row, std::size_t column, int bits) {
    const std::size_t thread = row % 8 * 4 + column / 2, pair = row / 8;
    if (bits == 16) return {thread * 2 + pair, static_cast<int>(column % 2) * 16};
    return {thread * 4 + pair * 2 + column % 2, 0};
  }

 private:
  std::size_t held() const { return static_cast<std::size_t>(32 / bits); }
  Place place(std::size_t line, std::size_t k, std::size_t of_thread, std::size_t count) const {
    const std::size_t thread = line * 4 + k / held() % 4;
    return {thread * count + of_thread, static_cast<int>(k % held()) * bits};
  }
};

int bits_of_c(const Instruction& x) { return x.sum == std::string_view("f16") ? 16 : 32; }

// A thread's words of C, and of the result.
std::size_t words_of_c(const Instruction& x) {
  return rows * columns * static_cast<std::size_t>(bits_of_c(x)) / 32 / threads;
}

std::string ptx_of(const Instruction& x) {
  const std::size_t words = words_of_c(x);
  std::vector<std::string> registers;
  for (std::size_t i = 0; i < words; ++i) registers.push_back(fmt::format("%d{}", i));
  std::string text = tensor_core_ptx;
  const auto say = [&](std::string_view name, const std::string& what) {
    for (std::size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), what);
  };
  say("$multiply", x.is_warpgroup ? warpgroup_ptx : warp_ptx);
  say("$transposed", x.bits == 16 ? ", 0" : "");
  say("$c_bytes", std::to_string(4 * words));
  say("$c_count", std::to_string(words));
  say("$registers", fmt::format("{}", fmt::join(registers, ", ")));
  say("$version", x.version);
  say("$target", fmt::format("sm_{}{}", x.least, x.is_warpgroup ? "a" : ""));
  say("$type", x.type);
  say("$sum", x.sum);
  say("$k", std::to_string(x.k));
  return text;
}

// Operands of some tiles.
struct Operands {
  CodeList a, b, c;
};
Operands operands(const Instruction& x, const Unit& u, std::size_t count,
                  std::array<Manner, 3> manners, ProductRandom& random) {
  return {codes(u.a.fmt, count * rows * x.k, manners[0], random),
          codes(u.b.fmt, count * x.k * columns, manners[1], random),
          codes(u.c.fmt, count * rows * columns, manners[2], random)};
}

// Products that all are -0, onto -0 and, of every other, onto +0.
Operands negative_zeros(const Instruction& x, const Unit& u, std::size_t count) {
  const auto of_sign = [](const Format& f, std::size_t n, std::size_t step) {
    CodeList z(f, n);
    for (std::size_t i = 0; i < n; i += step) z.set(i, std::uint64_t{1} << (f.width() - 1));
    return z;
  };
  return {CodeList(u.a.fmt, count * rows * x.k), of_sign(u.b.fmt, count * x.k * columns, 1),
          of_sign(u.c.fmt, count * rows * columns, 2)};
}

// Some tiles of one instruction: their codes, and what the tensor cores make of them.
class Tiles {
 public:
  Tiles(const Instruction& x, Operands operands)
      : x_(x), of_(std::move(operands)), count_(of_.c.size() / (rows * columns)) {}

  std::size_t count() const { return count_; }

  MatrixProduct product(std::size_t tile) const {
    MatrixProduct p;
    p.m = rows, p.n = columns, p.k = x_.k;
    p.a = of_.a.rows(x_.k, tile * rows * x_.k);
    p.b = of_.b.rows(columns, tile * x_.k * columns);
    p.c = of_.c.rows(columns, tile * rows * columns);
    return p;
  }

  // Element by element, in so many bits each.
  std::vector<std::uint32_t> run() const {
    cuda::Device& device = cuda::gpu(0);
    const auto there = [&](const std::vector<std::uint32_t>& words) {
      return cuda::copied_in(device, std::span<const std::uint32_t>(words));
    };
    const std::vector<std::uint32_t> c =
        words(words_of_c(x_), [&](auto place) { each_of_c(place); });
    const cuda::Buffer a_there = there(words(4, [&](auto place) { each_of_a(place); })),
                       b_there = there(words(2, [&](auto place) { each_of_b(place); })),
                       c_there = there(c), d_there = there(c);
    launch_text(ptx_of(x_), x_.type,
                std::array{a_there.at(), b_there.at(), c_there.at(), d_there.at()},
                static_cast<unsigned>(count_), x_.is_warpgroup ? 4 * threads : threads);
    std::vector<std::uint32_t> d(c.size());
    device.copy_out(d.data(), d_there.at(), d.size() * sizeof d[0]);
    return d;
  }

  std::string operands(std::size_t tile, std::size_t row, std::size_t column) const {
    std::vector<std::string> a, b;
    for (std::size_t k = 0; k < x_.k; ++k) {
      a.push_back(of_.a.hexadecimal((tile * rows + row) * x_.k + k));
      b.push_back(of_.b.hexadecimal((tile * x_.k + k) * columns + column));
    }
    return fmt::format("a {}, b {}, c {}", fmt::join(a, " "), fmt::join(b, " "),
                       of_.c.hexadecimal((tile * rows + row) * columns + column));
  }

 private:
  template <class Visit>
  void each_of_a(const Visit& visit) const {
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < x_.k; ++k)
          visit(t, Fragments{x_.bits}.a(i, k), of_.a[(t * rows + i) * x_.k + k]);
  }
  template <class Visit>
  void each_of_b(const Visit& visit) const {
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t k = 0; k < x_.k; ++k)
        for (std::size_t j = 0; j < columns; ++j)
          visit(t, Fragments{x_.bits}.b(k, j), of_.b[(t * x_.k + k) * columns + j]);
  }
  template <class Each>
  std::vector<std::uint32_t> words(std::size_t of_thread, const Each& each) const {
    std::vector<std::uint32_t> z(count_ * threads * of_thread);
    each([&](std::size_t tile, Place at, std::uint64_t code) {
      z[tile * threads * of_thread + at.word] |= static_cast<std::uint32_t>(code) << at.shift;
    });
    return z;
  }
  template <class Visit>
  void each_of_c(const Visit& visit) const {
    for (std::size_t t = 0; t < count_; ++t)
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          visit(t, Fragments::c(i, j, bits_of_c(x_)), of_.c[(t * rows + i) * columns + j]);
  }

  const Instruction& x_;
  Operands of_;
  std::size_t count_;
};

void compare(const Instruction& x, const Preset& preset, const Operands& operands, Tally& tally) {
  const int bits = bits_of_c(x);
  const Tiles of_gpu(x, operands);
  const std::vector<std::uint32_t> found = of_gpu.run();
  const Prepared reference = prepare({preset.unit, x.k}, "reference");
  for (std::size_t t = 0; t < of_gpu.count(); ++t) {
    CodeList wanted(preset.unit.out.fmt, rows * columns);
    MatrixProduct p = of_gpu.product(t);
    p.result = wanted.data();
    reference.product->run(p, 0, rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const Place at = Fragments::c(i, j, bits);
        const std::uint64_t got = found[t * threads * words_of_c(x) + at.word] >> at.shift &
                                  ((std::uint64_t{1} << bits) - 1);
        tally.check(got == wanted[i * columns + j], [&] {
          return fmt::format("{} by {}: {}: {:0{}x} of the tensor core, {} of the preset",
                             preset.name, x.is_warpgroup ? "wgmma" : "mma",
                             of_gpu.operands(t, i, j), got, bits / 4,
                             wanted.hexadecimal(i * columns + j));
        });
      }
  }
}

constexpr std::size_t tiles = 64;

std::int64_t least_exponent(const Format& f) { return f.emin() - f.frac_bits; }

std::uint64_t power_of_two(const Format& f, std::int64_t exponent, bool negative = false) {
  std::uint64_t code = 0;
  const std::string text[] = {fmt::format("{}1p{}", negative ? "-" : "", exponent)};
  from_literals(f, {}, text, &code, nullptr);
  return code;
}

// 2^first + second, from C = 0, with second products further and further down: a tie of binary16
// that they take up, or the least number of binary32 that they take to zero, as long as no
// alignment cuts them off. Nothing where no product is so small.
std::optional<Operands> floor_borders(const Instruction& x, const Unit& u) {
  const bool is_cut = u.out.fmt == binary32;
  const std::int64_t first = is_cut ? -149 : -25, half = first / 2;
  const std::int64_t factor = std::max<std::int64_t>(least_exponent(u.b.fmt), -80);
  if (half - 1 < least_exponent(u.a.fmt)) return {};
  Operands z{CodeList(u.a.fmt, tiles * rows * x.k), CodeList(u.b.fmt, tiles * x.k * columns),
             CodeList(u.c.fmt, tiles * rows * columns)};
  for (std::size_t i = 0; i < tiles * rows; ++i) {
    const std::int64_t second = first - 1 - static_cast<std::int64_t>(i % 24);
    z.a.set(i * x.k, power_of_two(u.a.fmt, first - half));
    if (second - factor < least_exponent(u.a.fmt)) continue;
    z.a.set(i * x.k + 1, power_of_two(u.a.fmt, second - factor, is_cut));
  }
  for (std::size_t t = 0; t < tiles; ++t)
    for (std::size_t j = 0; j < columns; ++j) {
      z.b.set((t * x.k) * columns + j, power_of_two(u.b.fmt, half));
      z.b.set((t * x.k + 1) * columns + j, power_of_two(u.b.fmt, factor));
    }
  return z;
}

// Every manner of operands, alone and among others.
std::vector<Operands> asked_of(const Instruction& x, const Unit& u, ProductRandom& random) {
  const auto any = [&] { return static_cast<Manner>(random() % manners); };
  std::vector<Operands> all;
  for (std::size_t i = 0; i < manners; ++i) {
    const auto manner = static_cast<Manner>(i);
    all.push_back(operands(x, u, tiles, {manner, manner, manner}, random));
    all.push_back(operands(x, u, tiles, {manner, any(), any()}, random));
  }
  all.push_back(negative_zeros(x, u, tiles));
  if (auto far_down = floor_borders(x, u)) all.push_back(*std::move(far_down));
  return all;
}

// f(instruction, its preset, what it is asked), of those that GPUs of that capability have.
template <class F>
void each_instruction(int capability, const F& f) {
  ProductRandom random(7);
  for (const Instruction& x : instructions)
    if (const Preset* preset = has(capability, x) ? preset_of(x, capability) : nullptr)
      f(x, *preset, asked_of(x, preset->unit, random));
}

// In how many outputs two units differ.
std::uint64_t differences(const Instruction& x, const Unit& u, const Unit& v,
                          const Operands& operands) {
  const Tiles some(x, operands);
  const Prepared first = prepare_here({u, x.k}), second = prepare_here({v, x.k});
  std::uint64_t found = 0;
  for (std::size_t t = 0; t < some.count(); ++t) {
    CodeList one(u.out.fmt, rows * columns), other(u.out.fmt, rows * columns);
    MatrixProduct p = some.product(t);
    p.result = one.data();
    first.product->run(p, 0, rows);
    p.result = other.data();
    second.product->run(p, 0, rows);
    for (std::size_t i = 0; i < rows * columns; ++i) found += one[i] != other[i];
  }
  return found;
}

}  // namespace

TEST_CASE("fragments hold every element of a tile once") {
  for (const Instruction& x : instructions) {
    const Fragments fragments{x.bits};
    std::set<std::pair<std::size_t, int>> a, b, c;
    for (std::size_t k = 0; k < x.k; ++k) {
      for (std::size_t i = 0; i < rows; ++i)
        a.insert({fragments.a(i, k).word, fragments.a(i, k).shift});
      for (std::size_t j = 0; j < columns; ++j)
        b.insert({fragments.b(k, j).word, fragments.b(k, j).shift});
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const Place at = Fragments::c(i, j, bits_of_c(x));
        c.insert({at.word, at.shift});
      }
    CHECK(a.size() == rows * x.k);
    CHECK(a.rbegin()->first == threads * 4 - 1);
    CHECK(b.size() == columns * x.k);
    CHECK(b.rbegin()->first == threads * 2 - 1);
    CHECK(c.size() == rows * columns);
    CHECK(c.rbegin()->first == threads * words_of_c(x) - 1);
  }
}

TEST_CASE("every tensor core has its preset") {
  for (const Instruction& x : instructions)
    for (const int capability : {80, 86, 89, 90, 100, 120})
      if (has(capability, x)) {
        const Preset* preset = preset_of(x, capability);
        CAPTURE(capability);
        CAPTURE(x.type);
        if (preset)
          CHECK(preset->unit.out.fmt.width() == bits_of_c(x));
        else
          CHECK(is_undescribed(x, capability));
      }
}

TEST_CASE("a GPU's tensor cores give what their presets do") {
  cuda::offer_engine();
  if (!cuda::gpus().why_none.empty())
    return fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
  each_instruction(compute_capability(), [](const Instruction& x, const Preset& preset,
                                            const std::vector<Operands>& asked) {
    Tally tally;
    for (const Operands& some : asked) compare(x, preset, some, tally);
    tally.expect(asked.size() * tiles * rows * columns);
  });
}

// Where the sums of least products, or the moved floor's digits, leave anything to be cut.
bool shows_floor(const Unit& u, std::int64_t floor) {
  const std::int64_t least = least_exponent(u.a.fmt) + least_exponent(u.b.fmt);
  return floor > u.a.fmt.emin() + u.b.fmt.emin() && floor - u.group_sum.align.frac_bits > least;
}

// No recorded output shows a floor, and random operands do not either.
TEST_CASE("tensor cores are asked sums that a floor one binade off would change") {
  std::set<std::string_view> shown;
  for (const int capability : {80, 89, 90, 100})
    each_instruction(capability, [&](const Instruction& x, const Preset& preset,
                                     const std::vector<Operands>& asked) {
      Unit moved = preset.unit;
      if (!shows_floor(moved, ++*moved.group_sum.align.e_floor)) return;
      CAPTURE(preset.name);
      CHECK(differences(x, preset.unit, moved, asked.back()) > 0);
      shown.insert(preset.name);
    });
  CHECK(shown == std::set<std::string_view>{
                     "ada.bf16.f32", "ada.f16.f16", "ada.tf32.f32", "ampere.bf16.f32",
                     "ampere.f16.f16", "ampere.tf32.f32", "blackwell.bf16.f32", "blackwell.f16.f16",
                     "blackwell.tf32.f32", "hopper.bf16.f32", "hopper.f16.f16", "hopper.tf32.f32"});
}

TEST_CASE("tensor cores are asked whether wgmma's binary16 sums have the floor of mma's") {
  const Preset* preset = find_preset("hopper.wgmma.f16.f16");
  Unit other = preset->unit;
  other.group_sum.align.e_floor = find_preset("hopper.f16.f16")->unit.group_sum.align.e_floor;
  std::size_t found = 0;
  each_instruction(
      90, [&](const Instruction& x, const Preset& own, const std::vector<Operands>& asked) {
        if (&own != preset) return;
        ++found;
        CHECK(differences(x, preset->unit, other, asked.back()) > 0);
      });
  CHECK(found == 1);
}
