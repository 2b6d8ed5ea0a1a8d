#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/operation.hpp"

// An independent answer from MPFR, at any width and range that a Format may have. Shares no code
// with the arithmetic it judges. Slow, thread safe, and it leaves MPFR's state as it found it.
namespace widthwise {

// Codes are little-endian limbs of 64 bits.
struct OracleOperand {
  Format format;
  std::span<const std::uint64_t> code;
};

struct OracleResult {
  std::vector<std::uint64_t> code;
  Flags flags;
  bool operator==(const OracleResult&) const = default;
};

// add, subtract, multiply, divide, remainder, sqrt, fma, convert, round_to_integral and
// round_to_integral_exact; std::invalid_argument for the others.
OracleResult mpfr_compute(Operation op, const Format& to, const Env& env,
                          std::span<const OracleOperand> operands, std::uint64_t random = 0);

// One limb; RISC-V's values with invalid alone where the integer does not exist, else inexact.
OracleResult mpfr_to_integer(IntegerType type, Rounding how, const OracleOperand& a,
                             std::uint64_t random = 0);
OracleResult mpfr_from_integer(IntegerType type, std::uint64_t integer, const Format& to,
                               const Env& env, std::uint64_t random = 0);

// What a literal rounds to: "-1.5e-3", "0x1.8p-7", "1/3", "inf", "nan".
OracleResult mpfr_from_text(const Format& to, const Env& env, const std::string& text,
                            std::uint64_t random = 0);

// A code's value in decimal, correctly rounded to so many digits; "inf", "-0", "nan".
std::string mpfr_decimal(const Format& format, std::span<const std::uint64_t> code, int digits);

}  // namespace widthwise
