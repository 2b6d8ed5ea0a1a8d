#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "widthwise/decide.hpp"
#include "widthwise/format.hpp"
#include "widthwise/random.hpp"
#include "widthwise/unit.hpp"

// What the ways of computing in limbs have in common.
namespace widthwise::wide {

using Limb = std::uint64_t;

// A number: its limbs, lowest first, then the exponent of its leading one, then its sign, 0 or ~0.
// Those of several lanes lie side by side, word by word. Zero has no limb set, and an exponent
// below all others.
struct Shape {
  int limbs;
  int limb_bits;
  int leading;  // the bit where the leading one stands, counted from the lowest limb's lowest
  int lanes;

  constexpr std::size_t words() const { return static_cast<std::size_t>(limbs) + 2; }
};
inline constexpr std::int64_t zero_exponent = -max_exponent_magnitude;

inline constexpr int most_block = 64;  // products that are at hand together

// One of a step's roundings.
struct RoundTo {
  RoundingRule rule;
  Slot slot;
  int precision;
  // Exponents before rounding of what is surely a normal number after it: first … first + span.
  // What lies below the first one is subnormal, if it does not round to it.
  std::int64_t first;
  std::uint64_t span;
  std::int64_t last;  // exponent after rounding of what has surely not overflowed
  bool flushes;       // what is tiny becomes zero, and has lost
  Limb flushed;       // this; where it is none, subnormals are read as zero, and nothing else
  // What a dropped part of 64 digits carries with, by its sign, bit 1, and its last kept digit.
  std::array<Limb, 4> increments{increment(0), increment(1), increment(2), increment(3)};

  constexpr bool inside(std::int64_t exponent) const {
    return static_cast<std::uint64_t>(wrapped_sum(exponent, -first)) <= span;
  }

 private:
  constexpr Limb increment(unsigned row) const { return increment_of(rule.table, row, ~Limb{0}); }
};

// The terms of an exact sum lose what lies so many places below the largest exponent, or below this
// one if that is larger.
struct Cut {
  RoundingRule rule;
  int places;
  std::int64_t least;
};

// sum = round(sum + round(a * b)), or round(sum + a * b); or as `compensation` has it; or, where
// there are nodes, sum = round(sum + a block's products, which those have added up by twos).
struct Chain {
  int precision;  // the most digits of any number
  std::optional<RoundTo> product;
  RoundTo sum;
  Compensation compensation = Compensation::none;

  std::size_t block = 1;  // products
  std::optional<RoundTo> node;
  bool in_turn = false;    // else neighbours first
  bool exact_sum = false;  // sum = round(sum + all products of a block), those rounded or not
  std::optional<Cut> cut;  // but for what is cut off

  std::size_t interval = 0;  // products from one promotion to the next
  std::optional<RoundTo> promote;
  std::optional<RoundTo> c_at_last;  // the rounding of a C that joins at the end

  int random_bits = 0;  // the most that a rounding draws
  // A format has no -0, or numbers that it delivers and reads as zero: of no zero is more known.
  bool unsure_zeros = false;

  std::array<std::optional<RoundTo>, 5> roundings() const {
    return {product, sum, node, promote, c_at_last};
  }
  bool of_multiply_adds() const { return compensation == Compensation::none && !node; }
  // Whether terms are cut by a block's largest exponent that no part of it knows by itself.
  bool surveyed() const { return cut && block > most_block; }
};

// What roundings have lost: not 0 once one was inexact, and this once one was and its result tiny.
inline constexpr Limb underflowed = Limb{1} << 63;
constexpr Flags flags_of(Limb lost) {
  return (lost ? inexact : 0) | (lost & underflowed ? underflow : 0);
}

class Draws;  // the random bits of limbs in lanes; those of 64 bits draw by themselves

struct Steps {
  const Limb* a;        // a number for every step, of one lane
  const Limb* b;        // likewise, of all lanes
  Limb* sum;            // a number of all lanes
  Limb* lost;           // of every lane, as flags_of() reads it
  Limb* window;         // of an exact sum whose block has begun: so many words of a kernel's own
  const Limb* largest;  // exponent of the products of a block that was surveyed, in every lane
  std::size_t count;
  Where where;          // of lane 0, and which step of the chain is the first:
  std::uint64_t first;  // what the random bits depend on
  Draws* draws;
};

// Limbs that an exact sum of products has room for, and words of what stands for it.
constexpr int window_limbs(int limbs) { return 2 * limbs + 3; }
constexpr std::size_t window_words(int limbs) {
  return static_cast<std::size_t>(window_limbs(limbs)) + 4;
}

// Bit i of the result: lane i met a result that may have overflowed, or one whose digits are
// unsure, so its sum means nothing.
using Kernel = unsigned (*)(const Chain& chain, const Steps& steps);

// Some rows of outputs at one step. Numbers of theirs lie one after the other, of all lanes each.
struct Rows {
  std::size_t count;
  Limb* lost;         // of every row and lane, as above
  unsigned* unusual;  // of every row, as above
  Where where;        // of the first row's lane 0; the next row's is so many outputs on
  std::uint64_t row_outputs, step;
  Draws* draws;
};

// What numbers of some limbs have: chains, or null, and single operations on rows.
struct Kernels {
  Kernel chain;
  // The largest exponent of so many products, in every lane, joins what was largest before.
  void (*survey)(const Limb* a, const Limb* b, std::size_t count, Limb* largest);
  // z = round(a * b): a number of one lane for every row, so many words apart, and one of all.
  void (*multiply)(const RoundTo& to, const Chain& chain, const Limb* a, std::size_t a_next,
                   const Limb* b, Limb* z, const Rows& rows);
  // z = round(x + y), or round(x - y). It may be either.
  using Add = void (*)(const RoundTo& to, const Chain& chain, const Limb* x, const Limb* y,
                       bool minus, Limb* z, const Rows& rows);
  Add add;
  Add add_far;  // the same, of numbers that often lie far apart or cancel: faster then
  // Of each two the one of larger magnitude, x if they are equal, and the other one.
  void (*sort)(const Limb* x, const Limb* y, Limb* large, Limb* small, std::size_t rows);
};

}  // namespace widthwise::wide
