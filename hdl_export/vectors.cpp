#include "vectors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "block_stimuli.hpp"
#include "simulator.hpp"
#include "sum_blocks.hpp"
#include "sum_run.hpp"
#include "thresholds.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

// What a port `rm` says; a requantisation's variant says it all.
void set_rounding(Design& design, const Rounding& rounding) {
  if (Unit* unit = std::get_if<Unit>(&design)) unit->out.rm = rounding;
  if (auto* q = std::get_if<BlockQuantisation>(&design)) q->rounding = rounding;
  if (auto* s = std::get_if<SingleOperation>(&design)) s->rounding = rounding;
}
Rounding rounding_of(const Design& design) {
  if (const Unit* unit = std::get_if<Unit>(&design)) return unit->out.rm;
  if (const auto* q = std::get_if<BlockQuantisation>(&design)) return q->rounding;
  if (const auto* s = std::get_if<SumRequantisation>(&design)) return s->last_rounding();
  return std::get<SingleOperation>(design).rounding;
}

// Codes side by side, the first in the lowest bits.
std::string hex_digits(const std::vector<Code>& codes, int width) {
  const int bits = width * static_cast<int>(codes.size());
  std::string text;
  for (int low = 4 * (hex_width(bits) - 1); low >= 0; low -= 4) {
    int digit = 0;
    for (int i = std::min(low + 4, bits); i-- > low;) {
      const int at = i % width;
      const auto& limbs = codes[static_cast<std::size_t>(i / width)].limb;
      digit = 2 * digit + static_cast<int>(limbs[at / 64] >> at % 64 & 1);
    }
    text += "0123456789abcdef"[digit];
  }
  return text;
}

// What stands in a line. The result of a block that is not its sum's last is 0.
struct Line {
  const Block& block;
  Answer answer;
  RandomSource random;
};

// Writes lines, and works out what their CHECK is.
class Lines {
 public:
  Lines(const Design& design, const DesignRtl& rtl, const Dataflow& flow, std::uint64_t seed)
      : design_(design), rtl_(rtl), flow_(flow), seed_(seed), seeds_(seed) {}

  // Operands of so many blocks each.
  void add(std::span<const Stimulus> stimuli, const Rounding& rounding, int blocks) {
    set_rounding(design_, rounding);
    rounding_ = rounding;
    const auto run = make_simulator(design_, repeated(flow_, blocks).lanes, rtl_.multiply);
    for (const Stimulus& s : stimuli) {
      const RandomSource random = source();
      const Answer answer = run->answer(s, random);
      for (const Block& block : blocks_of(s, flow_, rtl_.running))
        line({block, block.last ? answer : Answer{}, random});
    }
  }

  std::size_t count() const { return count_; }
  const std::string& text() const { return text_; }
  std::string check() const {
    std::string digits;
    for (const int digit : check_) digits += "0123456789abcdef"[digit];
    return digits;
  }

 private:
  // A generator in the module is to meet every bit of its seed and index.
  RandomSource source() {
    if (!rtl_.generator()) return {seed_, count_};
    return {seeds_(), seeds_()};
  }

  void line(const Line& x) {
    std::string fields;
    for (const Port& port : rtl_.ports) fields += " " + field(port.bus, x);
    text_ += fields.substr(1) + "\n";
    ++count_;
    check_.resize(fields.size());
    std::rotate(check_.begin(), check_.begin() + 1, check_.end());
    for (std::size_t i = 0; i < fields.size(); ++i)
      check_[i] ^= fields[i] == ' ' ? 0 : fields[i] > '9' ? fields[i] - 'a' + 10 : fields[i] - '0';
  }

  std::string field(const Bus& bus, const Line& x) const {
    const Stimulus& s = x.block.operands;
    const auto number = [&](std::uint64_t x) { return hex_digits({Code(x)}, bus.width); };
    const auto codes = [&](const std::vector<Code>& all) { return hex_digits(all, bus.width); };
    if (bus.name == "a") return codes(s.a);
    if (bus.name == "b") return codes(s.b);
    if (bus.name == "c") return codes(s.c);
    if (bus.name == "scale_a") return codes(s.scale_a);
    if (bus.name == "scale_b") return codes(s.scale_b);
    if (bus.name == "running") return number(s.running);
    if (bus.name == "in_first") return number(x.block.first);
    if (bus.name == "in_last") return number(x.block.last);
    if (bus.name == "rm") return number(rm());
    if (bus.name == "seed") return number(x.random.seed);
    if (bus.name == "index") return number(x.random.first_index);
    if (bus.name == "step") return number(x.block.step);
    if (bus.name == "y") return codes(x.answer.y);
    if (bus.name == "scale") return codes({x.answer.scale});
    if (bus.name == "flags") return number(x.answer.flags);
    return codes(random_words(bus.name, x));
  }

  std::uint64_t rm() const { return static_cast<std::uint64_t>(rounding_code(rounding_).number); }
  // What the simulator's generator gives for the roundings of a port.
  std::vector<Code> random_words(const std::string& name, const Line& x) const {
    const auto port = std::ranges::find(rtl_.random, name, &RandomPort::name);
    if (port == rtl_.random.end())
      throw std::logic_error(fmt::format("vectors know no port {}", name));
    const std::uint64_t from = port->moves ? x.block.step : 0;
    std::vector<Code> words;
    for (const std::int64_t step : port->steps)
      words.emplace_back(random_bits(port->bits, {x.random.seed, x.random.first_index}, port->slot,
                                     from + static_cast<std::uint64_t>(step)));
    return words;
  }

  Design design_;
  const DesignRtl& rtl_;
  const Dataflow& flow_;
  std::uint64_t seed_;
  std::mt19937_64 seeds_;
  Rounding rounding_{};
  std::size_t count_ = 0;
  std::string text_;
  std::vector<int> check_;
};

// Every mode that a port `rm` takes, or the design's own.
std::vector<Rounding> modes(Design design, std::span<const Port> ports) {
  if (!find_port(ports, "rm")) return {rounding_of(design)};
  std::vector<Rounding> all;
  for (int i = 0; i < deterministic_modes; ++i) all.emplace_back(static_cast<RoundingMode>(i));
  return all;
}

std::string comments(Design design, std::span<const Port> ports, const ExportOptions& options,
                     const Lines& lines) {
  std::string fields;
  for (const Field& f : vector_fields(ports))
    fields += fmt::format("{}{}[{}]", fields.empty() ? "" : " ", f.name, f.bits);
  return fmt::format(
      "// MODEL_HASH {:016x}\n// COUNT {}\n// CHECK {}\n// SEED {}\n// MODE {}\n// FIELDS {}\n"
      "// SPEC {}\n",
      model_hash(design), lines.count(), lines.check(), options.seed,
      find_port(ports, "rm") ? "as field rm says" : to_string(rounding_of(design)), fields,
      to_string(design));
}

std::vector<Stimulus> directed(const Design& design, const Dataflow& sum, std::uint64_t seed) {
  if (const auto* q = std::get_if<BlockQuantisation>(&design)) return directed_blocks(*q, seed);
  if (const auto* s = std::get_if<SumRequantisation>(&design)) return directed_sums(*s, seed);
  return directed_stimuli(sum, seed);
}

std::vector<Stimulus> at_random(const Design& design, const Dataflow& sum, std::uint64_t seed,
                                std::size_t first, std::size_t last) {
  if (const auto* q = std::get_if<BlockQuantisation>(&design))
    return random_blocks(*q, seed + first, last - first);
  if (const auto* s = std::get_if<SumRequantisation>(&design))
    return random_sums(*s, seed + first, last - first);
  return random_stimuli(sum, seed, first, last);
}

}  // namespace

std::vector<Field> vector_fields(std::span<const Port> ports) {
  std::vector<Field> fields;
  for (const Port& port : ports)
    fields.push_back({port.bus.name, port.bus.width * port.bus.lanes, port.direction == "output"});
  return fields;
}

std::string vector_file(const Design& design, const DesignRtl& rtl, const ExportOptions& options) {
  const std::vector<Port>& ports = rtl.ports;
  const Dataflow flow = dataflow(design, ports);
  const std::vector<Rounding> roundings = modes(design, ports);
  const std::vector<int> lengths =
      rtl.running == RunningSum::none ? std::vector<int>{1} : std::vector<int>{1, 2, 5};
  const std::size_t parts = std::max(roundings.size(), lengths.size());
  Lines lines(design, rtl, flow, options.seed);
  for (std::size_t i = 0; i < parts; ++i) {
    const int blocks = lengths[i % lengths.size()];
    const Dataflow sum = repeated(flow, blocks);
    const Rounding& rounding = roundings[i % roundings.size()];
    lines.add(directed(design, sum, options.seed), rounding, blocks);
    if (const Unit* unit = std::get_if<Unit>(&design); unit && i < lengths.size())
      lines.add(threshold_stimuli(*unit, sum, options.seed, rtl.multiply), rounding, blocks);
    lines.add(at_random(design, sum, options.seed, i * options.vectors / parts,
                        (i + 1) * options.vectors / parts),
              rounding, blocks);
  }
  return comments(design, ports, options, lines) + lines.text();
}

}  // namespace widthwise::hdl
