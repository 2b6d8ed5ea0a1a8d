#include <doctest/doctest.h>

#include <random>

#include "tests/lib/tally.hpp"
#include "widthwise/sim/convolution.hpp"
#include "widthwise/sim/unit_text.hpp"

// Convolutions against the reference on windows gathered one by one. Shapes by the hundred:
// tests/python/test_convolution.py.
namespace {

using namespace widthwise;
using tests::Tally;
using Bytes = std::vector<std::uint8_t>;

struct Trial {
  Convolution convolution;
  Bytes x, w, c;

  Trial(const Convolution& what, std::mt19937_64& random) : convolution(what) {
    x = codes(what.images * what.channels * what.height.input * what.width.input, random);
    w = codes(what.filters * what.length(), random);
    c = codes(what.filters, random);
  }

  Bytes run(const Unit& u, Bytes& flags) const {
    const Convolution& of = convolution;
    Bytes result(of.images * of.filters * of.pixels());
    flags.resize(result.size());
    ConvolutionOperands operands;
    const auto row = static_cast<std::ptrdiff_t>(of.width.input),
               plane = row * static_cast<std::ptrdiff_t>(of.height.input),
               image = plane * static_cast<std::ptrdiff_t>(of.channels);
    operands.input = {x.data(), image, plane, row, 1};
    operands.weights = {w.data(), static_cast<std::ptrdiff_t>(of.length()), 1};
    operands.c = {c.data(), 0, 1, 0};
    operands.result = result.data();
    operands.flags = flags.data();
    operands.seed = 3;
    const ConvolutionEngine engine(u, of, true, {}, "reference");
    pieces = engine.pieces();
    for (std::size_t i = 0; i < pieces; ++i) engine.run(operands, i);
    return result;
  }

  // Output `at` of filter f of an image, at (y, z), as one dot product.
  std::uint8_t alone(const ReferenceUnit& unit, std::size_t image, std::size_t f, std::size_t y,
                     std::size_t z, std::uint8_t& flags) const {
    const Convolution& of = convolution;
    Bytes window;
    for (std::size_t t = 0; t < of.group_channels(); ++t)
      for (std::size_t i = 0; i < of.height.kernel; ++i)
        for (std::size_t j = 0; j < of.width.kernel; ++j)
          window.push_back(
              element(image, f / of.group_filters() * of.group_channels() + t,
                      y * of.height.stride + i * of.height.dilation - of.height.padding,
                      z * of.width.stride + j * of.width.dilation - of.width.padding));
    std::uint8_t code = 0;
    MatrixProduct p;
    p.m = p.n = 1, p.k = of.length();
    p.a = {window.data(), 0, 1};
    p.b = {&w[f * of.length()], 1, 0};
    p.c = {&c[f], 0, 0};
    p.result = &code, p.flags = &flags;
    p.seed = 3;
    p.first_index = ((image * of.filters + f) * of.height.output() + y) * of.width.output() + z;
    unit.run(p, 0, 1);
    return code;
  }

  mutable std::size_t pieces = 0;

 private:
  static Bytes codes(std::size_t n, std::mt19937_64& random) {
    Bytes all(n);
    for (std::uint8_t& code : all) code = static_cast<std::uint8_t>(random());
    return all;
  }
  // Places before the first wrap round to such that are far past the last.
  std::uint8_t element(std::size_t image, std::size_t channel, std::size_t y, std::size_t z) const {
    const Convolution& of = convolution;
    if (y >= of.height.input || z >= of.width.input) return 0;
    return x[((image * of.channels + channel) * of.height.input + y) * of.width.input + z];
  }
};

void check_each(const std::string& unit, const Trial& trial) {
  const Unit u = parse_unit(unit);
  const Convolution& of = trial.convolution;
  Bytes flags;
  const Bytes result = trial.run(u, flags);
  const auto engine = make_reference(u, of.length());
  Tally tally;
  std::size_t at = 0;
  for (std::size_t image = 0; image < of.images; ++image)
    for (std::size_t f = 0; f < of.filters; ++f)
      for (std::size_t y = 0; y < of.height.output(); ++y)
        for (std::size_t z = 0; z < of.width.output(); ++z, ++at) {
          std::uint8_t raised = 0;
          const std::uint8_t want = trial.alone(*engine, image, f, y, z, raised);
          tally.check(result[at] == want && flags[at] == raised, [&] {
            return unit + ", output " + std::to_string(at) + ": got " + std::to_string(result[at]) +
                   ", want " + std::to_string(want);
          });
        }
  tally.expect(of.images * of.filters * of.pixels());
}

std::string fault_of(Convolution c) {
  try {
    check(c);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a convolution is its dot products, whatever its steps, groups and random bits") {
  std::mt19937_64 random(1);
  for (const char* unit : {"mac(e5m2)", "fma(e4m3fn, b=e5m2, c=e5m2, sum=e5m2:sr9)"})
    for (const std::size_t step : {1, 2, 3})
      for (const std::size_t padding : {0, 2}) {
        const ConvolutionAxis height{7, 3, step, padding, 1}, width{9, 2, 1, padding, step};
        check_each(unit, Trial({2, 4, 6, 2, height, width}, random));
      }
}

TEST_CASE("a convolution in several panels is the same, random bits included") {
  std::mt19937_64 random(2);
  const Trial trial({2, 1, 600, 1, {12, 3}, {12, 3}}, random);
  check_each("mac(e5m2)", trial);
  CHECK(trial.pieces == 2 * 2);  // of 64 pixels or less, 600 * 9 products each
  check_each("mac(e5m2, sum=e5m2:sr7)", trial);
}

TEST_CASE("check: sizes of a convolution that do not fit, or whose product overflows, are named") {
  const ConvolutionAxis one{};
  CHECK(fault_of({1, 4, 6, 2, {5, 3}, {5, 3}}) == "accepted");
  CHECK(fault_of({1, 4, 6, 4, one, one}) ==
        "groups = 4: it has to divide x's 4 channels and w's 6 filters");
  CHECK(fault_of({1, 1, 1, 1, {5, 0}, one}) ==
        "w has a height of 0; a kernel has one element at least");
  CHECK(fault_of({1, 1, 1, 1, one, {5, 3, 1, 0, std::size_t{1} << 31}}) ==
        "dilation = 2147483648 along the width: it may be 1 to 2^31 - 1");
  CHECK(fault_of({1, 1, 1, 1, one, {5, 7, 1, 1}}) == "accepted");
  CHECK(fault_of({1, 1, 1, 1, one, {5, 8, 1, 1}}) ==
        "w has a width of 8, which reaches over 8 with dilation = 1; x has a width of 5, 7 with "
        "padding = 1: pad more, or take a smaller kernel or dilation");
  CHECK(fault_of({1, 1, 1, 1, {5, std::size_t{1} << 62, 1, 0, 1 << 30}, one}) ==
        "w has a height of 4611686018427387904, which reaches past 2^60 with dilation = "
        "1073741824; x has a height of 5, 5 with padding = 0: pad more, or take a smaller kernel "
        "or dilation");
  const std::size_t huge = std::size_t{1} << 32;
  CHECK(fault_of({huge, 1, huge, 1, one, one}) ==
        "the result would have 4294967296 x 4294967296 x 1 x 1 codes; 2^60 are the most");
  CHECK(fault_of({1, huge, 1, 1, {huge, huge}, one}) ==
        "w has 4294967296 x 4294967296 x 1 weights a filter; 2^60 are the most");
}
