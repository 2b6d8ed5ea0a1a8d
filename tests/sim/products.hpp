#pragma once
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/lib/tally.hpp"
#include "widthwise/sim/engine.hpp"

// An engine against the reference: the same codes and flags, whatever the operands.
namespace tests {

using ProductRandom = std::mt19937_64;

// What an engine says to a unit.
widthwise::Opinion opinion(std::string_view engine, const widthwise::Unit& u, bool flags = false,
                           std::size_t k = 1);
// Whether the unit can be at this length: scales may not fit its groups there.
bool has_length(const widthwise::Unit& u, std::size_t k);

// Sorts of codes that matrices are filled with.
enum class Manner {
  bits,        // random ones
  about_one,   //
  cancelling,  // a few binades about 1, most of one significand
  tiny,        // near the least normal number
  underflow,   // near its square root: products are tiny
  large,       // near the largest number
  overflow,    // near its square root: products are large
  full,        // of one sign and the largest significand
  sparse,      // mostly zeros
  zeros,       // of both signs
  few,         // zeros, ones, and what ties with or cancels them
  powers,      // of two, or the least number
  named,       // the ends of the format's ranges, infinities and NaN among them
};
inline constexpr Manner last_manner = Manner::named;
inline constexpr std::size_t manners = static_cast<std::size_t>(last_manner) + 1;

// How many of those sorts compare_random takes, and how many sorts of C each of them meets: with
// --long three, else one of the three in turn. Under sanitizers, which look for other faults than
// wrong bits and take their time, one in turn and the ends.
std::size_t sorts_of_operands();
std::size_t sorts_of_c();

// The widest codes that these tests make.
using WideCode = widthwise::Wide<18>;

// Codes side by side.
class CodeList {
 public:
  CodeList(const widthwise::Format& f, std::size_t count);
  std::size_t size() const { return items_.size() / static_cast<std::size_t>(bytes_); }
  void set(std::size_t i, std::uint64_t code);
  void set(std::size_t i, const WideCode& code);
  std::uint64_t operator[](std::size_t i) const;
  bool same(const CodeList& other, std::size_t i) const;
  std::string hexadecimal(std::size_t i) const;
  // Row-major with that many columns.
  widthwise::CodeMatrix rows(std::size_t columns, std::size_t first = 0) const;
  void* data() { return items_.data(); }

 private:
  std::vector<std::byte> items_;
  int bytes_;
};
CodeList codes(const widthwise::Format& f, std::size_t count, Manner manner, ProductRandom& random);
CodeList ones(const widthwise::Format& f, std::size_t count);
Manner any_manner(ProductRandom& random);

struct ProductShape {
  std::size_t m, k, n;
};

// A product's operands, drawn: B by rows, by columns, or between columns that are not looked at; C
// or none; scales of any manner.
class DrawnProduct {
 public:
  struct Manners {
    Manner a, b, c;
  };
  DrawnProduct(const widthwise::Unit& u, const ProductShape& s, const Manners& of,
               ProductRandom& random);

  const widthwise::MatrixProduct& product() const { return product_; }

 private:
  CodeList a_, b_, c_, scale_a_, scale_b_;
  widthwise::MatrixProduct product_;
};

// Compares every output of the engine with the reference's, and its flags where told; both with the
// multiplier, if there is one.
class Rival {
 public:
  Rival(std::string engine, const widthwise::Unit& u, Tally& tally, bool flags = false,
        widthwise::Multiplier multiplier = {})
      : engine_(std::move(engine)),
        unit_(u),
        tally_(tally),
        flags_(flags),
        multiplier_(std::move(multiplier)) {}

  void compare(widthwise::MatrixProduct p, const std::string& what) const;
  // The same of all these engines, with flags and without where they take the unit so; how many
  // comparisons there were.
  std::uint64_t compare_engines(const std::vector<std::string>& engines,
                                const widthwise::MatrixProduct& p) const;
  // The same from now on of every instruction set, with flags and without: what the reference says
  // is asked once.
  Rival& everywhere() {
    everywhere_ = flags_ = true;
    return *this;
  }
  static std::uint64_t times_everywhere();
  // The engine computes from now on tile by tile, of about so many products each.
  Rival& in_tiles(std::size_t products) {
    at_once_ = products;
    return *this;
  }

  // One dot product of these numbers, onto a C, each rounded to the unit's format.
  void compare_doubles(const std::vector<double>& a, const std::vector<double>& b, double c) const;

  // Operands of every manner.
  using Shape = ProductShape;
  void compare_random(const Shape& s, ProductRandom& random) const;

  // Sums that are infinite, or NaN, from a step on to the last, and numbers beside them: by such
  // operands, and by overflow alone. Of units without block scales.
  void compare_lasting(std::size_t k) const;
  static constexpr std::uint64_t lasting = 2 * 5 * 3;  // sums

 private:
  static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();
  struct Outputs {
    CodeList codes;
    std::vector<std::uint8_t> flags;
  };
  Outputs outputs(std::string_view engine, widthwise::MatrixProduct p, bool flags,
                  std::size_t at_once) const;
  void compare_with(const Outputs& want, std::string_view engine, const widthwise::MatrixProduct& p,
                    bool flags, const std::string& what) const;
  // Five rows of A, beside ones in B and in A where nothing else is set.
  void compare_rows(const CodeList& a, std::size_t k, const std::string& what) const;

  std::string engine_;
  widthwise::Unit unit_;
  Tally& tally_;
  bool flags_, everywhere_ = false;
  std::size_t at_once_ = whole;
  widthwise::Multiplier multiplier_;
};

// Running results, those of output i from i * k on, against the definition's products of every
// length.
void compare_running(const widthwise::Unit& u, const widthwise::MatrixProduct& operands, bool flags,
                     const CodeList& got, const std::vector<std::uint8_t>& raised, Tally& tally);

// By one compare_random.
std::uint64_t outputs_compared(const Rival::Shape& s);

}  // namespace tests
