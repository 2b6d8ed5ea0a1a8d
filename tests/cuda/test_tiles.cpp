#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "cuda/kernels/product_tile.hpp"
#include "cuda/lane_plan.hpp"
#include "phases.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "sim/lanes/bounds.hpp"
#include "tests/sim/products.hpp"
#include "tests/turns.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_tiles {

// The GPU's tiles, run on the CPU, against the reference: the same codes, whatever the operands,
// but where the tile itself says that the definition has to compute an output.
namespace {

using namespace widthwise;
using namespace tests;
using lanes::Add;
using lanes::Multiply;

struct Shape {
  std::size_t m, k, n;
};

// Operands as codes.
struct Operands {
  CodeList a, b, c;
  bool with_c;
};
Operands operands(const Unit& u, const Shape& s, Manner a, Manner b, std::optional<Manner> c,
                  ProductRandom& random) {
  return {codes(u.a.fmt, s.m * s.k, a, random), codes(u.b.fmt, s.k * s.n, b, random),
          codes(u.c.fmt, s.m * s.n, c.value_or(Manner::zeros), random), c.has_value()};
}

// Times `scale`, a power of two with a sign.
template <class T>
std::vector<T> numbers(const Format& f, const CodeList& codes, std::size_t count, T scale = 1) {
  std::vector<T> to(count);
  std::vector<std::byte> held;
  Codec<T>(f).decode(codes.rows(1), 0, 1, count, held, to.data());
  for (T& x : to) x *= scale;
  return to;
}
template <class T>
double most(const std::vector<T>& x) {
  double z = 0;
  for (const T y : x)
    if (std::isfinite(y)) z = std::max(z, static_cast<double>(std::fabs(y)));
  return z;
}

struct Outputs {
  CodeList codes;
  std::vector<unsigned char> redo;
  bool watched;  // looks were wide apart enough for the kernel to be used at all
};

// Of fewer outputs than those that are launched: the CPU computes what lies outside a matrix, too.
template <class T, class Step>
using SmallTile = cuda::ProductTile<T, Step, 32, 32, 16, static_cast<int>(16 / sizeof(T)), 4>;

// A unit's kernel on the CPU.
template <template <class, class> class Tile>
class Tiles {
 public:
  Tiles(const Unit& u, ProductRandom& random)
      : unit_(u), plan_(cuda::lane_plan(u).plan), random_(random) {}

  bool takes() const { return plan_ && plan_->add != Add::random; }
  const lanes::Plan& plan() const { return *plan_; }

  Outputs run(const Operands& x, const Shape& s, Barriers barriers = Barriers::all) const {
    return plan_->carrier.digits == 24 ? run<float>(x, s, barriers) : run<double>(x, s, barriers);
  }

 private:
  template <class T>
  Outputs run(const Operands& x, const Shape& s, Barriers barriers) const {
    const std::size_t count = s.m * s.n;
    // Up is down, negated.
    const T scale = std::ldexp(plan_->mode == RoundingMode::rup ? T{-1} : T{1}, plan_->scale);
    const std::vector<T> a = numbers<T>(unit_.a.fmt, x.a, s.m * s.k, scale),
                         b = numbers<T>(unit_.b.fmt, x.b, s.k * s.n),
                         c = numbers<T>(unit_.c.fmt, x.c, count, scale);
    Outputs z{CodeList(unit_.out.fmt, count), std::vector<unsigned char>(count, 1), false};
    lanes::Watch w{16, 0};
    if (plan_->add != Add::native)
      w = lanes::Bounds(*plan_, unit_, Codec<T>(unit_.out.fmt))
              .watch(most(a) / std::fabs(scale), most(b));
    if (w.interval == 0) return z;
    z.watched = true;
    std::vector<T> result(count);
    const bool minus_zero =
        std::any_of(c.begin(), c.end(), [](T y) { return y == 0 && std::signbit(y); }) && x.with_c;
    run(cuda::TileArgs<T>{.a = a.data(),
                          .b = b.data(),
                          .c = x.with_c ? c.data() : nullptr,
                          .result = result.data(),
                          .redo = z.redo.data(),
                          .m = static_cast<int>(s.m),
                          .n = static_cast<int>(s.n),
                          .k = static_cast<int>(s.k),
                          .start = std::copysign(T{0}, scale),
                          .constants = lanes::constants<T>(*plan_, unit_),
                          .interval = static_cast<int>(w.interval),
                          .limit = static_cast<T>(w.limit * std::fabs(static_cast<double>(scale))),
                          .zeros_doubtful = plan_->add == Add::rounded ||
                                            (plan_->add == Add::normal && minus_zero)},
        barriers);
    for (T& y : result) y /= scale;
    Codec<T>(unit_.out.fmt).encode(result.data(), count, static_cast<std::byte*>(z.codes.data()));
    return z;
  }

  template <class T>
  void run(const cuda::TileArgs<T>& args, Barriers barriers) const {
    using enum Multiply;
    switch (plan_->add) {
      case Add::native:
        return plan_->multiply == exact ? run<exact, Add::native>(args, barriers)
                                        : run<native, Add::native>(args, barriers);
      case Add::normal:
        return plan_->multiply == exact ? run<exact, Add::normal>(args, barriers)
                                        : run<rounded, Add::normal>(args, barriers);
      case Add::cut:
        return plan_->multiply == exact ? run_cut<exact>(args, barriers)
                                        : run_cut<rounded>(args, barriers);
      default:
        return plan_->multiply == exact ? run<exact, Add::rounded>(args, barriers)
               : plan_->multiply == odd ? run<odd, Add::rounded>(args, barriers)
                                        : run<rounded, Add::rounded>(args, barriers);
    }
  }
  template <Multiply multiply, Add add, class T>
  void run(const cuda::TileArgs<T>& args, Barriers barriers) const {
    run<cuda::NearestStep<T, multiply, add>>(args, barriers);
  }
  template <Multiply multiply, class T>
  void run_cut(const cuda::TileArgs<T>& args, Barriers barriers) const {
    using enum RoundingMode;
    switch (plan_->mode) {
      case rtz: return run<cuda::CutStep<T, multiply, rtz>>(args, barriers);
      case rna: return run<cuda::CutStep<T, multiply, rna>>(args, barriers);
      default: return run<cuda::CutStep<T, multiply, rdn>>(args, barriers);
    }
  }
  template <class Step, class T>
  void run(const cuda::TileArgs<T>& args, Barriers barriers) const {
    // What a thread's operations name, this machine is set to: up is down, negated.
    using enum RoundingMode;
    const bool cut = plan_->add == Add::cut;
    const MachineRounding mode(!cut ? rne : plan_->mode == rup ? rdn : plan_->mode);
    using Kernel = Tile<T, Step>;
    const Kernel kernel(args);
    PhaseRun(kernel, barriers, random_)
        .blocks((args.n - 1) / Kernel::columns + 1, (args.m - 1) / Kernel::rows + 1);
  }

  Unit unit_;
  std::optional<lanes::Plan> plan_;
  ProductRandom& random_;
};

CodeList reference(const Unit& u, const Operands& x, const Shape& s) {
  CodeList want(u.out.fmt, s.m * s.n);
  MatrixProduct p;
  p.m = s.m, p.k = s.k, p.n = s.n;
  p.a = x.a.rows(s.k), p.b = x.b.rows(s.n);
  if (x.with_c) p.c = x.c.rows(s.n);
  p.result = want.data();
  prepare({.unit = u, .k = s.k}, "reference").product->run(p, 0, p.m);
  return want;
}

// Outputs compared, and those left to the definition.
struct Count {
  std::uint64_t sure = 0, redo = 0;
};

template <class Tiles>
Count compare(const Tiles& tiles, const Unit& u, const Operands& x, const Shape& s, Tally& tally,
              const std::string& what) {
  const Outputs got = tiles.run(x, s);
  Count z;
  if (!got.watched) return z;
  const CodeList want = reference(u, x, s);
  for (std::size_t i = 0; i < s.m * s.n; ++i) {
    if (got.redo[i]) {
      ++z.redo;
      continue;
    }
    ++z.sure;
    tally.check(got.codes.same(want, i), [&] {
      return fmt::format("{}, {}, output {} of {} x {} x {}: got {}, want {}", to_string(u), what,
                         i, s.m, s.k, s.n, got.codes.hexadecimal(i), want.hexadecimal(i));
    });
  }
  return z;
}

template <class Tiles>
Count compare_manners(const Tiles& tiles, const Unit& u, const Shape& s, Tally& tally,
                      ProductRandom& random) {
  Count z;
  const auto any = [&] { return static_cast<Manner>(random() % manners); };
  for (std::size_t i = 0; i < manners; ++i) {
    const auto a = static_cast<Manner>(i);
    for (const std::optional<Manner> c : {std::optional(a), std::optional(any()), {}}) {
      const Manner b = random() % 3 ? a : any();
      const Count some = compare(
          tiles, u, operands(u, s, a, b, c, random), s, tally,
          fmt::format("manners {} {} {}", i, static_cast<int>(b), c ? static_cast<int>(*c) : -1));
      z.sure += some.sure, z.redo += some.redo;
    }
  }
  return z;
}

// One for every sequence.
constexpr const char* sequences[] = {"mac(binary32)",
                                     "fma(binary32)",
                                     "fma(e4m3fn, sum=e5m10)",
                                     "fma(e4m3fn)",
                                     "fma(e5m10)",
                                     "mac(e5m10)",
                                     "mac(e5m9, product=e6m10, sum=e5m10)",
                                     "mac(binary64)",
                                     "fma(binary64)",
                                     "fma(e4m3fn, sum=e8m22)",
                                     "fma(e5m10, sum=e4m24)",
                                     "fma(e11m40)",
                                     "mac(e8m15)",
                                     "mac(e6m15, sum=e5m15)",
                                     "fma(e5m10, sum=e5m10:rtz)",
                                     "fma(e5m10, sum=e5m10:rup)",
                                     "fma(e5m10, sum=e5m10:rna)",
                                     "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                     "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                     "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)",
                                     "fma(e9m30, sum=e9m30:rtz)",
                                     "fma(e9m30, sum=e9m30:rup)",
                                     "fma(e9m30, sum=e9m30:rna)",
                                     "mac(e9m30, product=e9m30:rtz, sum=e9m30:rtz)",
                                     "mac(e9m30, product=e9m30:rdn, sum=e9m30:rdn)",
                                     "mac(e9m30, product=e9m30:rna, sum=e9m30:rna)"};
constexpr const char* others[] = {"mac(e8m7)",
                                  "mac(e4m3fn, sum=e5m10)",
                                  "mac(e4m3fn)",
                                  "mac(e5m2)",
                                  "mac(e3m2fn)",
                                  "mac(e2m1fn)",
                                  "mac(e9m6)",
                                  "mac(e4m3fn, product=e4m4, sum=e4m3fn)",
                                  "mac(e5m11)",
                                  "mac(e8m10)",
                                  "mac(e6m20)",
                                  "mac(e11m25)",
                                  "fma(e5m2)",
                                  "fma(e8m7)",
                                  "fma(e8m15)",
                                  "fma(e6m20)",
                                  "fma(e8m21)",
                                  "fma(e7m22)",
                                  "fma(e10m50)",
                                  "fma(e5m10, sum=e4m3fn)",
                                  "fma(e8m7, c=e8m9)",
                                  "mac(e4m3fn, sum=e8m7)",
                                  "mac(e5m2, sum=e5m10)",
                                  "mac(e5m10, product=e5m2, sum=e5m10)",
                                  "mac(e5m10, sum=e8m15)",
                                  "mac(e5m10, product=e4m3fn)",
                                  "mac(e3m7, product=e5m6)",
                                  "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                                  "mac(e8m7, product=e8m7:rtz, sum=e8m7:rtz)",
                                  "mac(e8m7, product=e8m7:rdn, sum=e8m7:rdn)",
                                  "mac(e4m3fn, product=e4m3fn:rup, sum=e4m3fn:rup)",
                                  "mac(e6m15, product=e6m15:rna, sum=e6m15:rna)",
                                  "fma(e8m7, sum=e8m7:rdn)",
                                  "mac(e5m10, product=e5m2:rtz, sum=e5m10:rtz)",
                                  "fma(e4m3fn, sum=binary32)",
                                  "mac(e8m7, product=binary32, sum=binary32)",
                                  "mac(binary32, product=binary32:rtz, sum=binary32:rtz)",
                                  "mac(binary32, product=binary32:rdn, sum=binary32:rdn)",
                                  "mac(e8m7, product=binary32:rup, sum=binary32:rup)",
                                  "fma(binary64, sum=binary64:rtz)",
                                  "fma(e5m10, sum=binary32:rdn)",
                                  "fma(e5m10, sum=binary32:rup)"};

}  // namespace

// Too long to be repeated under the sanitizers, which the tiles as they are launched go through.
TEST_SUITE_BEGIN("exhaustive");

TEST_CASE("tiles give the reference's codes: chains of every kind, ordinary and hostile operands") {
  std::vector<std::string> units(std::begin(sequences), std::end(sequences));
  units.insert(units.end(), std::begin(others), std::end(others));
  Tally tally;
  std::uint64_t sure = 0;
  for (const std::string& text : in_turn(units, 3)) {
    ProductRandom random(1);  // a unit's operands do not hang on whose turn it is
    CAPTURE(text);
    const Unit u = parse_unit(text);
    const Tiles<SmallTile> tiles(u, random);
    REQUIRE(tiles.takes());
    Count all;
    std::vector<Shape> shapes{{5, 49, 70}, {129, 17, 6}, {1, 1, 1}};
    if (is_long()) shapes.push_back({5, 49, 133});
    for (const Shape& s : shapes) {
      const Count some = compare_manners(tiles, u, s, tally, random);
      all.sure += some.sure, all.redo += some.redo;
    }
    CHECK(all.sure > 2000);
    CHECK(all.sure > all.redo / 3);
    sure += all.sure;
  }
  tally.expect(sure);
}

TEST_SUITE_END();

TEST_CASE("tiles as they are launched leave few outputs of ordinary operands to the definition") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t sure = 0;
  std::set<std::tuple<int, Multiply, Add, RoundingMode>> seen;
  for (const char* text : sequences) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    const Tiles<cuda::LaunchedTile> tiles(u, random);
    const lanes::Plan& plan = tiles.plan();
    seen.emplace(plan.carrier.digits, plan.multiply, plan.add, plan.mode);
    for (const std::optional<Manner> c : {std::optional(Manner::about_one), {}}) {
      const Shape s = c ? Shape{140, 41, 150} : Shape{129, 17, 128};
      const Operands x = operands(u, s, Manner::about_one, Manner::about_one, c, random);
      const Count z = compare(tiles, u, x, s, tally, "about one");
      CHECK(z.sure + z.redo == s.m * s.n);
      CHECK(z.redo < s.m * s.n / 50);
      sure += z.sure;
    }
  }
  CHECK(seen.size() == std::size(sequences));
  tally.expect(sure);
}

TEST_CASE("a barrier left out of a tile is seen") {
  ProductRandom random(3);
  const Unit u = parse_unit("mac(e5m10)");
  const Shape s{150, 77, 203};
  const Operands x = operands(u, s, Manner::about_one, Manner::about_one, std::nullopt, random);
  const CodeList want = reference(u, x, s);
  for (const Barriers barriers : {Barriers::none_after_load, Barriers::none_after_compute}) {
    const Outputs got = Tiles<cuda::LaunchedTile>(u, random).run(x, s, barriers);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < s.m * s.n; ++i) differ += got.redo[i] || !got.codes.same(want, i);
    CHECK(differ > s.m * s.n / 2);
  }
}

TEST_CASE("NaN stays NaN where digits are cut off, a GPU's too, all of whose digits are set") {
  using enum RoundingMode;
  for (const std::uint32_t bits : {0x7fffffffu, 0x7fc00000u, 0xffc00000u}) {
    const auto nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(cuda::cut<rtz>(nan, ~0u << 13)));
    CHECK(std::isnan(cuda::cut<rdn>(nan, ~0u << 13)));
    CHECK(std::isnan(cuda::cut<rna>(nan, ~0u << 13)));
  }
}

TEST_CASE("tiles have no sequence that rounds to fixed point") {
  for (const char* unit : {"mac(fixed16.8)", "fma(e5m10, c=fixed16.8, sum=fixed16.8)"})
    CHECK_FALSE(cuda::lane_plan(parse_unit(unit)).plan);
}

}  // namespace test_tiles
