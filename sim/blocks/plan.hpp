#pragma once
#include <climits>
#include <string>

#include "widthwise/random.hpp"
#include "widthwise/sim/engine.hpp"

// Which units double lanes compute block by block, and what the lanes have to know of them.
// docs/exactness.md argues every condition.
namespace widthwise::blocks {

// A power of two that stands for no exponent: below all that vote, above double's subnormals.
inline constexpr std::int64_t lowest_power = -1000;

// The weight of a double's last digit.
inline constexpr int least_digit = -1074;
// Less than that of any product of two.
inline constexpr int any_digit = 3 * least_digit;

// Panels whose exponents, and those of whose products, lie within this either way go as floats.
inline constexpr int float_reach = 90;

// A tile of whole sums that C joins late: digits below the largest exponent; exponents of products,
// which lie within this either way; and what C lies between, if it is not +0.
inline constexpr int late_frac_bits = 24, late_reach = 60;
inline constexpr double late_least_c = 0x1p-61, late_most_c = 0x1p100;

// A rounding to a format, as numbers.
struct Slot {
  widthwise::Slot place{};
  RoundingMode mode = RoundingMode::rne;
  int random_bits = 0;  // 0: the mode decides
  StochasticVariant variant = StochasticVariant::plain;
  bool fine = false;         // those ask for digits that no number rounded to odd has
  int frac_bits = 0;         // kept
  bool machine = false;      // to binary32, to nearest even: the machine's own conversion
  bool own = false;          // to binary64: as the machine's additions and multiplications round
  bool by_hand = false;      // own, but by a mode that is not the machine's, or by random bits
  int first_frac_bits = -1;  // of the cut before it; -1: none
  RoundingMode first_mode = RoundingMode::rne;
  double least_normal = 0, largest = 0;
  double tiny_below = 0;   // what is less underflows: least_normal, or the next number
  bool gap = false;        // there is no number below that, but perhaps zero
  bool even_code = false;  // of one digit, and the mode asks whether the code is even
  int bias = 0;            // then: of its exponents, which are those codes
  double past[2]{};        // what larger numbers become, by sign
  double infinite[2]{};    // and infinities
  double zero[2]{};        // and zeros
  double nan = 0;
  int infinite_flags[2]{}, nan_flags = 0, zero_flags = 0;  // what those raise
  bool specials_stay = false;                              // infinities and NaN are what they were
  Tininess tininess = Tininess::after_rounding;
  Flush flush = Flush::keep;
  bool daz = false;         // flushed where it is read, which raises nothing: codes are subnormal
  bool plus_zero = false;   // exact zeros become +0
  bool signed_zero = true;  // there is a -0
  bool has_zero = true, is_signed = true;
};

// How terms are aligned.
enum class Aligned : std::uint8_t {
  window,       // to the largest exponent
  long_window,  // the same, and the sum has more digits than a double
  fixed,        // to a digit
  exact,        // not at all: any sum of them is a double
  pair,         // not at all: two terms, and only a rounding looks at their sum
  twofold,      // not at all: more terms, whose sum is two doubles and a bound on what is lost
  at_once,      // one term or two, rounded before anything else looks at their sum
};

struct SumRule {
  Aligned aligned = Aligned::exact;
  Order order = Order::fused;
  RoundingMode mode = RoundingMode::rne;
  int frac_bits = 0, frac_bits_of_c = 0, grid = 0;  // of the terms, of C, of their sum
  double least_power = 0;                           // the floor, or one that no sum sees
  double drop_c_below = 0;                          // 2^-n; 0: C is never dropped
  double wrap = 0;                                  // 2^width, or 0
  double least = 0, most = 0;                       // where sums saturate; equal: nowhere
  std::optional<Slot> node{};
};

// The further roundings of a compensated sum.
struct CompensationSlots {
  Slot addend, difference, error, compensation, compensated;
};

// How tiles compute compensated sums.
enum class CompensatedTile : std::uint8_t {
  none,
  machine,         // products and sums as the machine rounds them
  short_products,  // products to few digits, sums as the machine's floats
  short_sums,      // both to few digits, in floats
  any_mode,        // sums to fewer digits than doubles have, by any mode or random bits, in those
};

// Formats have numbers that the lanes have no room for: exact products have their last digits at
// 2^least_digit or above, C is 0 or no less than `least`, no operand that comes with its scale has
// an exponent below least_factor, and nothing is past `most`, or outputs are in doubt.
struct Watch {
  int least_digit;
  double least, most;
  int least_factor = INT_MIN;
};

struct Rules {
  RoundingMode mode = RoundingMode::rne;  // the machine's
  std::size_t lanes = 0;
  std::size_t group_count = 1, group_size = 0;
  bool strided = false;
  bool quick = false;  // plain products in one window, or exact: no term of them is looked at alone
  std::size_t chunk = 0;  // so many aligned products surely sum to an int32; 0: no floats
  // Plain products of a block sum exactly where exponents lie no further apart, A's and B's
  // together; < 0: never.
  int narrow_span = -1;
  bool float_tree = false;  // products, sums of neighbours and C are added as the machine's floats
  bool short_tree = false;  // the same, some or all of them rounded to few digits
  bool late_tile = false;   // sums of products fit an int32 each, and C joins them as on CDNA3
  bool exact_tile = false;  // exact sums with C become binary32
  CompensatedTile compensated_tile = CompensatedTile::none;
  int digits_below = 0;        // of a product below its field exponent
  bool plain_twofold = false;  // plain products and C add up to two doubles
  bool long_products = false;  // of more digits than a double has
  bool normalised = false;
  double overflow_at = 0;  // 0: no product overflows
  std::optional<Slot> product{};
  SumRule group, block, late;
  CLevel c_level = CLevel::group;
  bool group_scale = false, term_scale = false;
  bool late_scale = false;  // of terms, once they have been looked at as products
  Slot out;
  std::size_t interval = 0;  // of promotion
  std::optional<Slot> promote{}, c_round{}, final{};
  Compensation compensation = Compensation::none;
  CompensationSlots compensated{};
  std::size_t last_step = 0;  // where the last block begins along k
  bool c_last = false;
  bool doubts = false;  // some sum may be none that two doubles tell
  std::optional<Watch> watch{};
  bool votes = false;          // some sum is aligned to its largest exponent
  bool doubtful_zero = false;  // the lanes may give a zero the wrong sign
};

struct Answer {
  std::optional<Rules> rules;
  std::string reason;  // the conditions that hold, or the one that fails
};

Answer plan(const ProductTask& task);

}  // namespace widthwise::blocks
