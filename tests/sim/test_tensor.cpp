#include <fmt/format.h>

#include <random>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// The tensor engine against the reference: the same codes, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;
using Random = std::mt19937_64;

Opinion opinion(const Unit& u, bool flags = false) {
  for (const Opinion& o : opinions({.unit = u, .k = 1, .flags = flags}))
    if (o.engine == "tensor") return o;
  return {};
}

// Codes of one manner: random bits; numbers about 1; numbers of a few binades about 1, most of them
// of one significand, so that sums cancel; tiny; large; ones of one sign and the largest
// significand; zeros with few ones; named ones, infinities and NaN among them.
enum class Manner { bits, about_one, cancelling, tiny, large, full, sparse, zeros, named };
constexpr Manner manners[] = {Manner::bits,   Manner::about_one, Manner::cancelling,
                              Manner::tiny,   Manner::large,     Manner::full,
                              Manner::sparse, Manner::zeros,     Manner::named};

class Codes {
 public:
  explicit Codes(const Format& f) : f_(f), layout_(f) {}

  std::uint64_t operator()(Manner manner, Random& random) const {
    const std::uint64_t sign = (random() & 1) << f_.magnitude_bits();
    const std::uint64_t fraction = random() & layout_.fraction_mask;
    const auto near = [&](std::int64_t exponent, unsigned spread, std::uint64_t fraction) {
      const auto off = static_cast<std::int64_t>(random() % spread);
      return std::min(field(exponent + off) | fraction, layout_.max_finite);
    };
    switch (manner) {
      case Manner::bits: return random() & (layout_.magnitude_mask | layout_.sign);
      case Manner::about_one: return near(-3, 5, fraction) | sign;
      case Manner::cancelling: return near(-1, 2, random() % 8 ? 0 : fraction) | sign;
      case Manner::tiny: return near(f_.emin() - 2, 4, fraction) | sign;
      case Manner::large: return near(f_.emax() - 1, 2, fraction) | sign;
      case Manner::full: return near(0, 1, layout_.fraction_mask);
      case Manner::sparse: return random() % 16 ? sign : near(-8, 16, fraction) | sign;
      case Manner::zeros: return sign;
      case Manner::named: {
        const std::uint64_t some[] = {0,
                                      1,
                                      layout_.hidden - 1,
                                      layout_.hidden,
                                      layout_.max_finite,
                                      std::min(layout_.max_finite + 1, layout_.magnitude_mask),
                                      field(0),
                                      layout_.magnitude_mask};
        return some[random() % (random() % 4 ? 5 : 8)] | sign;
      }
    }
    return 0;
  }

 private:
  std::uint64_t field(std::int64_t exponent) const {
    return static_cast<std::uint64_t>(
               std::clamp<std::int64_t>(exponent + f_.bias, 0, f_.top_field()))
           << f_.frac_bits;
  }

  Format f_;
  Layout<std::uint64_t> layout_;
};

struct Matrix {
  std::vector<std::byte> items;
  int bytes;
  Matrix(const Format& f, std::size_t count) : bytes(item_bytes(f.width())) {
    items.resize(count * static_cast<std::size_t>(bytes));
  }
  void set(std::size_t i, std::uint64_t x) {
    store_code(&items[i * static_cast<std::size_t>(bytes)], bytes, x);
  }
  std::uint64_t operator[](std::size_t i) const {
    return load_code<std::uint64_t>(&items[i * static_cast<std::size_t>(bytes)], bytes);
  }
};

Matrix matrix(const Format& f, std::size_t count, Manner manner, Random& random) {
  const Codes codes(f);
  Matrix x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, codes(manner, random));
  return x;
}

// Compares both engines on every output.
void compare(Tally& tally, const Unit& u, MatrixProduct p, const std::string& what) {
  const Format& f = result_round(u).fmt;
  Matrix got(f, p.m * p.n), want(f, p.m * p.n);
  p.result = got.items.data();
  prepare({.unit = u, .k = p.k}, "tensor").product->run(p, 0, p.m);
  p.result = want.items.data();
  prepare({.unit = u, .k = p.k}, "reference").product->run(p, 0, p.m);
  for (std::size_t i = 0; i < p.m * p.n; ++i)
    tally.check(got[i] == want[i], [&] {
      return fmt::format("{}, {}, output {} of {} x {} x {}: got {:x}, want {:x}", to_string(u),
                         what, i, p.m, p.k, p.n, got[i], want[i]);
    });
}

// A by rows, B by rows or by columns or between columns that are not looked at, C or none.
void compare_random(Tally& tally, const Unit& u, Random& random, std::size_t m, std::size_t k,
                    std::size_t n) {
  for (Manner of_a : manners)
    for (Manner of_c : {of_a, manners[random() % std::size(manners)], Manner::zeros}) {
      const Manner of_b = random() % 3 ? of_a : manners[random() % std::size(manners)];
      const Matrix a = matrix(u.a.fmt, m * k, of_a, random),
                   b = matrix(u.b.fmt, 2 * k * n, of_b, random),
                   c = matrix(u.c.fmt, m * n, of_c, random);
      const auto row = static_cast<std::ptrdiff_t>(k), column = static_cast<std::ptrdiff_t>(n);
      const CodeMatrix shapes[] = {
          {b.items.data(), column, 1}, {b.items.data(), 1, row}, {b.items.data(), 2 * column, 2}};
      MatrixProduct p;
      p.m = m, p.k = k, p.n = n;
      p.a = {a.items.data(), row, 1};
      p.b = shapes[random() % 3];
      if (random() % 8) p.c = {c.items.data(), column, 1};
      compare(tally, u, p,
              fmt::format("manners {} {} {}", static_cast<int>(of_a), static_cast<int>(of_b),
                          p.c.data ? static_cast<int>(of_c) : -1));
    }
}

constexpr std::array<std::size_t, 3> shapes[] = {{5, 1, 70}, {6, 33, 67}, {1, 300, 3}, {4, 64, 65}};

Unit with(std::string_view preset, void (*change)(Unit&)) {
  Unit u = find_preset(preset)->unit;
  change(u);
  return u;
}

// Units beside the presets: other windows, formats and block lengths.
std::vector<Unit> relatives() {
  return {
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 13; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 3; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.f16.f32", [](Unit& u) { u.out.keep_frac = 5; }),
      with("hopper.f16.f32", [](Unit& u) { u.b.fmt = e4m3fn; }),
      with("hopper.f16.f16", [](Unit& u) { u.a.fmt = u.b.fmt = bfloat16; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16",
           [](Unit& u) { u.group_sum.align.frac_bits = 10, u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.e_floor = -126; }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 10; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.a.fmt = e2m1fn, u.b.fmt = e3m2fn; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.lanes = 300; }),
      with("ampere.tf32.f32", [](Unit& u) { u.a.fmt = tf32, u.a.keep_frac.reset(); }),
  };
}

}  // namespace

TEST_CASE("the tensor engine gives the reference's codes: every preset, all sorts of operands") {
  Random random(1);
  Tally tally;
  int taken = 0;
  for (const Preset& preset : presets()) {
    if (!opinion(preset.unit).takes) continue;
    CAPTURE(preset.name);
    ++taken;
    for (const auto& [m, k, n] : shapes) compare_random(tally, preset.unit, random, m, k, n);
  }
  CHECK(taken == 31);
  CHECK(tally.cases() >= 100'000);
  tally.expect(tally.cases());
}

TEST_CASE("the tensor engine gives the reference's codes: relatives of the presets") {
  Random random(2);
  Tally tally;
  on_every_target([&] {
    for (const Unit& u : relatives()) {
      CAPTURE(to_string(u));
      REQUIRE(opinion(u).reason.find("exact products") == 0);
      for (const auto& [m, k, n] : shapes) compare_random(tally, u, random, m, k, n);
    }
  });
  CHECK(tally.cases() >= 100'000);
  tally.expect(tally.cases());
}

TEST_CASE("the tensor engine gives the reference's zeros: sums that vanish on their way") {
  struct Dot {
    Unit unit;
    std::array<std::uint16_t, 2> a, b;  // binary16, one product a block
  };
  const auto alone = [](const char* preset, std::int64_t frac_bits) {
    Unit u = find_preset(preset)->unit;
    u.lanes = 1, u.group_sum.align.frac_bits = frac_bits;
    return u;
  };
  const Dot dots[] = {
      {alone("hopper.f16.f16", 25), {0x8400, 0}, {0x0400, 0}},           // -2^-28, then + 0
      {alone("hopper.f16.f16", 25), {0x8400, 0x8000}, {0x0400, 0}},      // then - 0
      {alone("hopper.f16.f32", 5), {0x8400, 0x8001}, {0x2400, 0x7800}},  // - 2^-20, then - 2^-9
      {alone("hopper.f16.f32", 5), {0x8400, 0x0001}, {0x2400, 0x7800}},
      {alone("hopper.f16.f32", 5), {0x8400, 0x8000}, {0x0000, 0x7800}},
  };
  Tally tally;
  for (const Dot& dot : dots) {
    MatrixProduct p;
    p.m = p.n = 1, p.k = 2;
    p.a = {dot.a.data(), 2, 1}, p.b = {dot.b.data(), 1, 1};
    compare(tally, dot.unit, p, "vanishing");
  }
  tally.expect(std::size(dots));
}

TEST_CASE(
    "the tensor engine gives the reference's infinities: a C that its products would cancel") {
  Tally tally;
  const std::uint16_t a = 0x5c00, b = 0xdc00;  // 256 * -256
  for (const std::uint16_t c : {0x7c00, 0x7e00, 0xfc00, 0x7bff}) {
    MatrixProduct p;
    p.m = p.n = p.k = 1;
    p.a = {&a, 1, 1}, p.b = {&b, 1, 1}, p.c = {&c, 1, 1};
    compare(tally, find_preset("hopper.f16.f16")->unit, p, "cancelling C");
  }
  tally.expect(4);
}

TEST_CASE("the tensor engine refuses what it cannot vouch for, and says why") {
  const auto reason = [](const Unit& u, bool flags = false) {
    const Opinion o = opinion(u, flags);
    return o.takes ? std::string("taken") : o.reason;
  };
  const auto preset = [&](std::string_view name) { return reason(find_preset(name)->unit); };
  const auto changed = [&](void (*change)(Unit&)) {
    return reason(with("hopper.f16.f32", change));
  };

  CHECK(reason(find_preset("hopper.f16.f32")->unit, true) == "flags are wanted");
  CHECK(preset("blackwell.mxfp8") == "block scales");
  CHECK(preset("cdna1.f16") == "its terms are not aligned to the largest exponent");
  CHECK(preset("cdna2.f16") == "C is not one of the block's addends");
  CHECK(preset("lowered.e4m3.f32") == "C is added last");
  CHECK(preset("hopper.e4m3.promote128") == "promotion");
  CHECK(preset("kulisch.f32") == "one block takes all of K");
  CHECK(changed([](Unit& u) { u.groups = Groups{.consecutive = 4}; }) == "groups of products");
  CHECK(changed([](Unit& u) { u.lanes = 2048; }) == "more than 1024 products a block");
  CHECK(changed([](Unit& u) { u.product.overflow_to_inf_at = 128; }) ==
        "products are rounded or overflow");
  CHECK(changed([](Unit& u) { u.product.exponent = ProductExponent::normalised; }) ==
        "products are normalised before they are aligned");
  CHECK(changed([](Unit& u) { u.chain.final = u.out; }) == "a final rounding or permuted lanes");
  CHECK(changed([](Unit& u) { u.group_sum.order = Order::sequential; }) ==
        "its sums are no fused ones");
  CHECK(changed([](Unit& u) { u.group_sum.width = 40; }) == "its sums are of a given width");
  CHECK(changed([](Unit& u) { u.group_sum.align.rm = RoundingMode::rdn; }) ==
        "aligned terms are rounded by rdn, not toward zero");
  CHECK(changed([](Unit& u) { u.group_sum.align.drop_c_below = 25; }) == "a small C is dropped");
  CHECK(changed([](Unit& u) { u.group_sum.align.frac_bits = 29; }) ==
        "29 bits below the largest exponent");
  CHECK(changed([](Unit& u) { u.group_sum.align.e_floor = -125; }) ==
        "the least exponent of a sum lies above C's");
  CHECK(changed([](Unit& u) { u.a.fmt = u.b.fmt = tf32, u.b.fmt.frac_bits = 13; }) ==
        "exact products have 25 digits");
  CHECK(changed([](Unit& u) { u.a.fmt = e4m3fnuz; }) == "a = e4m3fnuz has NaN in the place of -0");
  CHECK(changed([](Unit& u) { u.b.subnormals = Flush::flush_pos_zero; }) ==
        "b = e5m10 flushes subnormals");
  CHECK(changed([](Unit& u) { u.b.fmt = ieee_format(9, 6); }) ==
        "b = e9m6 has digits or exponents that float has not");
  CHECK(changed([](Unit& u) { u.a.keep_frac = 6; }) == "a = e5m10 is rounded before use");
  CHECK(changed([](Unit& u) { u.c.fmt = binary16; }) == "C is not in out's format as it stands");
  CHECK(changed([](Unit& u) { u.out.post_norm_frac = 31; }) ==
        "out does more than round to its format");
  CHECK(changed([](Unit& u) { u.out.rm = RoundingMode::rne; }) ==
        "out = e8m23, rne: only binary32 toward zero and binary16 to nearest even");
}
