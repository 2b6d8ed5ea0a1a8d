#include "rtl_vectors.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <sstream>

#include "rtl_random_inputs.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

namespace tests {
namespace {

using namespace widthwise;

Code mask(int width) { return ones<Code>(width); }

// Each operand's codes, as the simulator takes them.
class Columns {
 public:
  Columns(const SingleOperation& s, const Tuples& tuples) : formats_(s.read()) {
    for (std::size_t i = 0; i < formats_.size(); ++i) {
      std::vector<Code> codes;
      for (const auto& tuple : tuples) codes.push_back(tuple[i]);
      bytes_.push_back(packed(codes, formats_[i]));
    }
  }

  std::vector<CodeArray> arrays() const {
    std::vector<CodeArray> all;
    for (std::size_t i = 0; i < formats_.size(); ++i)
      all.push_back({formats_[i], bytes_[i].data()});
    return all;
  }
  std::string values(std::size_t tuple) const {
    std::string line;
    for (std::size_t i = 0; i < formats_.size(); ++i) {
      const int width = formats_[i].width();
      line += digits(&bytes_[i][tuple * static_cast<std::size_t>(item_bytes(width))], width);
    }
    return line;
  }

 private:
  std::span<const Format> formats_;
  std::vector<std::vector<std::byte>> bytes_;
};

std::vector<Rounding> modes(const TestedOperation& op) {
  if (!op.options.rounding_port) return {op.s.rounding};
  std::vector<Rounding> all;
  for (int i = 0; i < deterministic_modes; ++i) all.emplace_back(static_cast<RoundingMode>(i));
  return all;
}

std::vector<Field> inputs(const TestedOperation& op) {
  std::vector<Field> all;
  for (std::size_t i = 0; i < op.s.arity(); ++i)
    all.push_back({std::string(1, "abc"[i]), op.s.operands[i].width()});
  if (op.options.rounding_port) all.push_back({"rm", 4});
  for (const Field& f : RandomInputs(op.s, op.options).fields()) all.push_back(f);
  return all;
}

}  // namespace

std::vector<std::byte> packed(const std::vector<Code>& codes, const Format& f) {
  const auto item = static_cast<std::size_t>(item_bytes(f.width()));
  std::vector<std::byte> bytes(codes.size() * item);
  for (std::size_t i = 0; i < codes.size(); ++i)
    store_code<Code>(&bytes[i * item], static_cast<int>(item), codes[i]);
  return bytes;
}

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
    if (f.is_signed()) all.push_back((code | bit<Code>(f.width() - 1)) & mask(f.width()));
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
  if (f.is_signed() && random() % 2) x = x ^ bit<Code>(f.width() - 1);
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
    } else if (word.starts_with("nan=")) {
      op.s.nan = parse_nan_result(word.substr(4));
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

Dut dut(const std::string& name, const TestedOperation& op, const Tuples& tuples) {
  Dut d{.name = name,
        .files = rtl(op, name),
        .inputs = inputs(op),
        .outputs = {{"y", op.s.to.width()}, {"flags", 5}},
        .vectors = {},
        .taps = {}};
  const Columns operands(op.s, tuples);
  const RandomInputs random_inputs(op.s, op.options);
  const auto item = static_cast<std::size_t>(item_bytes(op.s.to.width()));
  std::vector<std::byte> result(tuples.size() * item);
  std::vector<std::uint8_t> flags(tuples.size());
  const std::uint64_t seed = 7;
  for (const Rounding& mode : modes(op)) {
    elementwise(op.s.op, op.s.to, {mode, op.s.tininess, op.s.nan}, operands.arrays(), tuples.size(),
                result.data(), flags.data(), {seed, 0});
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      std::string line = operands.values(i);
      if (op.options.rounding_port) line += hex(rm_codes[static_cast<int>(mode.mode)], 4);
      line += random_inputs.values(seed, i, 0);
      d.vectors.push_back(line + digits(&result[i * item], op.s.to.width()) + hex(flags[i], 5));
    }
  }
  return d;
}

}  // namespace tests
