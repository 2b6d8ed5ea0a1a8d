#pragma once
#include "dot_text.hpp"

// Dot products whose every wire was worked out by hand: every stage, every kind of slot.
namespace tests {

struct TracedUnit {
  Unit unit;
  DotText operands;
  Flags flags;
  std::vector<std::string> rows;
};

// Two groups of two, a window of 4 bits, C late into one of 3 and 2 bits: 3.125 and 3.0625 leave
// 6.125, of which 6 meets 10.
inline TracedUnit windowed() {
  Unit u{};
  u.a.fmt = u.b.fmt = e4m3fn;
  u.c.fmt = u.out.fmt = binary16;
  u.lanes = 4;
  u.groups = Groups{.consecutive = 2};
  u.block_sum.align = {Reference::max_exponent, 4, RoundingMode::rtz};
  u.c_sum.align = {Reference::max_exponent, 0, RoundingMode::rdn};
  u.c_level = CLevel::late;
  u.late_frac = LateFrac{3, 2};
  u.out.keep_frac = 2;
  return {
      u,
      {codes(e4m3fn, {3, 0.125, 1.75, 2}), codes(e4m3fn, {1, 1, 1.75, 0}), codes(binary16, {10})},
      0,
      {"unpack a 0 cp-2",     "unpack b 0 8p-3",       "unpack a 1 8p-6",  "unpack b 1 8p-3",
       "unpack a 2 ep-3",     "unpack b 2 ep-3",       "unpack a 3 8p-2",  "unpack b 3 zero",
       "unpack c -1 500p-7",  "product  0 60p-5",      "product  1 40p-9", "product  2 c4p-6",
       "product  3 zero",     "align  0 600p-9",       "align  1 40p-9",   "group_sum  0 640p-9",
       "align  2 c4p-6",      "group_sum  2 c4p-6",    "align  0 19p-3",   "align  2 18p-3",
       "block_sum  0 31p-3",  "align  0 6p0",          "align c -1 ap0",   "join  0 10p0",
       "normalise out 0 8p1", "denormalise out 0 8p1", "round out 0 4p2",  "pack out 0 4c00p0"}};
}

// Products rounded (1.125 to 1), scaled by 2, added one after another through a rounding node;
// promoted onto C, finished.
inline TracedUnit rounded_everywhere() {
  Unit u{};
  u.a.fmt = u.b.fmt = u.c.fmt = u.out.fmt = binary16;
  u.lanes = 2;
  u.product.round = Round{.fmt = e5m2};
  u.scale = Scale{e8m0fnu, 2, ScaleApply::term};
  u.group_sum.order = Order::sequential;
  u.group_sum.node_round = Round{.fmt = binary16};
  u.c_level = CLevel::group;
  u.chain.promote = Promote{2, {.fmt = binary32}};
  u.chain.final = Round{.fmt = bfloat16};
  return {u,
          {codes(binary16, {1.125, -1}), codes(binary16, {1, 0.25}), codes(binary16, {0.5}), "80",
           "7f"},
          inexact,
          {"unpack a 0 480p-10",
           "unpack b 0 400p-10",
           "unpack a 1 -400p-10",
           "unpack b 1 400p-12",
           "unpack c -1 zero",
           "product  0 120000p-20",
           "normalise product.round 0 9p-3",
           "denormalise product.round 0 9p-3",
           "round product.round 0 4p-2",
           "pack product.round 0 3cp0",
           "scale  0 4p-1",
           "product  1 -100000p-22",
           "normalise product.round 1 -8p-5",
           "denormalise product.round 1 -8p-5",
           "round product.round 1 -4p-4",
           "pack product.round 1 -b4p0",
           "scale  1 -4p-3",
           "align  0 10p-3",
           "align  1 -4p-3",
           "normalise group_sum.node_round 1 cp-3",
           "denormalise group_sum.node_round 1 cp-3",
           "round group_sum.node_round 1 600p-10",
           "pack group_sum.node_round 1 3e00p0",
           "align  0 600p-10",
           "normalise group_sum.node_round 0 cp-3",
           "denormalise group_sum.node_round 0 cp-3",
           "round group_sum.node_round 0 600p-10",
           "pack group_sum.node_round 0 3e00p0",
           "group_sum  0 600p-10",
           "block_sum  0 600p-10",
           "join  0 600p-10",
           "normalise out 0 cp-3",
           "denormalise out 0 cp-3",
           "round out 0 600p-10",
           "pack out 0 3e00p0",
           "align  0 c00p-11",
           "align  0 400p-11",
           "normalise chain.promote.round 0 8p-2",
           "denormalise chain.promote.round 0 8p-2",
           "round chain.promote.round 0 800000p-22",
           "pack chain.promote.round 0 40000000p0",
           "normalise chain.final 0 8p-2",
           "denormalise chain.final 0 8p-2",
           "round chain.final 0 80p-6",
           "pack chain.final 0 4000p0"}};
}

// A register of 8 bits, 4 of them fraction, runs over: 7 + 1.09375, cut to 7 + 1.0625, is -7.9375.
inline TracedUnit overflowing() {
  Unit u{};
  u.a.fmt = u.b.fmt = u.c.fmt = u.out.fmt = binary32;
  u.c_level = CLevel::group;
  u.group_sum = {.align = {Reference::fixed_lsb, 4, RoundingMode::rdn},
                 .width = 8,
                 .overflow = RegisterOverflow::flag};
  return {u,
          {codes(binary32, {7, 1.09375}), codes(binary32, {1, 1}), codes(binary32, {0})},
          overflow,
          {"unpack a 0 e00000p-21", "unpack b 0 800000p-23", "unpack a 1 8c0000p-23",
           "unpack b 1 800000p-23", "unpack c -1 zero", "product  0 700000000000p-44",
           "product  1 460000000000p-46", "align  0 70p-4", "align  1 11p-4", "align c -1 zero",
           "group_sum  0 -7fp-4", "block_sum  0 -7fp-4", "join  0 -7fp-4", "normalise out 0 -fep-5",
           "denormalise out 0 -fep-5", "round out 0 -fe0000p-21", "pack out 0 -c0fe0000p0"}};
}

// What the same register says of other sums: to its least number and back; one term too large,
// though the sum is not.
struct FlaggedSum {
  std::vector<double> terms;
  Flags flags;
};
inline const FlaggedSum flagged_sums[] = {{{7, 1}, overflow},   {{100}, overflow},
                                          {{-5, 12}, overflow}, {{7, -8}, 0},
                                          {{-8, 7.9375}, 0},    {{7.5, 0.4375}, 0}};

// Numbers of e62m1 2^63 binades apart: the square of the largest, less that of the least, which the
// sum keeps as a one at the end of its reach of four digits. Too large all the same.
inline TracedUnit far_apart() {
  Unit u{};
  u.a.fmt = u.b.fmt = u.c.fmt = u.out.fmt = ieee_format(62, 1);
  u.c_level = CLevel::group;
  u.out.rm = RoundingMode::rtz;
  const std::string largest = "7ffffffffffffffd", least = "0000000000000002";
  return {u,
          {largest + least, largest + "8" + least.substr(1), "0000000000000000"},
          overflow | inexact,
          {"unpack a 0 3p2305843009213693950", "unpack b 0 3p2305843009213693950",
           "unpack a 1 2p-2305843009213693951", "unpack b 1 -2p-2305843009213693951",
           "unpack c -1 zero", "product  0 9p4611686018427387900",
           "product  1 -4p-4611686018427387902", "align  0 9p4611686018427387900",
           "align  1 -4p-4611686018427387902", "group_sum  0 8fp4611686018427387896",
           "block_sum  0 8fp4611686018427387896", "join  0 8fp4611686018427387896",
           "normalise out 0 8fp4611686018427387896", "denormalise out 0 8fp4611686018427387896",
           "round out 0 2p4611686018427387902", "pack out 0 7ffffffffffffffdp0"}};
}

// The square of the least number of e62m3 is more than 2^63 digits below a register's last one, yet
// rounds up to it.
inline TracedUnit far_below() {
  Unit u{};
  u.a.fmt = u.b.fmt = u.c.fmt = u.out.fmt = ieee_format(62, 3);
  u.c_level = CLevel::group;
  u.group_sum.align = {Reference::fixed_lsb, -((std::int64_t{1} << 62) - 1), RoundingMode::rup};
  const std::string least = "00000000000000001", zero = "00000000000000000";
  return {
      u,
      {least, least, zero},
      overflow | inexact,
      {"unpack a 0 1p-2305843009213693953", "unpack b 0 1p-2305843009213693953", "unpack c -1 zero",
       "product  0 1p-4611686018427387906", "align  0 1p4611686018427387903", "align c -1 zero",
       "group_sum  0 1p4611686018427387903", "block_sum  0 1p4611686018427387903",
       "join  0 1p4611686018427387903", "normalise out 0 8p4611686018427387900",
       "denormalise out 0 8p4611686018427387900", "round out 0 8p4611686018427387900",
       "pack out 0 1fffffffffffffff8p0"}};
}

// -8 - 1.25 is -10 to three digits, which is 0.75 too much: Kahan's way takes that along.
inline TracedUnit compensated() {
  Unit u = fused(e5m2, 1);
  u.c_level = CLevel::late;
  u.chain.compensation = Compensation::kahan;
  return {u,
          {codes(e5m2, {-1.25}), codes(e5m2, {1}), codes(e5m2, {-8})},
          inexact,
          {"unpack a 0 -5p-2",
           "unpack b 0 4p-2",
           "unpack c -1 -4p1",
           "product  0 -14p-4",
           "align  0 -14p-4",
           "normalise chain.compensation.addend 0 -ap-3",
           "denormalise chain.compensation.addend 0 -ap-3",
           "round chain.compensation.addend 0 -5p-2",
           "pack chain.compensation.addend 0 -bdp0",
           "align  0 -20p-2",
           "align  0 -5p-2",
           "normalise out 0 -94p-4",
           "denormalise out 0 -94p-4",
           "round out 0 -5p1",
           "pack out 0 -c9p0",
           "align  0 -5p1",
           "align  0 4p1",
           "normalise chain.compensation.difference 0 -8p-2",
           "denormalise chain.compensation.difference 0 -8p-2",
           "round chain.compensation.difference 0 -4p-1",
           "pack chain.compensation.difference 0 -c0p0",
           "align  0 -8p-2",
           "align  0 5p-2",
           "normalise chain.compensation.error 0 -cp-4",
           "denormalise chain.compensation.error 0 -cp-4",
           "round chain.compensation.error 0 -6p-3",
           "pack chain.compensation.error 0 -bap0",
           "pack out 0 -c9p0"}};
}

inline std::vector<TracedUnit> traced_units() {
  return {windowed(), rounded_everywhere(), overflowing(), far_apart(), far_below(), compensated()};
}

}  // namespace tests
