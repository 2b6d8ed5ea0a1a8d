#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "areas.hpp"
#include "tools.hpp"

// hdl_areas PAGE [WORD...]: measures the rows in whose names all words stand, or all there are, and
// writes each into the page's table as soon as it is known.
int main(int argc, char** argv) try {
  if (argc < 2) {
    fmt::print(stderr, "usage: hdl_areas PAGE [WORD...]\n");
    return 2;
  }
  const std::vector<std::string> words(argv + 2, argv + argc);
  for (const std::string& row : tests::area_rows()) {
    const auto stands = [&](const std::string& word) { return row.find(word) != row.npos; };
    if (!std::ranges::all_of(words, stands)) continue;
    const tests::Area area = tests::measured(tests::row_files(row), "dut");
    fmt::print("{}: {} LUT4, depth {}, {} LUT6\n", row, area.lut4, area.depth, area.lut6);
    std::fflush(stdout);
    const std::string page = tests::read(argv[1]);
    auto areas = tests::areas_of(page);
    areas[row] = area;
    tests::write(argv[1], tests::with_areas(page, areas));
  }
} catch (const std::exception& e) {
  fmt::print(stderr, "hdl_areas: {}\n", e.what());
  return 1;
}
