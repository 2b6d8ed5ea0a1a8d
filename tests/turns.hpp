#pragma once
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

// Tests of which each run takes a part. ./dev test counts the commits and hands the number on, so
// that n commits after another have run all of n parts.
namespace tests {

inline std::size_t turn() {
  const char* given = std::getenv("WIDTHWISE_TURN");
  return given ? std::strtoul(given, nullptr, 10) : 0;
}

inline bool is_long() { return std::getenv("WIDTHWISE_LONG") != nullptr; }

// Each n-th; all with --long, or where there are fewer than n.
template <class T>
std::vector<T> in_turn(std::vector<T> all, std::size_t n) {
  if (is_long() || all.size() < n) return all;
  std::vector<T> some;
  for (std::size_t i = turn() % n; i < all.size(); i += n) some.push_back(std::move(all[i]));
  return some;
}

}  // namespace tests
