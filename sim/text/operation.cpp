#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "scanner.hpp"
#include "widthwise/sim/operation_text.hpp"

namespace widthwise {
namespace {

template <class E>
struct Named {
  std::string_view name;
  E value;
};

// The first name of each is the one that is printed; TestFloat's follow.
constexpr auto operations = [] {
  using enum Operation;
  return std::to_array<Named<Operation>>({
      {"add", add},
      {"subtract", subtract},
      {"multiply", multiply},
      {"divide", divide},
      {"remainder", remainder},
      {"sqrt", Operation::sqrt},
      {"fma", fma},
      {"convert", convert},
      {"round_to_integral", round_to_integral},
      {"round_to_integral_exact", round_to_integral_exact},
      {"minimum", minimum},
      {"maximum", maximum},
      {"minimum_number", minimum_number},
      {"maximum_number", maximum_number},
      {"min_num", min_num},
      {"max_num", max_num},
      {"min_x86", min_x86},
      {"max_x86", max_x86},
      {"next_up", next_up},
      {"next_down", next_down},
      {"logb", logb},
      {"copysign", copysign},
      {"negate", negate},
      {"abs", Operation::abs},
      {"sub", subtract},
      {"mul", multiply},
      {"div", divide},
      {"rem", remainder},
      {"muladd", fma},
      {"roundtoint", round_to_integral},
  });
}();

constexpr auto comparisons = std::to_array<Named<Comparison>>({
    {"equal", Comparison::quiet_equal},
    {"less", Comparison::quiet_less},
    {"less_equal", Comparison::quiet_less_equal},
    {"unordered", Comparison::quiet_unordered},
    {"equal_signaling", Comparison::signaling_equal},
    {"less_signaling", Comparison::signaling_less},
    {"less_equal_signaling", Comparison::signaling_less_equal},
    {"total_order", Comparison::total_order},
    {"total_order_magnitude", Comparison::total_order_magnitude},
    {"eq", Comparison::quiet_equal},
    {"le", Comparison::signaling_less_equal},
    {"lt", Comparison::signaling_less},
    {"eq_signaling", Comparison::signaling_equal},
    {"le_quiet", Comparison::quiet_less_equal},
    {"lt_quiet", Comparison::quiet_less},
});

std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return low;
}

template <class E, std::size_t N>
const Named<E>* find(const std::array<Named<E>, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, lowered(text), &Named<E>::name);
  return found == names.end() ? nullptr : &*found;
}

template <class E, std::size_t N>
std::string_view name_of(const std::array<Named<E>, N>& names, E value) {
  return std::ranges::find(names, value, &Named<E>::value)->name;
}

template <class E, std::size_t N>
void add_names(const std::array<Named<E>, N>& names, std::vector<std::string_view>& list) {
  for (const Named<E>& n : names) list.push_back(n.name);
}

[[noreturn]] void refuse(std::string_view what, std::string_view text,
                         const std::vector<std::string_view>& names) {
  throw std::invalid_argument(fmt::format("{} {} is not known{}; there are {}", what, quoted(text),
                                          nearest(lowered(text), names), fmt::join(names, ", ")));
}

template <class E, std::size_t N>
E parse(std::string_view what, const std::array<Named<E>, N>& names, std::string_view text) {
  if (const auto* found = find(names, text)) return found->value;
  std::vector<std::string_view> list;
  add_names(names, list);
  refuse(what, text, list);
}

}  // namespace

std::string_view to_string(Operation op) { return name_of(operations, op); }
std::string_view to_string(Comparison op) { return name_of(comparisons, op); }
std::optional<Operation> find_operation(std::string_view text) {
  const auto* found = find(operations, text);
  return found ? std::optional(found->value) : std::nullopt;
}
Operation parse_operation(std::string_view text) { return parse("operation", operations, text); }
Comparison parse_comparison(std::string_view text) {
  return parse("comparison", comparisons, text);
}

AnyOperation parse_any_operation(std::string_view text) {
  if (const auto* found = find(operations, text)) return found->value;
  if (const auto* found = find(comparisons, text)) return found->value;
  std::vector<std::string_view> list;
  add_names(operations, list);
  add_names(comparisons, list);
  refuse("operation", text, list);
}

std::string_view to_string(IntegerType t) {
  return t.width == 32 ? (t.is_signed ? "i32" : "ui32") : (t.is_signed ? "i64" : "ui64");
}

std::string_view to_string(NumberClass c) {
  constexpr std::string_view names[] = {
      "signaling_nan",      "quiet_nan",        "negative_infinity", "negative_normal",
      "negative_subnormal", "negative_zero",    "positive_zero",     "positive_subnormal",
      "positive_normal",    "positive_infinity"};
  return names[static_cast<int>(c)];
}

}  // namespace widthwise
