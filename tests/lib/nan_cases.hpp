#pragma once
#include <array>
#include <cstdint>

#include "widthwise/rounding.hpp"
#include "widthwise/sim/operation.hpp"

// binary32 operations whose result is a NaN, for whoever can compute them: check takes (operation,
// operands, result, flags).
namespace tests::nan_cases {

using widthwise::invalid;
using widthwise::Operation;
using Code = std::uint32_t;
using Operands = std::array<Code, 3>;

inline constexpr Code canonical = 0x7fc00000, one = 0x3f800000, infinity = 0x7f800000;
inline constexpr Code minus = 0x80000000, quieted = 0x00400000;
inline constexpr Code quiet_a = 0xffc12345, quiet_b = 0x7fe54321, quiet_c = 0x7fc00077;
inline constexpr Code loud_a = 0x7f812345, loud_b = 0xffa54321;

inline constexpr Operation two_operands[] = {
    Operation::add,     Operation::subtract, Operation::multiply, Operation::divide,
    Operation::minimum, Operation::maximum,  Operation::remainder};

// Propagated: the first operand that is a NaN, with its sign.
template <class Check>
void first_wins(const Check& check) {
  for (Operation op : two_operands) {
    check(op, Operands{quiet_a, one}, quiet_a, 0);
    check(op, Operands{one, quiet_a}, quiet_a, 0);
    check(op, Operands{one | minus, quiet_b}, quiet_b, 0);
    check(op, Operands{quiet_a, quiet_b}, quiet_a, 0);
    check(op, Operands{quiet_b, quiet_a}, quiet_b, 0);
  }
  check(Operation::fma, Operands{one, quiet_b, quiet_c}, quiet_b, 0);
  check(Operation::fma, Operands{quiet_a, quiet_b, quiet_c}, quiet_a, 0);
  check(Operation::fma, Operands{one, one, quiet_c}, quiet_c, 0);
  for (Operation op :
       {Operation::sqrt, Operation::convert, Operation::round_to_integral, Operation::logb})
    check(op, Operands{quiet_a}, quiet_a, 0);
}

// Propagated: quiet, the payload kept, invalid.
template <class Check>
void signalling_is_quieted(const Check& check) {
  for (Operation op : two_operands) {
    check(op, Operands{loud_a, one}, loud_a | quieted, invalid);
    check(op, Operands{one, loud_b}, loud_b | quieted, invalid);
    check(op, Operands{loud_b, loud_a}, loud_b | quieted, invalid);
    check(op, Operands{quiet_a, loud_b}, quiet_a, invalid);
  }
  check(Operation::fma, Operands{one, one, loud_a}, loud_a | quieted, invalid);
  check(Operation::sqrt, Operands{loud_a}, loud_a | quieted, invalid);
  check(Operation::convert, Operands{loud_b}, loud_b | quieted, invalid);
}

// Propagated: what the number beside it does.
template <class Check>
void number_wins(const Check& check) {
  check(Operation::minimum_number, Operands{quiet_a, one}, one, 0);
  check(Operation::minimum_number, Operands{loud_a, one}, one, invalid);
  check(Operation::minimum_number, Operands{loud_a, quiet_b}, loud_a | quieted, invalid);
  check(Operation::min_num, Operands{one, quiet_a}, one, 0);
  check(Operation::min_num, Operands{one, loud_b}, loud_b | quieted, invalid);
}

// A NaN that the operation makes, whatever the policy: one code.
template <class Check>
void made(const Check& check, Code canonical = nan_cases::canonical) {
  check(Operation::add, Operands{infinity, infinity | minus}, canonical, invalid);
  check(Operation::subtract, Operands{infinity, infinity}, canonical, invalid);
  check(Operation::multiply, Operands{minus, infinity}, canonical, invalid);
  check(Operation::divide, Operands{minus, 0}, canonical, invalid);
  check(Operation::divide, Operands{infinity, infinity | minus}, canonical, invalid);
  check(Operation::remainder, Operands{infinity | minus, one}, canonical, invalid);
  check(Operation::remainder, Operands{one, 0}, canonical, invalid);
  check(Operation::sqrt, Operands{one | minus}, canonical, invalid);
  check(Operation::sqrt, Operands{infinity | minus}, canonical, invalid);
  check(Operation::fma, Operands{0, infinity, one}, canonical, invalid);
  check(Operation::fma, Operands{one, infinity, infinity | minus}, canonical, invalid);
}

// Zero times infinity beside a NaN: invalid, and a NaN that is made; on x86 that NaN, and silent.
template <class Check>
void made_beside_nan(const Check& check, Code canonical = nan_cases::canonical) {
  check(Operation::fma, Operands{0, infinity, quiet_c}, canonical, invalid);
  check(Operation::fma, Operands{infinity | minus, 0, loud_a}, canonical, invalid);
}
template <class Check>
void given_beside_nothing(const Check& check) {
  check(Operation::fma, Operands{0, infinity, quiet_c}, quiet_c, 0);
  check(Operation::fma, Operands{infinity, minus, quiet_a}, quiet_a, 0);
  check(Operation::fma, Operands{infinity | minus, 0, loud_a}, loud_a | quieted, invalid);
}

}  // namespace tests::nan_cases
