#include "widthwise/sim/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "shipped.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "widthwise/sim/said.hpp"

namespace widthwise {
namespace {

// A table and all that it points to.
struct Kept : Table {
  std::string name;
  std::vector<double> given;
  std::vector<TableValue> sorted;
  std::vector<std::int32_t> place_of_code;
};

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  throw std::invalid_argument(fmt::format("{}: {}", said(fmt::format("table({})", name)), why));
}

// --- Making --------------------------------------------------------------------------------------

// An odd significand and the exponent of its last digit; of zero 0 and 0.
struct Dyadic {
  std::uint64_t sig;
  std::int64_t exp;
  std::int64_t top() const { return exp + std::bit_width(sig) - 1; }
};
Dyadic dyadic(double x) {
  if (x == 0) return {0, 0};
  int exp = 0;
  const auto sig = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exp), 53));
  const int zeros = std::countr_zero(sig);
  return {sig >> zeros, exp - 53 + zeros};
}

bool second_zero(const std::vector<double>& values, double x) {
  return x == 0 && std::signbit(x) &&
         std::ranges::any_of(values, [](double y) { return y == 0 && !std::signbit(y); });
}

void check_values(std::string_view name, const std::vector<double>& values) {
  constexpr std::size_t most = std::size_t{1} << max_table_width;
  if (values.size() < 2 || values.size() > most)
    refuse(name, fmt::format("{} values: there may be 2 to {}", values.size(), most));
  std::map<double, std::size_t> seen;
  std::size_t nans = 0, second_zeros = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    if (std::isinf(x))
      refuse(name, fmt::format("value {} is {}: a table has finite values and NaN", i, x));
    if (std::isnan(x) && nans++) refuse(name, fmt::format("value {} is a second NaN", i));
    if (std::isnan(x)) continue;
    if (second_zero(values, x) && !second_zeros++) continue;
    const auto [at, is_new] = seen.emplace(x, i);
    if (!is_new)
      refuse(name, fmt::format("values {} and {} are both {}: each may stand there once",
                               at->second, i, x));
  }
  if (seen.size() < 2) refuse(name, "fewer than two numbers");
}

// Facts that follow from the values in order.
void measure(Table& t, const std::vector<Dyadic>& sorted) {
  t.digits = 1, t.least_digit = INT64_MAX, t.top = INT64_MIN;
  for (const Dyadic& x : sorted) {
    if (x.sig == 0) continue;
    t.digits = std::max(t.digits, static_cast<int>(std::bit_width(x.sig)));
    t.least_digit = std::min(t.least_digit, x.exp);
    t.top = std::max(t.top, x.top());
  }
  t.spread = t.digits + 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Dyadic &a = sorted[i - 1], &b = sorted[i];
    if (a.sig == 0 || b.sig == 0) continue;
    const std::int64_t span = std::max(a.top(), b.top()) - std::min(a.exp, b.exp);
    t.spread = std::max(t.spread, static_cast<int>(span) + 2);  // a gap may be twice as large
  }
}

// Where 0 goes: nearest, ties by rne's rules.
std::uint64_t code_next_to_zero(const std::vector<TableValue>& values,
                                const std::vector<double>& given) {
  const auto better = [&](const TableValue& a, const TableValue& b) {
    const double x = std::fabs(given[a.code]), y = std::fabs(given[b.code]);
    if (x != y) return x < y;
    return (a.code & 1) != (b.code & 1) ? (a.code & 1) < (b.code & 1) : b.negative;
  };
  return std::ranges::min_element(values, better)->code;
}

// The codes of values in ascending order.
std::vector<std::uint64_t> order_of(const std::vector<double>& given) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t code = 0; code < given.size(); ++code)
    if (!std::isnan(given[code]) && !second_zero(given, given[code])) order.push_back(code);
  std::ranges::sort(order, {}, [&](std::uint64_t code) { return given[code]; });
  return order;
}

void number_values(Kept& k, const std::vector<std::uint64_t>& order,
                   const std::vector<Dyadic>& sorted) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [sig, exp] = sorted[i];
    const int up = k.digits - static_cast<int>(std::bit_width(sig));
    const bool zero = sig == 0;
    k.sorted.push_back(
        {zero ? 0 : sig << up, zero ? k.least_digit : exp - up, order[i], k.given[order[i]] < 0});
    k.place_of_code[order[i]] = static_cast<std::int32_t>(i);
  }
  k.values = k.sorted.data(), k.places = k.place_of_code.data();
  k.count = static_cast<int>(k.sorted.size());
}

// The codes that are no value of their own.
void number_specials(Kept& k) {
  k.zero = code_next_to_zero(k.sorted, k.given);
  k.has_zero = k.given[k.zero] == 0;
  k.nan = k.zero;
  for (std::uint64_t code = 0; code < k.given.size(); ++code) {
    if (std::isnan(k.given[code])) k.has_nan = true, k.nan = code;
    if (second_zero(k.given, k.given[code])) k.place_of_code[code] = Table::minus_zero;
  }
}

std::unique_ptr<Kept> make(std::string name, std::vector<double> given) {
  const MachineRounding mode(RoundingMode::rne);  // for subnormals are no zeros here
  check_values(name, given);
  const std::vector<std::uint64_t> order = order_of(given);
  std::vector<Dyadic> sorted;
  for (const std::uint64_t code : order) sorted.push_back(dyadic(given[code]));
  auto kept = std::make_unique<Kept>();
  kept->name = std::move(name), kept->given = std::move(given);
  measure(*kept, sorted);
  kept->width = std::bit_width(kept->given.size() - 1);
  kept->place_of_code.assign(std::size_t{1} << kept->width, Table::unlisted);
  number_values(*kept, order, sorted);
  number_specials(*kept);
  return kept;
}

// --- Keeping -------------------------------------------------------------------------------------

// All tables of the process by name: formats point to them for good.
struct Shelf {
  std::mutex busy;
  std::map<std::string, std::unique_ptr<Kept>, std::less<>> kept;
};
Shelf& shelf() {
  static auto* const all = new Shelf;  // outlives every format
  return *all;
}

bool same(const std::vector<double>& a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  });
}

// --- Reading -------------------------------------------------------------------------------------

std::vector<double> numbers_of(std::string_view name, std::string text) {
  std::ranges::replace(text, ',', ' ');
  const MachineRounding mode(RoundingMode::rne);  // from_chars'
  std::istringstream words(text);
  std::vector<double> values;
  for (std::string word; words >> word;) {
    if (word == "…")  // as said() has it
      refuse(name, "an error left values out here; take the format or its text, str(format)");
    double x = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, x);
    if (read.ec != std::errc() || read.ptr != end)
      refuse(name, fmt::format("'{}' is no number of binary64, nor nan", word));
    values.push_back(x);
  }
  return values;
}

bool is_readable(std::string_view name) {
  std::error_code none;
  return std::filesystem::is_regular_file(std::string(name), none);
}

// Whether a table of this name has been made: one that came with its values has no file here.
bool is_kept(std::string_view name) {
  Shelf& all = shelf();
  const std::lock_guard lock(all.busy);
  return all.kept.contains(name);
}

// One number or several a line, by blanks or commas; '#' begins a comment.
std::vector<double> file_values(std::string_view name) {
  std::ifstream file{std::string(name)};
  if (!file || !is_readable(name)) refuse(name, "no such file can be read");
  std::string text;
  for (std::string line; std::getline(file, line);) text += line.substr(0, line.find('#')) + '\n';
  return numbers_of(name, text);
}

bool is_list(std::string_view name) { return name.find(',') != name.npos; }
bool is_path(std::string_view name) { return name.find_first_of("./") != name.npos; }

// A name in a text is read in any case, and ends where an option or an argument may follow.
std::string checked_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  std::string z(name);
  if (is_path(name)) return z;
  for (char& c : z) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (z.find_first_not_of(letters) != z.npos)
    refuse(name, "a table's name has letters, digits, _ and -");
  return z;
}

}  // namespace

Format table_of(std::string_view name, std::span<const double> values) {
  const bool unnamed = name.empty() || is_list(name);
  const std::string key = unnamed ? fmt::format("{}", fmt::join(values, ",")) : checked_name(name);
  const auto shipped = shipped_values(key);
  if (!shipped.empty() && !same(shipped, values))
    refuse(name, "the name of a shipped table with other values; take another name");
  Shelf& all = shelf();
  const std::lock_guard lock(all.busy);
  auto found = all.kept.find(key);
  if (found == all.kept.end())
    found = all.kept.emplace(key, make(key, {values.begin(), values.end()})).first;
  if (!same(found->second->given, values))
    refuse(name, "other values have this name already; take another name");
  return table_format(*found->second);
}

Format find_table(std::string_view name) {
  if (is_list(name)) return table_of("", numbers_of(name, std::string(name)));
  if (is_path(name) && (is_readable(name) || !is_kept(name)))
    return table_of(name, file_values(name));
  const std::string key = checked_name(name);
  if (const auto values = shipped_values(key); !values.empty()) return table_of(key, values);
  Shelf& all = shelf();
  const std::lock_guard lock(all.busy);
  if (const auto found = all.kept.find(key); found != all.kept.end())
    return table_format(*found->second);
  std::vector<std::string_view> names;
  for (const ShippedTable& t : shipped_tables()) names.push_back(t.name);
  refuse(name, fmt::format("no such table; there are {}, a file's name with a dot or a slash, "
                           "values as table(-1, 0, 1), and those made by Format.table",
                           fmt::join(names, ", ")));
}

void check_rounding(const Format& to, const Rounding& how) {
  if (to.is_table() && how.mode == RoundingMode::odd)
    throw std::invalid_argument(
        fmt::format("rounding odd to table({}): its codes are in no order; take rno or another",
                    table_name(to)));
}

const std::string& table_name(const Format& f) { return static_cast<const Kept&>(*f.table).name; }
std::span<const double> table_values(const Format& f) {
  return static_cast<const Kept&>(*f.table).given;
}

}  // namespace widthwise
