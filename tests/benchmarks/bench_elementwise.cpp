#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

// Elementwise operations on arrays of 2^20 codes, one core, nanoseconds an element; conversions
// beside memcpy of as many bytes as they read and write together.
namespace {

using namespace widthwise;
using Clock = std::chrono::steady_clock;

constexpr std::size_t count = std::size_t{1} << 20;

template <class Run>
double best_nanoseconds(const Run& run) {
  double best = 1e300;
  for (const auto start = Clock::now(); Clock::now() - start < std::chrono::milliseconds(150);) {
    const auto begin = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return best / count;
}

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

std::vector<std::byte> room(const Format& f) {
  return std::vector<std::byte>(count * bytes_of(f), std::byte{1});
}

// Normal data, rounded to the format.
std::vector<std::byte> codes(const Format& f, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& x : numbers) x = normal(random);
  std::vector<std::byte> items = room(f);
  const CodeArray from{binary64, numbers.data()};
  elementwise(Operation::convert, f, {}, {&from, 1}, count, items.data(), nullptr);
  return items;
}

// Reads half of them and writes half.
double memcpy_time(std::size_t bytes) {
  std::vector<std::byte> from(count * bytes / 2, std::byte{1}), to(from.size(), std::byte{2});
  return best_nanoseconds([&] {
    std::memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

struct Subject {
  const char *op, *operands, *to, *rounding;
  bool flags;
  double asked;  // conversions: times memcpy; others: nanoseconds. 0: shown for information
};

void print_row(const Subject& s) {
  const Operation op = parse_operation(s.op);
  const Format from = parse_format(s.operands), to = parse_format(s.to);
  const Env env{.rounding = parse_rounding(s.rounding)};
  std::mt19937_64 random(1);
  std::vector<std::vector<std::byte>> data;
  std::vector<CodeArray> operands;
  for (int i = 0; i < arity(op); ++i) {
    data.push_back(codes(from, random));
    operands.push_back({from, data.back().data()});
  }
  std::vector<std::byte> result = room(to);
  std::vector<std::uint8_t> flags(count);
  const double time = best_nanoseconds([&] {
    elementwise(op, to, env, operands, count, result.data(), s.flags ? flags.data() : nullptr);
  });
  const std::vector<Format> formats(operands.size(), from);
  fmt::print("{:<18}{:<10}{:<14}{:<5}{:<7}{:<13}{:>7.3f}", s.op, s.operands, s.to, s.rounding,
             s.flags ? "flags" : "", Elementwise(op, to, env, formats, s.flags, count).way(), time);
  if (op == Operation::convert)
    fmt::print("{:>10.2f}", time / memcpy_time(bytes_of(from) + bytes_of(to)));
  else
    fmt::print("{:>10}", "");
  if (s.asked > 0) fmt::print("{:>8}", s.asked);
  fmt::print("\n");
}

}  // namespace

int main() {
  fmt::print("{:<18}{:<10}{:<14}{:<5}{:<7}{:<13}{:>7}{:>10}{:>8}\n", "operation", "operands",
             "result", "mode", "", "way", "ns", "/ memcpy", "asked");
  for (const Subject& s : {Subject{"convert", "binary32", "e5m10", "rne", false, 2},
                           {"convert", "binary32", "e4m3fn", "rne", false, 2},
                           {"convert", "binary32", "bfloat16", "rne", false, 2},
                           {"convert", "binary32", "e4m3fnuz", "rne", false, 2},
                           {"convert", "binary32", "e5m10", "rtz", false, 3},
                           {"convert", "binary32", "e5m10", "rdn", false, 3},
                           {"convert", "binary32", "e5m10", "rup", false, 3},
                           {"convert", "binary32", "e5m10", "rna", false, 3},
                           {"convert", "binary32", "e4m3fn", "rdn", false, 3},
                           {"convert", "binary32", "e5m10", "odd", false, 0},
                           {"convert", "binary32", "e5m10", "rne", true, 0},
                           {"convert", "binary64", "e5m10", "rne", false, 3},
                           {"convert", "binary64", "e4m3fn", "rne", false, 3},
                           {"convert", "binary64", "e5m10", "rdn", false, 0},
                           {"convert", "binary64", "binary32", "rne", false, 0},
                           {"convert", "e5m10", "e4m3fn", "rne", false, 2},
                           {"convert", "bfloat16", "e4m3fn", "rne", false, 2},
                           {"convert", "e5m10", "binary32", "rne", false, 0},
                           {"convert", "e4m3fn", "binary32", "rne", false, 0},
                           {"convert", "e4m3fn", "bfloat16", "rne", false, 0},
                           {"convert", "e5m10", "binary64", "rne", false, 0},
                           {"add", "e5m10", "e5m10", "rne", false, 0.4},
                           {"multiply", "e5m10", "e5m10", "rne", false, 0.4},
                           {"subtract", "e5m10", "e5m10", "rdn", false, 0.4},
                           {"fma", "e5m10", "e5m10", "rne", false, 0},
                           {"add", "e5m10", "e5m10", "rne", true, 1.2},
                           {"multiply", "e5m10", "e5m10", "rne", true, 1.2},
                           {"fma", "e5m10", "e5m10", "rne", true, 0},
                           {"add", "bfloat16", "bfloat16", "rne", false, 0.4},
                           {"multiply", "bfloat16", "bfloat16", "rne", false, 0.4},
                           {"multiply", "bfloat16", "bfloat16", "rne", true, 1.2},
                           {"add", "e4m3fn", "e4m3fn", "rne", false, 0.4},
                           {"add", "binary32", "binary32", "rne", false, 0},
                           {"add", "binary32", "binary32", "rne", true, 0},
                           {"multiply", "binary32", "binary32", "rne", true, 0},
                           {"divide", "e4m3fn", "e4m3fn", "rne", true, 0},
                           {"divide", "e5m10", "e5m10", "rne", false, 0},
                           {"sqrt", "e4m3fn", "e4m3fn", "rne", true, 0},
                           {"sqrt", "e5m10", "e5m10", "rne", true, 0},
                           {"round_to_integral", "e5m10", "e5m10", "rne", true, 0},
                           {"negate", "e5m10", "e5m10", "rne", false, 0}})
    print_row(s);
}
