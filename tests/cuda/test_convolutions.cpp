#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cuda/convolution.hpp"
#include "host_kernels.hpp"
#include "tests/sim/products.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_convolutions {

// Convolutions of images that lie on the device, which is this CPU, against the reference on this
// CPU's windows.
namespace {

using namespace widthwise;
using namespace tests;

struct Codes {
  CodeList x, w, c, result;
  std::vector<std::uint8_t> flags;

  Codes(const Unit& u, const Convolution& of, Manner manner, ProductRandom& random)
      : x(codes(u.a.fmt, of.images * of.channels * of.height.input * of.width.input, manner,
                random)),
        w(codes(u.b.fmt, of.filters * of.length(), manner, random)),
        c(codes(u.c.fmt, of.filters * of.pixels(), manner, random)),
        result(result_round(u).fmt, of.images * of.filters * of.pixels()),
        flags(of.images * of.filters * of.pixels()) {}

  // Images channels last, as they often lie.
  ConvolutionOperands operands(const Convolution& of, bool with_c, bool with_flags) {
    const auto channels = static_cast<std::ptrdiff_t>(of.channels),
               row = channels * static_cast<std::ptrdiff_t>(of.width.input),
               image = row * static_cast<std::ptrdiff_t>(of.height.input),
               pixels = static_cast<std::ptrdiff_t>(of.pixels());
    ConvolutionOperands z;
    z.input = {x.data(), image, 1, row, channels};
    z.weights = {w.data(), static_cast<std::ptrdiff_t>(of.length()), 1};
    if (with_c) z.c = {c.data(), 0, pixels, 1};
    z.result = result.data();
    z.flags = with_flags ? flags.data() : nullptr;
    z.seed = 3;
    return z;
  }
};

std::size_t check(const std::string& unit, const Convolution& of, bool flags, Manner manner,
                  Tally& tally) {
  ProductRandom random(of.pixels());
  const Unit u = parse_unit(unit);
  Codes got(u, of, manner, random), want = got;
  const cuda::DeviceConvolution there(host_device(), u, of, flags);
  const ConvolutionEngine here(u, of, flags, {}, "reference");
  const bool with_c = manner != Manner::bits;
  there.run(got.operands(of, with_c, flags));
  const ConvolutionOperands operands = want.operands(of, with_c, flags);
  for (std::size_t i = 0; i < here.pieces(); ++i) here.run(operands, i);
  for (std::size_t i = 0; i < got.flags.size(); ++i)
    tally.check(got.result.same(want.result, i) && got.flags[i] == want.flags[i], [&] {
      return fmt::format("{}, output {}: got {} flags {}, want {} flags {}", unit, i,
                         got.result.hexadecimal(i), got.flags[i], want.result.hexadecimal(i),
                         want.flags[i]);
    });
  return got.flags.size();
}

// One of each way, and more of those that order or fill up their lanes.
constexpr const char* units[] = {"mac(e5m9)",
                                 "mac(e5m10)",
                                 "mac(e8m15)",
                                 "mac(e5m10, sum=e5m10:sr9)",
                                 "cdna2.f16",
                                 "cdna1.bf16",
                                 "hopper.e4m3.f32",
                                 "hopper.f16.f32",
                                 "cdna3.fp8",
                                 "lowered.e4m3.f32",
                                 "mac(e5m10, sum=e5m10:odd)",
                                 "kulisch(e5m10)",
                                 "mac(e15m112)"};

}  // namespace

TEST_CASE("a convolution on a device is its dot products, whatever its steps and groups") {
  Tally tally;
  std::size_t expected = 0;
  for (const char* unit : units)
    for (const std::size_t step : {1, 3})
      for (const std::size_t padding : {0, 2}) {
        const ConvolutionAxis height{7, 3, step, padding, 1}, width{9, 2, 4 - step, padding, step};
        const Convolution of{2, 4, 6, 2, height, width};
        for (const Manner manner : {Manner::about_one, Manner::bits, Manner::few})
          for (const bool flags : {false, true}) expected += check(unit, of, flags, manner, tally);
      }
  tally.expect(expected);
  CHECK(host_device().taken == 0);
}

TEST_CASE("a convolution of more than a tile's outputs and elements is its dot products") {
  Tally tally;
  const Convolution of{1, 9, 70, 1, {14, 3, 1, 1}, {15, 3, 1, 1}};
  std::size_t expected = 0;
  for (const char* unit :
       {"mac(e5m9)", "hopper.e4m3.f32", "mac(e5m10, sum=e5m10:odd)", "kulisch(e5m10)"})
    expected += check(unit, of, false, Manner::about_one, tally);
  tally.expect(expected);
}

TEST_CASE("a convolution goes in parts where the device's memory is short") {
  Tally tally;
  host_device().memory = host_device().most_taken = 1 << 15;
  const Convolution of{2, 2, 20, 1, {12, 3, 1, 1}, {13, 3, 1, 1}};
  const std::size_t before = host_device().launches;
  std::size_t expected = 0;
  for (const char* unit : {"mac(e5m10, sum=e5m10:sr9)", "hopper.e4m3.f32"})
    expected += check(unit, of, false, Manner::about_one, tally);
  CHECK(host_device().launches > before + 2 * 2 * 6);
  CHECK(host_device().most_taken <= host_device().memory);
  host_device().memory = std::size_t{1} << 28;
  tally.expect(expected);
}

TEST_CASE("windows are not copied: a convolution takes memory for its image and not for more") {
  Tally tally;
  host_device().most_taken = 0;
  const Convolution of{1, 8, 1, 1, {40, 7}, {40, 7}};
  tally.expect(0 + check("mac(e5m9)", of, false, Manner::about_one, tally));
  CHECK(host_device().most_taken < of.length() * of.pixels() * sizeof(float) / 2);
}

TEST_CASE("convolutions that a device does not compute are refused in words") {
  const Convolution of{1, 1, 1, 1, {5, 3, 1, 1}, {5, 3}};
  const auto make = [&](const char* unit) {
    cuda::DeviceConvolution(host_device(), parse_unit(unit), of, false);
  };
  CHECK_THROWS_AS(make("mac(e15m236)"), std::invalid_argument);
  CHECK_THROWS_AS(make("blackwell.mxfp8"), std::invalid_argument);
  CHECK_THROWS_AS(make("mac(e5m2, a=e8m0fnu)"), std::invalid_argument);
}

}  // namespace test_convolutions
