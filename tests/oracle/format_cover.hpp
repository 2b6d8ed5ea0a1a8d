#pragma once
#include <array>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "widthwise/sim/text.hpp"

// The corners of Format's fields: few formats, at most 9 bits wide, among which every two values of
// two fields meet that any format may have together. Whoever draws formats draws from these too.
namespace oracle {

using widthwise::Format;

// Which of a field's values a format has, field by field.
using FieldChoice = std::array<int, 11>;
inline constexpr FieldChoice field_values{4, 4, 3, 2, 4, 3, 2, 2, 2, 2, 5};

inline Format format_of(const FieldChoice& x) {
  constexpr int exp_bits[] = {1, 2, 4, 5}, frac_bits[] = {0, 1, 2, 3}, off_middle[] = {0, 1, -9};
  return {.exp_bits = exp_bits[x[0]],
          .frac_bits = frac_bits[x[1]],
          .bias = widthwise::ieee_bias(exp_bits[x[0]]) + off_middle[x[2]],
          .sign = x[3] == 0 ? widthwise::Sign::magnitude : widthwise::Sign::none,
          .nan = static_cast<widthwise::NanCodes>(x[4]),
          .inf = static_cast<widthwise::InfCodes>(x[5]),
          .subnormals = x[6] == 0,
          .zero = x[7] == 0,
          .daz = x[8] == 1,
          .ftz = x[9] == 1,
          .overflow = static_cast<widthwise::Overflow>(x[10])};
}

inline bool is_format(const Format& f) {
  try {
    widthwise::check(f);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// Two values, of two fields.
using FieldPair = std::pair<std::pair<std::size_t, int>, std::pair<std::size_t, int>>;

inline std::set<FieldPair> field_pairs(const FieldChoice& x) {
  std::set<FieldPair> pairs;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) pairs.insert({{j, x[j]}, {i, x[i]}});
  return pairs;
}

// Of many formats that have both values the one with most pairs that are still missing.
class FormatCover {
 public:
  FormatCover() {
    for (std::size_t i = 0; i < field_values.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (int a = 0; a < field_values[j]; ++a)
          for (int b = 0; b < field_values[i]; ++b) cover({{j, a}, {i, b}});
  }
  const std::vector<FieldChoice>& choices() const { return choices_; }

 private:
  FieldChoice any_with(const FieldPair& pair) {
    FieldChoice x;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int>(random_() % static_cast<std::uint64_t>(field_values[i]));
    x[pair.first.first] = pair.first.second, x[pair.second.first] = pair.second.second;
    return x;
  }
  std::size_t missing(const FieldChoice& x) const {
    std::size_t n = 0;
    for (const FieldPair& p : field_pairs(x)) n += !covered_.contains(p);
    return n;
  }
  void cover(const FieldPair& pair) {
    if (covered_.contains(pair)) return;
    FieldChoice best{};
    std::size_t most = 0;
    for (int tries = 0; tries < 400; ++tries) {
      const FieldChoice x = any_with(pair);
      if (!is_format(format_of(x))) continue;
      if (const std::size_t n = missing(x); n > most) most = n, best = x;
    }
    if (most == 0) return;  // no format has both
    choices_.push_back(best);
    covered_.merge(field_pairs(best));
  }

  std::mt19937_64 random_{1};
  std::set<FieldPair> covered_;
  std::vector<FieldChoice> choices_;
};

inline const std::vector<Format>& format_cover() {
  static const std::vector<Format> all = [] {
    std::vector<Format> formats;
    const FormatCover cover;
    for (const FieldChoice& x : cover.choices()) formats.push_back(format_of(x));
    return formats;
  }();
  return all;
}

}  // namespace oracle
