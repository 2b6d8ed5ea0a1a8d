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
    {Operation::add, "add", 0xd52e5efdf5cfa0a0},
    {Operation::subtract, "subtract", 0xd7eb6656998c2b4b},
    {Operation::multiply, "multiply", 0xc0d00373b8868b3a},
    {Operation::divide, "divide", 0x20884e057ccf6b06},
    {Operation::remainder, "remainder", 0xc58a0a67f22ed8a6},
    {Operation::minimum, "minimum", 0x30770ba381cdcc60},
    {Operation::maximum, "maximum", 0x463d042c4b5b93bf},
    {Operation::minimum_number, "minimum_number", 0x643a7d8d3a25cb88},
    {Operation::maximum_number, "maximum_number", 0x227fe491595ff0d2},
    {Operation::min_num, "min_num", 0xf63f677893c24502},
    {Operation::max_num, "max_num", 0x3fae51db029486eb},
    {Operation::min_x86, "min_x86", 0xd859014d064f52b6},
    {Operation::max_x86, "max_x86", 0x771b05f936906c7e},
    {Operation::copysign, "copysign", 0x3152600aa7d1ad8d},
};
inline constexpr SmallDigests code_digests[] = {
    {Operation::convert, "convert", 0x65aac2c7e5963d66},
    {Operation::sqrt, "sqrt", 0xdaf649d7fcce732},
    {Operation::logb, "logb", 0xb46907df4a2992ae},
    {Operation::round_to_integral, "round_to_integral", 0x88334e777898db20},
    {Operation::round_to_integral_exact, "round_to_integral_exact", 0xb4a09f1344387034},
};
inline constexpr SmallDigests own_code_digests[] = {
    {Operation::next_up, "next_up", 0xe47fb001de89393e},
    {Operation::next_down, "next_down", 0x1f38cb9d33e7677},
    {Operation::negate, "negate", 0x42bb78a7527df912},
    {Operation::abs, "abs", 0x9668fbc12d2fe64b},
};
inline constexpr SmallDigests long_digests[] = {
    {Operation::add, "long add", 0xbe1659d7519fdc9},
    {Operation::subtract, "long subtract", 0x4dabd981440d9069},
    {Operation::multiply, "long multiply", 0xed6433260cd9f5f5},
    {Operation::divide, "long divide", 0x296c42e4d6d5a1e1},
    {Operation::remainder, "long remainder", 0xe50da9ebd0fdfc05},
    {Operation::sqrt, "long sqrt", 0xfdde1dfefa1e02e},
    {Operation::fma, "long fma", 0x3d3ceb4023668826},
    {Operation::convert, "long convert", 0x6e5664660cd0a26},
    {Operation::round_to_integral_exact, "long round_to_integral_exact", 0x2d5d4e681082bc1f},
};
inline constexpr Code triples_digest = 0x2e3854919434f133, powers_digest = 0x95287a93eecc9b44,
                      comparisons_digest = 0xde5e68900c8401e1, integers_digest = 0xf8047dfd61450652;

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
