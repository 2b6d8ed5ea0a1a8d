#include "widthwise/sim/block_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "format_names.hpp"
#include "reading.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {

template <>
inline constexpr Word<ScaleRule> words<ScaleRule>[] = {
    {"floor", ScaleRule::floor}, {"ceil", ScaleRule::ceil},     {"rceil", ScaleRule::rceil},
    {"even", ScaleRule::even},   {"midmax", ScaleRule::midmax}, {"nearest", ScaleRule::nearest},
    {"amax", ScaleRule::amax},   {"pow2", ScaleRule::pow2}};

namespace {

constexpr std::int64_t longest_block = std::int64_t{1} << 40;
constexpr int least_scale_bits = 2, most_scale_bits = 8;
constexpr int most_element_digits = 53, most_divided_digits = 29;

bool is_power_scale(const Format& f) {
  return f == power_scale(f.exp_bits) && f.exp_bits >= least_scale_bits &&
         f.exp_bits <= most_scale_bits;
}

// W bits of a number between -2 and 2, as MX has them.
Format integer_element(int width) { return fixed_format(width, width - 2, true); }

ScaleRule usual_rule(const Format& scale) {
  return is_power_scale(scale) ? ScaleRule::floor : ScaleRule::amax;
}

BlockFormat mx_block(const Format& element) { return {.element = element, .columns = 32}; }

BlockFormat nvfp4() {
  return {.element = e2m1fn, .columns = 16, .scale = ue4m3fn, .rule = ScaleRule::amax};
}

struct NamedBlock {
  std::string_view name;
  BlockFormat format;
};

std::array<NamedBlock, 7> named_blocks() {
  return {{{"mxfp8_e4m3", mx_block(e4m3fn)},
           {"mxfp8_e5m2", mx_block(e5m2)},
           {"mxfp6_e2m3", mx_block(e2m3fn)},
           {"mxfp6_e3m2", mx_block(e3m2fn)},
           {"mxfp4", mx_block(e2m1fn)},
           {"mxint8", mx_block(integer_element(8))},
           {"nvfp4", nvfp4()}}};
}

// --- Reading -----------------------------------------------------------------------------------

Format read_element(Scanner& in) {
  const std::size_t at = in.at();
  const Format f = read_format(in);
  if (f.daz || f.ftz || f.overflow != Overflow::ieee)
    in.fail(at, fmt::format("element {}: elements of a block saturate; leave overflow=, daz and "
                            "ftz out",
                            to_string(f)));
  return f;
}

void read_shape(Scanner& in, BlockFormat& f) {
  if (in.ahead(value_ends) == "all") {
    in.skip(3);
    f.shape = BlockShape::whole_array;
    return;
  }
  f.columns = in.integer("block", 0, longest_block);
  f.shape = f.columns == 0 ? BlockShape::whole_axis : BlockShape::along_axis;
  if (!in.accept('x')) return;
  f.rows = f.columns;
  const std::size_t at = in.at();
  f.columns = in.integer("block", 0, longest_block);
  if (f.rows == 0 || f.columns == 0)
    in.fail(at, fmt::format("block = {}x{}: both are 1 or more", f.rows, f.columns));
  f.shape = f.rows == 1 ? BlockShape::along_axis : BlockShape::tile;
}

Format read_scale(Scanner& in) {
  const std::string_view word = in.ahead(value_ends);
  const auto scale = find_format(word);
  if (!scale || (!is_power_scale(*scale) && scale != ue4m3fn && scale != binary32))
    in.fail(in.at(), fmt::format("scale = {}: it may be e2m0fnu to e8m0fnu, ue4m3fn or binary32",
                                 quoted(word)));
  in.skip(word.size());
  return *scale;
}

BlockFormat read_block(Scanner& in) {
  BlockFormat f;
  f.element = read_element(in);
  in.expect(',', " and the block, as in block(e4m3fn,32,e8m0fnu)");
  read_shape(in, f);
  in.expect(',', " and the scale's format, as in block(e4m3fn,32,e8m0fnu)");
  f.scale = read_scale(in);
  f.rule = usual_rule(f.scale);
  return f;
}

BlockFormat read_bfp(Scanner& in) {
  BlockFormat f;
  f.shared_exponent = true;
  f.element = integer_element(static_cast<int>(in.integer("mantissa bits", 2, 53)));
  in.expect(',', " and the block, as in bfp(8,32,e8)");
  read_shape(in, f);
  in.expect(',', " and the exponent bits, as in bfp(8,32,e8)");
  in.expect('e', " and the exponent bits, as in bfp(8,32,e8)");
  f.scale =
      power_scale(static_cast<int>(in.integer("exponent bits", least_scale_bits, most_scale_bits)));
  return f;
}

BlockFormat read_kind(Scanner& in) {
  const std::string_view head = in.ahead(value_ends);
  const bool block = head.starts_with("block("), bfp = head.starts_with("bfp(");
  if (block || bfp) {
    in.skip(block ? 6 : 4);
    const BlockFormat f = block ? read_block(in) : read_bfp(in);
    in.expect(')', " behind the scale");
    return f;
  }
  std::vector<std::string_view> known;
  const auto all = named_blocks();
  for (const NamedBlock& n : all) {
    if (n.name == head) {
      in.skip(head.size());
      return n.format;
    }
    known.push_back(n.name);
  }
  const std::string hint = is_format(head)
                               ? fmt::format("; of elements in it, as block({},32,e8m0fnu)", head)
                               : nearest(head, known);
  in.fail(in.at(), fmt::format("no block format {}{}; write a name as mxfp8_e4m3 or nvfp4, or the "
                               "form block(e4m3fn,32,e8m0fnu) or bfp(8,32,e8)",
                               quoted(head), hint));
}

// One of two words.
bool read_choice(Scanner& in, std::string_view key, std::string_view no, std::string_view yes) {
  const std::string_view word = in.ahead(value_ends);
  if (word != no && word != yes)
    in.fail(in.at(), fmt::format("{} = {}: it may be {} or {}", key, quoted(word), no, yes));
  in.skip(word.size());
  return word == yes;
}

void read_option(Scanner& in, std::string_view key, std::size_t at, BlockFormat& f) {
  in.expect('=', fmt::format(" and the value of {}", key));
  if (key == "scale")
    f.rule = read_word<ScaleRule>(in, key);
  else if (key == "specials")
    f.specials_in_elements = read_choice(in, key, "block", "element");
  else if (key == "flush")
    f.flush = read_choice(in, key, "no", "block");
  else if (key == "clamp")
    f.full_range = read_choice(in, key, "symmetric", "full");
  else if (key == "carry")
    f.raise_on_carry = read_choice(in, key, "saturate", "raise");
  else
    in.fail(at, fmt::format("no option {}; there are scale=, specials=, flush=, clamp= and carry=",
                            quoted(key)));
}

void read_options(Scanner& in, BlockFormat& f) {
  std::vector<std::string> given;
  while (in.accept(';')) {
    const std::size_t at = in.at();
    const std::string key(in.ahead("=;"));
    in.skip(key.size());
    if (std::ranges::find(given, key) != given.end())
      in.fail(at, fmt::format("{} is given twice", key));
    read_option(in, key, at, f);
    given.push_back(key);
  }
}

// --- What a block format may be ------------------------------------------------------------------

bool has_positive(const Format& f) {
  const auto code = find_code(f, NamedCode::max_finite);
  if (!code) return false;
  const Value v = value_of(f, code->data());
  return v.kind == Kind::finite && !v.negative;
}

std::string element_fault(const BlockFormat& f) {
  if (f.element.is_float() && !f.element.is_signed())
    return "elements of floats have a sign: below zero there would be NaN";
  if (!has_positive(f.element)) return "elements have no number above zero to scale by";
  if (f.element.width() > 64 || f.element.rounding_digits() > most_element_digits)
    return fmt::format("elements have up to {} digits", most_element_digits);
  if (f.element.least_digit() < -400 || f.element.emax() > 400)
    return "elements' numbers lie between 2^-400 and 2^400";
  return {};
}

std::string scale_fault(const BlockFormat& f) {
  if (is_power_scale(f.scale) != f.power_of_two())
    return fmt::format("scale={} is no rule for scales in {}; {}", word(f.rule), to_string(f.scale),
                       is_power_scale(f.scale)
                           ? "there are floor, ceil, rceil, even, midmax and nearest"
                       : f.scale == binary32 ? "there are amax and pow2"
                                             : "there is amax alone");
  if (f.rule == ScaleRule::pow2 && f.scale != binary32) return "scale=pow2 is binary32's";
  if (f.takes_tensor_scale() && f.element.digits() > most_divided_digits)
    return fmt::format("elements under scales in ue4m3fn have up to {} digits",
                       most_divided_digits);
  return {};
}

std::string option_fault(const BlockFormat& f) {
  if (f.refuses_specials() && f.specials_in_elements)
    return "specials=element is for scales that are powers of two, and not for bfp";
  if (f.flush && !f.power_of_two()) return "flush=block is for scales that are powers of two";
  if (f.full_range && !f.element.is_fixed()) return "clamp=full is for integer elements";
  if (f.raise_on_carry && !f.shared_exponent) return "carry=raise is for bfp";
  return {};
}

// --- Printing ------------------------------------------------------------------------------------

std::string shape_text(const BlockFormat& f) {
  switch (f.shape) {
    case BlockShape::along_axis: return fmt::format("{}", f.columns);
    case BlockShape::tile: return fmt::format("{}x{}", f.rows, f.columns);
    case BlockShape::whole_axis: return "0";
    case BlockShape::whole_array: return "all";
  }
  return {};
}

std::string head_text(const BlockFormat& f) {
  if (f.shared_exponent)
    return fmt::format("bfp({},{},e{})", f.element.width(), shape_text(f), f.scale.exp_bits);
  const std::string scale = is_power_scale(f.scale) ? fmt::format("e{}m0fnu", f.scale.exp_bits)
                            : f.scale == binary32   ? "binary32"
                                                    : "ue4m3fn";
  return fmt::format("block({},{},{})", to_string(f.element), shape_text(f), scale);
}

}  // namespace

BlockFormat parse_block_format(std::string_view text) {
  Scanner in("format", text);
  BlockFormat f = read_kind(in);
  read_options(in, f);
  in.expect_end("';' and an option, or the end");
  check(f);
  return f;
}

std::string to_string(const BlockFormat& f) {
  BlockFormat plain = f;
  plain.rule = usual_rule(f.scale);
  plain.specials_in_elements = plain.flush = plain.full_range = plain.raise_on_carry = false;
  std::string text = head_text(plain);
  if (f == nvfp4()) text = "nvfp4";
  if (f.rule != plain.rule) text += fmt::format(";scale={}", word(f.rule));
  if (f.specials_in_elements) text += ";specials=element";
  if (f.flush) text += ";flush=block";
  if (f.full_range) text += ";clamp=full";
  if (f.raise_on_carry) text += ";carry=raise";
  return text;
}

void check(const BlockFormat& f) {
  for (const auto rule : {element_fault, scale_fault, option_fault})
    if (const std::string wrong = rule(f); !wrong.empty())
      throw std::invalid_argument(said(fmt::format("format {}: {}", to_string(f), wrong)));
}

bool is_block_format(std::string_view text) {
  Scanner in("format", text);
  const std::string_view head = in.ahead(";");
  if (head.starts_with("block(") || head.starts_with("bfp(")) return true;
  const auto all = named_blocks();
  return std::ranges::find(all, head, &NamedBlock::name) != all.end();
}

}  // namespace widthwise
