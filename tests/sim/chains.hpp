#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "products.hpp"
#include "random_units.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Chains of one product a block: of every kind, for every engine that computes them in integers.
namespace tests {

// An engine against the reference: the same codes and flags, whatever the operands.
class ChainComparison {
 public:
  // What its opinion has to say of each.
  explicit ChainComparison(std::string engine, std::string reason = {})
      : engine_(std::move(engine)), reason_(std::move(reason)) {}
  ~ChainComparison() { tally_.expect(expected_); }

  bool takes(const widthwise::Unit& u) const {
    const widthwise::Opinion o = opinion(engine_, u, true);
    return o.takes && (reason_.empty() || o.reason == reason_);
  }
  void random(const widthwise::Unit& u, const Rival::Shape& s, bool flags = true) {
    CAPTURE(to_string(u));
    CAPTURE(opinion(engine_, u, flags).reason);
    REQUIRE(takes(u));
    Rival(engine_, u, tally_, flags).compare_random(s, random_);
    expected_ += outputs_compared(s);
  }

  // Every product of two codes onto every sum.
  void one_step(const widthwise::Unit& u) {
    const CodeList a = all_codes(u.a.fmt), b = all_codes(u.b.fmt), c = all_codes(u.c.fmt);
    const Rival rival(engine_, u, tally_, true);
    widthwise::MatrixProduct p;
    p.m = std::size_t{1} << u.a.fmt.width(), p.k = 1, p.n = std::size_t{1} << u.b.fmt.width();
    p.a = a.rows(1), p.b = b.rows(p.n);
    for (std::size_t i = 0; i < std::size_t{1} << u.c.fmt.width(); ++i) {
      p.c = {c.rows(0, i).data, 0, 0};
      rival.compare(p, fmt::format("C {:x}", i));
      expected_ += p.m * p.n;
    }
  }

 private:
  static CodeList all_codes(const widthwise::Format& f) {
    CodeList x(f, std::size_t{1} << f.width());
    for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
    return x;
  }

  std::string engine_, reason_;
  ProductRandom random_{1};
  Tally tally_;
  std::uint64_t expected_ = 0;
};

inline constexpr const char* chains[] = {
    "mac(e5m10)",
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
    "fma(e5m14)",
    "fma(e5m15)",
    "mac(e5m14)",
    "mac(e5m15)",
    "fma(e6m30)",
    "fma(e6m31)",
    "mac(e6m30)",
    "mac(e6m31)",
    "fma(e5m14, sum=e5m26:odd)",
    "fma(e6m30, sum=e6m57:rup)",
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

inline constexpr const char* small_chains[] = {"mac(e3m2fn)",
                                               "fma(e3m2fn)",
                                               "mac(e2m3)",
                                               "fma(e3m2)",
                                               "mac(e3m2, product=e2m1fn)",
                                               "mac(e2m3, sum=e4m1:rtz, c=e4m1)",
                                               "fma(e2m3, sum=e2m1:odd, c=e2m1)",
                                               "mac(e3m2, product=e3m2:rtz, sum=e3m2:rup)",
                                               "mac(e3m2;nan=negative_zero;inf=no)",
                                               "fma(ue3m2)",
                                               "mac(e3m2;ftz;daz)"};

// Random units have one product a block now and then, and hardly ever one that is not cut on its
// way: what no chain has is taken away.
inline widthwise::Unit random_chain(random_units::Random& random, bool small) {
  widthwise::Unit u = random_units::unit(random, small ? 6 : 20, small ? 10 : 58);
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
  return u;
}

}  // namespace tests
