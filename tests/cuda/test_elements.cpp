#include <fmt/format.h>

#include "cuda/elements.hpp"
#include "host_kernels.hpp"
#include "tests/lib/operands.hpp"
#include "tests/lib/small.hpp"
#include "tests/sim/boundaries.hpp"
#include "tests/sim/items.hpp"
#include "tests/turns.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/text.hpp"

namespace test_elements {

// Elementwise operations on a device whose kernels run on the CPU by their own bodies, against the
// definition one value at a time.
namespace {

using namespace widthwise;
using namespace tests;

constexpr RandomSource source{0x123456789abcdef0, 0xfffffff0};  // the index passes a word

// An operation, and operands to try it on.
template <class U>
class Trial {
 public:
  Trial(Operation op, const Format& to, const Env& env, std::vector<Format> formats)
      : op_(op), to_(to), env_(env), formats_(std::move(formats)) {
    for (const Format& f : formats_) layouts_.emplace_back(f), operands_.emplace_back(f);
  }

  void add(const std::array<U, 3>& x) {
    for (std::size_t j = 0; j < formats_.size(); ++j) operands_[j].add(x[j]);
    ++count_;
  }
  std::size_t count() const { return count_; }

  void check(Tally& tally, const char* way, bool flags) {
    const cuda::DeviceElementwise operation(host_device(), op_, to_, env_, formats_, flags);
    if (std::string_view(operation.way()) != way)
      FAIL("by " << std::string(operation.way()) << ": " << text());
    std::vector<const void*> data;
    for (Items& x : operands_) data.push_back(x.data());
    constexpr std::size_t guard = 64;  // elements that are nobody's
    Items got(to_);
    got.resize(count_ + guard);
    const U beyond = got.template at<U>(count_);
    std::vector<std::uint8_t> raised(count_ + guard, 0x5a);
    operation.run(data, count_, got.data(), flags ? raised.data() : nullptr, source);
    const Rounder<U> to(to_, env_);
    for (std::size_t i = 0; i < count_; ++i)
      compare(tally, to, i, got.template at<U>(i), raised[i], flags);
    for (std::size_t i = count_; i < count_ + guard; ++i)
      if (got.template at<U>(i) != beyond || raised[i] != 0x5a) FAIL("past the end: " << text());
  }

 private:
  void compare(Tally& tally, const Rounder<U>& to, std::size_t i, const U& got, int raised,
               bool flags) {
    std::array<Coded<U>, 3> x{};
    for (std::size_t j = 0; j < formats_.size(); ++j)
      x[j] = {&layouts_[j], operands_[j].template at<U>(i)};
    const int k = env_.rounding.random_bits;
    const std::uint64_t bits =
        k > 0 ? widthwise::random_bits(k, {source.seed, source.first_index + i}, Slot::out, 0) : 0;
    const Result<U> want = tests::apply(op_, to, x.data(), U(bits));
    tally.check(got == want.code && (!flags || raised == want.flags), [&] {
      return fmt::format("{} {}: got {} flags {}, want {} flags {}", call_text(op_, x.data()),
                         text(), hex(limbs(got)), raised, hex(limbs(want.code)), want.flags);
    });
  }
  std::string text() const {
    return fmt::format("-> {} {}", to_string(to_), to_string(env_.rounding));
  }

  Operation op_;
  Format to_;
  Env env_;
  std::vector<Format> formats_;
  std::vector<Layout<U>> layouts_;
  std::vector<Items> operands_;
  std::size_t count_ = 0;
};

constexpr Operation last_operation = Operation::abs;

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (int i = 0; i <= static_cast<int>(last_operation); ++i)
    all.push_back(static_cast<Operation>(i));
  return all;
}

std::vector<Format> like(Operation op, const Format& f) {
  return std::vector<Format>(static_cast<std::size_t>(arity(op)), f);
}

// Every nth environment, beginning with another one each time.
class Sampled {
 public:
  explicit Sampled(std::size_t step) : step_(step) {}
  template <class Do>
  void each(const Do& what) {
    const std::vector<Env> all = all_environments();
    for (std::size_t i = first_++ % step_; i < all.size(); i += step_) what(all[i]);
  }

 private:
  std::size_t step_, first_ = 0;
};

}  // namespace

TEST_CASE("the definition on threads computes every operation on all codes of tiny formats") {
  Tally tally;
  std::uint64_t expected = 0;
  Sampled environments(5);
  for (const Format& f : tiny_formats())
    for (const Operation op : operations()) {
      const std::uint64_t codes = std::uint64_t{1} << f.width();
      environments.each([&](const Env& env) {
        Trial<std::uint64_t> trial(op, f, env, like(op, f));
        const int n = std::min(arity(op), 2);
        for (std::uint64_t a = 0; a < codes; ++a)
          for (std::uint64_t b = 0; b < (n == 2 ? codes : 1); ++b)
            trial.add({a, b, (a * 5 + b * 3) % codes});
        trial.check(tally, "integers", true);
        expected += trial.count();
      });
    }
  tally.expect(expected);
}

TEST_CASE("the definition on threads computes 8-bit formats of every kind") {
  Tally tally;
  std::uint64_t expected = 0;
  Sampled environments(36);
  for (const Format& f : small_formats())
    for (const Operation op : operations()) {
      const std::uint64_t codes = std::uint64_t{1} << f.width();
      environments.each([&](const Env& env) {
        Trial<std::uint64_t> trial(op, f, env, like(op, f));
        for (std::uint64_t a = 0; a < codes; ++a)
          for (std::uint64_t b = 0; b < (arity(op) > 1 ? 16 : 1); ++b)
            trial.add({a, (a * 11 + b * codes / 16) % codes, (a * 3 + b * 7) % codes});
        trial.check(tally, "integers", true);
        expected += trial.count();
      });
    }
  tally.expect(expected);
}

// Where a launch mixes formats, and NaN keeps what it carries.
TEST_CASE("the definition on threads converts and fuses between formats, payloads of NaN too") {
  Tally tally;
  std::uint64_t expected = 0;
  Random random(1);
  Sampled environments(3);
  const auto all = formats({"e4m3fn", "e5m10", "bfloat16", "binary32", "e8m0fnu", "binary8p3se"});
  for (const Format& to : all)
    for (const Format& from : all)
      for (const Operation op : {Operation::convert, Operation::fma})
        for (const NanResult nan :
             {NanResult::canonical, NanResult::propagate, NanResult::negative, NanResult::x86})
          environments.each([&](Env env) {
            env.nan = nan;
            const Operands<std::uint64_t> codes(from), others(all[0]), addends(to);
            std::vector<Format> x{from, all[0], to};
            x.resize(static_cast<std::size_t>(arity(op)));
            Trial<std::uint64_t> trial(op, to, env, x);
            for (int i = 0; i < 100; ++i)
              trial.add({codes.any(random), others.any(random), addends.any(random)});
            trial.check(tally, "integers", true);
            expected += trial.count();
          });
  tally.expect(expected);
}

// Against the definition in yet wider integers.
template <class U>
std::uint64_t check_wide(std::string_view name, std::uint64_t seed, Tally& tally) {
  const Format f = parse_format(name);
  const Operands<U> codes(f);
  Random random(seed);
  std::uint64_t checked = 0;
  Sampled environments(4);
  for (const Operation op : operations())
    environments.each([&](const Env& env) {
      Trial<U> trial(op, f, env, like(op, f));
      for (int i = 0; i < 40; ++i) {
        std::array<Coded<U>, 3> x;
        draw(op, codes, f, random, x.data());
        trial.add({x[0].code, x[1].code, x[2].code});
      }
      trial.check(tally, "integers", true);
      checked += trial.count();
    });
  return checked;
}

TEST_CASE("the definition on threads computes wide formats in wider integers") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* f : {"binary32", "e11m40", "binary64"})
    expected += check_wide<uint128>(f, 2, tally);
  for (const char* f : {"e15m63", "binary128"}) expected += check_wide<Wide<4>>(f, 3, tally);
  for (const char* f : {"e15m112;bias=-9000", "e20m140", "e19m220"})
    expected += check_wide<Wide<17>>(f, 4, tally);
  tally.expect(expected);
}

TEST_CASE("what threads do not compute is refused in words") {
  const auto make = [](Operation op, const char* to, std::vector<Format> operands) {
    cuda::DeviceElementwise(host_device(), op, parse_format(to), {}, operands, false);
  };
  const Format wide = parse_format("e19m252");
  CHECK_THROWS_WITH_AS(
      make(Operation::sqrt, "binary32", {wide}),
      "operands e19m252, result e8m23: 272 digits of working precision are needed, a "
      "GPU's threads have 256; compute on the CPU",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(make(Operation::add, "binary32", {binary32}),
                       "operands: 1 given; the operation takes 2", std::invalid_argument);
  CHECK_THROWS_AS(make(Operation::abs, "binary32", {binary16}), std::invalid_argument);
}

TEST_CASE("no elements are no launch") {
  const Format f[] = {binary32};
  const cuda::DeviceElementwise roots(host_device(), Operation::sqrt, binary32, {}, f, true);
  const std::size_t before = host_device().launches;
  const void* none[] = {nullptr};
  roots.run(none, 0, nullptr, nullptr);
  CHECK(host_device().launches == before);
}

// Numbers of `from` about all that rounding to the format asks: its codes, or boundaries in it.
std::vector<std::uint64_t> numbers(const Format& from, const Format& to, Random& random) {
  std::vector<std::uint64_t> codes;
  if (from.width() == 16)
    for (std::uint64_t code = 0; code < 0x10000; ++code) codes.push_back(code);
  if (from == binary32)
    for (const float x : boundaries<float>(to, random))
      codes.push_back(std::bit_cast<std::uint32_t>(x));
  if (from == binary64)
    for (const double x : boundaries<double>(to, random))
      codes.push_back(std::bit_cast<std::uint64_t>(x));
  const std::uint64_t mask = ones<std::uint64_t>(from.width());
  for (int i = 0; i < 500; ++i) codes.push_back(random() & mask);
  for (const std::uint64_t nan : {1, 0x300, 0x7fffff})  // payloads, signalling and not
    for (const std::uint64_t sign : {std::uint64_t{0}, Layout<std::uint64_t>(from).sign})
      codes.push_back(Layout<std::uint64_t>(from).infinity |
                      (nan & ones<std::uint64_t>(from.frac_bits)) | sign);
  return codes;
}

std::vector<Format> quantised_formats() {
  std::vector<Format> all = small_formats();
  for (const Format& f : formats(
           {"e5m10", "bfloat16", "e5m10;overflow=max", "bfloat16;overflow=nan", "binary16p11se",
            "e6m9", "e7m8;bias=100", "e7m8;bias=14", "e7m8;bias=13", "e5m2;ftz", "e4m11;bias=-3",
            "e5m9", "ue8m8", "e8m4", "e8m7;nan=negative_zero;inf=no", "e1m14;nan=none"}))
    all.push_back(f);
  return all;
}

// Whether the quantise kernels are made for it, by the words of docs/exactness.md.
bool quantises(const Format& from, const Format& f, const Env& env) {
  const Rounding& r = env.rounding;
  const int digits = f.precision() + (r.stochastic() ? r.random_bits + 1 : 1);
  const bool odd_digit =
      f.precision() == 1 && !f.is_p3109() &&
      (r.mode == RoundingMode::rne || r.mode == RoundingMode::rno || r.mode == RoundingMode::odd);
  if (f.all_normal() || f.ftz || odd_digit || digits > 23 || f.emin() < -126) return false;
  const bool added_up = f.emax() + 1 + 24 - digits <= 127;
  return added_up || (from != binary64 && f.emin() == -126 && f.emax() <= 127 && f.width() > 8);
}

TEST_CASE("numbers become codes of at most 16 bits as the definition says") {
  Tally tally;
  std::uint64_t expected = 0;
  Random random(5);
  Sampled environments(8);
  std::size_t quick = 0;
  for (const Format& from : {binary32, binary64, binary16, bfloat16})
    for (const Format& to : in_turn(quantised_formats(), 3)) {
      const std::vector<std::uint64_t> all = numbers(from, to, random);
      environments.each([&](const Env& env) {
        const bool takes = quantises(from, to, env);
        quick += takes;
        if (from.width() == 16 && !takes) return;  // the others are threads' way, and slow here
        Trial<std::uint64_t> trial(Operation::convert, to, env, {from});
        for (const std::uint64_t x : all) trial.add({x});
        trial.check(tally, takes ? "quantise" : "integers", false);
        expected += trial.count();
      });
    }
  CHECK(quick > (is_long() ? 500 : 150));
  tally.expect(expected);
}

TEST_CASE("codes of at most 16 bits become the numbers they stand for") {
  Tally tally;
  std::uint64_t expected = 0;
  std::vector<Format> all = quantised_formats();
  for (const Format& f : formats({"e8m7;bias=126", "e8m7;bias=129", "binary16p8se", "e7m8;bias=-1",
                                  "e7m8;bias=0", "e5m10;daz", "e4m3;bias=141", "e4m3;bias=150"}))
    all.push_back(f);
  std::size_t quick = 0;
  for (const Format& from : all)
    for (const Format& to : {binary32, binary64}) {
      const bool takes = !from.all_normal() && !from.daz && from.emax() + from.bias < 255 &&
                         from.bias >= 0 && from.emax() <= 127 &&
                         from.emin() - from.frac_bits >= -149;
      quick += takes;
      Trial<std::uint64_t> trial(Operation::convert, to, {}, {from});
      for (std::uint64_t code = 0; code >> from.width() == 0; ++code) trial.add({code});
      trial.check(tally, takes ? "dequantise" : "integers", false);
      expected += trial.count();
    }
  CHECK(quick > 100);
  tally.expect(expected);
}

// At addresses that packs of numbers do not begin at.
TEST_CASE("arrays that lie askew are converted as well") {
  Random random(6);
  Tally tally;
  constexpr std::size_t n = 1003;
  std::vector<float> numbers(n + 8);
  for (float& x : numbers) x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  std::vector<std::uint8_t> straight(n + 8), askew(n + 8);
  const Format from[] = {binary32};
  const cuda::DeviceElementwise quantise(host_device(), Operation::convert, e4m3fn, {}, from,
                                         false);
  for (const std::size_t off : {1, 2, 3, 4, 7}) {
    const void* at[] = {numbers.data()};
    const void* later[] = {numbers.data() + off};
    quantise.run(at, n + off, straight.data(), nullptr);
    quantise.run(later, n, askew.data() + off % 4, nullptr);
    for (std::size_t i = 0; i < n; ++i)
      tally.check(askew[i + off % 4] == straight[i + off],
                  [&] { return fmt::format("element {}, {} on", i, off); });
  }
  tally.expect(5 * n);
}

// Whether floats compute it, by the words of docs/exactness.md.
bool fuses(const Format& f, const Env& env) {
  return quantises(binary64, f, env) && !f.daz && f.bias >= 0 && f.emax() + f.bias < 255;
}

TEST_CASE("sums and products of all pairs of small codes are the definition's in float lanes") {
  Tally tally;
  std::uint64_t expected = 0;
  Random random(7);
  Sampled environments(9);
  std::size_t quick = 0;
  for (const std::vector<Format>& list : {tiny_formats(), main_formats()})
    for (const Format& f : list)
      for (const Operation op :
           {Operation::add, Operation::subtract, Operation::multiply, Operation::fma})
        environments.each([&](const Env& env) {
          if (!fuses(f, env)) return;
          ++quick;
          Trial<std::uint64_t> trial(op, f, env, like(op, f));
          const std::uint64_t codes = std::uint64_t{1} << f.width();
          for (std::uint64_t a = 0; a < codes; ++a)
            for (std::uint64_t b = 0; b < codes; ++b) trial.add({a, b, random() % codes});
          trial.check(tally, "float lanes", false);
          expected += trial.count();
        });
  CHECK(quick > 200);
  tally.expect(expected);
}

TEST_CASE("sums and products of 16 bits, and of mixed formats, are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  Random random(8);
  Sampled environments(4);
  for (const Format& f : formats({"e5m10", "e6m9", "e4m7", "e5m10;overflow=max", "binary16p11se"}))
    for (const Operation op :
         {Operation::add, Operation::subtract, Operation::multiply, Operation::fma})
      environments.each([&](const Env& env) {
        const Operands<std::uint64_t> codes(f);
        Trial<std::uint64_t> trial(op, f, env, like(op, f));
        for (const std::uint64_t a : codes.named())
          for (const std::uint64_t b : codes.named()) trial.add({a, b, codes.any(random)});
        for (int i = 0; i < 2000; ++i) {
          std::array<Coded<std::uint64_t>, 3> x;
          draw(op, codes, f, random, x.data());
          trial.add({x[0].code, x[1].code, x[2].code});
        }
        trial.check(tally, fuses(f, env) ? "float lanes" : "integers", false);
        expected += trial.count();
      });
  for (const Format& to : formats({"e5m10", "e8m7"})) {  // sums that end past a float's range, too
    const std::vector<Format> from = formats({"bfloat16", "e5m10", "bfloat16"});
    const Operands<std::uint64_t> a(from[0]), b(from[1]);
    Trial<std::uint64_t> trial(Operation::fma, to, {}, from);
    for (const std::uint64_t x : a.named())
      for (const std::uint64_t y : b.named())
        for (const std::uint64_t z : a.named()) trial.add({x, y, z});
    trial.check(tally, to == bfloat16 ? "integers" : "float lanes", false);
    expected += trial.count();
  }
  tally.expect(expected);
}

}  // namespace test_elements
