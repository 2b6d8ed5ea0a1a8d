#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "widthwise/sim/product_tiles.hpp"

namespace test_product_tiles {

// How products are shared out.
namespace {

using widthwise::ProductTile;
using widthwise::ProductTiles;

struct Case {
  std::size_t m, n, k, at_once, threads;
};

std::vector<ProductTile> tiles_of(const Case& x) {
  const ProductTiles tiles(x.m, x.n, x.k, x.at_once, x.threads);
  std::vector<ProductTile> all;
  for (std::size_t i = 0; i < tiles.count(); ++i) all.push_back(tiles.at(i));
  return all;
}

}  // namespace

TEST_CASE("tiles have every output once, and about as many products as are asked for") {
  for (const std::size_t m : {1, 2, 3, 5, 8, 33, 400})
    for (const std::size_t n : {1, 3, 7, 64, 129, 900})
      for (const std::size_t outputs : {1, 2, 6, 50, 3000, 10'000'000})
        for (const std::size_t threads : {1, 2, 3, 7}) {
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(outputs);
          CAPTURE(threads);
          const std::size_t k = 5;
          std::vector<int> seen(m * n);
          for (const ProductTile& t : tiles_of({m, n, k, outputs * k, threads})) {
            REQUIRE((t.m > 0 && t.n > 0 && t.row + t.m <= m && t.column + t.n <= n));
            for (std::size_t i = 0; i < t.m; ++i)
              for (std::size_t j = 0; j < t.n; ++j) ++seen[(t.row + i) * n + t.column + j];
            CHECK(t.m * t.n <= 2 * outputs);  // ends lie at whole vectors
          }
          CHECK(seen == std::vector<int>(m * n, 1));
        }
}

TEST_CASE("tiles have about as many rows as columns, while the product has") {
  for (const Case& x : {Case{2048, 2048, 2048, 160'000'000, 1},
                        {4096, 4096, 4096, 300'000'000, 2},
                        {8192, 900, 512, 20'000'000, 1}})
    for (const ProductTile& t : tiles_of(x)) CHECK((t.m < 2 * t.n && t.n < 2 * t.m));
  for (const ProductTile& t : tiles_of({3, 100'000, 1000, 3'000'000, 1})) CHECK(t.m == 3);
  for (const ProductTile& t : tiles_of({100'000, 3, 1000, 3'000'000, 1})) CHECK(t.n == 3);
}

TEST_CASE("threads have equally many tiles, or many") {
  for (const std::size_t threads : {2, 3, 4, 5, 12})
    for (const Case& x : {Case{1024, 1024, 1024, 240'000'000, threads},
                          {512, 512, 512, 900'000'000, threads},
                          {2, 40'000, 100, 3'000'000, threads},
                          {40'000, 2, 100, 3'000'000, threads}}) {
      CAPTURE(threads);
      const std::size_t count = tiles_of(x).size();
      CHECK((count % threads == 0 || count >= 16 * threads));
    }
}

TEST_CASE("no tile of a few is much larger than others") {
  for (const Case& x : {Case{12, 302, 2711, 20'000'000, 4},
                        {7, 957, 100, 50'000'000, 12},
                        {9, 4153, 100, 50'000'000, 64},
                        {1024, 1000, 1024, 240'000'000, 2},
                        {33, 290, 10, 50'000'000, 3}}) {
    CAPTURE(x.m);
    const std::vector<ProductTile> tiles = tiles_of(x);
    std::size_t most = 0;
    for (const ProductTile& t : tiles) most = std::max(most, t.m * t.n);
    CHECK(10 * most * tiles.size() <= 13 * x.m * x.n);
  }
}

TEST_CASE("a product with less outputs than threads has a tile an output; one of none has none") {
  CHECK(tiles_of({1, 3, 1000, 50, 8}).size() == 3);
  CHECK(tiles_of({2, 2, 1000, 50, 8}).size() == 4);
  const ProductTile none = tiles_of({0, 5, 3, 50, 1}).front();
  CHECK(none.m * none.n == 0);
}

}  // namespace test_product_tiles
