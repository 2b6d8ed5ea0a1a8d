#pragma once
#include <string>

#include "widthwise/unit.hpp"

// Which units float and double lanes compute, and by which sequence. docs/exactness.md argues every
// condition.
namespace widthwise::lanes {

// A carrier: a machine format that holds values of narrower ones.
struct Carrier {
  const char* name;
  int digits;
  std::int64_t emin, emax;
};
inline constexpr Carrier in_float{"float", 24, -126, 127}, in_double{"double", 53, -1022, 1023};

enum class Multiply : std::uint8_t {
  native,   // the machine's own product
  exact,    // no rounding of its own: it goes into the sum as it is
  odd,      // likewise, and the carrier rounds that sum to odd
  rounded,  // to a narrower format, subnormals included
  wide,     // to a narrower format, after the carrier has rounded it to odd
};
enum class Add : std::uint8_t {
  native,
  normal,   // rounded to its precision; nothing lies below its least digit
  rounded,  // subnormals included
  cut,      // directed modes and ties away: the carrier rounds, then low digits are cut off
  odd,      // rounded by any mode, after the carrier has rounded it to odd
  random,   // stochastic: the carrier rounds toward zero, random digits are added, low ones cut off
};

struct Plan {
  Carrier carrier = in_float;
  Multiply multiply = Multiply::native;
  Add add = Add::native;
  RoundingMode mode = RoundingMode::rne;  // of sums
  int scale = 0;  // numbers stand in the lanes times 2^scale: cut needs subnormals for subnormals
  int random_bits = 0;
  bool flushes = false;        // what is tiny becomes zero
  bool small_products = true;  // else none is below product_least / product_up but zero

  // What the machine has to be set to.
  RoundingMode machine_mode() const { return add == Add::odd ? RoundingMode::rne : mode; }
};

struct Answer {
  std::optional<Plan> plan;
  std::string reason;  // the conditions that hold, or the one that fails
};

// `own_modes`: whether each operation of the lanes can have a rounding mode of its own.
Answer plan(const Unit& unit, bool own_modes);

// Why the unit is no chain of multiply-adds, each of one product, whatever its formats; empty if it
// is.
std::string unlike_a_chain(const Unit& u);

// Why a chain does not have such operands and such roundings; empty if it has. Each tells of one,
// by its name.
template <class OfOperand, class OfRound>
std::string unlike_a_chain(const Unit& u, const OfOperand& of_operand, const OfRound& of_round) {
  if (std::string why = unlike_a_chain(u); !why.empty()) return why;
  if (std::string why = of_operand("a", u.a); !why.empty()) return why;
  if (std::string why = of_operand("b", u.b); !why.empty()) return why;
  if (std::string why = of_operand("c", u.c); !why.empty()) return why;
  if (u.product.round)
    if (std::string why = of_round("product.round", *u.product.round); !why.empty()) return why;
  return of_round("out", u.out);
}

// Why an operand is no float that the lanes read as it stands; empty if it is. `where` is its name.
std::string unlike_a_float(const char* where, const Operand& x);

// Every number of the format is one of the carrier: a normal one, or both have the same subnormals.
bool held(const Carrier& carrier, const Format& f);

// Whether a format of the unit has its NaN in the place of -0, which then is no number of it.
bool has_minus_zero_nan(const Unit& u);

// Lanes that compute in binary16 itself: how products are rounded, if they are, and sums.
struct HalfPlan {
  std::optional<RoundingMode> product;
  RoundingMode sum;
};
struct HalfAnswer {
  std::optional<HalfPlan> plan;
  std::string reason;
};
HalfAnswer plan_in_halves(const Unit& unit);

}  // namespace widthwise::lanes
