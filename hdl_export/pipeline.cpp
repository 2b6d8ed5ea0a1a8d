#include "pipeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <functional>

namespace widthwise::hdl {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// The expression with every name, and every literal's digits, through `one`. A literal's base and
// digits follow a ', so they are no name.
std::string with_names(std::string_view expression,
                       const std::function<std::string(const std::string&)>& one) {
  std::string text;
  for (std::size_t i = 0; i < expression.size();) {
    const std::size_t start = i;
    while (i < expression.size() && in_name(expression[i])) ++i;
    const std::string word(expression.substr(start, i - start));
    const bool literal = start > 0 && expression[start - 1] == '\'';
    if (!word.empty()) text += literal ? word : one(word);
    if (i < expression.size()) text += expression[i++];
  }
  return text;
}

}  // namespace

void Pipeline::open(std::string_view stage) {
  stages_.push_back({std::string(stage), {}});
  reading_ = making_ = stages_.size() - 1;
}

void Pipeline::reach_over(const std::vector<std::string_view>& further) {
  const std::size_t here = reading_;
  for (const std::string_view stage : further) open(stage);
  reading_ = here;
}

void Pipeline::make(const std::string& signal, const std::string& declaration, int width) {
  signals_[signal] = {declaration, width, making_};
}

std::string Pipeline::carried(const std::string& signal, const Signal& s) {
  if (reading_ <= s.made_in) return signal;
  for (std::size_t stage = s.made_in; stage < reading_; ++stage) {
    auto& held = stages_[stage].signals;
    if (std::ranges::find(held, signal) == held.end()) held.push_back(signal);
  }
  return after(signal, reading_ - 1);
}

std::string Pipeline::read(const std::string& expression) {
  return with_names(expression, [&](const std::string& word) {
    const auto found = signals_.find(word);
    return found == signals_.end() ? word : carried(word, found->second);
  });
}

bool Pipeline::has_signals(const std::string& expression) const {
  bool has = false;
  with_names(expression, [&](const std::string& word) {
    has |= signals_.contains(word);
    return word;
  });
  return has;
}

std::string Pipeline::before(const std::string& signal, std::size_t stage) const {
  return signals_.at(signal).made_in == stage ? signal : after(signal, stage - 1);
}

std::string Pipeline::after(const std::string& signal, std::size_t stage) const {
  return fmt::format("{}_after_{}", signal, stages_[stage].stage);
}

const std::string& Pipeline::declaration(const std::string& signal) const {
  return signals_.at(signal).declaration;
}

int Pipeline::width(std::size_t stage) const {
  int bits = 0;
  for (const std::string& signal : stages_[stage].signals) bits += signals_.at(signal).width;
  return bits;
}

}  // namespace widthwise::hdl
