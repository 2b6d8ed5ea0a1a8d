#pragma once
#include <string_view>
#include <tuple>

#include "widthwise/unit.hpp"

// The long form's keys, in the page's order: what the TOML reader and the writer walk.
namespace widthwise {

enum class Need : bool { optional, required };

template <class S, class T>
struct Key {
  std::string_view name;
  T S::*member;
  Need need = Need::optional;
};
template <class S, class T>
Key(std::string_view, T S::*, Need = Need::optional) -> Key<S, T>;  // clang 14 deduces none

template <class S>
inline constexpr std::tuple<> keys{};

template <class S>
concept HasKeys = std::tuple_size_v<decltype(keys<S>)>
!= 0;

// A format given as a table: what is left out follows from the rest.
struct FormatTable {
  int exp_bits, frac_bits;
  std::optional<std::int64_t> bias{};
  bool is_signed = true;
  NanCodes nan = NanCodes::ieee;
  std::optional<InfCodes> inf{};
  bool subnormals = true, zero = true, daz = false, ftz = false;
  Overflow overflow = Overflow::ieee;
};
template <>
inline constexpr auto keys<FormatTable> = std::tuple{
    Key{"exp_bits", &FormatTable::exp_bits, Need::required},
    Key{"frac_bits", &FormatTable::frac_bits, Need::required},
    Key{"bias", &FormatTable::bias},
    Key{"signed", &FormatTable::is_signed},
    Key{"nan", &FormatTable::nan},
    Key{"inf", &FormatTable::inf},
    Key{"subnormals", &FormatTable::subnormals},
    Key{"zero", &FormatTable::zero},
    Key{"daz", &FormatTable::daz},
    Key{"ftz", &FormatTable::ftz},
    Key{"overflow", &FormatTable::overflow},
};

template <>
inline constexpr auto keys<Operand> = std::tuple{
    Key{"fmt", &Operand::fmt, Need::required},
    Key{"subnormals", &Operand::subnormals},
    Key{"keep_frac", &Operand::keep_frac},
    Key{"keep_rm", &Operand::keep_rm},
};

template <>
inline constexpr auto keys<Round> = std::tuple{
    Key{"fmt", &Round::fmt, Need::required},   Key{"rm", &Round::rm},
    Key{"keep_frac", &Round::keep_frac},       Key{"post_norm_frac", &Round::post_norm_frac},
    Key{"post_norm_rm", &Round::post_norm_rm}, Key{"subnormals", &Round::subnormals},
    Key{"overflow", &Round::overflow},         Key{"zero_sign", &Round::zero_sign},
    Key{"nan_bits", &Round::nan_bits},         Key{"tininess", &Round::tininess},
};

template <>
inline constexpr auto keys<Product> = std::tuple{
    Key{"round", &Product::round},
    Key{"exponent", &Product::exponent},
    Key{"overflow_to_inf_at", &Product::overflow_to_inf_at},
};

template <>
inline constexpr auto keys<Align> = std::tuple{
    Key{"reference", &Align::reference},
    Key{"frac_bits", &Align::frac_bits},
    Key{"rm", &Align::rm},
    Key{"e_floor", &Align::e_floor},
    Key{"drop_c_below", &Align::drop_c_below},
};

template <>
inline constexpr auto keys<Sum> = std::tuple{
    Key{"order", &Sum::order},       Key{"align", &Sum::align},           Key{"width", &Sum::width},
    Key{"overflow", &Sum::overflow}, Key{"node_round", &Sum::node_round},
};

template <>
inline constexpr auto keys<Groups> = std::tuple{
    Key{"consecutive", &Groups::consecutive},
    Key{"strided", &Groups::strided},
};

template <>
inline constexpr auto keys<LateFrac> = std::tuple{
    Key{"F_sum", &LateFrac::F_sum, Need::required},
    Key{"F_C", &LateFrac::F_C, Need::required},
};

template <>
inline constexpr auto keys<Scale> = std::tuple{
    Key{"fmt", &Scale::fmt, Need::required},
    Key{"block", &Scale::block, Need::required},
    Key{"apply", &Scale::apply, Need::required},
};

template <>
inline constexpr auto keys<LanePermutation> = std::tuple{
    Key{"run", &LanePermutation::run, Need::required},
    Key{"ways", &LanePermutation::ways, Need::required},
};

template <>
inline constexpr auto keys<Promote> = std::tuple{
    Key{"interval", &Promote::interval, Need::required},
    Key{"round", &Promote::round, Need::required},
};

template <>
inline constexpr auto keys<Chain> = std::tuple{
    Key{"lane_permutation", &Chain::lane_permutation},
    Key{"c_at", &Chain::c_at},
    Key{"c_round", &Chain::c_round},
    Key{"compensation", &Chain::compensation},
    Key{"promote", &Chain::promote},
    Key{"final", &Chain::final},
};

template <>
inline constexpr auto keys<Unit> = std::tuple{
    Key{"a", &Unit::a, Need::required}, Key{"b", &Unit::b, Need::required},
    Key{"c", &Unit::c, Need::required}, Key{"lanes", &Unit::lanes, Need::required},
    Key{"product", &Unit::product},     Key{"groups", &Unit::groups},
    Key{"group_sum", &Unit::group_sum}, Key{"block_sum", &Unit::block_sum},
    Key{"c_sum", &Unit::c_sum},         Key{"c_level", &Unit::c_level, Need::required},
    Key{"late_frac", &Unit::late_frac}, Key{"out", &Unit::out, Need::required},
    Key{"scale", &Unit::scale},         Key{"chain", &Unit::chain},
};

// f(key) for every key of S, in order.
template <class S, class F>
constexpr void for_each_key(F&& f) {
  std::apply([&](const auto&... key) { (f(key), ...); }, keys<S>);
}

}  // namespace widthwise
