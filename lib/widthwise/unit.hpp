#pragma once
#include <cstdint>
#include <optional>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"

// A multiply-accumulate unit as data: section 2.1 of the datapath page, field for field. The names
// are the keys of a unit's long text form, so that page, text and code can be read side by side.
namespace widthwise {

enum class Flush : std::uint8_t { keep, flush_pos_zero, flush_signed_zero };
// Which zeros are +0 whatever made them: none, those of sums that are zero, or all, those that are
// rounded to zero among them.
enum class ZeroSign : std::uint8_t { ieee, plus, always_plus };

// How an operand is conditioned before use.
struct Operand {
  Format fmt;
  Flush subnormals = Flush::keep;
  std::optional<int> keep_frac{};  // fraction bits that are used; absent: all (TF32: 10 of 23)
  Rounding keep_rm{};
  constexpr bool operator==(const Operand&) const = default;
};

// How an exact number becomes a code.
struct Round {
  Format fmt;
  Rounding rm{};
  std::optional<int> keep_frac{};       // fraction bits kept (an FP32 register of E8M13: 13)
  std::optional<int> post_norm_frac{};  // a first cut, right after normalisation (CDNA3)
  Rounding post_norm_rm{};
  Flush subnormals = Flush::keep;
  Overflow overflow = Overflow::ieee;
  ZeroSign zero_sign = ZeroSign::ieee;
  std::optional<std::uint64_t> nan_bits{};       // absent: the format's canonical NaN
  Tininess tininess = Tininess::after_rounding;  // what is flushed, and raises underflow
  constexpr bool operator==(const Round&) const = default;
};

enum class ProductExponent : std::uint8_t { field_sum, normalised };

struct Product {
  std::optional<Round> round{};                           // absent: exact
  ProductExponent exponent = ProductExponent::field_sum;  // what the aligner sees
  std::optional<std::int64_t> overflow_to_inf_at{};       // |p| >= 2^n is infinity
  constexpr bool operator==(const Product&) const = default;
};

enum class Reference : std::uint8_t { exact, max_exponent, fixed_lsb };

struct Align {
  Reference reference = Reference::exact;
  std::int64_t frac_bits = 0;  // max_exponent: F bits below 2^E; fixed_lsb: LSB weight 2^-F
  Rounding rm{};               // rtz: sign-magnitude truncation; rdn: two's complement
  std::optional<std::int64_t> e_floor{};       // E >= e_floor
  std::optional<std::int64_t> drop_c_below{};  // C is 0 when e_C < E - n
  constexpr bool operator==(const Align&) const = default;
};

enum class Order : std::uint8_t { fused, sequential, pairwise_tree };
// What a sum outside its register becomes. The last two are a quire's: 10...0 is NaR, which a sum
// outside becomes (nar), or one that wraps to it (wrap_nar), and which stays.
enum class RegisterOverflow : std::uint8_t { wrap, saturate, flag, nar, wrap_nar };
constexpr bool has_nar(RegisterOverflow how) { return how >= RegisterOverflow::nar; }

struct Sum {
  Order order = Order::fused;
  Align align{};
  std::optional<std::int64_t> width{};  // two's complement, sign included; absent: wide enough
  RegisterOverflow overflow = RegisterOverflow::wrap;
  std::optional<Round> node_round{};  // sequential, pairwise_tree: every 2-input node is rounded
  constexpr bool operator==(const Sum&) const = default;
};

// Whether a sum's nodes round: a fused one has none.
constexpr bool has_nodes(const Sum& s) { return s.order != Order::fused && s.node_round; }

struct Groups {                               // exactly one of the two
  std::optional<std::int64_t> consecutive{};  // lanes a group
  std::optional<std::int64_t> strided{};      // number of groups; lanes dealt out in turn
  constexpr bool operator==(const Groups&) const = default;
};

struct LateFrac {  // fraction bits of the two ports of c_sum
  std::int64_t F_sum;
  std::int64_t F_C;
  constexpr bool operator==(const LateFrac&) const = default;
};

enum class ScaleApply : std::uint8_t { term, group };

struct Scale {
  Format fmt;
  std::int64_t block;  // elements that share a scale
  ScaleApply apply;    // term: in each product; group: to the exact group sum
  constexpr bool operator==(const Scale&) const = default;
};

struct LanePermutation {  // lanes are dealt in runs of `run` to `ways` streams
  std::int64_t run;
  std::int64_t ways;
  constexpr bool operator==(const LanePermutation&) const = default;
};

struct Promote {
  std::int64_t interval;  // products, a multiple of lanes
  Round round;
  constexpr bool operator==(const Promote&) const = default;
};

enum class CAt : std::uint8_t { first, last };

// Whether a chain carries along what its sums lose, and whose way it does.
enum class Compensation : std::uint8_t { none, kahan, neumaier };

struct Chain {
  std::optional<LanePermutation> lane_permutation{};
  CAt c_at = CAt::first;           // last: C is added at the end and rounded by c_round
  std::optional<Round> c_round{};  // goes with c_at = last
  Compensation compensation = Compensation::none;
  std::optional<Promote> promote{};
  std::optional<Round> final{};
  constexpr bool operator==(const Chain&) const = default;
};

enum class CLevel : std::uint8_t { group, block, late };

struct Unit {
  Operand a, b, c;
  std::int64_t lanes;  // products a block; 0: all of K
  Product product{};
  std::optional<Groups> groups{};
  Sum group_sum{}, block_sum{}, c_sum{};
  CLevel c_level;
  std::optional<LateFrac> late_frac{};
  Round out;
  std::optional<Scale> scale{};
  Chain chain{};
  constexpr bool operator==(const Unit&) const = default;
};

// The rounding that a result went through last: its format and its NaN.
constexpr const Round& result_round(const Unit& u) {
  if (u.chain.final) return *u.chain.final;
  if (u.chain.c_round) return *u.chain.c_round;
  if (u.chain.promote) return u.chain.promote->round;
  return u.out;
}

}  // namespace widthwise
