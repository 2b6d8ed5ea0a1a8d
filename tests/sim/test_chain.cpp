#include <fmt/format.h>

#include "products.hpp"
#include "random_units.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Rows of integers against the reference: the same codes and flags, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

class Comparison {
 public:
  ~Comparison() { tally_.expect(expected_); }

  void random(const Unit& u, const Rival::Shape& s, bool flags = true) {
    CAPTURE(to_string(u));
    const Opinion o = opinion("chain", u, flags);
    CAPTURE(o.reason);
    REQUIRE(o.takes);
    Rival("chain", u, tally_, flags).compare_random(s, random_);
    expected_ += outputs_compared(s);
  }
  void one(const Rival& rival, const MatrixProduct& p, const std::string& what) {
    rival.compare(p, what);
    expected_ += p.m * p.n;
  }
  Tally& tally() { return tally_; }

 private:
  ProductRandom random_{1};
  Tally tally_;
  std::uint64_t expected_ = 0;
};

constexpr Rival::Shape shapes[] = {{2, 1, 70}, {1, 21, 35}};

constexpr const char* chains[] = {"mac(e5m10)",
                                  "mac(e4m3fn)",
                                  "mac(e8m7)",
                                  "mac(e5m2)",
                                  "mac(e3m2fn)",
                                  "mac(e2m1fn)",
                                  "mac(e9m6)",
                                  "mac(e4m3fn, product=e4m4, sum=e4m3fn)",
                                  "mac(e8m15)",
                                  "mac(e6m20)",
                                  "mac(e11m25)",
                                  "mac(binary32)",
                                  "mac(binary64)",
                                  "fma(binary32)",
                                  "fma(binary64)",
                                  "fma(e5m10)",
                                  "fma(e4m3fn)",
                                  "fma(e8m7)",
                                  "mac(e4m3fn, sum=e5m10)",
                                  "mac(e5m10, product=e5m2, sum=e5m10)",
                                  "mac(e5m10, product=e4m3fn)",
                                  "fma(e4m3fn, sum=binary32)",
                                  "mac(e5m10, sum=e4m3fn)",
                                  "mac(e5m10, product=e4m3fn:rtz, sum=e5m10:rup)",
                                  "mac(e4m3fnuz)",
                                  "fma(e5m2fnuz)",
                                  "mac(e8m26)",
                                  "fma(e4m58)",
                                  "mac(e26m8)",
                                  "mac(e40m12)",
                                  "mac(e5m10, final=e4m3fn)",
                                  "fma(e4m3fn, sum=e5m10, promote=3:binary32)",
                                  "mac(e4m3fn, sum=e5m10:sr7, promote=5:e8m15:sr9, final=e5m2:sr3)",
                                  "mac(e5m10, product=e5m10:sr13, sum=e5m10:sr16)",
                                  "mac(e5m10, sum=e5m10:sr20:half)",
                                  "mac(e5m10, sum=e5m10:sr17:even)",
                                  "mac(e5m10, product=e5m10:sr40, sum=e5m10:rdn)",
                                  "fma(e8m20, sum=e8m20:sr33)",
                                  "fma(e8m7, sum=e8m7:sr5:half)"};

}  // namespace

TEST_CASE("rows give the reference's codes and flags: chains of every kind") {
  Comparison with_reference;
  on_every_target([&] {
    for (const char* text : chains)
      for (const Rival::Shape& s : shapes) with_reference.random(parse_unit(text), s);
  });
}

TEST_CASE("rows give the reference's codes: every mode, without flags") {
  Comparison with_reference;
  for (int mode = 0; mode < deterministic_modes; ++mode)
    for (const char* text : {"mac(e5m10)", "mac(e3m3)", "fma(e8m30)"}) {
      Unit u = parse_unit(text);
      u.out.rm = static_cast<RoundingMode>(mode);
      if (u.product.round) u.product.round->rm = static_cast<RoundingMode>((mode * 3 + 1) % 11);
      with_reference.random(u, {2, 9, 35}, false);
    }
}

TEST_CASE("rows give the reference's codes and flags: presets of one product a block") {
  Comparison with_reference;
  int taken = 0;
  for (const Preset& p : presets()) {
    if (!opinion("chain", p.unit).takes) continue;
    with_reference.random(p.unit, {2, 19, 35});
    ++taken;
  }
  CHECK(taken == 4);  // fma.f32, muladd.f32, mac.bf16.f32.bf16, approx.f16
}

TEST_CASE("rows give the reference's codes and flags: more steps than a panel, many panels") {
  Comparison with_reference;
  with_reference.random(parse_unit("mac(e5m10, sum=e5m10:sr13)"), {1, 1030, 3});
  with_reference.random(parse_unit("fma(e4m3fn, sum=e5m10, promote=7:binary32)"), {1, 519, 3});
  with_reference.random(parse_unit("mac(e4m3fnuz)"), {67, 3, 5});
  with_reference.random(parse_unit("mac(e8m26)"), {2, 3, 580});
}

// Random units have one product a block now and then, and hardly ever one that is not cut on its
// way: what the engine refuses is taken away.
TEST_CASE("rows give the reference's codes and flags: random units") {
  random_units::Random random(5);
  Comparison with_reference;
  for (int i = 0; i < 500; ++i) {
    Unit u = random_units::unit(random, i % 3 ? 6 : 20, i % 3 ? 10 : 58);
    u.lanes = 1;
    u.scale.reset(), u.groups.reset(), u.late_frac.reset();
    u.group_sum = u.block_sum = u.c_sum = {};
    u.chain.lane_permutation.reset();
    u.product.overflow_to_inf_at.reset();
    const auto once = [](auto& r) {
      if (r) r->post_norm_frac.reset(), r->post_norm_rm = {};
    };
    once(u.product.round), once(u.chain.c_round), once(u.chain.final);
    u.out.post_norm_frac.reset(), u.out.post_norm_rm = {};
    if (u.chain.promote) {
      u.chain.promote->interval = 1 + u.chain.promote->interval % 5;
      u.chain.promote->round.post_norm_frac.reset();
      u.chain.promote->round.post_norm_rm = {};
    }
    if (!opinion("chain", u, true).takes) continue;
    with_reference.random(u, {1, 7, 17});
  }
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one step in rows: every product of two codes onto every sum, with flags") {
    Comparison with_reference;
    for (const char* text :
         {"mac(e3m2fn)", "fma(e3m2fn)", "mac(e2m3)", "fma(e3m2)", "mac(e3m2, product=e2m1fn)",
          "mac(e2m3, sum=e4m1:rtz, c=e4m1)", "fma(e2m3, sum=e2m1:odd, c=e2m1)",
          "mac(e3m2, product=e3m2:rtz, sum=e3m2:rup)", "mac(e3m2;nan=negative_zero;inf=no)",
          "fma(ue3m2)", "mac(e3m2;ftz;daz)"}) {
      const Unit u = parse_unit(text);
      CAPTURE(text);
      const auto all = [](const Format& f) {
        CodeList x(f, std::size_t{1} << f.width());
        for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
        return x;
      };
      const CodeList a = all(u.a.fmt), b = all(u.b.fmt), c = all(u.c.fmt);
      const Rival rows("chain", u, with_reference.tally(), true);
      MatrixProduct p;
      p.m = std::size_t{1} << u.a.fmt.width(), p.k = 1, p.n = std::size_t{1} << u.b.fmt.width();
      p.a = a.rows(1), p.b = b.rows(p.n);
      for (std::size_t i = 0; i < std::size_t{1} << u.c.fmt.width(); ++i) {
        p.c = {c.rows(0, i).data, 0, 0};
        with_reference.one(rows, p, fmt::format("C {:x}", i));
      }
    }
  }
}

TEST_CASE("rows refuse what they cannot compute, and say why") {
  const auto reason = [](const char* text) {
    const Opinion o = opinion("chain", parse_unit(text), true);
    return o.takes ? std::string("taken") : o.reason;
  };
  CHECK(reason("hopper.f16.f32") == "more than one product a block");
  CHECK(reason("mac(e15m112)") == "codes and roundings take 128 digits, the rows have 64");
  CHECK(reason("mac(e60m3)") == "exponents of 60 bits are too long for rows of 64");
  CHECK(reason("mac(e5m59)").find("take 65 digits") != std::string::npos);
  CHECK(reason("mac(e5m58)") == "taken");
  CHECK(reason("mac(e5m10, sum=e5m10:sr50)").find("take 65 digits") != std::string::npos);
}
