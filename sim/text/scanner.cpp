#include "scanner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "sim/engine/machine_rounding.hpp"
#include "widthwise/sim/said.hpp"

namespace widthwise {
namespace {

constexpr bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr char lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein's distance: how many letters to add, drop or change.
std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Names of which a text is the beginning, the first few.
std::string beginning_with(std::string_view text, std::span<const std::string_view> names) {
  constexpr int most = 4;
  if (text.size() < 2) return {};
  std::string listed;
  int count = 0;
  for (const std::string_view name : names)
    if (name.starts_with(text) && ++count <= most)
      listed += fmt::format("{}'{}'", count > 1 ? ", " : "", name);
  if (count == 0) return {};
  return fmt::format("; {}: {}{}", count > 1 ? "nearest names" : "nearest name", listed,
                     count > most ? ", …" : "");
}

// Digits for an error message, not a million of them.
std::string shortened(std::string_view digits) {
  constexpr std::size_t most = 24;
  if (digits.size() <= most) return std::string(digits);
  return fmt::format("{}... ({} characters)", digits.substr(0, most), digits.size());
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, most)) {
    if (' ' <= c && c <= '~')
      shown += c;
    else
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown + (text.size() > most ? "...'" : "'");
}

std::string nearest(std::string_view text, std::span<const std::string_view> names) {
  constexpr std::size_t longest = 40;  // past any name: not worth comparing
  if (text.empty() || text.size() > longest) return {};
  const std::size_t allowed = text.size() < 4 ? 1 : std::max<std::size_t>(2, text.size() / 3);
  const auto distance = [&](std::string_view name) { return letters_apart(text, name); };
  const auto best = std::ranges::min_element(names, {}, distance);
  if (best == names.end() || distance(*best) > allowed) return {};
  if (!best->starts_with(text))
    if (const std::string longer = beginning_with(text, names); !longer.empty()) return longer;
  return fmt::format("; nearest name: '{}'", *best);
}

Scanner::Scanner(std::string_view what, std::string_view text)
    : what_(what), original_(text), text_(text) {
  std::ranges::transform(text_, text_.begin(), lower);
  skip_blanks();
}

void Scanner::skip_blanks() {
  while (!done() && blank(peek())) ++at_;
}

bool Scanner::accept(char c) {
  skip_blanks();
  if (done() || peek() != c) return false;
  ++at_;
  skip_blanks();
  return true;
}

void Scanner::expect(char c, std::string_view hint) {
  if (!accept(c)) fail_here(fmt::format("'{}'{}", c, hint));
}

void Scanner::expect_end(std::string_view hint) {
  skip_blanks();
  if (!done()) fail_here(hint);
}

std::string_view Scanner::ahead(std::string_view stops) const {
  std::size_t end = at_, open = 0;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    if (open == 0 && stops.find(c) != stops.npos) break;
    if (c == '(') ++open;
    if (c == ')' && open > 0) --open;
  }
  std::string_view token = std::string_view(text_).substr(at_, end - at_);
  while (!token.empty() && blank(token.back())) token.remove_suffix(1);
  return token;
}

std::int64_t Scanner::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::size_t start = at_;
  const bool negative = peek() == '-';
  if (negative || peek() == '+') ++at_;
  if (!is_digit(peek())) fail_here(fmt::format("an integer, {}", name));
  std::int64_t value = 0;
  bool past = false;
  for (; is_digit(peek()); ++at_) {
    if (value > (INT64_MAX - 9) / 10) past = true;
    if (!past) value = value * 10 + (peek() - '0');
  }
  if (negative) value = -value;
  if (past || value < least || value > most)
    fail(start,
         fmt::format("{} = {}: it may be {} to {}", name,
                     shortened(std::string_view(text_).substr(start, at_ - start)), least, most));
  return value;
}

double Scanner::number(std::string_view name) {
  const std::string text(ahead(",)"));
  char* end = nullptr;
  const MachineRounding mode(RoundingMode::rne);  // strtod's
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end)
    fail(at_, fmt::format("{} = {}: a number is wanted", name, quoted(text)));
  skip(text.size());
  return x;
}

bool Scanner::accept_port(std::string_view name) {
  constexpr std::string_view word = "port", numbers_begin = "+-.0123456789";
  const std::string value(ahead(",)"));
  if (!value.empty() && numbers_begin.find(value[0]) != numbers_begin.npos) return false;
  if (value != word)
    fail(at_, fmt::format("{} = {}: a number, or port, is wanted", name, quoted(value)));
  skip(word.size());
  return true;
}

void Scanner::fail(std::size_t at, std::string_view message) const {
  throw ParseError(
      fmt::format("{} {}, column {}: {}", what_, quoted(original_), at + 1, said(message)), 1,
      at + 1);
}

void Scanner::fail_here(std::string_view wanted) const {
  const std::string found =
      done() ? "the text ends" : "found " + quoted(std::string_view(original_).substr(at_, 1));
  fail(at_, fmt::format("{}; wanted {}", found, wanted));
}

std::optional<std::int64_t> number_at(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  if (at < text.size() && text[at] == '-') ++at;
  std::int64_t n = 0;
  const std::size_t first = at;
  for (; at < text.size() && is_digit(text[at]) && at - first < 9; ++at)
    n = 10 * n + text[at] - '0';
  if (at == first) return {};
  return text[start] == '-' ? -n : n;
}

}  // namespace widthwise
