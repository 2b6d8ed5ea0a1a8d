#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "widthwise/unit.hpp"

// The words that stand for enumerated values in every text. Keys of all tables: datapath page, 2.1.
namespace widthwise {

template <class E>
struct Word {
  std::string_view text;
  E value;
};

template <class E>
inline constexpr Word<E> words[] = {};  // specialised for every enumeration

template <>
inline constexpr Word<NanCodes> words<NanCodes>[] = {{"ieee", NanCodes::ieee},
                                                     {"all_ones", NanCodes::all_ones},
                                                     {"negative_zero", NanCodes::sign_alone},
                                                     {"none", NanCodes::none}};
template <>
inline constexpr Word<InfCodes> words<InfCodes>[] = {
    {"ieee", InfCodes::ieee}, {"no", InfCodes::none}, {"top", InfCodes::top}};
template <>
inline constexpr Word<Overflow> words<Overflow>[] = {{"ieee", Overflow::ieee},
                                                     {"inf", Overflow::inf},
                                                     {"max", Overflow::max},
                                                     {"nan", Overflow::nan},
                                                     {"satfinite", Overflow::satfinite}};
template <>
inline constexpr Word<bool> words<bool>[] = {{"yes", true}, {"no", false}};
template <>
inline constexpr Word<RoundingMode> words<RoundingMode>[] = {
    {"rne", RoundingMode::rne}, {"rna", RoundingMode::rna}, {"rnz", RoundingMode::rnz},
    {"rnp", RoundingMode::rnp}, {"rnm", RoundingMode::rnm}, {"rno", RoundingMode::rno},
    {"rtz", RoundingMode::rtz}, {"rdn", RoundingMode::rdn}, {"rup", RoundingMode::rup},
    {"raz", RoundingMode::raz}, {"odd", RoundingMode::odd}, {"sr", RoundingMode::sr}};
template <>
inline constexpr Word<StochasticVariant> words<StochasticVariant>[] = {
    {"", StochasticVariant::plain},
    {"half", StochasticVariant::half},
    {"even", StochasticVariant::even}};
template <>
inline constexpr Word<Tininess> words<Tininess>[] = {{"before", Tininess::before_rounding},
                                                     {"after", Tininess::after_rounding},
                                                     {"delivered", Tininess::as_delivered}};
template <>
inline constexpr Word<NanResult> words<NanResult>[] = {{"canonical", NanResult::canonical},
                                                       {"negative", NanResult::negative},
                                                       {"propagate", NanResult::propagate},
                                                       {"x86", NanResult::x86}};
template <>
inline constexpr Word<InvalidInteger> words<InvalidInteger>[] = {
    {"riscv", InvalidInteger::riscv}, {"x86", InvalidInteger::x86}, {"arm", InvalidInteger::arm}};
template <>
inline constexpr Word<Flush> words<Flush>[] = {{"keep", Flush::keep},
                                               {"flush_pos_zero", Flush::flush_pos_zero},
                                               {"flush_signed_zero", Flush::flush_signed_zero}};
template <>
inline constexpr Word<ZeroSign> words<ZeroSign>[] = {
    {"ieee", ZeroSign::ieee}, {"plus", ZeroSign::plus}, {"always_plus", ZeroSign::always_plus}};
template <>
inline constexpr Word<ProductExponent> words<ProductExponent>[] = {
    {"field_sum", ProductExponent::field_sum}, {"normalised", ProductExponent::normalised}};
template <>
inline constexpr Word<Reference> words<Reference>[] = {{"max_exponent", Reference::max_exponent},
                                                       {"exact", Reference::exact},
                                                       {"fixed_lsb", Reference::fixed_lsb}};
template <>
inline constexpr Word<Order> words<Order>[] = {{"fused", Order::fused},
                                               {"sequential", Order::sequential},
                                               {"pairwise_tree", Order::pairwise_tree}};
template <>
inline constexpr Word<RegisterOverflow> words<RegisterOverflow>[] = {
    {"wrap", RegisterOverflow::wrap},
    {"saturate", RegisterOverflow::saturate},
    {"flag", RegisterOverflow::flag},
    {"nar", RegisterOverflow::nar},
    {"wrap_nar", RegisterOverflow::wrap_nar}};
template <>
inline constexpr Word<ScaleApply> words<ScaleApply>[] = {{"term", ScaleApply::term},
                                                         {"group", ScaleApply::group}};
template <>
inline constexpr Word<CAt> words<CAt>[] = {{"first", CAt::first}, {"last", CAt::last}};
template <>
inline constexpr Word<Compensation> words<Compensation>[] = {{"none", Compensation::none},
                                                             {"kahan", Compensation::kahan},
                                                             {"neumaier", Compensation::neumaier}};
template <>
inline constexpr Word<CLevel> words<CLevel>[] = {
    {"group", CLevel::group}, {"block", CLevel::block}, {"late", CLevel::late}};

// The word of a value; empty for a value that no enumerator names.
template <class E>
constexpr std::string_view word(E value) {
  const auto found = std::ranges::find(words<E>, value, &Word<E>::value);
  return found == std::end(words<E>) ? std::string_view{} : found->text;
}

// The entry that a word stands for, or null.
template <class E>
constexpr const Word<E>* find_word(std::string_view text) {
  const auto found = std::ranges::find(words<E>, text, &Word<E>::text);
  return found == std::end(words<E>) ? nullptr : &*found;
}

// "ieee, no or top": for errors.
template <class E>
std::string word_list() {
  std::string list;
  const std::span all{words<E>};
  for (std::size_t i = 0; i < all.size(); ++i)
    list += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::string(all[i].text);
  return list;
}

}  // namespace widthwise
