#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <random>
#include <vector>

#include "sim/engine/code_copy.hpp"
#include "targets.hpp"
#include "tests/lib/tally.hpp"

using namespace widthwise;
using namespace tests;

namespace {

// Each code where it belongs, on every instruction set; codes of a matrix lie `down` and `right`
// apart.
void check(int bytes, std::size_t rows, std::size_t columns, std::ptrdiff_t down,
           std::ptrdiff_t right, Tally& tally, std::uint64_t& expected) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t last =
      (rows - 1) * static_cast<std::size_t>(down) + (columns - 1) * static_cast<std::size_t>(right);
  std::vector<std::byte> codes((last + 1) * size);
  std::mt19937 draw(static_cast<unsigned>(rows * columns));
  for (std::byte& b : codes) b = static_cast<std::byte>(draw());
  on_every_target([&] {
    std::vector<std::byte> held;
    const CodeMatrix copied = copy_by_rows({codes.data(), down, right}, bytes, rows, columns, held);
    bool good = copied.column == 1;
    const auto* to = static_cast<const std::byte*>(copied.data);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t at =
            i * static_cast<std::size_t>(down) + j * static_cast<std::size_t>(right);
        const std::size_t there = i * static_cast<std::size_t>(copied.row) + j;
        good = good && std::memcmp(to + there * size, &codes[at * size], size) == 0;
      }
    tally.check(good, [&] {
      return fmt::format("{} x {} codes of {} bytes, {} and {} apart", rows, columns, bytes, down,
                         right);
    });
    ++expected;
  });
}

}  // namespace

TEST_CASE("codes brought to lie row by row are the same codes") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const int bytes : {1, 2, 4, 8, 16, 24})
    for (std::size_t rows = 1; rows <= 36; ++rows)
      for (const std::size_t columns : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 64, 100}) {
        const auto n = static_cast<std::ptrdiff_t>(rows), m = static_cast<std::ptrdiff_t>(columns);
        check(bytes, rows, columns, 1, n, tally, expected);          // column by column
        check(bytes, rows, columns, 1, n + 3, tally, expected);      // with gaps
        check(bytes, rows, columns, 2, 2 * n + 1, tally, expected);  // every other row
        check(bytes, rows, columns, m, 1, tally, expected);          // as they are
      }
  tally.expect(expected);
}
