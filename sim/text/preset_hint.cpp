#include "preset_hint.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "reading.hpp"
#include "scanner.hpp"
#include "short_form.hpp"
#include "widthwise/sim/block_format.hpp"
#include "widthwise/sim/presets.hpp"

namespace widthwise {
namespace {

using Names = std::vector<std::string_view>;

// --- Products ----------------------------------------------------------------------------------

// By the letters that their names begin with; what follows is a variant's, as in A100X or MI300A.
struct Product {
  std::string_view begins, shown, chip;
};
constexpr Product products[] = {
    {"v100", "V100", "volta"},
    {"titanv", "Titan V", "volta"},
    {"gv100", "GV100", "volta"},
    {"t4", "T4", "turing"},
    {"titanrtx", "Titan RTX", "turing"},
    {"tu102", "TU102", "turing"},
    {"tu104", "TU104", "turing"},
    {"rtx20", "RTX 20", "turing"},
    {"a100", "A100", "ampere"},
    {"a800", "A800", "ampere"},
    {"a2", "A2", "ampere"},
    {"a10", "A10", "ampere"},
    {"a16", "A16", "ampere"},
    {"a30", "A30", "ampere"},
    {"a40", "A40", "ampere"},
    {"ga100", "GA100", "ampere"},
    {"ga102", "GA102", "ampere"},
    {"orin", "Orin", "ampere"},
    {"rtx30", "RTX 30", "ampere"},
    {"rtxa", "RTX A", "ampere"},
    {"l4", "L4", "ada"},
    {"l20", "L20", "ada"},
    {"l40", "L40", "ada"},
    {"ad102", "AD102", "ada"},
    {"rtx40", "RTX 40", "ada"},
    {"rtx2000ada", "RTX 2000 Ada", "ada"},
    {"rtx4000ada", "RTX 4000 Ada", "ada"},
    {"rtx4500ada", "RTX 4500 Ada", "ada"},
    {"rtx5000ada", "RTX 5000 Ada", "ada"},
    {"rtx6000ada", "RTX 6000 Ada", "ada"},
    {"h20", "H20", "hopper"},
    {"h100", "H100", "hopper"},
    {"h200", "H200", "hopper"},
    {"h800", "H800", "hopper"},
    {"gh100", "GH100", "hopper"},
    {"gh200", "GH200", "hopper"},
    {"b100", "B100", "blackwell"},
    {"b200", "B200", "blackwell"},
    {"b300", "B300", "blackwell"},
    {"gb10", "GB10", "blackwell"},
    {"gb100", "GB100", "blackwell"},
    {"gb200", "GB200", "blackwell"},
    {"gb300", "GB300", "blackwell"},
    {"rtx50", "RTX 50", "blackwell"},
    {"rtxpro", "RTX PRO", "blackwell"},
    {"thor", "Thor", "blackwell"},
    {"sm70", "sm_70", "volta"},
    {"sm75", "sm_75", "turing"},
    {"sm80", "sm_80", "ampere"},
    {"sm86", "sm_86", "ampere"},
    {"sm87", "sm_87", "ampere"},
    {"sm89", "sm_89", "ada"},
    {"sm90", "sm_90", "hopper"},
    {"sm100", "sm_100", "blackwell"},
    {"sm103", "sm_103", "blackwell"},
    {"sm120", "sm_120", "blackwell"},
    {"mi100", "MI100", "cdna1"},
    {"mi200", "MI200", "cdna2"},
    {"mi210", "MI210", "cdna2"},
    {"mi250", "MI250", "cdna2"},
    {"mi300", "MI300", "cdna3"},
    {"mi325", "MI325", "cdna3"},
    {"gfx908", "gfx908", "cdna1"},
    {"gfx90a", "gfx90a", "cdna2"},
    {"gfx940", "gfx940", "cdna3"},
    {"gfx941", "gfx941", "cdna3"},
    {"gfx942", "gfx942", "cdna3"},
};

// Of which nothing is known here, so that nobody takes another one's.
constexpr std::string_view unknown_products[] = {"tpu",    "gaudi", "trainium", "mi350",
                                                 "mi355",  "gtx",   "p100",     "cdna4",
                                                 "pascal", "ipu",   "amx",      "sme"};

constexpr std::string_view makers[] = {"nvidia", "amd",   "instinct", "geforce",
                                       "quadro", "tesla", "jetson",   "gpu"};

// "rtx4090" of "NVIDIA RTX_4090": without a maker, blanks or dashes.
std::string bare(std::string_view name) {
  std::string text(name);
  std::erase_if(text, [](char c) { return c == ' ' || c == '_' || c == '-'; });
  for (const std::string_view maker : makers)
    if (text.starts_with(maker)) text.erase(0, maker.size());
  if (text.size() == 4 && std::ranges::all_of(text, is_digit)) text.insert(0, "rtx");
  return text;
}

// A series goes on with two digits of the model, as 4090 but not 4000, which is an older product;
// behind any other name a digit makes another one.
bool is_named(std::string_view text, const Product& p) {
  if (!text.starts_with(p.begins)) return false;
  const std::string_view rest = text.substr(p.begins.size());
  const bool is_series = p.begins.starts_with("rtx") && is_digit(p.begins.back());
  if (is_series) return rest.empty() || rest[0] != '0';
  return p.begins == "rtxa" || p.begins == "rtxpro" || rest.empty() || !is_digit(rest[0]);
}

const Product* find_product(std::string_view text) {
  const auto found =
      std::ranges::find_if(products, [&](const Product& p) { return is_named(text, p); });
  return found == std::end(products) ? nullptr : &*found;
}

// --- Presets -----------------------------------------------------------------------------------

Names of_chip(std::string_view chip) {
  Names names;
  for (const Preset& p : presets())
    if (p.name.starts_with(fmt::format("{}.", chip))) names.push_back(p.name);
  return names;
}

// "f16.f32" of "fp16_float32": formats as presets' names have them.
std::string formats_of(std::string_view rest) {
  constexpr std::pair<std::string_view, std::string_view> spellings[] = {
      {"bfloat", "bf"},    {"float", "f"},     {"fp", "f"},        {"half", "f16"},
      {"single", "f32"},   {"_", "."},         {"-", "."},         {" ", "."},
      {"e4m3fnuz", "fp8"}, {"e4m3fn", "e4m3"}, {"e5m2fnuz", "bf8"}};
  std::string text(rest);
  for (const auto& [from, to] : spellings)
    for (std::size_t at; (at = text.find(from)) != text.npos;) text.replace(at, from.size(), to);
  return text;
}

// The chip's preset of those formats, or the first of its presets that has these operands.
std::optional<std::string_view> preset_of(std::string_view chip, std::string_view formats) {
  const std::string spelt = formats_of(formats);
  const std::string eight_bits = spelt.starts_with("f8") ? "e4m3" + spelt.substr(2) : spelt;
  for (const std::string_view wanted :
       {std::string_view(spelt), formats, std::string_view(eight_bits)}) {
    const std::string name = fmt::format("{}.{}", chip, wanted);
    for (const std::string_view known : of_chip(chip))
      if (known == name || known.starts_with(name + ".")) return known;
  }
  return {};
}

std::string listed(std::string_view chip) {
  const Names names = of_chip(chip);
  return names.empty() ? "" : fmt::format("; there are {}", fmt::join(names, ", "));
}

std::string hint_of(const Product& p, std::string_view formats) {
  const std::string of = fmt::format("; {} is {}", p.shown, p.chip);
  const auto preset = preset_of(p.chip, formats);
  return preset ? fmt::format("{}: take {}", of, *preset) : of + listed(p.chip);
}

// The product that the name begins with, in as few of its words as name one.
std::string product_hint(std::string_view name) {
  for (std::size_t end = 0; end < name.size();) {
    end = std::min(name.find_first_of("._- ", end + 1), name.size());
    const std::string text = bare(name.substr(0, end));
    if (std::ranges::find(unknown_products, text) != std::end(unknown_products))
      return fmt::format("; nothing is known here of {}'s arithmetic", name.substr(0, end));
    if (const Product* p = find_product(text))
      return hint_of(*p, name.substr(std::min(end + 1, name.size())));
  }
  if (!bare(name).starts_with("rtx")) return {};
  return "; RTX 20 is turing, 30 ampere, 40 ada and 50 blackwell: take ada.f16.f32, say";
}

// --- Other texts -------------------------------------------------------------------------------

// "mac", "mac e5m10", "mac[e5m10]".
std::string spaced_kind_hint(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find_first_of(" [:,;.<{"));
  const std::string_view example = kind_example(kind);
  if (example.empty()) return {};
  return fmt::format("; {} is a kind of unit, with its formats in brackets, as {}", kind, example);
}

// The chip that the name begins with, and the formats that follow.
std::pair<std::string_view, std::string_view> parts(std::string_view name) {
  const std::size_t end = std::min(name.find_first_of("._- "), name.size());
  return {name.substr(0, end), name.substr(std::min(end + 1, name.size()))};
}

}  // namespace

std::string preset_hint(std::string_view name) {
  constexpr std::size_t longest = 80;  // past any name with its formats: not worth taking apart
  if (name.size() > longest) return {};
  if (is_format(name)) return fmt::format("; it is a format: take mac({0}) or fma({0})", name);
  if (is_block_format(name))
    return fmt::format(
        "; it is a format of blocks: units as blackwell.nvfp4 multiply such, and "
        "blocks({}), their quantiser, is exported",
        name);
  if (const std::string hint = spaced_kind_hint(name); !hint.empty()) return hint;
  if (const std::string hint = product_hint(name); !hint.empty()) return hint;
  const auto [chip, formats] = parts(name);
  if (const auto preset = preset_of(chip, formats))
    return fmt::format("; nearest name: '{}'", *preset);
  Names names;
  for (const Preset& p : presets()) {
    if (name.starts_with(std::string(p.name) + "."))
      return fmt::format("; nearest name: '{}'", p.name);
    names.push_back(p.name);
  }
  const std::string near = nearest(name, names);
  return near.empty() ? listed(chip) : near;
}

}  // namespace widthwise
