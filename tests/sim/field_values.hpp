#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sim/text/unit_keys.hpp"
#include "sim/text/words.hpp"

// What each field of a unit can be beside what it is: a walk over the keys and the words of the
// text, so that a new field, or a new word, is in it without being asked.
namespace tests {

using SeeUnit = std::function<void(const std::string& change, const widthwise::Unit& changed)>;

template <class T>
using SeeValue = std::function<void(const std::string& change, const T& value)>;

template <class T>
concept Worded = std::is_enum_v<T> || std::same_as<T, bool>;  // what words.hpp has words for

template <class T>
struct Optional : std::false_type {};
template <class T>
struct Optional<std::optional<T>> : std::true_type {};

// What stands in a field that was absent, to begin with.
template <class T>
T present(const widthwise::Unit& u) {
  using namespace widthwise;
  const std::int64_t lanes = u.lanes ? u.lanes : 4;
  if constexpr (std::same_as<T, Round>) return Round{.fmt = u.out.fmt};
  if constexpr (std::same_as<T, Groups>) return Groups{.consecutive = (lanes + 1) / 2};
  if constexpr (std::same_as<T, LateFrac>) return LateFrac{24, 20};
  if constexpr (std::same_as<T, Scale>) return Scale{e8m0fnu, lanes, ScaleApply::group};
  if constexpr (std::same_as<T, LanePermutation>) return LanePermutation{1, 2};
  if constexpr (std::same_as<T, Promote>) return Promote{2 * lanes, Round{.fmt = u.out.fmt}};
  if constexpr (std::integral<T>) return T{4};
}

// Formats with one thing changed, each key of a format's table among them.
inline void for_each_value(const widthwise::Format& now, const widthwise::Unit&,
                           const SeeValue<widthwise::Format>& see) {
  using namespace widthwise;
  static_assert(std::tuple_size_v<decltype(keys<FormatTable>)> == 11, "each is changed below");
  const auto with = [&](std::string change, const auto& set) {
    Format f = now;
    set(f);
    if (f != now) see(change, f);
  };
  const auto worded = [&]<class T>(const char* name, T Format::*member) {
    for (const auto& w : words<T>)
      with(std::string(name) + "=" + std::string(w.text), [&](Format& f) { f.*member = w.value; });
  };
  for (const int more : {-1, 1, 2}) {
    with("exp_bits", [&](Format& f) { f.exp_bits += more; });
    with("exp_bits, in the middle",
         [&](Format& f) { f = ieee_format(std::max(f.exp_bits + more, 1), f.frac_bits); });
    with("frac_bits", [&](Format& f) { f.frac_bits += more; });
    with("bias", [&](Format& f) { f.bias += 7 * more; });
  }
  with("signed", [](Format& f) { f.sign = Sign::none; });
  worded("nan", &Format::nan);
  worded("inf", &Format::inf);
  worded("subnormals", &Format::subnormals);
  worded("zero", &Format::zero);
  worded("daz", &Format::daz);
  worded("ftz", &Format::ftz);
  worded("overflow", &Format::overflow);
}

inline void for_each_value(const widthwise::Rounding& now, const widthwise::Unit&,
                           const SeeValue<widthwise::Rounding>& see) {
  using namespace widthwise;
  for (const auto& w : words<RoundingMode>)
    if (w.value != RoundingMode::sr && w.value != now.mode) see(std::string(w.text), w.value);
  for (const auto& w : words<StochasticVariant>)
    for (const int bits : {3, 13, 40})
      see("sr" + std::to_string(bits) + std::string(w.text), Rounding(bits, w.value));
}

template <class T>
requires std::integral<T> &&
    (!Worded<T>)void for_each_value(const T& now, const widthwise::Unit&, const SeeValue<T>& see) {
  for (const int other : {0, 1, 2, 3, 7, 16, 30, 60, 0x7fc0, -1, -9, -126, -160})
    if (T(other) != now) see(std::to_string(other), T(other));
  for (const int more : {-1, 1}) see("beside", T(now + T(more)));
}

template <Worded T>
void for_each_value(const T& now, const widthwise::Unit&, const SeeValue<T>& see) {
  for (const auto& w : widthwise::words<T>)
    if (w.value != now) see(std::string(w.text), w.value);
}

template <class T>
requires Optional<T>::value void for_each_value(const T& now, const widthwise::Unit& u,
                                                const SeeValue<T>& see);

template <class S>
requires widthwise::HasKeys<S>
void for_each_value(const S& now, const widthwise::Unit& u, const SeeValue<S>& see) {
  widthwise::for_each_key<S>([&](const auto& key) {
    using Member = std::remove_cvref_t<decltype(now.*key.member)>;
    const SeeValue<Member> here = [&](const std::string& change, const Member& value) {
      S changed = now;
      changed.*key.member = value;
      see("." + std::string(key.name) + " " + change, changed);
    };
    for_each_value(now.*key.member, u, here);
  });
}

template <class T>
requires Optional<T>::value void for_each_value(const T& now, const widthwise::Unit& u,
                                                const SeeValue<T>& see) {
  using Value = typename T::value_type;
  if (now) see("absent", T{});
  const Value base = now ? *now : present<Value>(u);
  if (!now) see("present", T{base});
  const SeeValue<Value> inside = [&](const std::string& change, const Value& value) {
    see(change, T{value});
  };
  for_each_value(base, u, inside);
}

// Units that differ from this one in one field.
inline void for_each_change(const widthwise::Unit& u, const SeeUnit& see) {
  const SeeValue<widthwise::Unit> whole = see;
  for_each_value(u, u, whole);
}

}  // namespace tests
