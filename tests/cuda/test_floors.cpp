#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "cuda/gpu_device.hpp"
#include "gpu_text.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/cuda/gpu.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/values.hpp"

// Where tensor cores cut sums in binary16 that lie far down: the exponent below which no alignment
// goes. No recorded output depends on it, and of 2026-08 there is a model that has it one binade
// higher than the presets; so a card is asked.
namespace {

using namespace widthwise;
using namespace tests;

constexpr std::size_t side = 16;  // of the square tiles that every GPU with tensor cores multiplies

// d = a b from C = 0, by a warp.
constexpr const char* ptx = R"ptx(
.version 6.3
.target sm_70
.address_size 64
.visible .entry tensor_core(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
  .reg .b32 %a<8>, %b<8>, %c<4>;
  .reg .b64 %p;
  ld.param.u64 %p, [a];
  wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p], 16;
  ld.param.u64 %p, [b];
  wmma.load.b.sync.aligned.row.m16n16k16.f16 {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, [%p], 16;
  ld.param.u64 %p, [c];
  wmma.load.c.sync.aligned.row.m16n16k16.f16 {%c0, %c1, %c2, %c3}, [%p], 16;
  wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {%c0, %c1, %c2, %c3},
    {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7},
    {%c0, %c1, %c2, %c3};
  ld.param.u64 %p, [d];
  wmma.store.d.sync.aligned.row.m16n16k16.f16 [%p], {%c0, %c1, %c2, %c3}, 16;
  ret;
}
)ptx";

std::uint64_t power_of_two(int exponent) {
  std::uint16_t code = 0;
  const std::string text[] = {fmt::format("1p{}", exponent)};
  from_literals(binary16, {}, text, &code, nullptr);
  return code;
}

// Row i makes 2^-25 + 2^second(i), in all columns: half the least number, which is a tie and goes
// to zero, and what takes it up to 1 where no alignment has cut it off.
constexpr int second(std::size_t row) { return -33 - static_cast<int>(row); }
constexpr int last_second = second(side - 1);

struct Tile {
  CodeList a{binary16, side*side}, b{binary16, side*side}, c{binary16, side*side};

  Tile() {
    for (std::size_t i = 0; i < side; ++i) {
      a.set(i * side, power_of_two(-12));
      a.set(i * side + 1, power_of_two(second(i) + 24));
      b.set(i, power_of_two(-13));
      b.set(side + i, power_of_two(-24));
    }
  }
};

CodeList by_reference(const Unit& u) {
  const Tile tile;
  CodeList d(binary16, side * side);
  MatrixProduct p;
  p.m = p.n = p.k = side;
  p.a = tile.a.rows(side), p.b = tile.b.rows(side), p.c = tile.c.rows(side);
  p.result = d.data();
  prepare({u, side}, "reference").product->run(p, 0, side);
  return d;
}

CodeList by_gpu() {
  Tile tile;
  cuda::Device& device = cuda::gpu(0);
  const auto there = [&](CodeList& codes) {
    return cuda::copied_in(
        device, std::span(static_cast<const std::uint16_t*>(codes.data()), codes.size()));
  };
  const cuda::Buffer a = there(tile.a), b = there(tile.b), c = there(tile.c), d = there(tile.c);
  launch_text(ptx, "wmma", std::array{a.at(), b.at(), c.at(), d.at()}, 1, 32);
  CodeList result(binary16, side * side);
  device.copy_out(result.data(), d.at(), side * side * sizeof(std::uint16_t));
  return result;
}

// The floor that such results are of, by a sum that keeps `frac_bits` below the largest exponent:
// none where they are no floor's, as where 2^-40 counts and 2^-39 does not.
std::optional<std::int64_t> floor_of(const CodeList& d, std::int64_t frac_bits) {
  std::size_t kept = 0;
  while (kept < side && d[kept * side] == 1) ++kept;
  for (std::size_t i = 0; i < side * side; ++i)
    if (d[i] != (i < kept * side ? 1u : 0u)) return {};
  if (kept == 0) return {};
  return second(kept - 1) + frac_bits;
}

std::string first_column(const CodeList& d) {
  std::string text;
  for (std::size_t i = 0; i < side; ++i)
    text += fmt::format("{}2^{}: {}", i ? ", " : "", second(i), d.hexadecimal(i * side));
  return text;
}

struct Chip {
  const char* preset;
  int capability, border;  // 10 times that from which on; the lowest second product that counts
};
constexpr Chip chips[] = {{"volta.f16.f16", 70, -43},  {"turing.f16.f16", 75, -45},
                          {"ampere.f16.f16", 80, -45}, {"ada.f16.f16", 89, -45},
                          {"hopper.f16.f16", 90, -47}, {"blackwell.f16.f16", 100, -47}};

}  // namespace

TEST_CASE("floors: what a card gives tells its floor, whichever it is") {
  std::uint64_t told = 0;
  for (const Chip& chip : chips) {
    CAPTURE(chip.preset);
    Unit u = find_preset(chip.preset)->unit;
    const std::int64_t frac_bits = u.group_sum.align.frac_bits;
    CHECK(floor_of(by_reference(u), frac_bits) == u.group_sum.align.e_floor);
    CHECK(*u.group_sum.align.e_floor == chip.border + frac_bits);
    for (std::int64_t floor = last_second + frac_bits; floor <= -14; ++floor, ++told) {
      u.group_sum.align.e_floor = floor;
      CHECK(floor_of(by_reference(u), frac_bits) == floor);
    }
  }
  CHECK(told > 50);
  CodeList none(binary16, side * side);
  CHECK_FALSE(floor_of(none, 25));
  none.set(5 * side, 1);
  CHECK_FALSE(floor_of(none, 25));
}

TEST_CASE("floors: the sums that presets and the model of 2026-08 tell apart") {
  for (const Chip& chip : chips) {
    CAPTURE(chip.preset);
    Unit u = find_preset(chip.preset)->unit;
    const std::size_t row = static_cast<std::size_t>(second(0) - chip.border);
    CHECK(by_reference(u)[row * side] == 0x0001);
    ++*u.group_sum.align.e_floor;
    CHECK(by_reference(u)[row * side] == 0x0000);
  }
}

TEST_CASE("floors: a card's tensor cores have the floor of its preset") {
  cuda::offer_engine();
  if (!cuda::gpus().why_none.empty())
    return fmt::print("SKIPPED: no GPU: {}\n", cuda::gpus().why_none);
  const int capability = compute_capability();
  const auto chip = std::ranges::find_if(std::views::reverse(chips),
                                         [&](const Chip& c) { return capability >= c.capability; });
  if (chip == std::ranges::rend(chips))
    return fmt::print("SKIPPED: GPU 0, of compute capability {}.{}, has no tensor cores\n",
                      capability / 10, capability % 10);
  const Unit& u = find_preset(chip->preset)->unit;
  const CodeList d = by_gpu();
  const auto floor = floor_of(d, u.group_sum.align.frac_bits);
  const std::string found = floor ? fmt::format("2^{}", *floor) : "at no exponent";
  const std::string report = fmt::format(
      "{}: the floor of this GPU (compute capability {}.{}) is {}, the preset's 2^{}; from C = 0, "
      "2^-25 + 2^e is {}",
      chip->preset, capability / 10, capability % 10, found, *u.group_sum.align.e_floor,
      first_column(d));
  fmt::print("{}\n", report);
  CHECK_MESSAGE(floor == u.group_sum.align.e_floor, report);
}
