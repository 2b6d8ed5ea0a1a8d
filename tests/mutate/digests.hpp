#pragma once
#include "tests/mutate/answers.hpp"

// What the digests of all subjects are. tests/lib/test_digests.cpp prints those that are not.
namespace mutate {

struct SmallDigests {
  Operation op;
  const char* name;
  Code want;
};

inline constexpr SmallDigests pair_digests[] = {
    {Operation::add, "add", 0xdf9cf028ecaaf743},
    {Operation::subtract, "subtract", 0x6b3f1696c136d98f},
    {Operation::multiply, "multiply", 0xd6e1cfe230a3033a},
    {Operation::divide, "divide", 0xe059c834003d5193},
    {Operation::remainder, "remainder", 0xa2bbccc60babadb2},
    {Operation::minimum, "minimum", 0xde8fd182c73c591f},
    {Operation::maximum, "maximum", 0x34b5c3638d57098b},
    {Operation::minimum_number, "minimum_number", 0x668e09f4725df9d2},
    {Operation::maximum_number, "maximum_number", 0x28d561e6f7bde657},
    {Operation::min_num, "min_num", 0xfe4d03a4e5b455e1},
    {Operation::max_num, "max_num", 0x6a568bdb3d8cd81f},
    {Operation::copysign, "copysign", 0xe9eea05ab8e5d4bd},
};
inline constexpr SmallDigests code_digests[] = {
    {Operation::convert, "convert", 0x621c58d1e3c653ef},
    {Operation::sqrt, "sqrt", 0xf3bd0c7f1aed7c02},
    {Operation::logb, "logb", 0x8aa6c96b0c072791},
    {Operation::round_to_integral, "round_to_integral", 0xe3e0b76118f0e738},
    {Operation::round_to_integral_exact, "round_to_integral_exact", 0x3c2fbff7f6a87c7d},
};
inline constexpr SmallDigests own_code_digests[] = {
    {Operation::next_up, "next_up", 0xb50f375c68e79d6a},
    {Operation::next_down, "next_down", 0xa7f4afbafb18e6f3},
    {Operation::negate, "negate", 0x1f3753bffa001d97},
    {Operation::abs, "abs", 0xd8e0524eb0693ea4},
};
inline constexpr SmallDigests long_digests[] = {
    {Operation::add, "long add", 0xfc48a27d4f7b0aa},
    {Operation::subtract, "long subtract", 0xc2f448859bdb044},
    {Operation::multiply, "long multiply", 0xb259daa2534e9ea},
    {Operation::divide, "long divide", 0x1fb1b6199622c884},
    {Operation::remainder, "long remainder", 0x43b1f70bb70f1562},
    {Operation::sqrt, "long sqrt", 0xe44c53b95bd33932},
    {Operation::fma, "long fma", 0x77455c2cd6d6ff39},
    {Operation::convert, "long convert", 0xecc898073af44a47},
    {Operation::round_to_integral_exact, "long round_to_integral_exact", 0xd39a81f65484ec9},
};
inline constexpr Code triples_digest = 0xacbeaba689054cc4, powers_digest = 0xa2a1efafc6ea30db,
                      comparisons_digest = 0xda5a2a6da5f335ff, integers_digest = 0xf8047dfd61450652;

// check takes (subject, got, want). Those of the small formats need an engine for codes of 16 bits
// at most, those of the long ones an engine for any.
template <class Engine, class Check>
void for_each_small_digest(Engine& engine, const Check& check) {
  for (const auto& d : own_code_digests) check(d.name, own_codes(engine, d.op), d.want);
  for (const auto& d : code_digests) check(d.name, codes(engine, d.op), d.want);
  check("comparisons", comparisons(engine), comparisons_digest);
  check("integers", integers(engine), integers_digest);
  check("scaleb", powers(engine), powers_digest);
  check("fma", triples(engine), triples_digest);
  for (const auto& d : pair_digests) check(d.name, pairs(engine, d.op), d.want);
}

template <class Engine, class Check>
void for_each_long_digest(Engine& engine, const Check& check) {
  for (const auto& d : long_digests) check(d.name, long_ones(engine, d.op), d.want);
}

template <class Engine, class Check>
void for_each_digest(Engine& engine, const Check& check) {
  for_each_small_digest(engine, check);
  for_each_long_digest(engine, check);
}

}  // namespace mutate
