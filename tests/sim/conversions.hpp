#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

// A conversion on every instruction set, which has to go this way, against the definition: that is
// the way of whatever has flags. Prepared as for so many elements; 0: for those that there are.
namespace tests {

inline void compare_conversion(const widthwise::CodeArray& x, std::size_t n,
                               const widthwise::Format& to, const widthwise::Env& env,
                               std::string_view way, Tally& tally, std::uint64_t& expected,
                               std::size_t prepared_for = 0) {
  using namespace widthwise;
  const int from_item = item_bytes(x.format.width()), item = item_bytes(to.width());
  const auto code = [](const void* codes, std::size_t i, int bytes) {
    return load_code<std::uint64_t>(
        static_cast<const std::byte*>(codes) + i * static_cast<std::size_t>(bytes), bytes);
  };
  std::vector<std::byte> want(n * static_cast<std::size_t>(item)), got(want.size());
  std::vector<std::uint8_t> flags(n);
  elementwise(Operation::convert, to, env, std::vector<CodeArray>{x}, n, want.data(), flags.data());
  on_every_target([&] {
    const Elementwise lanes(Operation::convert, to, env, std::vector<Format>{x.format}, false,
                            prepared_for ? prepared_for : n);
    REQUIRE(std::string_view(lanes.way()) == way);
    lanes.run({&x.data, 1}, n, got.data(), nullptr);
    for (std::size_t i = 0; i < n; ++i) {
      const auto w = code(want.data(), i, item), g = code(got.data(), i, item);
      tally.check(w == g, [&] {
        return fmt::format("{} of {:#x} of {} by {}: {:#x} for {:#x}", to_string(to),
                           code(x.data, i, from_item), to_string(x.format), to_string(env.rounding),
                           g, w);
      });
    }
    expected += n;
  });
}

}  // namespace tests
