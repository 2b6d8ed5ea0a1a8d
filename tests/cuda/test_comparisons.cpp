#include <fmt/format.h>

#include "cuda/elements.hpp"
#include "host_kernels.hpp"
#include "some_tables.hpp"
#include "tests/lib/operands.hpp"
#include "tests/lib/tally.hpp"
#include "tests/sim/items.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

namespace test_comparisons {

// Comparisons, scaleb and integers on a device whose kernels run on the CPU by their own bodies,
// against the CPU's own.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Comparison comparisons[] = {Comparison::quiet_equal,          Comparison::quiet_less,
                                      Comparison::quiet_less_equal,     Comparison::quiet_unordered,
                                      Comparison::signaling_equal,      Comparison::signaling_less,
                                      Comparison::signaling_less_equal, Comparison::total_order,
                                      Comparison::total_order_magnitude};

bool is_total(Comparison how) {
  return how == Comparison::total_order || how == Comparison::total_order_magnitude;
}

struct Truths {
  std::vector<std::uint8_t> result, flags;
  explicit Truths(std::size_t count) : result(count, 0x5a), flags(count, 0x5a) {}
};

void check(Comparison how, const CodeArray& a, const CodeArray& b, std::size_t count,
           Tally& tally) {
  Truths got(count), want(count), alone(count);
  cuda::compare(host_device(), how, a, b, count, got.result.data(), got.flags.data());
  cuda::compare(host_device(), how, a, b, count, alone.result.data(), nullptr);
  compare(how, a, b, count, want.result.data(), want.flags.data());
  for (std::size_t i = 0; i < count; ++i)
    tally.check(got.result[i] == want.result[i] && got.flags[i] == want.flags[i] &&
                    alone.result[i] == want.result[i],
                [&] {
                  return fmt::format("{} of {} and {}, pair {}: got {} flags {}, want {} flags {}",
                                     to_string(how), to_string(a.format), to_string(b.format), i,
                                     got.result[i], got.flags[i], want.result[i], want.flags[i]);
                });
}

// Every code of one beside every code of the other.
std::uint64_t check_pairs(const Format& f, const Format& g, Tally& tally) {
  Items a(f), b(g);
  for (std::uint64_t x = 0; x < std::uint64_t{1} << f.width(); ++x)
    for (std::uint64_t y = 0; y < std::uint64_t{1} << g.width(); ++y) a.add(x), b.add(y);
  std::uint64_t checked = 0;
  for (const Comparison how : comparisons) {
    if (is_total(how) && f != g) continue;
    check(how, {f, a.data()}, {g, b.data()}, a.count(), tally);
    checked += a.count();
  }
  return checked;
}

template <class U>
Items codes_of(const Format& f, std::size_t count, std::uint64_t seed) {
  Items items(f);
  const Operands<U> codes(f);
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) items.add(codes.any(random));
  return items;
}

// Classes, and the signs that lib's unpack sees.
template <class U>
std::uint64_t check_classes(const Format& f, Items a, Tally& tally) {
  const std::size_t count = a.count();
  Truths got(count), want(count);
  cuda::classify(host_device(), {f, a.data()}, count, got.result.data());
  cuda::signs(host_device(), {f, a.data()}, count, got.flags.data());
  classify({f, a.data()}, count, want.result.data());
  for (std::size_t i = 0; i < count; ++i) {
    const bool negative = unpack(Layout<U>(f), a.template at<U>(i)).negative;
    tally.check(got.result[i] == want.result[i] && got.flags[i] == negative, [&] {
      return fmt::format("class of {} {}: got {} sign {}, want {} sign {}", to_string(f), i,
                         got.result[i], got.flags[i], want.result[i], negative);
    });
  }
  return count;
}

template <class U>
std::uint64_t check_scaleb(const Format& from, const Format& to, const Env& env, Tally& tally) {
  constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;
  constexpr std::size_t count = 400;
  constexpr RandomSource source{7, 0xffffff00};  // the index passes a word
  Items a = codes_of<U>(from, count, 5), got(to), want(to);
  got.resize(count), want.resize(count);
  Truths raised(count), expected(count);
  std::vector<std::int64_t> n;
  for (std::size_t i = 0; i < count; ++i) n.push_back(static_cast<std::int64_t>(i % 41) - 20);
  n[0] = least, n[1] = most, n[2] = 2000, n[3] = -2000;
  const CodeArray x{from, a.data()};
  cuda::scaleb(host_device(), to, env, x, n.data(), count, got.data(), raised.flags.data(), source);
  scaleb(to, env, x, n.data(), count, want.data(), expected.flags.data(), source);
  for (std::size_t i = 0; i < count; ++i)
    tally.check(got.at<U>(i) == want.at<U>(i) && raised.flags[i] == expected.flags[i], [&] {
      return fmt::format("scaleb of {} to {} {}, element {} by {}: flags {}, want {}",
                         to_string(from), to_string(to), to_string(env.rounding), i, n[i],
                         raised.flags[i], expected.flags[i]);
    });
  return count;
}

constexpr std::size_t integers = 3000;

// Codes as 32 and 64 bits, signed or not.
template <class U>
std::uint64_t check_to_integers(const Format& f, const Env& env, Tally& tally) {
  const RandomSource source{8, 6};
  Items a = codes_of<U>(f, integers, 9);
  for (const IntegerType type : {IntegerType{32, true}, {32, false}, {64, true}, {64, false}}) {
    std::vector<std::uint64_t> got(integers), want(integers);
    Truths raised(integers), expected(integers);
    cuda::to_integers(host_device(), type, env, {f, a.data()}, integers, got.data(),
                      raised.flags.data(), source);
    to_integers(type, env, {f, a.data()}, integers, want.data(), expected.flags.data(), source);
    for (std::size_t i = 0; i < integers; ++i)
      tally.check(got[i] == want[i] && raised.flags[i] == expected.flags[i], [&] {
        return fmt::format("{} {} to {} bits, element {}: got {:x} flags {}, want {:x} flags {}",
                           to_string(f), to_string(env.rounding), type.width, i, got[i],
                           raised.flags[i], want[i], expected.flags[i]);
      });
  }
  return 4 * integers;
}

// All items of so many bits, the signs of signed ones in all bits above.
template <class Item, class U>
std::uint64_t check_from_integers(const Format& to, const Env& env, Tally& tally) {
  constexpr bool is_signed = std::is_signed_v<Item>;
  const RandomSource source{5, 3};
  std::mt19937_64 random(sizeof(Item));
  std::vector<Item> items{0, 1, std::numeric_limits<Item>::min(), std::numeric_limits<Item>::max()};
  while (items.size() < integers) items.push_back(static_cast<Item>(random() >> random() % 64));
  std::vector<std::uint64_t> words;
  for (const Item x : items) words.push_back(static_cast<std::uint64_t>(x));
  Items got(to), want(to);
  for (std::size_t i = 0; i < integers; ++i) got.add(U{}), want.add(U{});
  Truths raised(integers), expected(integers);
  cuda::from_integers(host_device(), {8 * sizeof(Item), is_signed}, to, env, items.data(), integers,
                      got.data(), raised.flags.data(), source);
  from_integers({64, is_signed}, to, env, words.data(), integers, want.data(),
                expected.flags.data(), source);
  for (std::size_t i = 0; i < integers; ++i)
    tally.check(got.at<U>(i) == want.at<U>(i) && raised.flags[i] == expected.flags[i], [&] {
      return fmt::format("{} bits to {} {}, element {}: {:x}, flags {}, want {}", 8 * sizeof(Item),
                         to_string(to), to_string(env.rounding), i, words[i], raised.flags[i],
                         expected.flags[i]);
    });
  return integers;
}

template <class U>
std::uint64_t check_integers(const Format& f, const Env& env, Tally& tally) {
  return check_to_integers<U>(f, env, tally) + check_from_integers<std::int8_t, U>(f, env, tally) +
         check_from_integers<std::uint8_t, U>(f, env, tally) +
         check_from_integers<std::int16_t, U>(f, env, tally) +
         check_from_integers<std::uint32_t, U>(f, env, tally) +
         check_from_integers<std::int64_t, U>(f, env, tally) +
         check_from_integers<std::uint64_t, U>(f, env, tally);
}

}  // namespace

TEST_CASE("codes become integers and integers codes on threads as on the CPU") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* mode : {"rne", "rtz", "rup", "odd", "sr8"}) {
    const Env env{.rounding = parse_rounding(mode)};
    for (const char* f : {"e4m3fn", "e5m10", "e8m7", "binary32", "e4m3fnuz", "e8m0fnu"})
      expected += check_integers<std::uint64_t>(parse_format(f), env, tally);
    expected += check_integers<uint128>(parse_format("e15m80"), env, tally);
    expected += check_integers<Wide<4>>(parse_format("e15m200"), env, tally);
  }
  tally.expect(expected);
}

TEST_CASE("comparisons on threads are the CPU's, for all pairs of small formats") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* f : {"e4m3fn", "e5m2", "e2m1fn", "e4m3fnuz", "e8m0fnu", "binary8p3se"})
    for (const char* g : {"e4m3fn", "e5m2", "e8m0fnu"})
      expected += check_pairs(parse_format(f), parse_format(g), tally);
  expected += check_pairs(parse_format("e4m3fnuz"), parse_format("e4m3fnuz"), tally);
  tally.expect(expected);
}

TEST_CASE("comparisons on threads take integers as wide as the formats want") {
  Tally tally;
  constexpr std::size_t count = 2000;
  const auto check_all = [&](const Format& f, Items a, const Format& g, Items b) {
    for (const Comparison how : comparisons)
      if (!is_total(how) || f == g) check(how, {f, a.data()}, {g, b.data()}, count, tally);
  };
  const Format wide = parse_format("e15m63"), widest = parse_format("e19m220");
  check_all(wide, codes_of<uint128>(wide, count, 1), wide, codes_of<uint128>(wide, count, 2));
  check_all(binary32, codes_of<std::uint64_t>(binary32, count, 3), widest,
            codes_of<Wide<4>>(widest, count, 4));
  tally.expect(count * (9 + 7));
}

TEST_CASE("classes and signs on threads are the CPU's: small formats, and wide ones") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* name : {"e4m3fn", "e5m2", "e2m1fn", "e4m3fnuz", "e8m0fnu", "binary8p3se"}) {
    const Format f = parse_format(name);
    Items all(f);
    for (std::uint64_t code = 0; code < std::uint64_t{1} << f.width(); ++code) all.add(code);
    expected += check_classes<std::uint64_t>(f, all, tally);
  }
  const Format wide = parse_format("e15m63"), widest = parse_format("e19m220");
  expected += check_classes<uint128>(wide, codes_of<uint128>(wide, 2000, 6), tally);
  expected += check_classes<Wide<4>>(widest, codes_of<Wide<4>>(widest, 2000, 7), tally);
  tally.expect(expected);
}

TEST_CASE("scaleb on threads is the CPU's, by any power") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* mode : {"rne", "rtz", "rup", "odd", "sr8"}) {
    const Env env{.rounding = parse_rounding(mode)};
    for (const char* from : {"e5m2", "e4m3fn", "binary32"})
      for (const char* to : {"e4m3fnuz", "binary16", "binary32"})
        expected += check_scaleb<std::uint64_t>(parse_format(from), parse_format(to), env, tally);
    expected += check_scaleb<uint128>(binary64, binary64, env, tally);
    expected += check_scaleb<Wide<4>>(parse_format("e15m112"), parse_format("e15m112"), env, tally);
  }
  tally.expect(expected);
}

TEST_CASE("codes of tables are compared, classified, scaled and made integers as on the CPU") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& f : tables()) {
    expected += check_pairs(f, f, tally) + check_pairs(f, parse_format("e4m3fn"), tally);
    Items all(f);
    for (std::uint64_t code = 0; code < std::uint64_t{1} << f.width(); ++code) all.add(code);
    expected += check_classes<uint128>(f, all, tally);
    for (const char* mode : {"rne", "rtz", "sr8"}) {
      const Env env{.rounding = parse_rounding(mode)};
      expected += check_scaleb<std::uint64_t>(f, binary32, env, tally);
      expected += check_scaleb<std::uint64_t>(binary32, f, env, tally);
      expected += check_integers<std::uint64_t>(f, env, tally);
    }
  }
  tally.expect(expected);
}

TEST_CASE("comparisons and scaleb that threads do not compute are refused in words") {
  const Format wide = parse_format("e19m252");
  CHECK_THROWS_WITH_AS(cuda::compare(host_device(), Comparison::quiet_less, {wide, nullptr},
                                     {binary32, nullptr}, 1, nullptr, nullptr),
                       "comparing e19m252 and e8m23: 272 digits of working precision are needed, a "
                       "GPU's threads have 256; compute on the CPU",
                       std::invalid_argument);
  CHECK_THROWS_AS(cuda::compare(host_device(), Comparison::total_order, {binary16, nullptr},
                                {binary32, nullptr}, 1, nullptr, nullptr),
                  std::invalid_argument);
  CHECK_THROWS_AS(
      cuda::scaleb(host_device(), wide, {}, {binary32, nullptr}, nullptr, 1, nullptr, nullptr),
      std::invalid_argument);
}

}  // namespace test_comparisons
