#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <tuple>

#include "widthwise/unit.hpp"

// Policies as small numbers. Hardware that is out there knows them: MODEL_ABI covers them.
namespace widthwise::hdl {

// The names of an enumeration's values, in its order: the value is the number.
template <class E>
inline constexpr std::tuple<> code_names{};  // specialised for every policy
template <>
inline constexpr auto code_names<Reference> =
    std::to_array<std::string_view>({"ALIGN_EXACT", "ALIGN_MAX_EXPONENT", "ALIGN_FIXED_LSB"});
template <>
inline constexpr auto code_names<Order> =
    std::to_array<std::string_view>({"ORDER_FUSED", "ORDER_SEQUENTIAL", "ORDER_PAIRWISE_TREE"});
template <>
inline constexpr auto code_names<RegisterOverflow> = std::to_array<std::string_view>(
    {"REGISTER_WRAP", "REGISTER_SATURATE", "REGISTER_FLAG", "REGISTER_NAR", "REGISTER_WRAP_NAR"});
template <>
inline constexpr auto code_names<Overflow> = std::to_array<std::string_view>(
    {"OVERFLOW_IEEE", "OVERFLOW_INF", "OVERFLOW_MAX", "OVERFLOW_NAN", "OVERFLOW_SATFINITE"});
template <>
inline constexpr auto code_names<Flush> =
    std::to_array<std::string_view>({"FLUSH_KEEP", "FLUSH_POS_ZERO", "FLUSH_SIGNED_ZERO"});
template <>
inline constexpr auto code_names<CLevel> =
    std::to_array<std::string_view>({"C_LEVEL_GROUP", "C_LEVEL_BLOCK", "C_LEVEL_LATE"});
template <>
inline constexpr auto code_names<StochasticVariant> =
    std::to_array<std::string_view>({"SR_PLAIN", "SR_HALF", "SR_EVEN"});

template <>
inline constexpr auto code_names<Compensation> = std::to_array<std::string_view>(
    {"COMPENSATION_NONE", "COMPENSATION_KAHAN", "COMPENSATION_NEUMAIER"});

// What becomes of fixed point that overflows: its rules in the order of class Overflow, which has
// saturation first, as `ieee`.
enum class FixedOverflow { saturate, symmetric, zero, wrap, wrap_sm, keep_sign };
constexpr FixedOverflow fixed_overflow(Overflow x) {
  return static_cast<FixedOverflow>(
      x < Overflow::symmetric ? 0
                              : static_cast<int>(x) - static_cast<int>(Overflow::symmetric) + 1);
}
static_assert(fixed_overflow(Overflow::ieee) == FixedOverflow::saturate);
static_assert(fixed_overflow(Overflow::wrap_sm) == FixedOverflow::wrap_sm);
static_assert(fixed_overflow(Overflow::keep_sign) == FixedOverflow::keep_sign);
template <>
inline constexpr auto code_names<FixedOverflow> =
    std::to_array<std::string_view>({"FIXED_SATURATE", "FIXED_SYMMETRIC", "FIXED_ZERO",
                                     "FIXED_WRAP", "FIXED_WRAP_SM", "FIXED_KEEP_SIGN"});

template <class E>
inline constexpr int code_width = std::bit_width(code_names<E>.size() - 1);

// RISC-V's numbers (its RMM is rna here), HardFloat's for odd, then those that neither has.
struct RoundingCode {
  RoundingMode mode;
  int number;
  std::string_view name;
};
inline constexpr RoundingCode rounding_codes[] = {
    {RoundingMode::rne, 0, "RM_RNE"},  {RoundingMode::rtz, 1, "RM_RTZ"},
    {RoundingMode::rdn, 2, "RM_RDN"},  {RoundingMode::rup, 3, "RM_RUP"},
    {RoundingMode::rna, 4, "RM_RMM"},  {RoundingMode::odd, 6, "RM_ODD"},
    {RoundingMode::raz, 8, "RM_RAZ"},  {RoundingMode::rnz, 9, "RM_RNZ"},
    {RoundingMode::rnp, 10, "RM_RNP"}, {RoundingMode::rnm, 11, "RM_RNM"},
    {RoundingMode::sr, 12, "RM_SR"},   {RoundingMode::rno, 13, "RM_RNO"},
};

constexpr const RoundingCode& rounding_code(const Rounding& r) {
  return *std::ranges::find(rounding_codes, r.mode, &RoundingCode::mode);
}

}  // namespace widthwise::hdl
