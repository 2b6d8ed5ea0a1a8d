#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "benches.hpp"
#include "dataflow.hpp"

namespace widthwise::hdl {
namespace {

// An operand or the result as the golden model's batches take it: an array of codes, a row of
// 64-bit words each where they are wider.
struct Array {
  std::string name;
  int lanes;
  Format format;

  std::string_view type() const {
    const int bits = format.width();
    return bits <= 8 ? "byte" : bits <= 16 ? "shortint" : bits <= 32 ? "int" : "longint";
  }
  int limbs() const { return (format.width() + 63) / 64; }
  std::string size() const {
    const int words = lanes * limbs();
    return words == 1 ? "BATCH" : fmt::format("BATCH * {}", words);
  }
  std::string declared(std::string_view ending) const {
    return fmt::format("{} unsigned {}{}[{}]", type(), name, ending, size());
  }
  // The code at an index, in as many bits as it has.
  std::string code(const std::string& index) const {
    const int width = format.width();
    if (limbs() == 1) return fmt::format("{}_of[{}][{}:0]", name, index, width - 1);
    std::string words;
    for (int k = limbs(); k-- > 0;)
      words +=
          fmt::format("{}{}_of[{}*({}) + {}]", words.empty() ? "" : ", ", name, limbs(), index, k);
    return fmt::format("{}'({{{}}})", width, words);
  }
};

// In the order of the model's arguments; some are not there.
struct Argument {
  std::string name;
  std::optional<Array> array;
};

std::vector<Argument> arguments(const Dataflow& flow, std::span<const Port> ports) {
  std::vector<Argument> all;
  const auto add = [&](const std::string& name, const Format& format) {
    const Port* port = find_port(ports, name);
    all.push_back(
        {name, port ? std::optional<Array>({name, port->bus.lanes, format}) : std::nullopt});
  };
  const Format scale = flow.scale.value_or(flow.a);
  add("a", flow.a);
  add("b", flow.b);
  add("c", flow.c.value_or(flow.a));
  add("scale_a", scale);
  add("scale_b", scale);
  add("y", flow.y);
  return all;
}

template <class One>
std::string each(const std::vector<Argument>& all, const One& one) {
  std::string text;
  for (const Argument& argument : all) text += one(argument);
  return text;
}
template <class One>
std::string each_operand(const std::vector<Argument>& all, const One& one) {
  return each(all, [&](const Argument& x) {
    return x.array && x.name != "y" ? one(*x.array) : std::string();
  });
}

std::string prototype(const Argument& x) {
  if (!x.array) return fmt::format("      input chandle {},\n", x.name);
  return fmt::format("      {} {},\n", x.name == "y" ? "output" : "input", x.array->declared(""));
}

// A code's bits [64 * k, 64 * k + 64) of so many from bit `first` on.
std::uint64_t mask(int first, int count, int k) {
  const Code bits = ones<Code>(count) << first;
  return bits.limb[k];
}

// The bits that tell small numbers from large ones: a float's exponent field, and in other systems
// the upper half of what stands below the sign. Their first, and how many they are.
std::pair<int, int> leading_bits(const Format& f) {
  if (f.is_float()) return {f.frac_bits, f.exp_bits};
  return {f.frac_bits / 2, f.frac_bits - f.frac_bits / 2};
}

std::string filling(const Array& x) {
  const Format& f = x.format;
  const auto [first, count] = leading_bits(f);
  std::string text = fmt::format(
      "    for (int i = 0; i < BATCH * {}; ++i) begin\n      kind = 3'(draw() >> 61);\n", x.lanes);
  for (int k = 0; k < x.limbs(); ++k)
    text += fmt::format("      {}_of[{}] = {}'(limb(kind, 64'h{:x}) & 64'h{:x});\n", x.name,
                        x.limbs() == 1 ? "i" : fmt::format("{}*i + {}", x.limbs(), k), x.type(),
                        mask(first, count, k), mask(0, f.width(), k));
  return text + "    end\n";
}

// Which vector is driven, or judged, as its place in the arrays tells: a running sum's blocks lie
// side by side and have one C, one result.
class Places {
 public:
  Places(const Dataflow& flow, const DesignRtl& rtl) : flow_(flow), running_(rtl.running) {}

  bool sums() const { return running_ != RunningSum::none; }
  std::string result() const { return sums() ? "i / blocks" : "i"; }
  std::string step() const { return sums() ? fmt::format("i % blocks * {}", flow_.lanes) : "0"; }
  std::string first() const { return "i % blocks == 0"; }
  std::string last() const { return "i % blocks == blocks - 1"; }
  std::string reads_c() const { return begins_with_c(running_) ? first() : last(); }
  // Of the lanes from the vector's first on.
  std::string lane(const Array& x, const std::string& lane) const {
    const auto from = [&](const std::string& start) {
      return lane.empty() ? start : fmt::format("{} + {}", start, lane);
    };
    if (x.name == "c") return result();
    if (!x.name.starts_with("scale") || !sums())
      return from(x.lanes == 1 ? "i" : fmt::format("{}*i", x.lanes));
    const int block = flow_.scale_block;
    return from(fmt::format("i / blocks * ((blocks * {0} + {1}) / {2}) + i % blocks * {0} / {2}",
                            flow_.lanes, block - 1, block));
  }

 private:
  const Dataflow& flow_;
  RunningSum running_;
};

// The low bits of the port: that of C may be wider than C, for results. A port is assigned as a
// whole, for Verilator 5.006 does not see it change otherwise.
std::string driving(const Array& x, const Places& places) {
  if (x.name == "c" && places.sums())  // where it is not read, another
    return fmt::format("    c = {0} ? {1} : ~{1};\n", places.reads_c(), x.code(places.lane(x, "")));
  if (x.lanes == 1) return fmt::format("    {} = {};\n", x.name, x.code(places.lane(x, "")));
  return fmt::format(
      "    for (int j = 0; j < {1}; ++j) {0}_next[{2}*j +: {2}] = {3};\n    {0} = {0}_next;\n",
      x.name, x.lanes, x.format.width(), x.code(places.lane(x, "j")));
}

// The words that the model takes for a port's roundings.
std::string random_driving(const RandomPort& port, const Places& places) {
  std::string words;
  for (const std::int64_t step : port.steps)
    words = fmt::format(
                "{}'(model_random(model_seed, first_index + 64'({}), {}, {}, 64'({})))", port.bits,
                places.result(), port.bits, static_cast<int>(port.slot),
                port.moves ? fmt::format("{} + {}", places.step(), step) : std::to_string(step)) +
            (words.empty() ? "" : ",\n      ") + words;
  return fmt::format("    {} = {{{}}};\n", port.name, words);
}

std::string random_driving(const DesignRtl& rtl, const Places& places) {
  std::string text;
  if (!rtl.generator()) {
    for (const RandomPort& port : rtl.random) text += random_driving(port, places);
    return text;
  }
  text =
      fmt::format("    seed = model_seed;\n    index = first_index + 64'({});\n", places.result());
  if (find_port(rtl.ports, "step")) text += fmt::format("    step = {};\n", places.step());
  return text;
}

std::string drive(const std::vector<Argument>& all, const DesignRtl& rtl, const Places& places) {
  std::string text = each_operand(all, [&](const Array& x) { return driving(x, places); });
  if (places.sums())
    text += fmt::format("    in_first = {};\n    in_last = {};\n", places.first(), places.last());
  return text + random_driving(rtl, places);
}

std::string wires(std::span<const Port> ports) {
  std::string text;
  for (const Port& port : ports) {
    const std::string& name = port.bus.name;
    const std::string next = port.bus.lanes > 1 ? fmt::format(", {}_next", name) : "";
    text += fmt::format("  bit [{}:0] {}{};\n", port.bus.width * port.bus.lanes - 1, name, next);
  }
  return text;
}

// How a vector is shown: its operands by name, and as a line of the vectors' file.
struct Report {
  std::string seen, operands, line, values;
};

Report reported(std::span<const Port> ports, const std::string& y, const Places& places) {
  Report r;
  const auto append = [](std::string& to, std::string_view between, const std::string& more) {
    to += (to.empty() ? "" : std::string(between)) + more;
  };
  for (const Port& port : ports) {
    const std::string& name = port.bus.name;
    append(r.line, " ", "%h");
    append(r.values, ", ",
           name == "y"       ? y
           : name == "flags" ? fmt::format("flags_of[{}]", places.result())
                             : name);
    if (port.direction == "output") continue;
    append(r.seen, " ", name + " %h");
    append(r.operands, ", ", name);
  }
  return r;
}

std::string all_modes() {
  std::string numbers;
  for (const RoundingCode& rm : rounding_codes)
    if (rm.mode != RoundingMode::sr)
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", rm.number);
  return fmt::format("  localparam int MODES[{}] = '{{{}}};\n", deterministic_modes, numbers);
}

}  // namespace

std::string why_no_dpi_bench(const DesignRtl& rtl) {
  if (find_port(rtl.ports, "scale"))
    return "a block has two results, for which the package has `model_block`";
  return rtl.multiply ? "the golden model multiplies exactly" : "";
}

std::string dpi_bench(const Design& design, std::string_view name, const DesignRtl& rtl) {
  const std::span<const Port> ports = rtl.ports;
  const Dataflow flow = dataflow(design, ports);
  const std::vector<Argument> all = arguments(flow, ports);
  const Places places(flow, rtl);
  const bool rm = find_port(ports, "rm") != nullptr;
  const std::string y = all.back().array->code(places.result());
  const Report report = reported(ports, y, places);
  std::string connected, names;
  for (const Port& port : ports)
    if (port.bus.name != "flags")
      connected += fmt::format("{0}.{1}({1})", connected.empty() ? "" : ", ", port.bus.name);
  for (const Argument& x : all)
    names += (names.empty() ? "" : ", ") + (x.array ? x.name + "_of" : std::string("null"));
  Values values{
      {"NAME", std::string(name)},
      {"MODES", rm ? all_modes() : ""},
      {"ARRAYS", each(all,
                      [](const Argument& x) {
                        return x.array ? fmt::format("  {};\n", x.array->declared("_of")) : "";
                      })},
      {"ARGUMENTS", each(all, prototype)},
      {"WIRES", wires(ports)},
      {"PORTS", connected},
      {"FLAG_PORT", find_port(ports, "flags") ? ", .flags(flags)" : ""},
      {"SEEN", report.seen},
      {"OPERANDS", report.operands},
      {"LINE", report.line},
      {"LINE_VALUES", report.values},
      {"FILL", each_operand(all, filling)},
      {"LANES", std::to_string(flow.lanes)},
      {"ARRAY_NAMES", names},
      {"SET_RM", rm ? "    rm = mode[3:0];\n" : ""},
      {"DRIVE", drive(all, rtl, places)},
      {"COMES", places.sums() ? "(" + places.last() + ")" : "1'b1"},
      {"RESULT", places.result()},
      {"Y", y},
      {"BLOCKS", places.sums() ? "1 + batch % 8" : "1"},
      {"RM", rm ? fmt::format("MODES[batch % {}]", deterministic_modes) : "int'(RM_DEFAULT)"}};
  for (auto& value : clock_values(rtl)) values.push_back(std::move(value));
  return filled("dpi_bench.sv", values);
}

}  // namespace widthwise::hdl
