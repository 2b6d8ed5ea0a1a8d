#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/datapath/term.hpp"
#include "widthwise/sim/elementwise.hpp"

// What codes stand for, exactly, and numbers written down as text.
namespace widthwise {

// (-1)^negative * significand * 2^exponent. A finite significand is odd: no trailing zeros.
struct Value {
  Kind kind;
  bool negative;
  bool signaling;                          // a NaN that is
  std::vector<std::uint64_t> significand;  // limbs, least significant first; empty unless finite
  std::int64_t exponent;
};

// The value of one code, laid out as codes.hpp says.
Value value_of(const Format& f, const void* code);

// Correctly rounded to so many significant digits, ties to even, and no longer than needed: "1.5",
// "6.1e-05", "-0", "inf", "nan". An exponent past decimal_reach is written in powers of two.
inline constexpr std::int64_t decimal_reach = std::int64_t{1} << 20;
std::string decimal(const Value& v, int digits);

// Exact: "0x1.8p-7", as C's %a.
std::string hexadecimal(const Value& v);

// The shortest decimal number that rounds (rne) to this very code of f. An integer has no zeros
// that are not its own: "65504" and not "65500", "1.23e+08" and not "123000000".
std::string shortest_decimal(const Format& f, const void* code);

// Numbers as text, each rounded once: "-1.5e-3", "0x1.8p-7", "3p-40" (3 * 2^-40), "1/3", "inf",
// "nan". Throws ParseError; what() begins with "x[i]" where there are several.
void from_literals(const Format& to, const Env& env, std::span<const std::string> texts,
                   void* result, std::uint8_t* flags, RandomSource random = {});

// Codes that a format's description speaks of, in limbs of 64 bits; none where it lacks one.
enum class NamedCode : std::uint8_t {
  zero,
  min_subnormal,
  max_subnormal,
  min_normal,
  one,
  max_finite,
  infinity,
  nan,  // the canonical one
};
inline constexpr NamedCode named_codes[] = {
    NamedCode::zero, NamedCode::min_subnormal, NamedCode::max_subnormal, NamedCode::min_normal,
    NamedCode::one,  NamedCode::max_finite,    NamedCode::infinity,      NamedCode::nan};
std::string_view to_string(NamedCode which);  // "min_subnormal"
std::optional<std::vector<std::uint64_t>> find_code(const Format& f, NamedCode which);

}  // namespace widthwise
