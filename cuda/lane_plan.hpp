#pragma once
#include "sim/engine/unusual.hpp"
#include "sim/lanes/plan.hpp"

namespace widthwise::cuda {

// How threads compute a unit in lanes. Each of their operations names its rounding mode: what a CPU
// is set to is here the sequence of directed modes, which then cuts no digit.
inline lanes::Answer lane_plan(const Unit& u) {
  if (u.chain.final) return {std::nullopt, "a final rounding"};
  const Format& product = u.product.round ? u.product.round->fmt : u.out.fmt;
  for (const Format* f : {&u.a.fmt, &u.b.fmt, &u.c.fmt, &product, &u.out.fmt})
    if (const char* why = unusual(*f)) return {std::nullopt, std::string("a format ") + why};
  lanes::Answer answer = lanes::plan(u, true);
  if (answer.plan && answer.plan->add == lanes::Add::odd)
    return {std::nullopt, "sums that are first rounded to odd"};
  if (answer.plan && answer.plan->add == lanes::Add::random &&
      answer.plan->carrier.digits != lanes::in_float.digits)
    return {std::nullopt, "stochastic sums in double lanes"};
  if (!answer.plan || answer.plan->add != lanes::Add::native ||
      answer.plan->mode == RoundingMode::rne)
    return answer;
  answer.plan->add = lanes::Add::cut;
  if (answer.plan->multiply == lanes::Multiply::native)
    answer.plan->multiply = lanes::Multiply::rounded;
  return answer;
}

}  // namespace widthwise::cuda
