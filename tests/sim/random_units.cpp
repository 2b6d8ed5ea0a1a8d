#include "random_units.hpp"

#include "../oracle/format_cover.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/unpack.hpp"

namespace random_units {
namespace {

using namespace widthwise;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}
bool one_in(Random& random, int n) { return between(random, 1, n) == 1; }

template <class E>
E any(Random& random, E last) {
  return static_cast<E>(between(random, 0, static_cast<std::int64_t>(last)));
}

// A value now and then, else none.
template <class Make>
auto maybe(Random& random, Make make) -> std::optional<decltype(make())> {
  if (!one_in(random, 3)) return {};
  return make();
}

bool check_passes(const auto& x) {
  try {
    check(x);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

struct Units {
  Random& random;
  int most_exp_bits, most_frac_bits;

  Format some_format() {
    constexpr Format common[] = {binary16, bfloat16, binary32, e5m2, e4m3fn, e4m3fnuz, e2m1fn};
    if (one_in(random, 2)) return common[between(random, 0, std::size(common) - 1)];
    return format(random, most_exp_bits, most_frac_bits);
  }

  std::optional<int> kept_bits(const Format& f) {
    return maybe(random, [&] { return static_cast<int>(between(random, 0, f.frac_bits)); });
  }

  Operand operand() {
    Operand x{.fmt = some_format()};
    if (one_in(random, 4)) x.subnormals = any(random, Flush::flush_signed_zero);
    x.keep_frac = kept_bits(x.fmt);
    if (x.keep_frac) x.keep_rm = deterministic_rounding(random);
    return x;
  }

  // Of the format's own, with its sign and payload.
  std::uint64_t nan_of(const Format& f) {
    const Layout<std::uint64_t> l(f);
    const std::uint64_t code = l.nan_code ^ (random() & (l.sign | l.fraction_mask));
    return unpack(l, code).nan ? code : l.nan_code;
  }

  Round round() {
    Round r{.fmt = some_format(), .rm = rounding(random)};
    r.keep_frac = kept_bits(r.fmt);
    r.post_norm_frac =
        maybe(random, [&] { return static_cast<int>(between(random, 0, r.fmt.frac_bits + 8)); });
    if (r.post_norm_frac) r.post_norm_rm = deterministic_rounding(random);
    if (one_in(random, 4)) r.subnormals = any(random, Flush::flush_signed_zero);
    if (one_in(random, 3)) r.overflow = any(random, Overflow::satfinite);
    if (one_in(random, 8)) r.tininess = any(random, Tininess::as_delivered);
    if (one_in(random, 4)) r.zero_sign = any(random, ZeroSign::always_plus);
    if (r.fmt.has_nan() && r.fmt.width() < 64 && one_in(random, 4)) r.nan_bits = nan_of(r.fmt);
    return r;
  }

  Align align() {
    Align x{.reference = any(random, Reference::fixed_lsb)};
    if (x.reference == Reference::exact) return x;
    x.frac_bits = between(random, 0, 40);
    x.rm = deterministic_rounding(random);
    x.e_floor = maybe(random, [&] { return between(random, -200, 10); });
    x.drop_c_below = maybe(random, [&] { return between(random, 0, 40); });
    return x;
  }

  Sum sum() {
    Sum s{.order = any(random, Order::pairwise_tree), .align = align()};
    s.width = maybe(random, [&] { return between(random, 1, 80); });
    if (s.width) s.overflow = any(random, RegisterOverflow::flag);
    if (s.order != Order::fused) s.node_round = maybe(random, [&] { return round(); });
    return s;
  }

  Groups groups() {
    if (one_in(random, 2)) return {.consecutive = between(random, 1, 6)};
    return {.strided = between(random, 1, 6)};
  }

  Chain chain(std::int64_t lanes) {
    Chain c;
    c.lane_permutation = maybe(random, [&] {
      return LanePermutation{between(random, 1, 4), between(random, 1, 4)};
    });
    c.c_round = maybe(random, [&] { return round(); });
    if (c.c_round) c.c_at = CAt::last;
    if (lanes != 0)
      c.promote = maybe(random, [&] { return Promote{lanes * between(random, 1, 5), round()}; });
    c.final = maybe(random, [&] { return round(); });
    return c;
  }

  // Makes it a compensated chain, as far as it can be one.
  void compensate(Unit& u) {
    if (!u.out.fmt.is_signed()) return;
    u.lanes = 1;
    u.groups.reset(), u.late_frac.reset();
    u.group_sum = u.block_sum = u.c_sum = {};
    u.c_level = CLevel::late;
    if (u.scale) u.scale->apply = ScaleApply::term;
    u.chain.compensation = one_in(random, 2) ? Compensation::kahan : Compensation::neumaier;
  }

  Unit unit() {
    Unit u{};
    u.a = operand();
    u.b = one_in(random, 2) ? u.a : operand();
    u.c = operand();
    u.lanes = between(random, 0, 12);
    u.product.round = maybe(random, [&] { return round(); });
    if (one_in(random, 3)) u.product.exponent = ProductExponent::normalised;
    u.product.overflow_to_inf_at = maybe(random, [&] { return between(random, -10, 130); });
    u.c_level = any(random, CLevel::late);
    if (u.c_level != CLevel::group) u.groups = maybe(random, [&] { return groups(); });
    u.group_sum = sum();
    u.block_sum = sum();
    u.c_sum = sum();
    u.late_frac = maybe(random, [&] {
      return LateFrac{between(random, 0, 40), between(random, 0, 40)};
    });
    u.out = round();
    u.scale = maybe(random, [&] {
      return Scale{some_format(), between(random, 1, 64), any(random, ScaleApply::group)};
    });
    u.chain = chain(u.lanes);
    if (one_in(random, 6)) compensate(u);
    return u;
  }
};

}  // namespace

Format format(Random& random, int most_exp_bits, int most_frac_bits) {
  const std::vector<Format>& corners = oracle::format_cover();
  if (most_exp_bits >= 5 && most_frac_bits >= 3 && one_in(random, 8))
    return corners[random() % corners.size()];
  for (;;) {
    const auto exp_bits = static_cast<int>(between(random, 1, most_exp_bits));
    const int most_frac = one_in(random, 4) ? most_frac_bits : std::min(most_frac_bits, 12);
    Format f = ieee_format(exp_bits, static_cast<int>(between(random, 0, most_frac)));
    if (one_in(random, 3)) f.bias += between(random, -100, 100);
    if (one_in(random, 6)) f.sign = Sign::none;
    if (one_in(random, 2)) f.nan = any(random, NanCodes::none);
    f.inf = f.nan != NanCodes::ieee ? InfCodes::none : InfCodes::ieee;
    if (one_in(random, 3)) f.inf = any(random, InfCodes::top);
    if (one_in(random, 5)) f.subnormals = false;
    if (one_in(random, 8)) f.zero = false;
    if (one_in(random, 8)) f.daz = true;
    if (one_in(random, 8)) f.ftz = true;
    if (one_in(random, 6)) f.overflow = any(random, Overflow::satfinite);
    if (check_passes(f)) return f;
  }
}

Rounding deterministic_rounding(Random& random) { return any(random, RoundingMode::odd); }

Rounding rounding(Random& random) {
  if (!one_in(random, 4)) return deterministic_rounding(random);
  return {static_cast<int>(between(random, 1, 64)), any(random, StochasticVariant::even)};
}

Unit unit(Random& random, int most_exp_bits, int most_frac_bits) {
  Units units{random, most_exp_bits, most_frac_bits};
  for (;;)
    if (const Unit u = units.unit(); check_passes(u)) return u;
}

bool passes(const Unit& u) { return check_passes(u); }

}  // namespace random_units
