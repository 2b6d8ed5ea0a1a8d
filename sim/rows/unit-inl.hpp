// A unit (lib's datapath/block.hpp, chain.hpp) for a row of outputs.
#if defined(WIDTHWISE_ROWS_UNIT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_UNIT_INL
#undef WIDTHWISE_ROWS_UNIT_INL
#else
#define WIDTHWISE_ROWS_UNIT_INL
#endif

#include <optional>

#include "sim/engine/lines.hpp"
#include "sim/rows/compensation-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// Operands of the row's outputs, lane after lane: one of A for all, one of B for each.
struct Operands {
  const std::uint64_t *a, *scale_a, *b, *scale_b;
  const std::size_t* scale_of;
  std::size_t words;  // of a number
  std::size_t panel;  // from one word of B's to the next

  template <class H>
  HWY_INLINE Factors<H> factor_a(std::size_t lane) const {
    return spread_factors<H>(a + lane * words);
  }
  template <class H>
  HWY_INLINE Factors<H> factor_b(std::size_t lane) const {
    return load_factors<H>(b + lane * words * panel, panel);
  }
  template <class H>
  HWY_INLINE Factors<H> factor_scale_a(std::size_t lane) const {
    return spread_factors<H>(scale_a + scale_of[lane] * words);
  }
  template <class H>
  HWY_INLINE Factors<H> factor_scale_b(std::size_t lane) const {
    return load_factors<H>(scale_b + scale_of[lane] * words * panel, panel);
  }
  template <class H>
  HWY_INLINE Truth endless_scale(std::size_t lane) const {
    return factor_scale_a<H>(lane).endless | factor_scale_b<H>(lane).endless;
  }
};

// Room for the terms of a block, of one of its groups, for its sums, and for the last two: C
// besides.
template <class M>
struct Scratch {
  Lines<Terms<M>> products, group, sums, pair;

  explicit Scratch(std::size_t lanes)
      : products(lanes + 1), group(lanes + 1), sums(lanes + 1), pair(2) {}
};

// Where in there a block's terms lie: from the start where the next sum reads them.
template <class M>
struct Places {
  GroupShape shape;
  std::span<Terms<M>> products, group, sums, pair;
  Terms<M>& c;

  Places(const Unit& u, std::size_t lanes, Scratch<M>& room)
      : shape(group_shape(u.groups, lanes)),
        products(std::span(lanes == 1 ? room.sums : room.products).first(lanes + 1)),
        group(room.group),
        sums(room.sums),
        pair(std::span(shape.count == 1 ? room.sums : room.pair).first(2)),
        c(u.c_level == CLevel::group   ? products[lanes]
          : u.c_level == CLevel::block ? sums[shape.count]
                                       : pair[1]) {}
};

// How many words the digits of a unit's factors take.
struct UnitWords {
  FactorWords product, scaled, scaled_twice;

  explicit UnitWords(const Unit& u) {
    const auto words = [](int digits) { return (digits + 63) / 64; };
    const auto pair = [&](int x, int y) {
      return FactorWords{words(x), words(y), x <= 32 && y <= 32, x + y};
    };
    const int a = u.a.fmt.precision(), b = u.b.fmt.precision();
    product = pair(a, b);
    if (!u.scale) return;
    const int term = u.product.round ? u.product.round->fmt.precision() : a + b;
    const int scale = u.scale->fmt.precision();
    scaled = pair(term, scale), scaled_twice = pair(term + scale, scale);
  }
};

// Digits of whatever a register holds from one block to the next.
inline int longest_register(const Unit& u) {
  int digits = std::max(u.c.fmt.precision(), u.out.fmt.precision());
  if (u.chain.promote) digits = std::max(digits, u.chain.promote->round.fmt.precision());
  if (u.chain.c_round) digits = std::max(digits, u.chain.c_round->fmt.precision());
  return digits;
}

// lib's ChainState, of a row.
template <class C>
struct Chain {
  Register<C> outer;
  Accumulator<C> inner;
};

template <class M, class C>
class UnitRow {
 public:
  UnitRow(const Datapath<Rows<C>, Rows<C>>& u, const Tile& tile, Scratch<M>& scratch)
      : u_(u),
        tile_(tile),
        lanes_(block_lanes(u, tile.lanes)),
        at_(u.unit, lanes_, scratch),
        words_(u.unit),
        held_(longest_register(u.unit)),
        scales_groups_(u.scale && u.unit.scale->apply == ScaleApply::group),
        lone_(lanes_ == 1 && u.unit.c_level != CLevel::group && !scales_groups_ &&
              is_exact(u.unit.group_sum)),
        product_round_(place_if(u.product_round)),
        c_round_(place_if(u.c_round)),
        promote_(place_if(u.promote)),
        final_(place_if(u.final)),
        out_(place(u.out)),
        group_sum_(joint(u.group_sum, is_placed(u.unit.block_sum) || is_placed(u.unit.c_sum))),
        block_sum_(joint(u.block_sum, is_placed(u.unit.c_sum))),
        c_sum_(joint(u.c_sum, false)) {
    if (u.compensation)
      compensated_.emplace(u.unit.chain.compensation, *u.compensation, out_, held_,
                           [&](const RoundingSlot<Rows<C>>& s) { return place(s); });
  }

  // The row of outputs from this index on comes next.
  void begin(std::uint64_t index) {
    for (std::optional<Place<C>>* at : {&product_round_, &c_round_, &promote_, &final_})
      if (*at) (*at)->dice.begin(index);
    out_.dice.begin(index);
    if (compensated_) compensated_->begin(index);
    for (Joint<M, C>* sum : {&group_sum_, &block_sum_, &c_sum_}) sum->node.dice.begin(index);
  }
  // lib's start_chain.
  Chain<C> start(const Factors<C>& c) const {
    const Register<C> start = u_.unit.chain.c_at == CAt::first ? Register<C>{C(0), c} : zero();
    return {start, {promote_ ? zero() : start, zero()}};
  }
  // The tile's blocks, one after the other.
  void advance(const Operands& from, Chain<C>& s, Fate& fate) {
    for (std::size_t i = 0; i < tile_.lanes && any(no(fate.lost)); i += lanes_) {
      run_block(from, i, s.inner, fate);
      const std::size_t end = tile_.first + i + lanes_;
      if (promotes_at(end)) promote(s, end - lanes_, fate);
      if (tile_.codes_only && !any(no(fate.lost | decided(s, end)))) break;
    }
  }
  // lib's end_chain, at the end of k.
  C end(Chain<C>& s, const Factors<C>& c, Fate& fate) {
    const std::size_t last = tile_.total - lanes_;  // where its last block began
    if (promote_ && !promotes_at(tile_.total)) promote(s, last, fate);
    Register<C> acc = promote_ ? s.outer : settled(s.inner, last, fate);
    if (c_round_) acc = add_registers(*c_round_, acc.value, c, 0, fate);
    if (final_) rounded(*final_, terms<M>(acc.value, held_, 0, false), 0, fate, acc);
    return acc.code;
  }

 private:
  Register<C> zero() const { return {C(0), cleared_factors<C>(u_.unit.out.fmt)}; }
  // Where a lane of the tile is along k.
  std::int64_t step(std::size_t lane) const {
    return static_cast<std::int64_t>(tile_.first + lane);
  }
  // Whether the registers before this lane move to the outer one.
  bool promotes_at(std::size_t lane) const {
    return promote_ && lane % static_cast<std::size_t>(u_.unit.chain.promote->interval) == 0;
  }
  // lib's is_decided: what stays NaN whatever is added to it.
  Truth decided(const Chain<C>& s, std::size_t lane) const {
    if (promote_ && !promotes_at(lane)) return Truth(false);
    return is_nan(promote_ ? s.outer.value : s.inner.sum.value);
  }
  Dice<RowWord> dice(const RoundingSlot<Rows<C>>& s) const { return {s, tile_.seed}; }
  Place<C> place(const RoundingSlot<Rows<C>>& s) const { return {&s, dice(s)}; }
  std::optional<Place<C>> place_if(const std::optional<RoundingSlot<Rows<C>>>& s) const {
    return s ? std::optional(place(*s)) : std::nullopt;
  }
  // `placed`: a register follows whose last digit is that of its terms.
  Joint<M, C> joint(const Adder<Rows<C>>& adder, bool placed) const {
    return {adder, adder.node ? dice(*adder.node) : Dice<RowWord>{}, placed};
  }
  static bool is_placed(const Sum& s) { return s.align.reference == Reference::exact && s.width; }

  // The sum of two registers: C at the end of a chain, and promotion.
  Register<C> add_registers(Place<C>& at, const Factors<C>& x, const Factors<C>& y,
                            std::size_t step, Fate& fate) const {
    Register<C> z;
    add_rounded(exact_, at, terms<M>(x, held_, 0, false), terms<M>(y, held_, 0, false),
                static_cast<std::int64_t>(step), fate, z);
    return z;
  }

  void promote(Chain<C>& s, std::size_t step, Fate& fate) {
    s.outer =
        add_registers(*promote_, s.outer.value, settled(s.inner, step, fate).value, step, fate);
    s.inner = {zero(), zero()};
  }
  Register<C> settled(const Accumulator<C>& acc, std::size_t step, Fate& fate) {
    return compensated_ ? compensated_->settled(acc, static_cast<std::int64_t>(step), fate)
                        : acc.sum;
  }
  void run_block(const Operands& from, std::size_t first, Accumulator<C>& acc, Fate& fate) {
    if (!compensated_) return block(from, first, fate, acc.sum);
    product(from, first, at_.products[0], fate);
    compensated_->add(at_.products[0], fate, acc);
  }

  void product(const Operands& from, std::size_t lane, Terms<M>& z, Fate& fate) {
    multiply(u_.unit.product, words_.product, from.factor_a<C>(lane), from.factor_b<C>(lane),
             step(lane), z);
    if (product_round_) {
      const Truth zero = is_zero(z);
      rounded_term(*product_round_, step(lane), fate, z);
      z.q = select(zero & is_zero(z), Count(0), z.q);
    }
    if (u_.scale && u_.unit.scale->apply == ScaleApply::term) {
      scale_by(from.factor_scale_a<C>(lane), words_.scaled, z);
      scale_by(from.factor_scale_b<C>(lane), words_.scaled_twice, z);
    }
  }

  // A group sum times its two scales, as lib has it.
  void scale_group(const Truth& zero_products, const Operands& from, std::size_t lane, Fate& fate,
                   Terms<M>& z) {
    const Factors<C> a = from.factor_scale_a<C>(lane), b = from.factor_scale_b<C>(lane);
    const int scale = u_.unit.scale->fmt.precision(), room = digits_of<M> - 2 - 2 * scale;
    fate.lost = fate.lost | ((z.m >> room) != M(0));
    const FactorWords of{words_of<M>, (scale + 63) / 64, false, digits_of<M>};
    z.zero = select(z.endless, z.zero, z.m == M(0));  // times infinity it is NaN
    scale_by(a, of, z);
    scale_by(b, of, z);
    z.e = a.e + b.e;
    z.zero = select(z.endless, z.zero, zero_products | a.zero | b.zero);
    z.m = select(z.zero, M(0), z.m);  // nodes without a zero made a number of none
    z.mixed = z.mixed & no(z.endless);
    z.negative = z.negative & no(z.mixed);
  }

  HWY_INLINE void sum_group(const Operands& from, std::size_t first, std::size_t g, Fate& fate) {
    const bool with_c = u_.unit.c_level == CLevel::group;
    const std::span<Terms<M>> all = group_terms(at_.shape, g, with_c, at_.products, at_.group);
    Truth zero_products(true);
    if (scales_groups_)
      for (const Terms<M>& t : all) zero_products = zero_products & t.zero;
    reduce(group_sum_, all, fate, at_.sums[g]);
    if (scales_groups_)
      scale_group(zero_products, from, first + at_.shape.lane(g, 0), fate, at_.sums[g]);
  }

  // The block's products and C, added.
  HWY_INLINE Terms<M>& sums(const Operands& from, std::size_t first, Fate& fate) {
    if (lone_)
      take_sum_of_one(at_.products[0], at_.sums[0]);
    else
      for (std::size_t g = 0; g < at_.shape.count; ++g) sum_group(from, first, g, fate);
    const std::size_t n = at_.shape.count + (u_.unit.c_level == CLevel::block);
    const bool late = u_.unit.c_level == CLevel::late;
    Terms<M>& z = late ? at_.pair[0] : at_.sums[0];
    if (n > 1) reduce(block_sum_, at_.sums.first(n), fate, z);
    if (late) reduce(c_sum_, at_.pair, fate, z);
    return z;
  }

  void block(const Operands& from, std::size_t first, Fate& fate, Register<C>& acc) {
    put_terms(acc.value, held_, step(first), true, at_.c);
    Truth endless = at_.c.endless;
    for (std::size_t i = 0; i < lanes_; ++i) {
      product(from, first + i, at_.products[i], fate);
      endless = endless | at_.products[i].endless;
      if (scales_groups_) endless = endless | from.endless_scale<C>(first + i);
    }
    const Terms<M>& z = any(endless) ? endless_sums(from, first, fate) : sums(from, first, fate);
    rounded(out_, z, step(first), fate, acc);
  }

  // The same where some blocks are NaN or infinite before any of them is added.
  HWY_NOINLINE Terms<M>& endless_sums(const Operands& from, std::size_t first, Fate& fate) {
    const Fate before = fate;
    SpecialSum special = SpecialSum::none();
    for (const Terms<M>& t : at_.products.first(lanes_)) special.take(t);
    special.take(at_.c);
    for (std::size_t i = first; u_.scale && i < first + lanes_; ++i)
      special.nan =
          special.nan | is_nan(from.factor_scale_a<C>(i)) | is_nan(from.factor_scale_b<C>(i));
    const Truth endless = special.endless();
    Terms<M>& z = any(no(endless)) ? sums(from, first, fate) : at_.c;
    take_back(endless, before, fate);
    special.put(z);
    return z;
  }

  const Datapath<Rows<C>, Rows<C>>& u_;
  const Tile& tile_;
  std::size_t lanes_;  // of a block
  Places<M> at_;
  UnitWords words_;
  int held_;  // longest_register
  bool scales_groups_;
  bool lone_;  // the sum of a block's products is one product
  std::optional<Place<C>> product_round_, c_round_, promote_, final_;
  Place<C> out_;
  std::optional<CompensatedRow<M, C>> compensated_;
  Joint<M, C> group_sum_, block_sum_, c_sum_, exact_{Adder<Rows<C>>{}, {}, false};
};

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
