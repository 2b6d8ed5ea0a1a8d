#include "vectors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "simulator.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

Rounding& rounding_of(Design& design) {
  if (Unit* unit = std::get_if<Unit>(&design)) return unit->out.rm;
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

// Writes lines, and works out what their CHECK is.
class Lines {
 public:
  Lines(const Design& design, const DesignRtl& rtl, std::uint64_t seed)
      : design_(design),
        ports_(rtl.ports),
        random_(rtl.random),
        multiply_(rtl.multiply),
        seed_(seed) {}

  void add(std::span<const Stimulus> stimuli, const Rounding& rounding) {
    rounding_of(design_) = rounding;
    rounding_ = rounding;
    const auto run = make_simulator(design_, find_port(ports_, "a")->bus.lanes, multiply_);
    for (const Stimulus& s : stimuli) {
      const RandomSource random{seed_, count_};
      line(s, run->answer(s, random), random);
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
  void line(const Stimulus& s, const Answer& z, const RandomSource& random) {
    std::string fields;
    for (const Port& port : ports_) fields += " " + field(port.bus, s, z, random);
    text_ += fields.substr(1) + "\n";
    ++count_;
    check_.resize(fields.size());
    std::rotate(check_.begin(), check_.begin() + 1, check_.end());
    for (std::size_t i = 0; i < fields.size(); ++i)
      check_[i] ^= fields[i] == ' ' ? 0 : fields[i] > '9' ? fields[i] - 'a' + 10 : fields[i] - '0';
  }

  std::string field(const Bus& bus, const Stimulus& s, const Answer& z,
                    const RandomSource& random) const {
    const auto number = [&](std::uint64_t x) { return hex_digits({Code(x)}, bus.width); };
    const auto codes = [&](const std::vector<Code>& all) { return hex_digits(all, bus.width); };
    if (bus.name == "a") return codes(s.a);
    if (bus.name == "b") return codes(s.b);
    if (bus.name == "c") return codes(s.c);
    if (bus.name == "scale_a") return codes(s.scale_a);
    if (bus.name == "scale_b") return codes(s.scale_b);
    if (bus.name == "running") return number(s.running);
    if (bus.name == "rm") return number(rm());
    if (bus.name == "y") return codes({z.y});
    if (bus.name == "flags") return number(z.flags);
    return codes(random_words(bus.name, random));
  }

  std::uint64_t rm() const { return static_cast<std::uint64_t>(rounding_code(rounding_).number); }
  // What the simulator's generator gives for the roundings of a port.
  std::vector<Code> random_words(const std::string& name, const RandomSource& random) const {
    const auto port = std::ranges::find(random_, name, &RandomPort::name);
    if (port == random_.end()) throw std::logic_error(fmt::format("vectors know no port {}", name));
    std::vector<Code> words;
    for (const std::int64_t step : port->steps)
      words.emplace_back(random_bits(port->bits, {random.seed, random.first_index}, port->slot,
                                     static_cast<std::uint64_t>(step)));
    return words;
  }

  Design design_;
  std::span<const Port> ports_;
  std::span<const RandomPort> random_;
  const Multiplier& multiply_;
  std::uint64_t seed_;
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
  const std::vector<Stimulus> directed = directed_stimuli(flow, options.seed);
  const std::vector<Stimulus> random = random_stimuli(flow, options.seed, options.vectors);
  const std::vector<Rounding> roundings = modes(design, ports);
  Lines lines(design, rtl, options.seed);
  for (std::size_t i = 0; i < roundings.size(); ++i) {
    lines.add(directed, roundings[i]);
    const std::size_t first = i * random.size() / roundings.size();
    const std::size_t last = (i + 1) * random.size() / roundings.size();
    lines.add(std::span(random).subspan(first, last - first), roundings[i]);
  }
  return comments(design, ports, options, lines) + lines.text();
}

}  // namespace widthwise::hdl
