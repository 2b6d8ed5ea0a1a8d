#pragma once
#include <random>
#include <vector>

#include "entries.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"

// Numbers of any format, with which operands are found that make a result what it is to be.
namespace widthwise::hdl {

using Random = std::mt19937_64;

struct Number {
  Format format;
  Code code;
};

inline Code sign_of(const Format& f) { return f.is_signed() ? bit<Code>(f.width() - 1) : Code(); }
inline Code within(const Format& f, const Code& code) { return code & ones<Code>(f.width()); }
// The code of the same magnitude with the other sign, where there is one.
inline Code negated(const Format& f, const Code& code) {
  return f.sign == Sign::complement ? within(f, Code() - code) : code ^ sign_of(f);
}
inline Number negative(const Number& x) { return {x.format, negated(x.format, x.code)}; }

Code random_code(const Format& f, Random& random);

// One operation of the simulator, to nearest even; past a range that wraps its end is meant.
Number apply(Operation op, const Format& to, const std::vector<Number>& x);

// m * 2^e, in a format of its own.
Number whole(std::int64_t m, std::int64_t e);

}  // namespace widthwise::hdl
