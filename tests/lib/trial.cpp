#include "trial.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "widthwise/sim/text.hpp"

namespace tests {

std::vector<Env> deterministic_environments() {
  std::vector<Env> all;
  for (Tininess tininess : {Tininess::before_rounding, Tininess::after_rounding})
    for (int mode = 0; mode < deterministic_modes; ++mode)
      all.push_back({.rounding = static_cast<RoundingMode>(mode), .tininess = tininess});
  return all;
}

std::vector<Env> delivered_environments() {
  std::vector<Env> all;
  for (int mode = 0; mode < deterministic_modes; ++mode)
    all.push_back(
        {.rounding = static_cast<RoundingMode>(mode), .tininess = Tininess::as_delivered});
  return all;
}

std::vector<Env> policy_environments() {
  std::vector<Env> all = all_environments();
  for (const Env& env : delivered_environments()) all.push_back(env);
  return all;
}

std::vector<Env> stochastic_environments() {
  using enum StochasticVariant;
  std::vector<Env> all;
  bool after = false;
  for (int k : {1, 2, 5, 8, 16})
    for (StochasticVariant variant : {plain, half, even}) {
      const Tininess t = after ? Tininess::after_rounding : Tininess::before_rounding;
      all.push_back({.rounding = Rounding(k, variant), .tininess = t});
      after = !after;
    }
  return all;
}

std::vector<Env> all_environments() {
  std::vector<Env> all = deterministic_environments();
  for (const Env& env : stochastic_environments()) all.push_back(env);
  return all;
}

std::uint64_t samples(std::uint64_t count) {
#ifdef __SANITIZE_ADDRESS__
  count = count / 10 + 1;
#endif
  return std::getenv("WIDTHWISE_LONG") ? 50 * count : count;
}

std::uint64_t random_bits(const Env& env, Random& random) {
  if (!env.rounding.stochastic()) return 0;
  return random() >> (64 - env.rounding.random_bits);
}

std::string hex(const std::vector<std::uint64_t>& limbs) {
  std::string digits;
  for (std::size_t i = limbs.size(); i-- > 0;)
    if (!digits.empty())
      digits += fmt::format("{:016x}", limbs[i]);
    else if (limbs[i] != 0 || i == 0)
      digits = fmt::format("{:x}", limbs[i]);
  return digits;
}

std::string_view name(Operation op) {
  switch (op) {
    using enum Operation;
    case add: return "add";
    case subtract: return "subtract";
    case multiply: return "multiply";
    case divide: return "divide";
    case remainder: return "remainder";
    case sqrt: return "sqrt";
    case fma: return "fma";
    case convert: return "convert";
    case round_to_integral: return "round_to_integral";
    case round_to_integral_exact: return "round_to_integral_exact";
    case minimum: return "minimum";
    case maximum: return "maximum";
    case minimum_number: return "minimum_number";
    case maximum_number: return "maximum_number";
    case min_num: return "min_num";
    case max_num: return "max_num";
    case min_x86: return "min_x86";
    case max_x86: return "max_x86";
    case next_up: return "next_up";
    case next_down: return "next_down";
    case logb: return "logb";
    case copysign: return "copysign";
    case negate: return "negate";
    case abs: return "abs";
  }
  return "no such operation";
}

std::string coded_text(const Format& f, const std::vector<std::uint64_t>& code) {
  return to_string(f) + ":" + hex(code);
}

std::string Description::text() const {
  return fmt::format("{} -> {}, {}, {}, random {:x}: got {} flags {}, want {} flags {}", what,
                     to_string(to), to_string(env.rounding), to_string(env.tininess), random,
                     hex(got), got_flags, hex(want), want_flags);
}

}  // namespace tests
