#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>
#include <random>
#include <vector>

#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/unit_text.hpp"
#ifdef WIDTHWISE_MPFR
#include <mpfr.h>
#endif

// Matrix products of many digits, codes in and out, one core, beside MPFR doing the same to numbers
// of its own: a product and a sum a step, each with its range check and subnormals. Nanoseconds a
// step.
namespace {

using namespace widthwise;
constexpr std::size_t n = 128;

// In time of the processor, the best of several runs.
template <class Run>
double nanoseconds_each(std::size_t steps, const Run& run) {
  const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  double best = 1e300;
  for (const double start = seconds(); seconds() - start < 0.7;) {
    const double begin = seconds();
    run();
    best = std::min(best, seconds() - begin);
  }
  return best / static_cast<double>(steps) * 1e9;
}

// Normal data of all digits: its exponent from a normal variable, its fraction from random bits.
std::vector<std::byte> codes(const Format& f, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  std::vector<std::byte> items(n * n * bytes);
  for (std::size_t i = 0; i < n * n; ++i) {
    using U = Wide<18>;
    const double x = normal(random);
    int exponent;
    std::frexp(x, &exponent);
    U code;
    for (std::uint64_t& limb : code.limb) limb = random();
    code = code & ones<U>(f.frac_bits);
    code = code | U(static_cast<std::uint64_t>(exponent - 1 + f.bias)) << f.frac_bits;
    if (x < 0) code = code | bit<U>(f.magnitude_bits());
    store_code(&items[i * bytes], static_cast<int>(bytes), code);
  }
  return items;
}

std::optional<double> time_engine(const Unit& u, std::string_view engine) {
  const auto all = opinions({.unit = u, .k = n});
  const auto* found = std::ranges::find(all, engine, &Opinion::engine).base();
  if (found == all.data() + all.size() || !found->takes) return std::nullopt;
  std::mt19937_64 random(1);
  const auto a = codes(u.a.fmt, random), b = codes(u.b.fmt, random);
  std::vector<std::byte> result(a.size());
  MatrixProduct p;
  p.m = p.n = p.k = n;
  p.a = {a.data(), n, 1}, p.b = {b.data(), n, 1};
  p.result = result.data();
  const Prepared prepared = prepare({.unit = u, .k = n}, engine);
  const std::size_t rows = engine == "reference" ? 1 : n;
  return nanoseconds_each(rows * n * n, [&] { prepared.product->run(p, 0, rows); });
}

#ifdef WIDTHWISE_MPFR
class Numbers {
 public:
  explicit Numbers(const Format& f) : all_(n) {
    std::mt19937_64 random(1);
    gmp_randstate_t state;
    gmp_randinit_default(state);
    for (Cell& cell : all_) {
      mpfr_init2(cell.x, f.precision());
      mpfr_nrandom(cell.x, state, MPFR_RNDN);
    }
    gmp_randclear(state);
  }
  ~Numbers() {
    for (Cell& cell : all_) mpfr_clear(cell.x);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  mpfr_srcptr operator[](std::size_t i) const { return all_[i].x; }

 private:
  struct Cell {
    mpfr_t x;
  };
  std::vector<Cell> all_;
};

std::optional<double> time_mpfr(const Format& f) {
  const Numbers a(f), b(f);
  const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
  mpfr_set_emin(f.emin() - f.frac_bits + 1);  // MPFR's significands lie in [1/2, 1)
  mpfr_set_emax(f.emax() + 1);
  mpfr_t product, sum;
  mpfr_inits2(f.precision(), product, sum, static_cast<mpfr_ptr>(nullptr));
  const auto to_format = [](mpfr_ptr x, int ternary) {
    mpfr_subnormalize(x, mpfr_check_range(x, ternary, MPFR_RNDN), MPFR_RNDN);
  };
  const double time = nanoseconds_each(n * n, [&] {
    for (std::size_t j = 0; j < n; ++j) {
      mpfr_set_zero(sum, 1);
      for (std::size_t i = 0; i < n; ++i) {
        to_format(product, mpfr_mul(product, a[i], b[(i + j) % n], MPFR_RNDN));
        to_format(sum, mpfr_add(sum, sum, product, MPFR_RNDN));
      }
    }
  });
  mpfr_clears(product, sum, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_emin(least);
  mpfr_set_emax(most);
  return time;
}
#else
std::optional<double> time_mpfr(const Format&) { return std::nullopt; }
#endif

struct Subject {
  const char* unit;
  double asked[2];  // times MPFR's rate, of wide and of wide52; 0: shown for information
};

std::string with_ratio(std::optional<double> time, std::optional<double> mpfr, double asked) {
  if (!time) return fmt::format("{:>28}", "-");
  return fmt::format("{:>10.2f}{:>9}{:>9}", *time, mpfr ? fmt::format("{:.2f}", *mpfr / *time) : "",
                     asked > 0 ? fmt::format("{:.0f}", asked) : "");
}

}  // namespace

int main() {
  fmt::print("{:<16}{:>10}{:>10}{:>28}{:>28}\n", "unit", "reference", "MPFR",
             "wide, MPFR / it, asked", "wide52, MPFR / it, asked");
  for (const Subject& s : {Subject{"mac(e15m63)", {}},
                           {"mac(e15m112)", {2, 8}},
                           {"mac(e15m127)", {}},
                           {"mac(e15m191)", {}},
                           {"mac(e20m255)", {2, 8}},
                           {"mac(e20m383)", {}},
                           {"mac(e20m511)", {}},
                           {"mac(e20m767)", {}},
                           {"mac(e20m1023)", {1, 2}}}) {
    const Unit u = parse_unit(s.unit);
    const auto mpfr = time_mpfr(u.out.fmt);
    const auto reference = time_engine(u, "reference");
    fmt::print("{:<16}{:>10.0f}{:>10}{}{}\n", s.unit, reference.value_or(0),
               mpfr ? fmt::format("{:.1f}", *mpfr) : "-",
               with_ratio(time_engine(u, "wide"), mpfr, s.asked[0]),
               with_ratio(time_engine(u, "wide52"), mpfr, s.asked[1]));
  }
}
