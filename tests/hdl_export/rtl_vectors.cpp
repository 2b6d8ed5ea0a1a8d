#include "rtl_vectors.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <sstream>

#include "widthwise/random.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

namespace tests {
namespace {

using namespace widthwise;

Code mask(int width) { return ones<Code>(width); }

std::vector<std::byte> bytes_of(const Tuples& tuples, std::size_t operand, const Format& f) {
  const auto item = static_cast<std::size_t>(item_bytes(f.width()));
  std::vector<std::byte> bytes(tuples.size() * item);
  for (std::size_t i = 0; i < tuples.size(); ++i)
    store_code<Code>(&bytes[i * item], static_cast<int>(item), tuples[i][operand]);
  return bytes;
}

}  // namespace

Code random_code(const Format& f, Random& random) {
  Code code;
  for (auto& limb : code.limb) limb = random();
  return code & mask(f.width());
}

// Codes that a format's description speaks of, those beside them, and all these negative.
const std::vector<Code>& named(const Format& f) {
  static std::deque<std::pair<Format, std::vector<Code>>> known;  // finding them takes longest
  const auto before = std::ranges::find(known, f, &std::pair<Format, std::vector<Code>>::first);
  if (before != known.end()) return before->second;
  std::vector<Code>& all = known.emplace_back(f, std::vector<Code>()).second;
  const auto add = [&](const Code& code) {
    all.push_back(code & mask(f.width()));
    if (f.is_signed) all.push_back((code | bit<Code>(f.width() - 1)) & mask(f.width()));
  };
  for (const NamedCode which : named_codes)
    if (const auto limbs = find_code(f, which)) {
      Code code;
      std::ranges::copy(*limbs, code.limb);
      for (const Code& x : {code, Code(code + Code(1)), Code(code - Code(1))}) add(x);
    }
  return all;
}

// Another code of about the same magnitude, of either sign.
Code near(const Code& code, const Format& f, Random& random) {
  const int bits = static_cast<int>(random() % static_cast<unsigned>(f.frac_bits + 2));
  Code x = code ^ (random_code(f, random) & mask(bits));
  if (f.is_signed && random() % 2) x = x ^ bit<Code>(f.width() - 1);
  const Code binades = Code(random() % 8) << f.frac_bits;
  return (random() % 2 ? x : random() % 2 ? x + binades : x - binades) & mask(f.width());
}

std::string hex(std::uint64_t x, int width) {
  std::byte bytes[8];
  store_code<std::uint64_t>(bytes, 8, x);
  return digits(bytes, width);
}

std::string bus_digits(const std::vector<Code>& codes, int width) {
  const auto bits = static_cast<std::size_t>(width) * codes.size();
  std::vector<std::byte> bytes(bits / 8 + 1);
  for (std::size_t i = 0; i < bits; ++i) {
    const std::size_t lane = i / static_cast<std::size_t>(width);
    const std::size_t at = i % static_cast<std::size_t>(width);
    if (codes[lane].limb[at / 64] >> at % 64 & 1) bytes[i / 8] |= std::byte(1 << i % 8);
  }
  return digits(bytes.data(), static_cast<int>(bits));
}

TestedOperation operation(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  TestedOperation op{.s = {.op = parse_operation(word), .operands = {}, .to = {}},
                     .options = {.rounding_port = true}};
  for (std::size_t i = 0; words >> word && word != "->"; ++i)
    op.s.operands.at(i) = parse_format(word);
  words >> word;
  op.s.to = parse_format(word);
  while (words >> word)
    if (word.starts_with("tininess=")) {
      op.s.tininess = parse_tininess(word.substr(9));
    } else {
      op.s.rounding = parse_rounding(word);
      op.options.rounding_port = false;
    }
  return op;
}

std::vector<hdl::RtlFile> rtl(const TestedOperation& op, std::string_view name) {
  return hdl::rtl(op.s, name, op.options);
}

Tuples every_tuple(std::span<const Format> formats) {
  Tuples all{{}};
  for (const Format& f : formats) {
    Tuples longer;
    for (const auto& tuple : all)
      for (std::uint64_t code = 0; code >> f.width() == 0; ++code) {
        longer.push_back(tuple);
        longer.back().push_back(Code(code));
      }
    all = std::move(longer);
  }
  return all;
}

Tuples aimed_tuples(std::span<const Format> formats, int count, Random& random) {
  std::vector<std::vector<Code>> all_named;
  for (const Format& f : formats) all_named.push_back(named(f));
  Tuples all{{}};
  for (std::size_t i = 0; i < std::min<std::size_t>(formats.size(), 2); ++i) {
    Tuples longer;
    for (const auto& tuple : all)
      for (const Code& code : all_named[i]) {
        longer.push_back(tuple);
        longer.back().push_back(code);
      }
    all = std::move(longer);
  }
  all.resize(all.size() + static_cast<std::size_t>(count));
  for (auto& tuple : all)
    for (std::size_t i = tuple.size(); i < formats.size(); ++i) {
      const Format& f = formats[i];
      const auto& names = all_named[i];
      const auto kind = random() % 4;
      tuple.push_back(kind == 0            ? names[random() % names.size()]
                      : kind == 1 && i > 0 ? near(tuple[i - 1] & mask(f.width()), f, random)
                      : kind == 2          ? near(names[random() % names.size()], f, random)
                                           : random_code(f, random));
    }
  return all;
}

Dut dut(const std::string& name, const TestedOperation& tested, const Tuples& tuples) {
  const auto& [s, options] = tested;
  Dut d{.name = name,
        .files = rtl(tested, name),
        .inputs = {},
        .outputs = {},
        .vectors = {},
        .taps = {}};
  std::vector<std::vector<std::byte>> data;
  std::vector<CodeArray> operands;
  for (std::size_t i = 0; i < s.arity(); ++i) {
    d.inputs.push_back({std::string(1, "abc"[i]), s.operands[i].width()});
    data.push_back(bytes_of(tuples, i, s.operands[i]));
  }
  for (std::size_t i = 0; i < s.arity(); ++i) operands.push_back({s.operands[i], data[i].data()});
  const int k = s.rounding.random_bits;
  if (options.rounding_port) d.inputs.push_back({"rm", 4});
  if (options.generator)
    for (const char* port : {"seed", "index"}) d.inputs.push_back({port, 64});
  else if (k > 0)
    d.inputs.push_back({"random", k});
  d.outputs = {{"y", s.to.width()}, {"flags", 5}};

  std::vector<Rounding> modes;
  if (!options.rounding_port)
    modes = {s.rounding};
  else
    for (int i = 0; i < deterministic_modes; ++i) modes.emplace_back(static_cast<RoundingMode>(i));
  const auto item = static_cast<std::size_t>(item_bytes(s.to.width()));
  std::vector<std::byte> result(tuples.size() * item);
  std::vector<std::uint8_t> flags(tuples.size());
  const std::uint64_t seed = 7;
  for (const Rounding& mode : modes) {
    elementwise(s.op, s.to, {mode, s.tininess}, operands, tuples.size(), result.data(),
                flags.data(), {seed, 0});
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      std::string line;
      for (std::size_t j = 0; j < operands.size(); ++j)
        line += digits(&data[j][i * data[j].size() / tuples.size()], operands[j].format.width());
      if (options.rounding_port) line += hex(rm_codes[static_cast<int>(mode.mode)], 4);
      if (options.generator)
        line += hex(seed, 64) + hex(i, 64);
      else if (k > 0)
        line += hex(random_bits(k, {seed, i}, Slot::out, 0), k);
      line += digits(&result[i * item], s.to.width()) + hex(flags[i], 5);
      d.vectors.push_back(std::move(line));
    }
  }
  return d;
}

}  // namespace tests
