#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "chain_rules.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/dot/lane_order.hpp"
#include "sim/engine/fields.hpp"
#include "tiles.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::blocks {
namespace {

constexpr std::int64_t most_frac_bits = 80;  // of an alignment

// --- Sums ----------------------------------------------------------------------------------------

// What is known of a sum before its terms are looked at.
struct Stage {
  const char* where;
  widthwise::Slot node;
  std::int64_t bits;  // of its terms and itself as the definition has them
  Range range;        // of its terms and itself
  bool last;          // only a rounding looks at it
  bool flags;         // are wanted
  Room room;          // of all numbers
};

bool within(std::int64_t x, std::int64_t limit) { return -limit <= x && x <= limit; }

void set_width(SumRule& rule, const Sum& s, const Stage& at) {
  if (!s.width || (*s.width >= at.bits && s.align.reference == Reference::max_exponent)) return;
  if (s.align.reference == Reference::exact) refuse("{}: an exact sum of a given width", at.where);
  if (rule.aligned == Aligned::long_window)
    refuse("{}: a sum of {} bits in a register of {}", at.where, at.bits, *s.width);
  if (at.flags && s.overflow == RegisterOverflow::flag)
    refuse("{}: a register that raises a flag", at.where);
  if (*s.width > double_digits - 3) refuse("{}: a register of {} bits", at.where, *s.width);
  const double half = std::ldexp(1.0, static_cast<int>(*s.width) - 1);
  if (s.overflow == RegisterOverflow::saturate)
    rule.least = -half, rule.most = half - 1;
  else
    rule.wrap = 2 * half;
}

void set_window(SumRule& rule, const Sum& s, const std::optional<LateFrac>& late, const Stage& at) {
  const std::int64_t own = late ? late->F_sum : s.align.frac_bits;
  const std::int64_t of_c = late ? late->F_C : s.align.frac_bits;
  if (!within(own, most_frac_bits) || !within(of_c, most_frac_bits))
    refuse("{}: {} bits below the largest exponent", at.where, own);
  const bool is_long = at.bits > double_digits + 2;
  if (is_long && (s.order != Order::fused || !at.last || at.bits > 2 * double_digits - 6))
    refuse("{}: a sum of {} bits, more than a double has", at.where, at.bits);
  rule.aligned = is_long ? Aligned::long_window : Aligned::window;
  rule.frac_bits = static_cast<int>(own);
  rule.frac_bits_of_c = static_cast<int>(of_c);
  rule.grid = static_cast<int>(std::max(own, of_c));
  const std::int64_t floor =
      std::max(s.align.e_floor.value_or(INT64_MIN), lowest_power + most_frac_bits);
  if (floor > most_exponent || floor - at.range.low > most_exponent)
    refuse("{}: a least exponent of {}", at.where, floor);
  rule.least_power = std::ldexp(1.0, static_cast<int>(floor));
  if (const auto n = s.align.drop_c_below) {
    if (!within(*n, most_frac_bits)) refuse("{}: C is dropped {} binades below", at.where, *n);
    rule.drop_c_below = std::ldexp(1.0, -static_cast<int>(*n));
  }
}

SumRule sum_rule(const Sum& s, const std::optional<LateFrac>& late, const Stage& at) {
  SumRule rule{.order = s.order, .mode = s.align.rm.mode};
  const bool pairs = s.order != Order::fused;
  switch (s.align.reference) {
    case Reference::max_exponent: set_window(rule, s, late, at); break;
    case Reference::fixed_lsb:
      if (!within(s.align.frac_bits, most_frac_bits) || (!s.width && at.bits > double_digits + 2))
        refuse("{}: a register of more digits than a double has", at.where);
      rule.aligned = Aligned::fixed;
      rule.frac_bits = static_cast<int>(s.align.frac_bits);
      break;
    case Reference::exact:
      if (at.range.high - at.range.low <= double_digits)
        rule.aligned = Aligned::exact;
      else if (pairs ? s.node_round.has_value() : at.last)
        rule.aligned = pairs ? Aligned::pair : Aligned::twofold;
      else
        refuse("{}: an exact sum of {} bits, more than a double has", at.where,
               at.range.high - at.range.low);
  }
  set_width(rule, s, at);
  rule.node = node(at.node, at.where, s.node_round, rule.aligned == Aligned::pair, at.room);
  return rule;
}

std::int64_t carry_of(std::size_t n) { return bit_length(static_cast<std::uint64_t>(n)); }

// Bits of a sum of n products in a window, which are less than 4, as the definition has them.
std::int64_t window_bits(const Sum& s, std::size_t n) {
  const std::int64_t F = s.align.frac_bits;
  return F + std::max<std::int64_t>(2, -F) + carry_of(n) + 2;
}

// Of all sums of n such terms, and of what the sum makes of them.
Range sum_of(const Sum& s, Range terms, std::size_t n) {
  const std::int64_t F = s.align.frac_bits;
  if (s.align.reference == Reference::max_exponent)
    terms = {terms.low - std::max<std::int64_t>(F, 0), terms.high + std::max<std::int64_t>(-F, 0)};
  if (s.align.reference == Reference::fixed_lsb) terms = both(terms, {-F, -F});
  if (s.node_round) terms = both(terms, range("node_round", s.node_round->fmt));
  return {terms.low, terms.high + carry_of(n)};
}

// --- The unit ------------------------------------------------------------------------------------

// Of what products become, scales among them.
std::int64_t term_digits(const Unit& u) {
  const std::int64_t digits =
      u.product.round ? u.product.round->fmt.precision() : product_digits(u);
  return digits + (scales_terms(u) ? 2 * u.scale->fmt.precision() : 0);
}

// Whether a window leaves terms two digits less than a double has, so that those may be odd.
bool cuts_terms(const Sum& s) {
  return s.align.reference == Reference::max_exponent && s.align.frac_bits + 4 <= double_digits;
}

void set_products(Rules& rules, const Unit& u, const Range& products, bool supplied, Room room) {
  const std::int64_t digits = product_digits(u);
  rules.long_products = digits > double_digits;
  if (rules.long_products && (supplied || (!u.product.round && !cuts_terms(u.group_sum))))
    refuse("exact products of {} digits", digits);
  rules.product =
      slot(widthwise::Slot::product, "product.round", of_product(u.product.round), room);
  rules.normalised = u.product.exponent == ProductExponent::normalised;
  if (const auto n = u.product.overflow_to_inf_at; n && *n < products.high)
    rules.overflow_at = *n < products.low ? std::ldexp(1.0, static_cast<int>(products.low))
                                          : std::ldexp(1.0, static_cast<int>(*n));
  if (rules.product && rules.overflow_at > 0) refuse_fine("product.round", *rules.product);
  const bool scaled = scales_terms(u);
  if (const std::int64_t n = term_digits(u); scaled && n > double_digits)
    refuse("scaled products of {} digits", n);
  rules.late_scale = scaled && (rules.product || rules.normalised || rules.overflow_at > 0);
  rules.term_scale = scaled && !rules.late_scale;
  rules.group_scale = u.scale && !scaled;
  if (rules.group_scale && (u.group_sum.order != Order::fused || u.group_sum.node_round))
    refuse("scaled groups of sums in steps");
}

// How many products floats and integers of 32 bits may add: any number, where floats hold the exact
// sum.
std::size_t chunk(const Rules& r, const Unit& u, const Range& sum) {
  const SumRule& s = r.group;
  if (!r.quick || term_digits(u) > float_digits) return 0;
  if (s.aligned == Aligned::exact)
    return r.c_level != CLevel::group && sum.high - sum.low <= float_digits ? most_lanes : 0;
  // A product is less than 2^(F + 2) units, times 4 where scales have significands.
  const int above = scales_terms(u) && u.scale->fmt.precision() > 1 ? 4 : 2;
  if (s.mode != RoundingMode::rtz || s.frac_bits < 1 || s.frac_bits + above > 30) return 0;
  return std::size_t{1} << (31 - above - s.frac_bits);
}

bool any_special(const Format& f) { return f.has_inf() || f.has_nan(); }

bool in_two_doubles(const SumRule& s) {
  return s.aligned == Aligned::twofold || s.aligned == Aligned::long_window;
}

// Whether infinities and NaN pass through sums as they should, and all products are plain.
bool quick(const Rules& r, const Unit& u) {
  if (r.product || r.normalised || r.late_scale || r.long_products) return false;
  if (r.overflow_at > 0 && r.group.aligned != Aligned::window) return false;
  for (const SumRule* s : {&r.group, &r.block, &r.late})
    if (s->node || s->wrap > 0 || s->least < s->most || s->aligned == Aligned::fixed ||
        in_two_doubles(*s))
      return false;
  if (r.group_scale && (any_special(u.a.fmt) || any_special(u.b.fmt) || u.scale->fmt.has_inf()))
    return false;
  return r.group.order == Order::fused &&
         (r.group.aligned == Aligned::window || r.group.aligned == Aligned::exact);
}

// How far apart the exponents of two operands may lie together for doubles to hold every sum of
// their products, if those are plain and meet C alone.
int narrow_span(const Rules& r, const Unit& u) {
  const bool plain = !r.product && !r.normalised && r.overflow_at == 0 && !u.scale && !r.votes;
  if (!plain || r.group.aligned != Aligned::twofold || r.group.order != Order::fused ||
      r.group_count > 1 || r.c_level != CLevel::group)
    return -1;
  const std::int64_t digits = 2 + carry_of(r.lanes - 1) + u.a.fmt.frac_bits + u.b.fmt.frac_bits;
  return static_cast<int>(std::max<std::int64_t>(double_digits - digits, -1));
}

bool rounds_down(const std::optional<Slot>& s) { return s && s->mode == RoundingMode::rdn; }

// Sums that round down look at whether a zero has cancelled, which the lanes forget; what wraps
// round to zero keeps another sign; so does a group that cancelled and is scaled below zero. What a
// chain reads as zero may be delivered as a subnormal number.
bool doubtful_zero(const Rules& r, const Unit& u) {
  bool doubtful = rounds_down(r.out) || rounds_down(r.promote) || rounds_down(r.c_round) ||
                  rounds_down(r.final) || (r.group_scale && u.scale->fmt.is_signed());
  for (const std::optional<Slot>& s : {std::optional(r.out), r.promote, r.c_round})
    doubtful |= s && s->daz;
  for (const SumRule* s : {&r.group, &r.block, &r.late})
    doubtful |= s->wrap > 0 || s->least < s->most || rounds_down(s->node);
  return doubtful;
}

// Whether a zero becomes a number there, of its sign.
bool loses_zero(const std::optional<Slot>& s) {
  return s && !s->has_zero && !std::isnan(s->zero[0]) && s->zero[0] != s->zero[1];
}
void refuse_lost_zeros(const Rules& r) {
  for (const std::optional<Slot>& s : {std::optional(r.out), r.promote, r.c_round, r.final,
                                       r.group.node, r.block.node, r.late.node})
    if (r.doubtful_zero && loses_zero(s))
      refuse("zeros of a sign in doubt go to a format without zero");
}

// Whether a sum has no more digits than a double.
bool is_double(const SumRule& s) {
  return s.aligned == Aligned::window || s.aligned == Aligned::fixed || s.aligned == Aligned::exact;
}

// To binary64 doubles go as they are, and lanes round sums of two, or of two doubles.
Slot slot_of_chain(const SumRule& last, widthwise::Slot place, const char* where, const Round& to,
                   Room room) {
  using enum widthwise::Slot;
  const bool as_it_is = place == final || (place == out && is_double(last));
  const bool adds = place != out || last.aligned == Aligned::twofold;
  if ((is_own(to) && as_it_is) || (is_made(to) && adds)) return own_slot(place, to.rm);
  const Slot s = slot(place, where, to, room);
  const bool of_double = is_double(last) || last.order != Order::fused;
  if (place == out && !of_double) refuse_fine(where, s);
  return s;
}

std::array<std::optional<Round>, 3> later_roundings(const Chain& chain) {
  return {chain.promote ? std::optional(chain.promote->round) : std::nullopt, chain.c_round,
          chain.final};
}

// A unit's rules, found stage by stage along its datapath, beside the ranges of the numbers that a
// stage makes. `room`: bounded, or near, where the lanes look out for numbers that they have no
// room for.
class Draft {
 public:
  Draft(const ProductTask& task, const Unit& u, Room room)
      : task_(task), u_(u), room_(room), shape_(set_shape(r_, u, task.k)) {
    if (watched()) r_.watch = near_watch();
  }

  Rules rules() {
    form_products();
    c_ = both(of("c", u_.c), of("out", {.fmt = u_.out.fmt}));
    const Capacity need = capacity(u_, static_cast<std::int64_t>(task_.k));
    sum_groups(need.group_bits);
    if (shape_.count > 1 || joins(CLevel::block)) sum_blocks(need.block_bits);
    if (joins(CLevel::late)) join_late(need.late_bits);
    require_room();
    set_chain(r_, u_, [&](widthwise::Slot place, const char* where, const Round& to) {
      return slot_of_chain(last_sum(), place, where, to, room_);
    });
    choose_ways();
    return r_;
  }

 private:
  bool watched() const { return room_ == Room::near; }
  bool joins(CLevel level) const { return u_.c_level == level; }
  Range of(const char* where, const Operand& x) const {
    return watched() ? watched_range(where, x) : range(where, x);
  }
  Range with_c(CLevel level, const Range& x) const { return joins(level) ? both(x, c_) : x; }
  Stage stage(const char* where, widthwise::Slot node, std::int64_t bits, bool last) const {
    return {where, node, bits, sum_, last, task_.flags, room_};
  }

  void form_products() {
    if (task_.multiplier && (u_.a.keep_frac || u_.b.keep_frac))
      refuse("products of the user's own, of operands that drop digits");
    const Range a = of("a", u_.a), b = of("b", u_.b);
    products_ = exact_products(a * b);
    if (u_.scale) scales_ = range("scale", u_.scale->fmt) * range("scale", u_.scale->fmt);
    set_products(r_, u_, products_, static_cast<bool>(task_.multiplier), room_);
    if (u_.product.round) products_ = of("product.round", {.fmt = u_.product.round->fmt});
    if (scales_terms(u_)) products_ = products_ * scales_;
    if (watched()) products_ = within_reach("products", products_);
  }
  Range exact_products(const Range& x) const {
    if (watched()) return within_reach("products", x);
    if (u_.product.round && (x.low < least_digit || x.high > most_exponent))
      refuse_range("exact products from 2^{} to 2^{}", x.low, x.high);
    return x;
  }

  void sum_groups(std::int64_t bits) {
    const bool last = joins(CLevel::group), cut = r_.long_products && !r_.product;
    sum_ = sum_of(u_.group_sum, with_c(CLevel::group, products_), shape_.size + 1);
    group_ = sum_;
    const std::int64_t kept = cut ? window_bits(u_.group_sum, shape_.size + last) : bits;
    r_.group =
        sum_rule(u_.group_sum, {}, stage("group_sum", widthwise::Slot::group_node, kept, last));
    if (r_.group_scale) scale_groups(bits - 2);
  }
  void scale_groups(std::int64_t kept) {
    const std::int64_t digits = (r_.group.aligned == Aligned::exact ? sum_.high - sum_.low : kept) +
                                2 * u_.scale->fmt.precision();
    if (digits > double_digits) refuse("scaled sums of {} digits", digits);
    sum_ = sum_ * scales_;
  }
  void sum_blocks(std::int64_t bits) {
    sum_ = sum_of(u_.block_sum, with_c(CLevel::block, sum_), shape_.count + 1);
    r_.block =
        sum_rule(u_.block_sum, {},
                 stage("block_sum", widthwise::Slot::block_node, bits, joins(CLevel::block)));
  }
  void join_late(std::int64_t bits) {
    sum_ = sum_of(u_.c_sum, both(sum_, c_), 2);
    r_.late = sum_rule(u_.c_sum, u_.late_frac, stage("c_sum", widthwise::Slot::c_node, bits, true));
    if (r_.late.aligned == Aligned::twofold) r_.late.aligned = Aligned::pair;
  }

  // Of all numbers, with what they become later.
  void require_room() const {
    Range all = both(both(products_, c_), sum_);
    for (const std::optional<Round>& last : later_roundings(u_.chain))
      if (last && !is_own(*last)) all = both(all, of("chain", {.fmt = last->fmt}));
    if (!within(all.low, most_exponent) || !within(all.high, most_exponent) ||
        all.high - all.low > most_exponent)
      refuse_range("numbers from 2^{} to 2^{}, more than a double has to spare", all.low, all.high);
  }
  const SumRule& last_sum() const {
    if (joins(CLevel::late)) return r_.late;
    return shape_.count > 1 || joins(CLevel::block) ? r_.block : r_.group;
  }

  // Which kernels may compute it.
  void choose_ways() {
    const bool own = !task_.multiplier, codes_only = !task_.flags;
    r_.quick = own && quick(r_, u_);
    r_.chunk = chunk(r_, u_, group_);
    for (const SumRule* s : {&r_.group, &r_.block, &r_.late})
      r_.votes |= s->aligned == Aligned::window || s->aligned == Aligned::long_window;
    r_.plain_twofold = own && r_.group.aligned == Aligned::twofold && !r_.product &&
                       !r_.normalised && r_.overflow_at == 0;
    r_.late_tile = codes_only && late_tile(r_, u_);
    if (!own) return;
    r_.narrow_span = narrow_span(r_, u_);
    r_.exact_tile = codes_only && exact_tile(r_);
    r_.digits_below = u_.a.fmt.frac_bits + u_.b.fmt.frac_bits;
    r_.float_tree = codes_only && r_.overflow_at == 0 && float_tree(r_, u_);
  }

  const ProductTask& task_;
  const Unit& u_;
  Room room_;
  Rules r_{};
  GroupShape shape_;
  Range products_{}, scales_{0, 0}, c_{}, sum_{}, group_{};
};

Rules rules_of(const ProductTask& task, const Unit& u, Room room) {
  return Draft(task, u, room).rules();
}

bool is_twofold(const Rules& r) {
  return r.group.aligned == Aligned::twofold || r.block.aligned == Aligned::twofold;
}

// What its order of summing, which lanes may take otherwise, leaves open.
Rules with_doubts(Rules r, const Unit& u, std::size_t k) {
  refuse_growth(r, k);
  r.doubts = is_twofold(r) || r.watch;
  r.doubtful_zero = doubtful_zero(r, u);
  refuse_lost_zeros(r);
  return r;
}

// As if operands had all of a double's exponents and came with their scales, where lanes give those
// to factors of exact products; else nothing.
std::optional<ProductTask> with_scaled_operands(const ProductTask& task) {
  const Unit& u = task.unit;
  if (!has_power_scales(u) || task.multiplier || u.product.round || u.product.overflow_to_inf_at ||
      u.product.exponent == ProductExponent::normalised)
    return std::nullopt;
  ProductTask z = task;
  for (Operand* x : {&z.unit.a, &z.unit.b})
    *x = {.fmt = ieee_format(binary64.exp_bits, x->fmt.frac_bits)};
  z.unit.scale.reset();
  return z;
}

// Sums that are two doubles, or of two numbers; else nothing.
std::optional<Rules> exact_rules(const ProductTask& task) {
  const Unit u = flattened(task.unit);
  if (const auto r = twofold_rules(task, u)) return with_doubts(*r, u, task.k);
  if (const auto r = pair_rules(task)) return with_doubts(*r, task.unit, task.k);
  return std::nullopt;
}
Rules watched_rules(const ProductTask& task) {
  const Unit u = flattened(task.unit);
  return with_doubts(rules_of(task, u, Room::near), u, task.k);
}

// Either of operands with their scales, which a double may have lost, and yet their products not.
Rules scaled_rules(const ProductTask& task) {
  const auto exact = exact_rules(task);
  Rules r = exact ? *exact : watched_rules(task);
  r.term_scale = true;
  if (!r.watch) r.watch = far_watch(least_digit);
  r.watch->least_factor = -static_cast<int>(most_exponent);
  r.doubts = true;
  return r;
}

// Numbers within bounds; else exact sums; else, if exponents alone were in the way, watched ones.
Rules some_rules(const ProductTask& task) {
  const Unit u = flattened(task.unit);
  try {
    return with_doubts(rules_of(task, u, Room::bounded), u, task.k);
  } catch (const Refusal& refusal) {
    if (const auto scaled = with_scaled_operands(task)) return scaled_rules(*scaled);
    if (const auto r = exact_rules(task)) return *r;
    if (!refusal.of_range || has_other_scales(u) || task.multiplier) throw;
    return watched_rules(task);
  }
}

// Units of every shape, by the rules of their fields.
Unit as_computed(const Unit& u) {
  using fields::of;
  Unit z = fields::core(u);
  z.product.round = of(u.product.round), z.product.exponent = of(u.product.exponent);
  z.product.overflow_to_inf_at = u.product.overflow_to_inf_at;
  z.block_sum = of(u.block_sum), z.c_sum = of(u.c_sum);
  z.groups = u.groups, z.late_frac = u.late_frac;
  z.scale = of(u.scale);
  z.chain = of(u.chain);
  return z;
}

}  // namespace

Answer plan(const ProductTask& task) {
  if (task.unit != as_computed(task.unit)) return {std::nullopt, fields::unknown};
  const auto in_tiles = [&](Rules r) {
    if (task.flags || task.multiplier) return r;
    r.compensated_tile = compensated_tile(r, task.unit);
    r.short_tree = !r.float_tree && short_tree(r, task.unit);
    return r;
  };
  try {
    if (const auto r = machine_rules(task))
      return {in_tiles(*r),
              fmt::format("every product and sum of a block as double lanes round, {} of them "
                          "a block",
                          r->lanes)};
    const Rules r = in_tiles(some_rules(task));
    const char* how = is_twofold(r) ? "products of a block added as two doubles"
                      : r.quick     ? "products of a block aligned and added"
                                    : "every product and sum of a block";
    return {r, fmt::format("{} in double lanes, {} of them a block", how, r.lanes)};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.reason};
  } catch (const std::invalid_argument& wrong) {
    return {std::nullopt, wrong.what()};
  }
}

}  // namespace widthwise::blocks
