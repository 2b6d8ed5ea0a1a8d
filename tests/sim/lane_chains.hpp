#pragma once
#include <fmt/format.h>

#include "edges.hpp"

// Chains in lanes whose sums are no floats: all operands, against the reference.
namespace tests {

using namespace widthwise;

inline bool lanes_take(const Unit& u) { return opinion("lanes", u).takes; }

inline bool fused_here() {
  if (lanes_take(widthwise::parse_unit("mac(e5m10)"))) return true;
  fmt::print("SKIPPED: this CPU has no fused multiply-add in its lanes\n");
  return false;
}

// All numbers of `digits` digits in base 2^bits, digit i of number j at i * along + j * across; 1
// in place of NaR, which would leave all that it meets to another engine.
inline CodeList all_lists(const Format& f, std::size_t digits, std::size_t along,
                          std::size_t across) {
  const int bits = f.width();
  const std::size_t count = std::size_t{1} << (digits * static_cast<std::size_t>(bits));
  const auto number = [&](std::uint64_t digits) {
    const std::uint64_t code = digits & ((std::uint64_t{1} << bits) - 1);
    return f.is_posit() && code == std::uint64_t{1} << (bits - 1) ? 1 : code;
  };
  CodeList x(f, digits * count);
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < digits; ++i)
      x.set(i * along + j * across, number(j >> (i * static_cast<std::size_t>(bits))));
  return x;
}

// Every list of k operands beside every other; from C = +0 on.
inline std::uint64_t compare_all(const Unit& u, std::size_t k, Tally& tally) {
  MatrixProduct p;
  p.k = k;
  p.m = std::size_t{1} << (k * static_cast<std::size_t>(u.a.fmt.width()));
  p.n = std::size_t{1} << (k * static_cast<std::size_t>(u.b.fmt.width()));
  const CodeList a = all_lists(u.a.fmt, k, 1, k), b = all_lists(u.b.fmt, k, p.n, 1);
  p.a = a.rows(k), p.b = b.rows(p.n);
  Rival("lanes", u, tally).compare(p, fmt::format("all of {} products", k));
  return p.m * p.n;
}
// Every product onto every C.
inline std::uint64_t compare_all_sums(const Unit& u, Tally& tally) {
  MatrixProduct p;
  p.k = 1;
  p.m = std::size_t{1} << u.a.fmt.width(), p.n = std::size_t{1} << u.b.fmt.width();
  const CodeList a = all_lists(u.a.fmt, 1, 1, 1), b = all_lists(u.b.fmt, 1, 1, 1),
                 c = all_lists(u.c.fmt, 1, 1, 1);
  p.a = a.rows(1), p.b = b.rows(p.n);
  for (std::size_t i = 0; i < c.size(); ++i) {
    p.c = {c.rows(0, i).data, 0, 0};
    Rival("lanes", u, tally).compare(p, fmt::format("C {:x}", i));
  }
  return p.m * p.n * c.size();
}

// What no chain in lanes does besides multiplying, rounding and adding.
inline const std::initializer_list<Change> unlike_lanes = {
    [](Unit& u) { u.lanes = 2; },
    [](Unit& u) { u.groups = Groups{.consecutive = 1}; },
    [](Unit& u) {
      u.scale = Scale{e8m0fnu, 4, ScaleApply::term};
    },
    [](Unit& u) { u.group_sum.width = 30; },
    [](Unit& u) { u.group_sum.overflow = RegisterOverflow::nar; },
    [](Unit& u) { u.block_sum.overflow = RegisterOverflow::wrap_nar; },
    [](Unit& u) { u.group_sum.align.reference = Reference::max_exponent; },
    [](Unit& u) { u.group_sum.node_round = u.out; },
    [](Unit& u) { u.c_level = CLevel::late, u.c_sum.width = 30; },
    [](Unit& u) {
      u.c_level = CLevel::late, u.late_frac = LateFrac{8, 8};
    },
    [](Unit& u) { u.product.overflow_to_inf_at = 10; },
    [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; },
    [](Unit& u) {
      u.chain.promote = Promote{4, u.out};
    },
    [](Unit& u) {
      u.chain.lane_permutation = LanePermutation{1, 2};
    },
    [](Unit& u) { u.chain.compensation = Compensation::kahan; },
    [](Unit& u) { u.a.keep_frac = 4; },
    [](Unit& u) { u.b.subnormals = Flush::flush_pos_zero; },
    [](Unit& u) { u.product.round->keep_frac = 4; },
    [](Unit& u) { u.out.keep_frac = 4; },
    [](Unit& u) { u.out.post_norm_frac = 4; },
    [](Unit& u) { u.out.subnormals = Flush::flush_pos_zero; },
    [](Unit& u) { u.out.zero_sign = ZeroSign::plus; },
    [](Unit& u) { u.out.nan_bits = 1; }};

}  // namespace tests
