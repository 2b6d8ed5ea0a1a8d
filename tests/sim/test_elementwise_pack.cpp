#include <doctest/doctest.h>

#include <bit>
#include <cstdlib>
#include <limits>
#include <vector>

#include "targets.hpp"
#include "tests/lib/trial.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

namespace test_elementwise_pack {

// Floats to codes of 8 and 16 bits, blocks of vectors at a time, against what comes with flags: a
// loop of its own, which test_elementwise.cpp compares with the definition.
namespace {

using namespace tests;
using Floats = std::vector<std::uint32_t>;

constexpr RoundingMode quick_modes[] = {RoundingMode::rne, RoundingMode::rtz, RoundingMode::rdn,
                                        RoundingMode::rup, RoundingMode::rna};

std::vector<std::byte> codes(const Format& to, RoundingMode mode, const Floats& x, bool flags) {
  std::vector<std::byte> result(x.size() * static_cast<std::size_t>(item_bytes(to.width())));
  std::vector<std::uint8_t> raised(x.size());
  const CodeArray from{binary32, x.data()};
  elementwise(Operation::convert, to, {mode}, {&from, 1}, x.size(), result.data(),
              flags ? raised.data() : nullptr);
  return result;
}

void check_alike(const char* name, const Floats& x) {
  const Format to = parse_format(name);
  for (RoundingMode mode : quick_modes) {
    CAPTURE(name);
    CAPTURE(to_string(Rounding{mode}));
    CAPTURE(x[0]);
    REQUIRE(codes(to, mode, x, false) == codes(to, mode, x, true));
  }
}

}  // namespace

// With --long every float, else some blocks of them, each time others.
TEST_CASE("codes made quickly are those that come with flags, whatever the float" *
          doctest::test_suite("unsanitized")) {
  constexpr std::uint32_t n = 1 << 20, blocks = 1 << 12;
  const bool all = std::getenv("WIDTHWISE_LONG");
  Random random(std::random_device{}());
  Floats x(n);
  for (std::uint32_t i = 0; i < (all ? blocks : 6); ++i) {
    const auto block = all ? i : static_cast<std::uint32_t>(random() % blocks);
    for (std::uint32_t j = 0; j < n; ++j) x[j] = block * n + j;
    for (const char* name : {"e4m3fn", "e4m3fnuz", "e5m2", "e3m2fn", "e5m10", "bfloat16"})
      check_alike(name, x);
  }
}

TEST_CASE("packing keeps the order of elements, and does blocks with specials again") {
  using Limits = std::numeric_limits<float>;
  const std::uint32_t specials[] = {0,
                                    std::bit_cast<std::uint32_t>(Limits::infinity()),
                                    std::bit_cast<std::uint32_t>(Limits::max()),
                                    std::bit_cast<std::uint32_t>(Limits::denorm_min()),
                                    0x407fffff,   // rounds to 2^15 units of e1m14: 16 bits, signed
                                    0x7f80ffff,   // signals
                                    0x7fc08000};  // as an integer, its lower half is negative
  Random random(11);
  on_every_target([&] {
    for (const char* name : {"e4m3fn", "e4m3fnuz", "e5m2", "e2m1fn", "e5m2;overflow=max", "e5m10",
                             "bfloat16", "e6m5", "e8m3", "e1m14", "e5m10;overflow=max"})
      for (std::uint32_t special : specials)
        for (std::size_t where = 0; where < 193; where += 1 + random() % 8) {
          Floats x(193);  // three blocks of the widest, and one more
          for (std::size_t i = 0; i < x.size(); ++i) {
            const auto plain = std::bit_cast<std::uint32_t>(static_cast<float>(i + 1) / 64);
            x[i] = (i == where ? special : plain) | static_cast<std::uint32_t>(random() % 2) << 31;
          }
          check_alike(name, x);
        }
  });
}

}  // namespace test_elementwise_pack
