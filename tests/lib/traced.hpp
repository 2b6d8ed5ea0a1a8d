#pragma once
#include <cmath>
#include <vector>

#include "widthwise/operations.hpp"
#include "widthwise/sim/operation.hpp"

// What a listener to an operation hears, and what has to hold of it. For formats of few digits and
// a narrow range, whose sums and products are exact in a double.
namespace tests {

using namespace widthwise;

struct Heard {
  Stage stage;
  bool negative;
  double magnitude, unit;  // of sig's lowest digit
  std::uint64_t sig;
};

class Listener {
 public:
  explicit Listener(std::vector<Heard>& heard) : heard_(&heard) {}
  template <class U>
  void operator()(Stage stage, const Number<U>& x) const {
    (*this)(stage, x.negative, x.exp, x.sig);
  }
  template <class U>
  void operator()(Stage stage, bool negative, std::int64_t exp, U sig) const {
    const double unit = std::ldexp(1.0, static_cast<int>(exp));
    heard_->push_back({stage, negative, static_cast<double>(sig) * unit, unit, sig});
  }

 private:
  std::vector<Heard>* heard_;
};

inline constexpr Operation traced_operations[] = {Operation::add,      Operation::subtract,
                                                  Operation::multiply, Operation::divide,
                                                  Operation::sqrt,     Operation::fma,
                                                  Operation::convert,  Operation::remainder,
                                                  Operation::maximum,  Operation::round_to_integral,
                                                  Operation::logb};

// In nearest even, which is all that std::nearbyint knows here.
inline double exact_result(Operation op, double a, double b, double c) {
  switch (op) {
    case Operation::add: return a + b;
    case Operation::subtract: return a - b;
    case Operation::multiply: return a * b;
    case Operation::divide: return a / b;
    case Operation::sqrt: return std::sqrt(a);
    case Operation::fma: return a * b + c;
    case Operation::remainder: return std::remainder(a, b);
    case Operation::maximum: return std::fmax(a, b);
    case Operation::round_to_integral: return std::nearbyint(a);
    case Operation::logb: return std::logb(a);
    default: return a;  // convert
  }
}

template <class U>
Result<U> with_listener(Operation op, const Rounder<U>& to, const Layout<U>& f, U a, U b, U c,
                        const Listener& hear) {
  const U none{};
  switch (op) {
    case Operation::add: return add<U>(to, f, a, f, b, none, hear);
    case Operation::subtract: return subtract<U>(to, f, a, f, b, none, hear);
    case Operation::multiply: return multiply<U>(to, f, a, f, b, none, hear);
    case Operation::divide: return divide<U>(to, f, a, f, b, none, hear);
    case Operation::sqrt: return widthwise::sqrt<U>(to, f, a, none, hear);
    case Operation::fma: return widthwise::fma<U>(to, f, a, f, b, f, c, none, hear);
    case Operation::remainder: return widthwise::remainder<U>(to, f, a, f, b, none, hear);
    case Operation::maximum: return extremum<U>(to, true, NanOperand::wins, f, a, f, b, none, hear);
    case Operation::round_to_integral: return round_to_integral<U>(to, f, a, false, none, hear);
    case Operation::logb: return widthwise::logb<U>(to, f, a, none, hear);
    default: return convert<U>(to, f, a, none, hear);
  }
}

// The first three stages hold the exact result, but for jammed digits (the lowest two of a
// root); the fourth the rounded one, the last its code. A normalised number has its leading
// one at the top.
template <class U>
bool tells_the_truth(const std::vector<Heard>& heard, double exact, double rounded, const U& code) {
  constexpr Stage path[] = {Stage::exact, Stage::normalise, Stage::denormalise, Stage::round,
                            Stage::pack};
  if (heard.size() != std::size(path)) return false;
  for (std::size_t i = 0; i < std::size(path); ++i) {
    if (heard[i].stage != path[i] || heard[i].negative != std::signbit(exact)) return false;
    const double jammed = std::fabs(heard[i].magnitude - std::fabs(exact));
    if (i < 3 && jammed > 4 * heard[i].unit) return false;
  }
  const bool normalised = heard[1].sig >> (digits<U> - 1) == 1;
  return normalised && heard[3].magnitude == std::fabs(rounded) && heard[4].sig == code &&
         heard[4].magnitude == static_cast<double>(code);
}

}  // namespace tests
