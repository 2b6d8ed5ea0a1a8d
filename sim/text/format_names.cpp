#include "format_names.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "scanner.hpp"

namespace widthwise {
namespace {

constexpr std::string_view ieee = "IEEE 754-2019", ofp8 = "OCP OFP8 1.0", mx = "OCP MX 1.0",
                           fnuz = "Graphcore, AMD: the code of -0 is the only NaN";

constexpr NamedFormat names[] = {
    {"binary16", binary16, ieee},
    {"binary32", binary32, ieee},
    {"binary64", binary64, ieee},
    {"binary128", binary128, ieee},
    {"binary256", binary256, "IEEE 754-2019, table 3.5"},
    {"bfloat16", bfloat16, "Google; binary32's upper half"},
    {"tf32", tf32, "NVIDIA; what its matrix units read of a binary32 register"},
    {"e5m2", e5m2, ofp8},
    {"e4m3fn", e4m3fn, ofp8},
    {"e4m3", e4m3, "ml_dtypes; IEEE 754's rules at 8 bits"},
    {"e3m4", e3m4, "ml_dtypes; IEEE 754's rules at 8 bits"},
    {"e4m3fnuz", e4m3fnuz, fnuz},
    {"e5m2fnuz", e5m2fnuz, fnuz},
    {"e4m3b11fnuz", e4m3b11fnuz, fnuz},
    {"e3m2fn", e3m2fn, mx},
    {"e2m3fn", e2m3fn, mx},
    {"e2m1fn", e2m1fn, mx},
    {"e8m0fnu", e8m0fnu, "OCP MX 1.0, the scale"},
    {"ue4m3fn", ue4m3fn, "NVIDIA; NVFP4's scale"},
};

constexpr std::string_view ml_dtypes[] = {"e4m3fn", "e4m3",     "e4m3fnuz", "e4m3b11fnuz",
                                          "e5m2",   "e5m2fnuz", "e3m4",     "e2m3fn",
                                          "e3m2fn", "e2m1fn",   "e8m0fnu"};

struct Alias {
  std::string_view text, name;
};
constexpr Alias aliases[] = {
    {"half", "binary16"},
    {"float16", "binary16"},
    {"fp16", "binary16"},
    {"f16", "binary16"},
    {"single", "binary32"},
    {"float32", "binary32"},
    {"fp32", "binary32"},
    {"f32", "binary32"},
    {"double", "binary64"},
    {"float64", "binary64"},
    {"fp64", "binary64"},
    {"f64", "binary64"},
    {"quad", "binary128"},
    {"float128", "binary128"},
    {"fp128", "binary128"},
    {"f128", "binary128"},
    {"octuple", "binary256"},
    {"float256", "binary256"},
    {"fp256", "binary256"},
    {"f256", "binary256"},
    {"bf16", "bfloat16"},
    {"tensorfloat32", "tf32"},
    {"float8_e5m2", "e5m2"},
    {"float8_e4m3", "e4m3"},
    {"float8_e4m3fn", "e4m3fn"},
    {"float8_e4m3fnuz", "e4m3fnuz"},
    {"float8_e3m4", "e3m4"},
    {"float8_e5m2fnuz", "e5m2fnuz"},
    {"float6_e3m2fn", "e3m2fn"},
    {"float6_e2m3fn", "e2m3fn"},
    {"float4_e2m1fn", "e2m1fn"},
    {"float8_e8m0fnu", "e8m0fnu"},
    {"float8_e4m3b11fnuz", "e4m3b11fnuz"},
};

// Scales of other widths, which print as the formats that they are.
constexpr std::string_view power_scales[] = {"e2m0fnu", "e3m0fnu", "e4m0fnu",
                                             "e5m0fnu", "e6m0fnu", "e7m0fnu"};

struct LaterKind {
  std::string_view prefix, kind;  // the prefix, and behind it a digit or a bracket
};
constexpr LaterKind later[] = {
    {"lns", "logarithmic"},     {"block", "a block format"}, {"bfp", "a block format"},
    {"mxfp", "a block format"}, {"mxint", "a block format"}, {"nvfp", "a block format"},
};

// By every name that is read: texts of units are made by reading many.
using Formats = std::unordered_map<std::string_view, Format>;
Formats every_name() {
  Formats all;
  for (const NamedFormat& n : names) all.emplace(n.name, n.format);
  for (const Alias& a : aliases) all.emplace(a.text, all.at(a.name));
  for (const std::string_view name : power_scales) all.emplace(name, power_scale(name[1] - '0'));
  return all;
}

}  // namespace

std::span<const NamedFormat> named_formats() { return names; }

Format power_scale(int bits) {
  Format f = e8m0fnu;
  f.exp_bits = bits;
  f.bias = ieee_bias(bits);
  return f;
}

std::optional<Format> find_format(std::string_view name) {
  static const Formats all = every_name();
  const auto found = all.find(name);
  if (found == all.end()) return {};
  return found->second;
}

std::optional<std::string_view> printed_name(const Format& f) {
  const auto found = std::ranges::find_if(names, [&](const NamedFormat& n) {
    return n.format == f && std::ranges::find(ml_dtypes, n.name) != std::end(ml_dtypes);
  });
  if (found == std::end(names)) return {};
  return found->name;
}

std::string nearest_format(std::string_view name) {
  std::vector<std::string_view> known;
  for (const NamedFormat& n : names) known.push_back(n.name);
  for (const Alias& a : aliases) known.push_back(a.text);
  return nearest(name, known);
}

std::string_view later_kind(std::string_view text) {
  for (const LaterKind& l : later) {
    if (!text.starts_with(l.prefix)) continue;
    const std::string_view rest = text.substr(l.prefix.size());
    if (!rest.empty() && (rest[0] == '(' || ('0' <= rest[0] && rest[0] <= '9'))) return l.kind;
  }
  return {};
}

}  // namespace widthwise
