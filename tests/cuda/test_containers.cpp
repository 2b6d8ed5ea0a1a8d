#include <limits>
#include <stdexcept>

#include "container_rivals.hpp"
#include "host_kernels.hpp"

namespace test_containers {

// Blocks and affine integers by the bodies of the kernels, on the CPU.
using namespace tests;

TEST_CASE("blocks there are those of this machine, and so is what they stand for") {
  const std::size_t before = host_device().taken;
  compare_blocks(host_device());
  CHECK(host_device().taken == before);
}

TEST_CASE("affine codes there are those of this machine, and so is what they stand for") {
  const std::size_t before = host_device().taken;
  compare_affine(host_device());
  CHECK(host_device().taken == before);
}

TEST_CASE("ranges of groups there are their least and largest elements") {
  check_ranges(host_device());
}

TEST_CASE("codes there are packed as this machine packs them, and taken apart") {
  const std::size_t before = host_device().taken;
  compare_packing(host_device());
  CHECK(host_device().taken == before);
}

TEST_CASE("no number comes to this machine when blocks are made there") {
  const BlockGrid g{1, 64, 1024, 1, 32};
  const BlockFormat f = parse_block_format("mxfp8_e4m3");
  const There<float> x(host_device(), numbers<float>(count_of(g), Ends::none));
  const There<std::uint8_t> elements(host_device(), count_of(g)), scales(host_device(), g.scales());
  const std::size_t before = host_device().copied;
  cuda::quantise_blocks(host_device(), f, g, {}, x.at(), elements.at(), scales.at());
  CHECK(host_device().copied - before <= 8 * g.scales() + 256);  // zeros, laid down there
}

TEST_CASE("the first number that may not be is told, and what a device has not is refused") {
  const BlockGrid g{1, 4, 64, 1, 16};
  std::vector<float> x(count_of(g), 1.0F);
  x[200] = x[77] = std::numeric_limits<float>::infinity();
  const BlockFormat nvfp4 = parse_block_format("nvfp4");
  CHECK(blocks_there(host_device(), nvfp4, g, {}, x).tally.refused == 77);
  const auto refused = [&](const char* text, const char* rounding, const char* words) {
    const BlockFormat f = parse_block_format(text);
    CHECK_THROWS_WITH_AS(blocks_there(host_device(), f, g, {parse_rounding(rounding)}, x),
                         doctest::Contains(words), std::invalid_argument);
  };
  refused("block(e5m52,16,e8m0fnu)", "sr40", "x.to_device('cpu') brings the numbers here");
  CHECK_THROWS_AS(blocks_there(host_device(), parse_block_format("block(e4m3fn,16,binary32)"), g,
                               {}, std::vector<double>(count_of(g), 1.0)),
                  std::logic_error);
}

}  // namespace test_containers
