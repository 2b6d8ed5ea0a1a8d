// Blocks of whole sums that C joins late, as CDNA3 has them, for tiles of floats
// (docs/exactness.md, 40). Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_LATE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_LATE_TILE_INL
#undef WIDTHWISE_BLOCKS_LATE_TILE_INL
#else
#define WIDTHWISE_BLOCKS_LATE_TILE_INL
#endif

#include "sim/blocks/products-inl.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// Whole numbers of 1 / lift, a power of two.
struct WholeSum {
  W sum;
  S lift;

  HWY_INLINE WholeSum() {}  // the compiler's own would not know the instruction set
  HWY_INLINE WholeSum(W s, S l) : sum(s), lift(l) {}
};

// Of positive numbers, which order like their bits.
using Fields = hn::RebindToUnsigned<Singles>;
HWY_INLINE hn::Vec<Fields> fields(S x) { return hn::BitCast(Fields(), x); }
HWY_INLINE S from_fields(hn::Vec<Fields> x) { return hn::BitCast(Singles(), x); }
HWY_INLINE hn::Vec<Fields> field(std::uint32_t exponent) {
  return hn::Set(Fields(), (127 + exponent) << 23);
}
HWY_INLINE S reciprocal(S power) {
  return from_fields(hn::Sub(hn::Add(field(0), field(0)), fields(power)));
}
// How far apart two powers of two are; so far a shift leaves nothing but the sign.
HWY_INLINE W binades_between(S high, S low) {
  const auto apart = hn::ShiftRight<23>(hn::Sub(fields(high), fields(low)));
  return hn::Min(hn::BitCast(Whole(), apart), hn::Set(Whole(), 31));
}

// 2^(24 - E), E the largest exponent of some products.
HWY_INLINE S lift_of_products(const std::int16_t* exponents) {
  const hn::Rebind<std::int16_t, Singles> narrow;
  const W e = hn::PromoteTo(Whole(), hn::LoadU(narrow, exponents));
  const W field = hn::Sub(hn::Set(Whole(), 127 + late_frac_bits), e);
  return hn::BitCast(Singles(), hn::ShiftLeft<23>(field));
}

// In units of the one with the larger exponent, rounded down.
HWY_INLINE WholeSum sum_of_groups(const WholeSum& x, const WholeSum& y) {
  const S lift = hn::Min(x.lift, y.lift);
  const auto in_units = [&](const WholeSum& z)
                            HWY_ATTR { return hn::Shr(z.sum, binades_between(z.lift, lift)); };
  return {hn::Add(in_units(x), in_units(y)), lift};
}

HWY_INLINE hn::Vec<Fields> leading_field(S c) {
  return hn::And(fields(c), hn::Set(Fields(), 0x7f800000));
}
// C, or 0 where it lies too far below.
HWY_INLINE S unless_dropped(S c, const WholeSum& r, float drop_c_below) {
  const S power = hn::Mul(reciprocal(r.lift), hn::Set(Singles(), 1 << late_frac_bits));  // 2^E
  const auto far =
      hn::Lt(from_fields(leading_field(c)), hn::Mul(power, hn::Set(Singles(), drop_c_below)));
  return hn::IfThenZeroElse(far, c);
}

HWY_INLINE W rounded_down(S x) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return W{_mm512_cvt_roundps_epi32(x.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
#else
  return truncated(hn::Floor(x));
#endif
}

// max(x - 3, 0) of small x, not negative.
HWY_INLINE W less_three(W x) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Max(hn::Sub(x, hn::Set(Whole(), 3)), hn::Zero(Whole()));
#else
  const hn::RepartitionToNarrow<Fields> d;
  return hn::BitCast(Whole(), hn::SaturatedSub(hn::BitCast(d, x), hn::Set(d, std::uint16_t{3})));
#endif
}
// x, its last digit odd where digits of the sum were cut off, but not for those that the join and
// out cut off first, rounding down to 32 digits.
HWY_INLINE W jammed(W x, const WholeSum& r, W kept, W down) {
  const Whole d;
  const auto lost = hn::BitCast(Fields(), hn::Sub(r.sum, hn::Shl(kept, down)));
  const W first_cut = less_three(hn::Add(down, hn::ShiftRight<29>(hn::Abs(x))));
  const auto seen = hn::Shr(lost, hn::BitCast(Fields(), first_cut));
  const auto any = hn::RebindMask(d, hn::Ne(seen, hn::Zero(Fields())));
  return hn::IfThenElse(any, hn::Or(x, hn::Set(d, 1)), x);
}

// C joins at its exponent less 5, or at the sum's if that is larger; the machine's conversion
// rounds.
HWY_INLINE S join_late(const WholeSum& r, S c) {
  const auto of_c = hn::Sub(hn::Add(field(late_frac_bits + 5), field(0)), leading_field(c));
  const S lift = from_fields(hn::Min(fields(r.lift), of_c));  // of C = 0, more than any
  const W down = binades_between(r.lift, lift), kept = hn::Shr(r.sum, down);
  const W x = hn::Add(kept, rounded_down(hn::Mul(c, lift)));
  return hn::Mul(hn::ConvertTo(Singles(), jammed(x, r, kept, down)), reciprocal(lift));
}

constexpr bool many_registers = HWY_MAX_BYTES == 64 || HWY_TARGET == HWY_NEON;
constexpr int late_rows = many_registers ? 4 : 2, late_vectors = 2;

// Some sums of a tile's rows and columns, those from one on.
struct LateCorner {
  const Block& b;
  const std::int16_t* most;  // of every group, tile_rows rows of exponents
  std::size_t row, column;

  HWY_INLINE void sum_group(std::size_t group, WholeSum (&result)[late_rows][late_vectors]) const {
    S lift[late_rows][late_vectors];
    W sum[late_rows][late_vectors];
    for (std::size_t r = 0; r < late_rows; ++r)
      for (std::size_t v = 0; v < late_vectors; ++v) {
        const std::size_t y = group * tile_rows + row + r;
        lift[r][v] = lift_of_products(most + y * strip_columns + column + v * hn::Lanes(Singles()));
        sum[r][v] = hn::Zero(Whole());
      }
    add_whole_products(b, group, 0, b.size(group), row, column, lift, sum);
    for (int r = 0; r < late_rows; ++r)
      for (int v = 0; v < late_vectors; ++v) result[r][v] = {sum[r][v], lift[r][v]};
  }

  HWY_INLINE void add_block(float* sums) const {
    const Singles d;
    const auto drop_c_below = static_cast<float>(b.rules.late.drop_c_below);
    WholeSum of_block[late_rows][late_vectors], of_group[late_rows][late_vectors];
    sum_group(0, of_block);
    const bool two = b.rules.group_count == 2;
    if (two) sum_group(1, of_group);
    for (std::size_t r = 0; r < late_rows; ++r)
      for (std::size_t v = 0; v < late_vectors; ++v) {
        const WholeSum z = two ? sum_of_groups(of_block[r][v], of_group[r][v]) : of_block[r][v];
        float* at = sums + (row + r) * strip_columns + column + v * hn::Lanes(d);
        S c = hn::LoadU(d, at);
        if (drop_c_below > 0) c = unless_dropped(c, z, drop_c_below);
        hn::StoreU(join_late(z, c), d, at);
      }
  }
};

// One block onto the tile's sums.
HWY_INLINE void add_late(const Block& b, float* sums) {
  alignas(64) std::int16_t most[2 * tile_rows * strip_columns];
  for (std::size_t g = 0; g < b.rules.group_count; ++g)
    largest_exponents<tile_rows>(b, g, -late_reach, most + g * tile_rows * strip_columns);
  const std::size_t width = late_vectors * hn::Lanes(Singles());
  for (std::size_t row = 0; row < tile_rows; row += late_rows)
    for (std::size_t column = 0; column < b.m.columns; column += width)
      LateCorner{b, most, row, column}.add_block(sums);
}

// Sums with which a tile may begin; false where one is not.
bool begin_late(const double* values, float* sums) {
  M good = hn::Eq(number(0), number(0));
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    const V x = load(values + at), magnitude = hn::Abs(x);
    const M inside =
        hn::And(hn::Ge(magnitude, number(late_least_c)), hn::Le(magnitude, number(late_most_c)));
    const auto plus_zero = hn::RebindMask(Doubles(), hn::Eq(bits(x), hn::Zero(Ints())));
    good = hn::And(good, hn::Or(inside, plus_zero));
    hn::StoreU(hn::DemoteTo(Floats(), x), Floats(), sums + at);
  });
  return hn::AllTrue(Doubles(), good);
}
void end_late(const Slot& out, const float* sums, Strip& result) {
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    const V x = hn::PromoteTo(Doubles(), hn::LoadU(Floats(), sums + at));
    store(x, result.value + at);
    store(vote(x, out.least_normal), result.power + at);
  });
}

// False, with nothing done, where C is none that floats may begin with. Panels of A have whole
// tiles of rows; of those that are no outputs nobody asks.
bool late_tile(const Meeting& m, const Rules& rules, const Registers& of_first_row,
               Scratch& scratch) {
  if (!m.late) return false;
  alignas(64) float sums[tile_rows * strip_columns] = {};
  for (std::size_t r = 0; r < m.rows; ++r)
    if (!begin_late(of_first_row.sum[r].value, sums + r * strip_columns)) return false;
  for (std::size_t k = 0; k < m.k; k += rules.lanes)
    add_late({m, rules, *of_first_row.sum, k, {m.output, m.columns}, scratch}, sums);
  for (std::size_t r = 0; r < m.rows; ++r)
    end_late(rules.out, sums + r * strip_columns, of_first_row.sum[r]);
  return true;
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
