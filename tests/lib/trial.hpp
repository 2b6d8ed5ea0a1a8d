#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "apply.hpp"

// Environments to run the definition in, operands to run it on, and words for what came out.
namespace tests {

using Random = std::mt19937_64;

// The eleven deterministic modes, under each tininess rule.
std::vector<Env> deterministic_environments();
// 1 to 16 random bits in the three variants, the tininess rules in turn.
std::vector<Env> stochastic_environments();
std::vector<Env> all_environments();

// The deterministic modes where what is delivered tells what is tiny; and all of these.
std::vector<Env> delivered_environments();
std::vector<Env> policy_environments();

// How many samples to take where `count` fit into every run: with WIDTHWISE_LONG fifty times as
// many, under a sanitizer a tenth.
std::uint64_t samples(std::uint64_t count);

// Random bits for an environment; 0 where it wants none.
std::uint64_t random_bits(const Env& env, Random& random);

// Little-endian, as many as the carrier has.
template <class U>
std::vector<std::uint64_t> limbs(const U& x) {
  if constexpr (requires { x.limb; })
    return {std::begin(x.limb), std::end(x.limb)};
  else if constexpr (sizeof x == 16)
    return {static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64)};
  else
    return {x};
}

std::string hex(const std::vector<std::uint64_t>& limbs);
std::string_view name(Operation op);

// "multiply e4m3fn:7f e5m2:1 -> e4m3fn, rne, after, random 0: got 7f flags 5, want 7e flags 5"
struct Description {
  std::string what;  // operation and operands
  Format to;
  Env env;
  std::uint64_t random = 0;
  std::vector<std::uint64_t> got, want;
  Flags got_flags = 0, want_flags = 0;
  std::string text() const;
};

std::string coded_text(const Format& f, const std::vector<std::uint64_t>& code);
template <class U>
std::string call_text(Operation op, const Coded<U>* x) {
  std::string text(name(op));
  for (int i = 0; i < arity(op); ++i)
    text += " " + coded_text(x[i].layout->format, limbs(x[i].code));
  return text;
}

}  // namespace tests
