#pragma once
#include <string>

#include "widthwise/unit.hpp"

// Which units may have fewer exponents, and for which operands that changes nothing: while all
// numbers on the way lie in one window. docs/exactness.md, 61, has the argument.
namespace widthwise::narrowed {

// The window is the normal numbers of this many exponent bits, of which a double holds products.
inline constexpr int exp_bits = 10;
inline constexpr std::int64_t least = 1 - ieee_bias(exp_bits), most = ieee_bias(exp_bits);

// Exponents of the leading digits of numbers, zeros apart; those of 1 where there are no others.
struct Span {
  std::int64_t lowest = 0, highest = 0;
};

// Whether all of the window's numbers, of its digits, are the format's.
constexpr bool holds_window(const Format& f) { return f.emin() <= least && f.emax() >= most; }
// The format with the window's exponents.
Format narrowed(const Format& f);
// With all its formats that hold the window narrowed.
Unit narrowed(const Unit& u);

// Why the unit is not one for this; empty if it is.
std::string unfit(const Unit& u);

// For products of one length.
class Window {
 public:
  Window(const Unit& u, std::size_t k);

  // Whether nothing that comes of such operands leaves it.
  bool holds(const Span& a, const Span& b, const Span& c) const;

 private:
  int digits_a_, digits_b_, digits_c_;
  std::int64_t products_;  // binades that adding so many takes
  std::int64_t lifted_;    // binades that roundings take, and what is added and taken off again
  // Above what arises whatever the operands: a format's least number, its largest one where it has
  // no infinity to deliver, a register's last digit.
  std::int64_t own_;
};

}  // namespace widthwise::narrowed
