#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/lib/tally.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/mpfr_unit.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_reach {

// Where the MPFR oracle goes beyond what can be walked: wide formats, huge exponents, long sums.
namespace {

using namespace widthwise;
using Code = std::vector<std::uint64_t>;
using tests::Tally;

Code code(const Format& f, const std::string& text) { return mpfr_from_text(f, {}, text).code; }

OracleResult computed(Operation op, const Format& f, const std::vector<Code>& x, Env env = {}) {
  std::vector<OracleOperand> operands;
  for (const Code& a : x) operands.push_back({f, a});
  return mpfr_compute(op, f, env, operands);
}

// c + a[0] * b[0] + a[1] * b[1] + …, exact, then rounded once.
Code exact_dot(const Format& f, const Rounding& how, const std::vector<std::string>& a,
               const std::vector<std::string>& b, const std::string& c) {
  Unit u{};
  for (Operand* x : {&u.a, &u.b, &u.c}) x->fmt = f;
  u.c_level = CLevel::group, u.out = {.fmt = f, .rm = how};
  Code x, y;
  for (const std::string& text : a) std::ranges::copy(code(f, text), std::back_inserter(x));
  for (const std::string& text : b) std::ranges::copy(code(f, text), std::back_inserter(y));
  const Code z = code(f, c);
  return mpfr_dot(u, {x, y, z});
}

std::string decimal(const Format& f, const OracleResult& z) { return mpfr_decimal(f, z.code, 6); }

Code random_code(const Format& f, std::mt19937_64& random) {
  const int width = f.exp_bits + f.frac_bits + (f.is_signed() ? 1 : 0);
  Code x(static_cast<std::size_t>(width + 63) / 64);
  const int sparse = static_cast<int>(random() % 3);  // long runs of equal digits meet ties
  for (std::uint64_t& limb : x) limb = sparse == 0 ? random() : sparse == 1 ? 0 : ~std::uint64_t{0};
  for (int flips = static_cast<int>(random() % 8); flips > 0; --flips) {
    const auto bit = random() % static_cast<std::uint64_t>(width);
    x[bit / 64] ^= std::uint64_t{1} << bit % 64;
  }
  if (width % 64 != 0) x.back() &= (std::uint64_t{1} << width % 64) - 1;
  return x;
}

}  // namespace

TEST_CASE("MPFR's unit: products keep the sign of their factors, for zero_sign is about sums") {
  const std::uint64_t minus_zero = 0x8000, one = 0x3c00, least = 1, least_negative = 0x8001;
  for (const ZeroSign sign : {ZeroSign::ieee, ZeroSign::plus, ZeroSign::always_plus}) {
    Unit u = parse_unit("mac(e5m10)");
    u.product.round->zero_sign = sign;
    const auto product = [&](const std::uint64_t& a, const std::uint64_t& b) {
      return mpfr_dot(u, {{&a, 1}, {&b, 1}, {&minus_zero, 1}})[0];
    };
    CHECK(product(least_negative, least) == minus_zero);
    CHECK(product(minus_zero, one) == minus_zero);
  }
}

TEST_CASE("wide formats: MPFR's own rounding equals the integers' rounding") {
  // overflow=inf says what ieee means for rne and raz, overflow=max what it means for rtz; either
  // takes the way that knows every policy, not mpfr_check_range and mpfr_subnormalize.
  struct Same {
    RoundingMode mode;
    Overflow said;
  };
  Tally tally;
  std::mt19937_64 random(3);
  const std::uint64_t rounds = 40;
  for (const char* text :
       {"e5m10", "e8m23", "e2m30", "e15m112", "e20m50", "e11m255", "e4m1023", "e62m3", "e61m4095"})
    for (Operation op :
         {Operation::add, Operation::subtract, Operation::multiply, Operation::divide,
          Operation::remainder, Operation::sqrt, Operation::fma, Operation::convert})
      for (std::uint64_t n = 0; n < rounds; ++n)
        for (Same same :
             {Same{RoundingMode::rne, Overflow::inf}, Same{RoundingMode::raz, Overflow::inf},
              Same{RoundingMode::rtz, Overflow::max}}) {
          const Format f = parse_format(text);
          Format g = f;
          g.overflow = same.said;
          const Env env{.rounding = same.mode, .tininess = static_cast<Tininess>(n % 2)};
          std::vector<Code> x;
          for (int i = 0; i < arity(op); ++i) x.push_back(random_code(f, random));
          const OracleResult native = computed(op, f, x, env), other = computed(op, g, x, env);
          tally.check(native == other, [&] {
            return std::string(text) + ", operation " + std::to_string(static_cast<int>(op)) +
                   ", " + to_string(env.rounding) + ": " + decimal(f, native) + " and " +
                   decimal(f, other);
          });
        }
  tally.expect(9 * 8 * rounds * 3);
}

TEST_CASE("exponents of 62 bits: sums, products, quotients, roots and remainders come out") {
  const Format f = parse_format("e62m3");
  const Code one = code(f, "1"), three = code(f, "3"), tiny = code(f, "0x1p-2305843009213693950"),
             huge = code(f, "0x1p2305843009213693950"), odd = code(f, "0x1p2305843009213693949");
  using enum Operation;
  CHECK(computed(multiply, f, {huge, tiny}).code == one);
  CHECK(computed(fma, f, {huge, tiny, one}).code == code(f, "2"));
  CHECK(computed(divide, f, {huge, huge}).code == one);
  CHECK(computed(add, f, {huge, tiny}) == OracleResult{huge, inexact});
  CHECK(computed(sqrt, f, {huge}).code == code(f, "0x1p1152921504606846975"));
  CHECK(computed(divide, f, {huge, tiny}).flags == (overflow | inexact));
  CHECK(computed(divide, f, {tiny, huge}) == OracleResult{{0, 0}, underflow | inexact});
  // 2^n is 1 or 2 modulo 3 as n is even or odd: the nearest multiple leaves 1 or -1.
  CHECK(computed(remainder, f, {huge, three}).code == one);
  CHECK(computed(remainder, f, {odd, three}).code == code(f, "-1"));
  CHECK(computed(remainder, f, {huge, code(f, "0x1.8p-2305843009213693950")}).flags == 0);
  CHECK(computed(remainder, f, {tiny, huge}).code == tiny);
}

TEST_CASE(
    "an exponent of 20 bits: 2^400000 * 2^-399999 is 2, and twice the largest power overflows") {
  const Format f = parse_format("e20m50");
  const Code two = code(f, "2");
  CHECK(computed(Operation::multiply, f, {code(f, "0x1p400000"), code(f, "0x1p-399999")}).code ==
        two);
  const OracleResult z = computed(Operation::multiply, f, {code(f, "0x1p524287"), two});
  CHECK(z.code == code(f, "inf"));
  CHECK(z.flags == (overflow | inexact));
}

TEST_CASE("products whose exponents lie 2^63 apart: the sum is exact until it is rounded") {
  const Format f = parse_format("e62m3");
  const std::vector<std::string> a{"0x1p2305843009213693950", "0x1p-2305843009213693950", "1",
                                   "-0x1p2305843009213693950"};
  const std::vector<std::string> b{"0x1p2305843009213693950", "0x1p-2305843009213693950", "1",
                                   "0x1p2305843009213693950"};
  CHECK(exact_dot(f, {}, a, b, "0") == code(f, "1"));
  CHECK(exact_dot(f, RoundingMode::rup, a, b, "0") == code(f, "1.125"));
  const Code least{1, 0};
  CHECK(exact_dot(f, RoundingMode::raz, a, b, "-1") == least);
  // With flags, of one product.
  const auto fused = [&](const std::string& c, RoundingMode mode) {
    return computed(Operation::fma, f, {code(f, a[1]), code(f, b[1]), code(f, c)},
                    {.rounding = mode});
  };
  CHECK(fused("1", RoundingMode::rne) == OracleResult{code(f, "1"), inexact});
  CHECK(fused("1", RoundingMode::rup) == OracleResult{code(f, "1.125"), inexact});
  CHECK(fused("0", RoundingMode::raz) == OracleResult{least, underflow | inexact});
}

TEST_CASE("an exact dot product: signs of zero and specials follow addition") {
  const Format f = binary16;
  const auto dot = [&](const char* a, const char* b, const char* c,
                       RoundingMode mode = RoundingMode::rne) {
    return exact_dot(f, mode, {a}, {b}, c);
  };
  CHECK(dot("-0", "1", "-0") == code(f, "-0"));
  CHECK(dot("-0", "1", "0") == code(f, "0"));
  CHECK(dot("-0", "1", "0", RoundingMode::rdn) == code(f, "-0"));
  CHECK(dot("1", "1", "-1", RoundingMode::rdn) == code(f, "-0"));
  const auto specials = [&](const char* a, const char* b, const char* c, const char* result,
                            Flags flags) {
    CHECK(dot(a, b, c) == code(f, result));
    CHECK(computed(Operation::fma, f, {code(f, a), code(f, b), code(f, c)}) ==
          OracleResult{code(f, result), flags});
  };
  specials("inf", "0", "nan", "nan", invalid);
  specials("inf", "1", "-inf", "nan", invalid);
  specials("inf", "1", "nan", "nan", 0);
  specials("-inf", "1", "1", "-inf", 0);
}

TEST_CASE("text: literals round once, and print in decimal") {
  CHECK(mpfr_from_text(binary64, {}, "0.1").code == Code{0x3fb999999999999a});
  CHECK(mpfr_from_text(binary32, {}, "1/3").code == Code{0x3eaaaaab});
  CHECK(mpfr_from_text(binary16, {}, "0x1.ffdp15").code == Code{0x7bff});
  CHECK(mpfr_from_text(binary16, {}, "65520") == OracleResult{{0x7c00}, overflow | inexact});
  CHECK(mpfr_from_text(e4m3fn, {}, "-inf") == OracleResult{{0x7f}, overflow | inexact});
  CHECK(mpfr_decimal(binary64, Code{0x3fb999999999999a}, 17) == "1.0000000000000001e-01");
  CHECK(mpfr_decimal(binary16, Code{0x8000}, 3) == "-0");
  CHECK(mpfr_decimal(binary16, Code{0x7c00}, 3) == "inf");
  CHECK_THROWS_WITH_AS(mpfr_from_text(binary16, {}, "1.5x"),
                       "mpfr_from_text(text): '1.5x' is not a number, a fraction p/q, inf or nan",
                       std::invalid_argument);
}

TEST_CASE("bad calls name what is wrong") {
  const Code x{0x3c00}, wide{0x10000};
  const OracleOperand a{binary16, x}, too_wide{binary16, wide};
  CHECK_THROWS_WITH_AS(mpfr_compute(Operation::add, binary16, {}, {&a, 1}),
                       "mpfr_compute(op, operands): the operation has 2 operands, not 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(mpfr_compute(Operation::convert, binary16, {}, {&too_wide, 1}),
                       "an operand's code is wider than its format, 16 bits",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      mpfr_compute(Operation::next_up, binary16, {}, {&a, 1}),
      "MPFR checks add, subtract, multiply, divide, remainder, sqrt, fma, convert, "
      "round_to_integral and round_to_integral_exact; a file's lines check any "
      "operation",
      std::invalid_argument);
}

TEST_CASE("MPFR's exponent range and flags are left as they were, in every thread") {
  const auto unchanged = [] {
    mpfr_set_emin(-100);
    mpfr_set_emax(100);
    mpfr_clear_flags();
    mpfr_set_erangeflag();
    const Format f = parse_format("e20m50");
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      const Code huge = code(f, "0x1p524287");
      good = good && computed(Operation::multiply, f, {huge, huge}).flags == (overflow | inexact);
      good = good && mpfr_get_emin() == -100 && mpfr_get_emax() == 100 &&
             mpfr_flags_save() == MPFR_FLAGS_ERANGE;
    }
    return good;
  };
  bool there = false;
  std::thread other([&] { there = unchanged(); });
  const bool here = unchanged();
  other.join();
  CHECK(here);
  CHECK(there);
}

TEST_CASE("random bits: Philox-4x32-10 in the fields that the datapath page deals") {
  for (auto [step, field] : {std::pair{0, 0xe8d5}, {1, 0x6627}, {2, 0xc58d}, {7, 0x9b00}})
    CHECK(mpfr_random_bits(16, 0, 0, 0, static_cast<std::uint64_t>(step)) ==
          static_cast<std::uint64_t>(field));
  CHECK(mpfr_random_bits(8, 0, 0, 0, 0) == 0xe8);
  CHECK(mpfr_random_bits(17, 0, 0, 0, 1) == 0xe169c58d >> 15);
  CHECK(mpfr_random_bits(64, 0, 0, 0, 1) == 0x9b00dbd8bc57ac4c);
}

}  // namespace test_reach
