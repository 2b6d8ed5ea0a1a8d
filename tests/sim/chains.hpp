#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "products.hpp"
#include "random_units.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Chains of one product a block: of every kind, for every engine that computes them in integers.
namespace tests {

// An engine against the reference: the same codes and flags, whatever the operands.
class ChainComparison {
 public:
  // Of units that go one of its ways, if it has more than one.
  explicit ChainComparison(std::string engine,
                           std::function<bool(const widthwise::Unit&)> goes_that_way = {})
      : engine_(std::move(engine)), goes_that_way_(std::move(goes_that_way)) {}
  ~ChainComparison() { tally_.expect(expected_); }

  bool takes(const widthwise::Unit& u) const {
    return opinion(engine_, u, true).takes && (!goes_that_way_ || goes_that_way_(u));
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

  // Products of all their digits onto sums that nearly cancel them, that tie, and that lie many
  // binades from them. All outputs of a row have the same product.
  void beside_products(const widthwise::Unit& u) {
    CAPTURE(to_string(u));
    REQUIRE(takes(u));
    const Rival rival(engine_, u, tally_, true);
    constexpr std::size_t rows = 64;
    for (int i = 0; i < 24; ++i) {
      const CodeList a = codes_of_all_digits(u.a.fmt, rows), b = codes_of_all_digits(u.b.fmt, 1);
      widthwise::MatrixProduct p;
      p.m = rows, p.k = 1, p.n = 9;
      p.a = a.rows(1), p.b = {b.rows(1).data, 0, 0};
      const CodeList c = sums_beside(u, p, a, b);
      p.c = {c.rows(1).data, 1, 0};
      rival.compare(p, fmt::format("beside products, {}", i));
      expected_ += p.m * p.n;
    }
  }

 private:
  // About one, with digits at either end, in one half, or everywhere.
  CodeList codes_of_all_digits(const widthwise::Format& f, std::size_t count) {
    CodeList x(f, count);
    const std::uint64_t all = fraction_of(f);
    for (std::size_t i = 0; i < count; ++i) {
      const int half = std::min(f.frac_bits, f.precision() > 32 ? 31 : 15);
      const std::uint64_t places[] = {all, all << (f.frac_bits - 5), all << (f.frac_bits - half),
                                      0x1f};
      const std::uint64_t digits = random_() & (places[random_() % 4] | places[random_() % 4]);
      x.set(i, sign_of(f, random_()) | about_one(f, random_() % 3) | (digits & all));
    }
    return x;
  }
  static std::uint64_t fraction_of(const widthwise::Format& f) {
    return (std::uint64_t{1} << f.frac_bits) - 1;
  }
  static std::uint64_t sign_of(const widthwise::Format& f, std::uint64_t negative) {
    return (negative & 1) << (f.width() - 1);
  }
  static std::uint64_t about_one(const widthwise::Format& f, std::uint64_t binade) {
    return (static_cast<std::uint64_t>(f.bias) + binade) << f.frac_bits;
  }

  // Of every product a C that with it makes next to a tie, or the nearest number with either sign,
  // some last digits or binades away.
  CodeList sums_beside(const widthwise::Unit& u, widthwise::MatrixProduct p, const CodeList& a,
                       const CodeList& b) {
    const widthwise::Format& f = u.c.fmt;
    widthwise::Unit nearest = u;
    nearest.out = {.fmt = f};
    CodeList z(f, p.m);
    p.n = 1, p.result = z.data();
    widthwise::prepare({.unit = nearest, .k = p.k}, "reference").product->run(p, 0, p.m);
    for (std::size_t i = 0; i < p.m; ++i) {
      const std::uint64_t away = random_() % 33 - 16;
      const int place = random_() % 3 ? static_cast<int>(random_() % 14) : f.frac_bits;
      z.set(i, random_() % 2
                   ? beside_a_tie(u, a[i], b[0])
                   : z[i] + (away << std::min(place, f.frac_bits)) + sign_of(f, random_()));
    }
    return z;
  }
  // A number d binades below the product, in units of whose last digit all is counted; what both
  // make is within its own last digit of a number or a midpoint of out's format.
  std::uint64_t beside_a_tie(const widthwise::Unit& u, std::uint64_t a, std::uint64_t b) {
    using widthwise::uint128;
    const widthwise::Format &fa = u.a.fmt, &fb = u.b.fmt, &f = u.c.fmt;
    const auto significand = [](const widthwise::Format& of, std::uint64_t code) {
      return (code & fraction_of(of)) + fraction_of(of) + 1;
    };
    const uint128 product = uint128{significand(fa, a)} * significand(fb, b);
    const int below = fa.frac_bits + fb.frac_bits - f.frac_bits;
    const int d = static_cast<int>(random_() % 16) % (below + 1), unit = below - d;
    const auto last = widthwise::bit_length(product) - 1 - u.out.fmt.precision();
    const uint128 first = uint128{significand(f, random_())} << unit;
    const bool minus = random_() % 2;
    const uint128 too_much =
        (minus ? product - first : product + first) & ((uint128{1} << last) - 1);
    const uint128 c = minus ? first + too_much : first - too_much;
    const auto negative = [](const widthwise::Format& of, std::uint64_t code) {
      return code >> (of.width() - 1) & 1;
    };
    const auto binade = [&](const widthwise::Format& of, std::uint64_t code) {
      return ((code ^ sign_of(of, negative(of, code))) - about_one(of, 0)) >> of.frac_bits;
    };
    const std::uint64_t code = about_one(f, binade(fa, a) + binade(fb, b)) -
                               (static_cast<std::uint64_t>(d + 1) << f.frac_bits) +
                               static_cast<std::uint64_t>(c >> unit);
    return sign_of(f, negative(fa, a) + negative(fb, b) + (minus ? 1 : 0)) | code;
  }

  static CodeList all_codes(const widthwise::Format& f) {
    CodeList x(f, std::size_t{1} << f.width());
    for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
    return x;
  }

  std::string engine_;
  std::function<bool(const widthwise::Unit&)> goes_that_way_;
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

// Where products are longer than what sums are rounded from; the last two of each width are those
// with enough digits to spare for a cut product, and not.
inline constexpr const char* long_factors[] = {"fma(binary64, sum=e11m52:rtz)",
                                               "fma(e11m52, sum=e11m52:odd)",
                                               "fma(e11m52, sum=e11m52:sr1)",
                                               "fma(e11m45, sum=e11m45:sr6:even)",
                                               "fma(e8m40, sum=e8m20)",
                                               "fma(e8m40, sum=e8m30:rdn, c=e8m54)",
                                               "fma(e8m40, b=e8m10, sum=e8m40)",
                                               "fma(e11m40, sum=e11m40:sr12)",
                                               "fma(e9m40, sum=e9m53:rup)",
                                               "fma(e9m53)",
                                               "fma(e9m54)",
                                               "fma(e6m16)",
                                               "fma(e6m18, sum=e6m10:rup, c=e6m24)",
                                               "fma(e6m20, sum=e6m20:rtz)",
                                               "fma(e6m21)",
                                               "fma(e6m22)"};

inline constexpr const char* small_chains[] = {"mac(e3m2fn)",
                                               "fma(e3m2fn)",
                                               "mac(e2m3)",
                                               "fma(e3m2)",
                                               "mac(e3m2, product=e2m1fn)",
                                               "mac(e2m3, sum=e4m1:rtz, c=e4m1)",
                                               "fma(e2m3, sum=e2m1:odd, c=e2m1)",
                                               "mac(e3m2, product=e3m2:rtz, sum=e3m2:rup)",
                                               "fma(e2m3, sum=e2m3:rdn, promote=1:e3m3:rdn)",
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
