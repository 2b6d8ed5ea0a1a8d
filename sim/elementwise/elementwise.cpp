#include "widthwise/sim/elementwise.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise {
namespace {

template <class U>
struct As {
  using type = U;
};

// Calls f with the carrier of that many digits.
template <class F>
void with_carrier(int digits_wanted, F&& f) {
  switch (least_carrier(digits_wanted)) {
    case 32: return f(As<std::uint32_t>{});
    case 64: return f(As<std::uint64_t>{});
    case 128: return f(As<uint128>{});
    case 256: return f(As<Wide<4>>{});
    case 576: return f(As<Wide<9>>{});
    case 1088: return f(As<Wide<17>>{});
    case 2112: return f(As<Wide<33>>{});
    case 4160: return f(As<Wide<65>>{});
    default:
      throw std::invalid_argument(fmt::format(
          "formats and rounding need {} digits of working precision; the widest carrier has {}",
          digits_wanted, carrier_digits[std::size(carrier_digits) - 1]));
  }
}

bool keeps_format(Operation op) {
  switch (op) {
    case Operation::next_up:
    case Operation::next_down:
    case Operation::copysign:
    case Operation::negate:
    case Operation::abs: return true;
    default: return false;
  }
}

}  // namespace

void elementwise(Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random) {
  if (operands.size() != static_cast<std::size_t>(arity(op)))
    throw std::invalid_argument(
        fmt::format("operands: {} given; the operation takes {}", operands.size(), arity(op)));
  if (keeps_format(op) && to != operands[0].format)
    throw std::invalid_argument(fmt::format(
        "format={} differs from the operand's {}; the operation never rounds, convert first",
        to_string(to), to_string(operands[0].format)));
  int needed = digits_needed(to, env.rounding);
  ElementwiseJob job{op,        to,      env,   {operands[0], operands[0], operands[0]},
                     arity(op), nullptr, count, result,
                     flags,     random};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    job.operand[i] = operands[i];
    needed = std::max(needed, digits_needed(operands[i].format, env.rounding));
  }
  with_carrier(needed, [&](auto u) { run_elementwise<typename decltype(u)::type>(job); });
}

void scaleb(const Format& to, const Env& env, const CodeArray& a, const std::int64_t* n,
            std::size_t count, void* result, std::uint8_t* flags, RandomSource random) {
  const ElementwiseJob job{
      Operation::convert, to, env, {a, a, a}, 1, n, count, result, flags, random};
  const int needed = std::max(digits_needed(to, env.rounding), digits_needed(a.format));
  with_carrier(needed, [&](auto u) { run_scaleb<typename decltype(u)::type>(job); });
}

void compare(Comparison how, const CodeArray& a, const CodeArray& b, std::size_t count,
             std::uint8_t* result, std::uint8_t* flags) {
  const bool one_format =
      how == Comparison::total_order || how == Comparison::total_order_magnitude;
  if (one_format && a.format != b.format)
    throw std::invalid_argument(
        fmt::format("total order of {} and {}: one format is wanted, convert first",
                    to_string(a.format), to_string(b.format)));
  const CompareJob job{how, a, b, count, result, flags};
  const int needed = std::max(digits_needed(a.format), digits_needed(b.format));
  with_carrier(needed, [&](auto u) { run_compare<typename decltype(u)::type>(job); });
}

void to_integers(IntegerType type, const Env& env, const CodeArray& a, std::size_t count,
                 std::uint64_t* result, std::uint8_t* flags, RandomSource random) {
  const IntegerJob job{type, env, a, a.format, nullptr, result, nullptr, count, flags, random};
  const int needed = std::max(64, digits_needed(a.format, env.rounding));
  with_carrier(needed, [&](auto u) { run_to_integers<typename decltype(u)::type>(job); });
}

void from_integers(IntegerType type, const Format& to, const Env& env, const std::uint64_t* a,
                   std::size_t count, void* result, std::uint8_t* flags, RandomSource random) {
  const IntegerJob job{type, env, {to, nullptr}, to, a, nullptr, result, count, flags, random};
  const int needed = std::max(64, digits_needed(to, env.rounding));
  with_carrier(needed, [&](auto u) { run_from_integers<typename decltype(u)::type>(job); });
}

void classify(const CodeArray& a, std::size_t count, std::uint8_t* result) {
  with_carrier(digits_needed(a.format),
               [&](auto u) { run_classify<typename decltype(u)::type>(a, count, result); });
}

}  // namespace widthwise
