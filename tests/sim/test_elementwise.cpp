#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "boundaries.hpp"
#include "items.hpp"
#include "sim/elementwise/lane_plan.hpp"
#include "targets.hpp"
#include "tests/lib/operands.hpp"
#include "tests/lib/tally.hpp"
#include "tests/oracle/format_cover.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

namespace test_elementwise {

// Elementwise operations in lanes and by tables, against the definition one value at a time.
namespace {

using namespace tests;
using U = std::uint64_t;

// An operation of these operands, and what the definition makes of them.
class Trials {
 public:
  Trials(Operation op, const Format& to, const Env& env, std::vector<Format> operands)
      : op_(op), to_(to), env_(env), formats_(std::move(operands)) {
    for (const Format& f : formats_) layouts_.emplace_back(f), operands_.emplace_back(f);
  }

  template <class... Codes>
  void add(Codes... codes) {
    std::size_t j = 0;
    (operands_[j++].add(codes), ...);
  }
  void judge() {
    const Rounder<U> to(to_, env_);
    for (std::size_t i = 0; i < count(); ++i) want_.push_back(apply(op_, to, codes(i).data(), U{}));
  }
  std::size_t count() const { return operands_[0].count(); }

  // On every target, with flags and without. Lengths that fill no vector come along.
  void check_everywhere(Tally& tally) {
    judge();
    on_every_target([&] {
      for (bool flags : {false, true})
        for (std::size_t n : {count(), count() - 7}) check(tally, nullptr, flags, n);
    });
  }
  // How many elements that compares.
  static std::uint64_t compared(std::uint64_t count) {
    return hwy::SupportedAndGeneratedTargets().size() * 2 * (2 * count - 7);
  }
  void check(Tally& tally, const char* way, bool flags, std::size_t n) {
    const Elementwise operation(op_, to_, env_, formats_, flags, n);
    if (way && std::string_view(operation.way()) != way)
      FAIL("it goes by " << operation.way() << ": " << text());
    std::vector<const void*> data;
    for (Items& x : operands_) data.push_back(x.data());
    Items got(to_);
    constexpr std::size_t guard = 64;  // elements that are nobody's
    got.resize(n + guard);
    const U beyond = got[n];
    std::vector<std::uint8_t> raised(n + guard, 0x5a);
    operation.run(data, n, got.data(), flags ? raised.data() : nullptr);
    for (std::size_t i = 0; i < n; ++i) {
      const Flags got_flags = flags ? raised[i] : 0, want_flags = flags ? want_[i].flags : 0;
      tally.check(got[i] == want_[i].code && got_flags == want_flags, [&] {
        return fmt::format("{} by {}: {} gave {:x} flags {}, want {:x} flags {}", text(),
                           operation.way(), call_text(op_, codes(i).data()), got[i], got_flags,
                           want_[i].code, want_flags);
      });
    }
    for (std::size_t i = n; i < n + guard; ++i)
      if (got[i] != beyond || raised[i] != 0x5a) FAIL("it writes past the end: " << text());
  }

 private:
  std::string text() const {
    return fmt::format("-> {} {} tininess {}", to_string(to_), to_string(env_.rounding),
                       to_string(env_.tininess));
  }
  std::array<Coded<U>, 3> codes(std::size_t i) const {
    std::array<Coded<U>, 3> x{};
    for (std::size_t j = 0; j < layouts_.size(); ++j) x[j] = {&layouts_[j], operands_[j][i]};
    return x;
  }

  Operation op_;
  Format to_;
  Env env_;
  std::vector<Format> formats_;
  std::vector<Layout<U>> layouts_;
  std::vector<Items> operands_;
  std::vector<Result<U>> want_;
};

std::vector<Format> formats(std::initializer_list<const char*> names) {
  std::vector<Format> list;
  for (const char* name : names) list.push_back(parse_format(name));
  return list;
}

// Of every whim that a format may have.
std::vector<Format> small_formats() {
  return formats({"e4m3fn",
                  "e5m2",
                  "e4m3fnuz",
                  "e5m2fnuz",
                  "e3m4",
                  "e3m2fn",
                  "e2m3fn",
                  "e2m1fn",
                  "ue4m3fn",
                  "e8m0fnu",
                  "binary8p3se",
                  "binary8p4uf",
                  "binary8p1se",
                  "e5m0;nan=none;inf=no",
                  "e4m3fn;overflow=max",
                  "e5m2;overflow=nan",
                  "e4m3;ftz",
                  "e4m3;daz",
                  "e4m3;sub=no",
                  "e3m2;sub=no;inf=top;nan=negative_zero",
                  "ue4m2",
                  "e4m3;overflow=max",
                  "e2m2;bias=30",
                  "e3m2;inf=no",
                  "e4m2;bias=-3",
                  "e3m2;bias=-112",  // binary16 times 2^127 holds it, and not the next
                  "e3m2;bias=-113"});
}
std::vector<Format> sixteen_bit_formats() {
  return formats({"e5m10",
                  "bfloat16",
                  "e4m11",
                  "e3m12",
                  "e6m9",
                  "e8m7;inf=no;nan=none",
                  "ue5m11",
                  "e5m10;overflow=max",
                  "e5m10;ftz",
                  "e8m7;ftz",
                  "e8m7;daz",
                  "e5m10;sub=no",
                  "e8m7;sub=no",
                  "e5m10;nan=negative_zero;inf=no",
                  "e8m7;nan=negative_zero;inf=no;bias=128",
                  "e9m6",
                  "e10m5",
                  "e11m4",
                  "binary16p8se",
                  "e5m9;inf=top;nan=negative_zero"});
}

// What packing of floats asks of a format, on either side (docs/exactness.md, 45): codes of 16 bits
// with few and with most digits, exponents at the ends.
std::vector<Format> packed_formats() {
  return formats({"e6m5", "e7m4", "e8m3", "e2m13", "e1m14", "e3m1;bias=-97", "e3m1;bias=-98",
                  "e7m8;bias=16", "e7m8;bias=15", "e4m3;bias=126", "e2m3;overflow=nan"});
}
// And doubles by way of floats to odd (46): half of the least number, and the largest one.
std::vector<Format> odd_formats() {
  return formats({"e5m2;bias=123", "e5m2;bias=124", "e5m2;bias=-96", "e5m2;bias=-97",
                  "e5m2;bias=-96;overflow=max", "e5m2;bias=-96;overflow=nan"});
}

// As many digits as float lanes take, and one more.
std::vector<Format> long_formats() {
  return formats({"e6m20", "e8m20", "e5m20;ftz", "e6m21", "e6m20;sub=no"});
}

// Every deterministic mode, by every rule of tininess.
std::vector<Env> modes_by_every_rule() {
  std::vector<Env> all = deterministic_environments();
  for (const Env& env : delivered_environments()) all.push_back(env);
  return all;
}

Format random_format(Random& random) {
  const auto& corners = oracle::format_cover();
  for (;;) {
    if (const Format& f = corners[random() % corners.size()]; random() % 4 == 0 && f.width() > 2)
      return f;
    Format f = ieee_format(1 + static_cast<int>(random() % 9), static_cast<int>(random() % 14));
    if (f.width() > 16 || f.width() < 3) continue;
    if (random() % 4 == 0) f.bias += static_cast<std::int64_t>(random() % 17) - 8;
    f.sign = random() % 5 != 0 ? Sign::magnitude : Sign::none;
    f.nan = static_cast<NanCodes>(random() % 4);
    f.inf = static_cast<InfCodes>(random() % 3);
    f.subnormals = random() % 6 != 0;
    f.daz = random() % 8 == 0, f.ftz = random() % 8 == 0;
    f.overflow = random() % 2 ? Overflow::ieee : static_cast<Overflow>(random() % 5);
    try {
      check(f);
      return f;
    } catch (const std::invalid_argument&) {
    }
  }
}

std::vector<U> every_code(const Format& f) {
  std::vector<U> codes;
  for (U code = 0; code >> f.width() == 0; ++code) codes.push_back(code);
  return codes;
}

template <class T>
void check_source(Tally& tally, const Format& to, Random& random, std::uint64_t& expected) {
  using B = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  // A list of its own: as {from}, GCC 12 for 64-bit Arm copies the digits of a NaN instead.
  const std::vector<Format> from(1, sizeof(T) == 4 ? binary32 : binary64);
  const Layout<U> layout(from[0]);
  const std::vector<T> numbers = boundaries<T>(to, random);
  for (const Env& env : deterministic_environments()) {
    if (random() % 3) continue;
    Trials trials(Operation::convert, to, env, from);
    for (const T& x : numbers) trials.add(U{std::bit_cast<B>(x)});
    for (int i = 0; i < 600; ++i) trials.add(U{static_cast<B>(random())});
    for (U nan : {U{1}, U{0xffffffff}})  // payloads, signalling and not
      for (U sign : {U{0}, U{1}})
        trials.add((layout.infinity | (nan & layout.fraction_mask)) | sign << (8 * sizeof(T) - 1));
    trials.check_everywhere(tally);
    expected += Trials::compared(numbers.size() + 600 + 4);
  }
}

}  // namespace

TEST_CASE("lanes take the formats and operations that they are made for") {
  using elements::Carrier;
  using elements::plan_lanes;
  const auto carrier = [](Operation op, const char* from, const char* to, bool flags,
                          RoundingMode mode) -> std::optional<Carrier> {
    const std::vector<Format> operands(static_cast<std::size_t>(arity(op)), parse_format(from));
    const auto answer = plan_lanes(op, parse_format(to), {mode}, operands, flags);
    if (!answer.plan) return std::nullopt;
    return answer.plan->carrier;
  };
  using enum Operation;
  using enum RoundingMode;
  for (bool flags : {false, true})
    for (RoundingMode mode : {rne, rtz, rdn, rup, rna, odd}) {
      CHECK(carrier(convert, "binary32", "e5m10", flags, mode) == Carrier::in_float);
      CHECK(carrier(convert, "binary64", "e5m10", flags, mode) ==
            (flags || mode == odd ? Carrier::in_double : Carrier::in_float));
      CHECK(carrier(add, "e5m10", "e5m10", flags, mode) == Carrier::in_float);
      CHECK(carrier(multiply, "e5m10", "e5m10", flags, mode) == Carrier::in_float);
      CHECK(carrier(fma, "e4m3fn", "e5m10", flags, mode) == Carrier::in_float);
      const auto otherwise = flags ? std::nullopt : std::optional(Carrier::in_double);
      CHECK(carrier(multiply, "bfloat16", "bfloat16", flags, mode) ==
            (mode == rne ? Carrier::in_float : otherwise));
    }
  CHECK(carrier(add, "bfloat16", "bfloat16", false, rne) == Carrier::in_float);
  CHECK(carrier(add, "bfloat16", "bfloat16", true, rne) == Carrier::in_float);
  CHECK(carrier(add, "bfloat16", "bfloat16", true, rtz) == std::nullopt);
  CHECK(carrier(add, "bfloat16", "e8m7;overflow=max", true, rne) == std::nullopt);
  CHECK(carrier(fma, "bfloat16", "bfloat16", true, rne) == std::nullopt);
  CHECK(carrier(multiply, "e8m8", "e8m8", true, rne) == std::nullopt);
  CHECK(carrier(add, "bfloat16", "bfloat16", false, odd) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "binary32", false, rne) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "e8m7;bias=26", false, rne) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "e4m3;sub=no", false, rne) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "e5m2;bias=123", false, rne) == Carrier::in_float);
  CHECK(carrier(convert, "binary64", "e5m2;bias=124", false, rne) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "e5m2;bias=-96", false, rne) == Carrier::in_float);
  CHECK(carrier(convert, "binary64", "e5m2;bias=-97", false, rne) == Carrier::in_double);
  CHECK(carrier(Operation::sqrt, "binary64", "e5m2", false, rtz) == Carrier::in_double);
  CHECK(carrier(convert, "binary32", "e6m20", true, rne) == Carrier::in_float);
  CHECK(carrier(convert, "binary32", "e6m21", true, rne) == Carrier::in_double);
  CHECK(carrier(multiply, "e8m8", "e8m8", false, rne) == Carrier::in_double);
  const auto longer = formats({"bfloat16", "e8m8"});  // one digit too many
  CHECK(plan_lanes(multiply, bfloat16, {}, longer, false).plan->carrier == Carrier::in_double);
  const auto apart = formats({"e5m10;bias=100", "e5m10;bias=-20"});  // quotients below 2^-126
  CHECK(plan_lanes(divide, tf32, {}, apart, false).plan->carrier == Carrier::in_double);
  CHECK(carrier(add, "e8m11", "e8m11", false, rne) == Carrier::in_double);
  CHECK(carrier(convert, "binary64", "e8m46", false, rne) == std::nullopt);
  CHECK(carrier(convert, "binary32", "e12m3", false, rne) == std::nullopt);
  CHECK(carrier(divide, "e5m10", "e5m10", false, rne) == Carrier::in_float);
  CHECK(carrier(divide, "e5m10", "e5m10", true, rne) == std::nullopt);
  CHECK(carrier(divide, "e5m11", "e5m11", false, rne) == Carrier::in_double);
  CHECK(carrier(divide, "bfloat16", "bfloat16", false, rne) == Carrier::in_double);
  CHECK(carrier(Operation::sqrt, "bfloat16", "bfloat16", false, rup) == Carrier::in_float);
  CHECK(carrier(Operation::sqrt, "e5m10", "e5m10", false, odd) == std::nullopt);
}

TEST_CASE("sums and products of all pairs of small codes are the definition's" *
          doctest::test_suite("unsanitized")) {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& f : small_formats()) {
    if (f.width() > 6) continue;
    const auto codes = every_code(f);
    for (const Env& env : deterministic_environments())
      for (Operation op :
           {Operation::add, Operation::subtract, Operation::multiply, Operation::divide}) {
        Trials trials(op, f, env, {f, f});
        for (U a : codes)
          for (U b : codes) trials.add(a, b);
        trials.check_everywhere(tally);
        expected += Trials::compared(codes.size() * codes.size());
      }
  }
  tally.expect(expected);
}

TEST_CASE("conversions of all codes to 16 bits are the definition's" *
          doctest::test_suite("unsanitized")) {
  Tally tally;
  Random random(3);
  std::uint64_t expected = 0;
  for (const auto& sources : {small_formats(), sixteen_bit_formats()})
    for (const Format& from : sources) {
      const auto codes = every_code(from);
      for (const auto& targets : {small_formats(), sixteen_bit_formats()})
        for (const Format& to : targets) {
          if (codes.size() > 256 && random() % 48 != 0) continue;
          const auto all = deterministic_environments();
          Trials trials(Operation::convert, to, all[random() % all.size()], {from});
          for (U code : codes) trials.add(code);
          trials.check_everywhere(tally);
          expected += Trials::compared(U{1} << from.width());
        }
      for (const char* wide : {"binary32", "binary64"}) {
        Trials trials(Operation::convert, parse_format(wide), {}, {from});
        for (U code : codes) trials.add(code);
        trials.check_everywhere(tally);
        expected += Trials::compared(U{1} << from.width());
      }
    }
  CHECK(expected > 1'000'000);
  tally.expect(expected);
}

TEST_CASE("floats and doubles on either side of every boundary are rounded as defined") {
  Tally tally;
  Random random(4);
  std::uint64_t expected = 0;
  for (const auto& targets :
       {small_formats(), sixteen_bit_formats(), long_formats(), packed_formats(), odd_formats()})
    for (const Format& to : targets) {
      check_source<float>(tally, to, random, expected);
      check_source<double>(tally, to, random, expected);
    }
  CHECK(expected > 1'000'000);
  tally.expect(expected);
}

// With --long a two-thousandth of all floats, each time others.
TEST_CASE("floats from one end to the other are rounded as defined") {
  Tally tally;
  Random random(std::random_device{}());
  const std::uint64_t steps = samples(40'000);
  std::uint64_t expected = 0;
  for (const char* name : {"e5m10", "bfloat16", "e4m3fn", "e4m3fnuz"})
    for (RoundingMode mode : {RoundingMode::rne, RoundingMode::rtz, RoundingMode::rdn,
                              RoundingMode::rup, RoundingMode::rna, RoundingMode::odd}) {
      Trials trials(Operation::convert, parse_format(name), {mode}, {binary32});
      const U stride = (U{1} << 32) / steps;
      for (U i = 0; i < steps; ++i) trials.add(i * stride + random() % stride);
      trials.check_everywhere(tally);
      expected += Trials::compared(steps);
    }
  tally.expect(expected);
}

TEST_CASE("random formats: every operation of the lanes, operands that cancel, tie and overflow") {
  Tally tally;
  Random random(5);
  const auto environments = modes_by_every_rule();
  const std::uint64_t rounds = samples(1500);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto named = sixteen_bit_formats();
    const Format f = round % 3 ? random_format(random) : named[random() % named.size()];
    const Format to = random() % 2 ? f : random_format(random);
    using enum Operation;
    const Operation ops[] = {add, subtract, multiply, fma, convert, divide, sqrt};
    const Operation op = ops[random() % std::size(ops)];
    const Operands<U> operands(f);
    Trials trials(op, to, environments[random() % environments.size()],
                  std::vector<Format>(static_cast<std::size_t>(arity(op)), f));
    for (int i = 0; i < 500; ++i) {
      Coded<U> x[3];
      draw(op, operands, to, random, x);
      if (arity(op) == 1) trials.add(x[0].code);
      if (arity(op) == 2) trials.add(x[0].code, x[1].code);
      if (arity(op) == 3) trials.add(x[0].code, x[1].code, x[2].code);
    }
    trials.check_everywhere(tally);
  }
  tally.expect(rounds * Trials::compared(500));
}

TEST_CASE("operands of formats of their own") {
  Tally tally;
  Random random(9);
  const auto environments = modes_by_every_rule();
  const auto named = sixteen_bit_formats();
  const std::uint64_t rounds = samples(1000);
  const auto some = [&] {
    return random() % 3 ? random_format(random) : named[random() % named.size()];
  };
  for (std::uint64_t round = 0; round < rounds; ++round) {
    using enum Operation;
    const Operation ops[] = {add, subtract, multiply, divide};
    const Format a = some(), b = some(), to = some();
    const Operands<U> x(a), y(b);
    Trials trials(ops[random() % std::size(ops)], to, environments[random() % environments.size()],
                  {a, b});
    for (int i = 0; i < 500; ++i) {
      const U code = x.any(random);
      // Of like magnitude, so that sums are close; or anything.
      trials.add(code, i % 2 ? y.any(random) : y.with_exponent(x.exponent(code), random));
    }
    trials.check_everywhere(tally);
  }
  tally.expect(rounds * Trials::compared(500));
}

TEST_CASE("tables: every operation of small operands, and of one operand of 16 bits") {
  Tally tally;
  std::uint64_t expected = 0;
  using enum Operation;
  for (Operation op : {divide, remainder, sqrt, round_to_integral, round_to_integral_exact, minimum,
                       maximum_number, min_num, min_x86, next_up, logb, copysign, negate, abs})
    for (const char* name : {"e4m3fn", "e3m2fn", "e5m10"}) {
      const Format f = parse_format(name);
      if (arity(op) * f.width() > 16) continue;
      Trials trials(op, f, {RoundingMode::rup},
                    std::vector<Format>(static_cast<std::size_t>(arity(op)), f));
      const U mask = ones<U>(f.width());
      const std::size_t n = (std::size_t{2} << arity(op) * f.width()) + 7;
      for (std::size_t i = 0; i < n; ++i)
        if (arity(op) == 1)
          trials.add(U{i} & mask);
        else
          trials.add(U{i} & mask, U{i} >> f.width() & mask);
      trials.judge();
      trials.check(tally, "table", true, n);
      trials.check(tally, nullptr, false, n);
      trials.check(tally, "integers", true, 100);
      expected += 2 * n + 100;
    }
  tally.expect(expected);
}

TEST_CASE("a product of bfloat16 that the float lanes lose is lost in bfloat16, too") {
  Tally tally;
  const Format& f = bfloat16;
  Trials trials(Operation::multiply, f, {}, {f, f});
  // From 2^-136 to 2^-131, where 2^-134 is half of the least number and 2^-149 float's last digit.
  for (U a = 1; a < 0x400; ++a)
    for (U field = 118; field < 130; ++field)
      for (U fraction = 0; fraction < 0x80; fraction += 1 + a % 3)
        trials.add(a, field << 7 | fraction);
  for (U sign : {U{0}, U{0x8000}})
    for (U a = 0; a < 0x80; ++a)
      for (U b = 0; b < 0x80; ++b) trials.add(0x1e00 | a, sign | 0x1f00 | b);  // 2^-67 by 2^-65
  trials.check_everywhere(tally);
  tally.expect(Trials::compared(trials.count()));
}

TEST_CASE("sums and products of bfloat16 at both ends of float's exponents, with flags") {
  Tally tally;
  std::uint64_t expected = 0;
  std::vector<U> codes{0x7f80, 0xff80, 0x7fc0, 0x7f81};
  // Squares from 2^-266 to the largest ones, past 2^-149, 2^-134, 2^-126 and 2^128 on the way.
  for (U field : {0, 1, 2, 40, 51, 52, 53, 58, 60, 63, 64, 65, 127, 190, 191, 192, 252, 253, 254})
    for (U fraction : {0, 1, 0x40, 0x7f})
      for (U sign : {0, 0x8000}) codes.push_back(sign | field << 7 | fraction);
  for (const Format& to : formats({"bfloat16", "e8m7;ftz", "e8m4"}))
    for (Operation op : {Operation::add, Operation::subtract, Operation::multiply})
      for (Tininess tininess : {Tininess::after_rounding, Tininess::before_rounding}) {
        Trials trials(op, to, {.tininess = tininess}, {bfloat16, bfloat16});
        for (U a : codes)
          for (U b : codes) trials.add(a, b);
        trials.check_everywhere(tally);
        expected += Trials::compared(trials.count());
      }
  tally.expect(expected);
}

}  // namespace test_elementwise
