#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/unpack.hpp"
#ifdef WIDTHWISE_MPFR
#include <mpfr.h>
#endif

// The reference, arrays of codes in, codes and flags out, beside MPFR doing the same to numbers of
// its own: operation, range check, subnormals, flags. One core, nanoseconds a result.
namespace {

using namespace widthwise;

constexpr std::size_t count = 4096;
constexpr int repeats = 200;
constexpr int reach = 4;  // exponents lie within this of 0: sums cancel, and all operands matter

struct Subject {
  const char* name;
  Format format;
};
constexpr std::array subjects{Subject{"binary16", binary16}, Subject{"binary32", binary32},
                              Subject{"binary64", binary64}, Subject{"e15m112", binary128}};
struct Task {
  const char* name;
  Operation op;
  double wanted;  // times MPFR's rate, to 64 bits; 0: shown for information
};
constexpr std::array tasks{Task{"add", Operation::add, 10},
                           Task{"multiply", Operation::multiply, 10},
                           Task{"fma", Operation::fma, 10}, Task{"divide", Operation::divide, 0},
                           Task{"sqrt", Operation::sqrt, 0}};

// The best of several runs: what disturbs a run only ever makes it longer.
template <class Run>
double nanoseconds_each(const Run& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best / static_cast<double>(count);
}

// Codes of random sign, fraction and near exponent; positive for a square root.
std::vector<std::byte> operands(const Format& f, bool positive, std::mt19937_64& random) {
  const int bytes = item_bytes(f.width());
  std::vector<std::byte> data(count * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < count; ++i) {
    const uint128 digits_ = uint128{random()} << 64 | random();
    const auto field = static_cast<std::uint64_t>(f.bias - reach) + random() % (2 * reach + 1);
    const uint128 sign = positive ? 0 : uint128{random() % 2} << f.magnitude_bits();
    const uint128 code =
        sign | uint128{field} << f.frac_bits | (digits_ & ones<uint128>(f.frac_bits));
    store_code(data.data() + i * static_cast<std::size_t>(bytes), bytes, code);
  }
  return data;
}

struct Operands {
  std::array<std::vector<std::byte>, 3> codes;
  Operands(const Format& f, bool positive) {
    std::mt19937_64 random(1);
    for (auto& x : codes) x = operands(f, positive, random);
  }
};

double time_ours(Operation op, const Format& f, const Operands& x) {
  const std::array<CodeArray, 3> arrays{
      {{f, x.codes[0].data()}, {f, x.codes[1].data()}, {f, x.codes[2].data()}}};
  std::vector<std::byte> result(x.codes[0].size());
  std::vector<std::uint8_t> flags(count);
  const auto n = static_cast<std::size_t>(arity(op));
  return nanoseconds_each([&] {
    elementwise(op, f, {}, std::span(arrays).first(n), count, result.data(), flags.data());
  });
}

#ifdef WIDTHWISE_MPFR
class Numbers {
 public:
  Numbers(const Format& f, const std::vector<std::byte>& codes) : all_(count) {
    const int bytes = item_bytes(f.width());
    const Layout<uint128> layout(f);
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = unpack(
          layout, load_code<uint128>(codes.data() + i * static_cast<std::size_t>(bytes), bytes));
      mpfr_init2(all_[i], f.precision());
      mpfr_set_ui_2exp(all_[i], static_cast<std::uint64_t>(x.sig >> 64), 64, MPFR_RNDN);
      mpfr_t low;  // exact: precision holds both parts together
      mpfr_init2(low, 64);
      mpfr_set_ui(low, static_cast<std::uint64_t>(x.sig), MPFR_RNDN);
      mpfr_add(all_[i], all_[i], low, MPFR_RNDN);
      mpfr_clear(low);
      mpfr_mul_2si(all_[i], all_[i], x.exp, MPFR_RNDN);
      mpfr_setsign(all_[i], all_[i], x.negative, MPFR_RNDN);
    }
  }
  ~Numbers() {
    for (auto& x : all_) mpfr_clear(x);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  mpfr_srcptr operator[](std::size_t i) const { return all_[i]; }

 private:
  struct Cell {
    mpfr_t x;
    operator mpfr_ptr() { return x; }
    operator mpfr_srcptr() const { return x; }
  };
  std::vector<Cell> all_;
};

// The flags are read into a sum that is kept, so that nothing can be left out.
template <class Op>
double time_mpfr(mpfr_ptr z, const Op& op) {
  static volatile unsigned seen;
  return nanoseconds_each([&] {
    for (std::size_t i = 0; i < count; ++i) {
      mpfr_clear_flags();
      const int ternary = mpfr_check_range(z, op(i), MPFR_RNDN);
      mpfr_subnormalize(z, ternary, MPFR_RNDN);
      seen = seen + mpfr_flags_save();
    }
  });
}

std::optional<double> mpfr_time(Operation op, const Format& f, const Operands& codes) {
  const Numbers x(f, codes.codes[0]), y(f, codes.codes[1]), w(f, codes.codes[2]);
  const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
  mpfr_set_emin(f.emin() - f.frac_bits + 1);  // MPFR's significands lie in [1/2, 1)
  mpfr_set_emax(f.emax() + 1);
  mpfr_t z;
  mpfr_init2(z, f.precision());
  const auto time = [&]() -> std::optional<double> {
    switch (op) {
      case Operation::add:
        return time_mpfr(z, [&](auto i) { return mpfr_add(z, x[i], y[i], MPFR_RNDN); });
      case Operation::multiply:
        return time_mpfr(z, [&](auto i) { return mpfr_mul(z, x[i], y[i], MPFR_RNDN); });
      case Operation::divide:
        return time_mpfr(z, [&](auto i) { return mpfr_div(z, x[i], y[i], MPFR_RNDN); });
      case Operation::sqrt:
        return time_mpfr(z, [&](auto i) { return mpfr_sqrt(z, x[i], MPFR_RNDN); });
      case Operation::fma:
        return time_mpfr(z, [&](auto i) { return mpfr_fma(z, x[i], y[i], w[i], MPFR_RNDN); });
      default: return std::nullopt;
    }
  }();
  mpfr_clear(z);
  mpfr_set_emin(least);
  mpfr_set_emax(most);
  return time;
}
#else
std::optional<double> mpfr_time(Operation, const Format&, const Operands&) { return std::nullopt; }
#endif

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

const char* vector_level() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512dq")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
  return "no vector level";
}

void print_row(const Subject& s, const Task& t) {
  const Operands x(s.format, t.op == Operation::sqrt);
  const double ours = time_ours(t.op, s.format, x);
  const auto theirs = mpfr_time(t.op, s.format, x);
  const double wanted = s.format.width() > 64 ? t.wanted / 5 : t.wanted;  // 2 times at 113 bits
  fmt::print("{:<9} {:<9} {:>8.2f}", s.name, t.name, ours);
  if (theirs) {
    fmt::print(" {:>8.2f} {:>7.1f}", *theirs, *theirs / ours);
    if (wanted > 0) fmt::print(" {:>7.0f}", wanted);
  }
  fmt::print("\n");
}

}  // namespace

int main() {
  fmt::print("{}, {}, {}\n", machine(), vector_level(), __VERSION__);
#ifndef WIDTHWISE_MPFR
  fmt::print("no MPFR columns: MPFR was not found when the build was set up\n");
#endif
  fmt::print("{:<9} {:<9} {:>8} {:>8} {:>7} {:>7}\n", "format", "operation", "ours ns", "MPFR ns",
             "ratio", "wanted");
  for (const Subject& s : subjects)
    for (const Task& t : tasks) print_row(s, t);
}
