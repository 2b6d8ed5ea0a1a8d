#include "toml_reader.hpp"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <charconv>
#include <limits>

#include "reading.hpp"
#include "unit_keys.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

template <class E>
concept Enumeration = std::is_enum_v<E>;

std::string joined(const std::string& at, std::string_view key) {
  return at.empty() ? std::string(key) : fmt::format("{}.{}", at, key);
}

// Fills structures from tables, key by key; `at` is the path of keys so far, for errors.
class Reader {
 public:
  // shift: columns that stand before the caller's text on line 1.
  explicit Reader(std::size_t shift = 0) : shift_(shift) {}

  template <HasKeys S>
  void read(const std::string& at, const toml::node& node, S& out) const {
    const toml::table* table = node.as_table();
    if (!table) fail(node.source(), at, "wanted a table");
    for (const auto& [key, value] : *table) refuse_unknown<S>(at, key);
    for_each_key<S>([&](const auto& key) {
      if (const toml::node* value = table->get(key.name))
        read(joined(at, key.name), *value, out.*key.member);
      else if (key.need == Need::required)
        fail(node.source(), joined(at, key.name), "the key is missing");
    });
  }

  template <class T>
  void read(const std::string& at, const toml::node& node, std::optional<T>& out) const {
    read(at, node, out.emplace());
  }

  template <Enumeration E>
  void read(const std::string& at, const toml::node& node, E& out) const {
    const auto* text = node.as_string();
    const Word<E>* found = text ? find_word<E>(text->get()) : nullptr;
    const std::string given = text ? quoted(text->get()) + ": " : "";
    if (!found) fail(node.source(), at, given + "wanted " + word_list<E>() + ", in quotes");
    out = found->value;
  }

  void read(const std::string& at, const toml::node& node, Format& out) const {
    if (node.is_table()) {
      out = format_of_table(at, node);
    } else if (const auto* text = node.as_string()) {
      out = parsed(at, *text, parse_format);
    } else {
      fail(node.source(), at, "wanted a format: its text, as \"e5m10\", or a table");
    }
  }

  void read(const std::string& at, const toml::node& node, Rounding& out) const {
    const auto* text = node.as_string();
    if (!text) fail(node.source(), at, "wanted a rounding in quotes, as \"rne\"");
    out = parsed(at, *text, parse_rounding);
  }

  void read(const std::string& at, const toml::node& node, bool& out) const {
    const auto* value = node.as_boolean();
    if (!value) fail(node.source(), at, "wanted true or false");
    out = value->get();
  }

  void read(const std::string& at, const toml::node& node, std::int64_t& out) const {
    const auto* value = node.as_integer();
    if (!value) fail(node.source(), at, "wanted an integer");
    out = value->get();
  }

  void read(const std::string& at, const toml::node& node, int& out) const {
    std::int64_t value = 0;
    read(at, node, value);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      fail(node.source(), at, fmt::format("{} is out of any range", value));
    out = static_cast<int>(value);
  }

  // A pattern of bits: an integer, or where TOML's integers end, hexadecimal digits in quotes.
  void read(const std::string& at, const toml::node& node, std::uint64_t& out) const {
    if (const auto* value = node.as_integer(); value && value->get() >= 0) {
      out = static_cast<std::uint64_t>(value->get());
      return;
    }
    const std::string text = node.value<std::string>().value_or("");
    const char* const end = text.data() + text.size();
    if (!text.starts_with("0x") || text.size() == 2 ||
        std::from_chars(text.data() + 2, end, out, 16).ptr != end || text.size() > 18)
      fail(node.source(), at, "wanted a code, as 0x7fff, or \"0xfff8000000000000\" in quotes");
  }

  // The unit of a table, looked through by check().
  Unit unit(const std::string& at, const toml::table& table) const {
    Unit u{};
    read(at, table, u);
    if (const auto wrong = fault(u))
      fail(source_of(table, wrong->field), joined(at, wrong->field), wrong->message);
    return u;
  }

  [[noreturn]] void fail(const toml::source_region& place, const std::string& at,
                         std::string_view message) const {
    const std::size_t line = std::max<std::size_t>(place.begin.line, 1);
    const std::size_t column = std::max<std::size_t>(place.begin.column, 1);
    const std::size_t own = line == 1 && column > shift_ ? column - shift_ : column;
    throw ParseError(fmt::format("unit text, line {}, column {}: {}{}{}", line, own, at,
                                 at.empty() ? "" : ": ", message),
                     line, own);
  }

 private:
  template <class S>
  void refuse_unknown(const std::string& at, const toml::key& key) const {
    std::vector<std::string_view> known;
    for_each_key<S>([&](const auto& k) { known.push_back(k.name); });
    if (std::ranges::find(known, key.str()) == known.end())
      fail(key.source(), joined(at, key.str()), "there is no such key" + nearest(key.str(), known));
  }

  // A text inside the document: its own error goes behind ours.
  template <class T>
  T parsed(const std::string& at, const toml::value<std::string>& text,
           T (*parse)(std::string_view)) const {
    try {
      return parse(text.get());
    } catch (const ParseError& e) {
      fail(text.source(), at, e.what());
    }
  }

  Format format_of_table(const std::string& at, const toml::node& node) const {
    FormatTable t{};
    read(at, node, t);
    Format f{.exp_bits = t.exp_bits,
             .frac_bits = t.frac_bits,
             .bias = t.bias.value_or(0),
             .sign = t.is_signed ? Sign::magnitude : Sign::none,
             .nan = t.nan,
             .inf = t.inf.value_or(default_inf(t.nan)),
             .subnormals = t.subnormals,
             .zero = t.zero,
             .daz = t.daz,
             .ftz = t.ftz,
             .overflow = t.overflow};
    if (!t.bias && 1 <= t.exp_bits && t.exp_bits <= max_exp_bits) f.bias = ieee_bias(t.exp_bits);
    if (const auto wrong = fault(f)) fail(node.source(), at, wrong->message);
    return f;
  }

  // Where a field stands, or the nearest table around it that is written out.
  static toml::source_region source_of(const toml::table& table, std::string field) {
    while (!field.empty()) {
      if (const auto node = table.at_path(field)) return node.node()->source();
      const std::size_t dot = field.rfind('.');
      field.resize(dot == field.npos ? 0 : dot);
    }
    return table.source();
  }

  std::size_t shift_;
};

toml::table document(const Reader& reader, std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    reader.fail(e.source(), "", e.description());
  }
}

bool is_unit_key(std::string_view name) {
  bool found = false;
  for_each_key<Unit>([&](const auto& key) { found = found || key.name == name; });
  return found;
}

}  // namespace

Unit unit_from_toml(std::string_view text) {
  const Reader reader;
  const toml::table root = document(reader, text);
  if (root.size() == 1 && !is_unit_key(root.begin()->first.str()))
    if (const toml::table* named = root.begin()->second.as_table())
      return reader.unit(std::string(root.begin()->first.str()), *named);
  return reader.unit("", root);
}

Unit unit_from_inline_toml(std::string_view text) {
  constexpr std::string_view before = "u=";
  const Reader reader(before.size());
  const toml::table root = document(reader, std::string(before).append(text));
  return reader.unit("", *root.get("u")->as_table());
}

std::vector<NamedUnit> units_from_toml(std::string_view text) {
  const Reader reader;
  const toml::table root = document(reader, text);
  struct Found {
    toml::source_position place;
    NamedUnit named;
  };
  std::vector<Found> found;  // toml++ keeps keys sorted
  for (const auto& [key, value] : root) {
    const toml::table* table = value.as_table();
    const std::string name(key.str());
    if (!table) reader.fail(key.source(), name, "wanted a table [\"name\"] for every unit");
    found.push_back({key.source().begin, {name, reader.unit(name, *table)}});
  }
  std::ranges::sort(found, {},
                    [](const Found& f) { return std::pair(f.place.line, f.place.column); });
  std::vector<NamedUnit> units;
  for (Found& f : found) units.push_back(std::move(f.named));
  return units;
}

}  // namespace widthwise
