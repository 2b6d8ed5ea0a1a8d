#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "benches.hpp"
#include "dataflow.hpp"
#include "folder_templates.hpp"

namespace widthwise::hdl {
namespace {

constexpr int widest_word = 64;

// An operand or the result as the golden model's batches take it: an array of codes.
struct Array {
  std::string name;
  Bus bus;
  Format format;

  std::string_view type() const {
    const int bits = bus.width;
    return bits <= 8 ? "byte" : bits <= 16 ? "shortint" : bits <= 32 ? "int" : "longint";
  }
  std::string size() const {
    return bus.lanes == 1 ? "BATCH" : fmt::format("BATCH * {}", bus.lanes);
  }
  std::string declared(std::string_view ending) const {
    return fmt::format("{} unsigned {}{}[{}]", type(), name, ending, size());
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
    all.push_back({name, port ? std::optional<Array>({name, port->bus, format}) : std::nullopt});
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

std::string filling(const Array& x) {
  const std::uint64_t ones = ~std::uint64_t{0};
  return fmt::format(
      "    for (int i = 0; i < {0}; ++i)\n"
      "      {1}_of[i] = {2}'(code(64'h{3:x}) & 64'h{4:x});\n",
      x.size(), x.name, x.type(), ones >> (64 - x.format.exp_bits) << x.format.frac_bits,
      ones >> (64 - x.format.width()));
}

// The low bits of the port: that of C may be wider than C, for results. A port is assigned as a
// whole, for Verilator 5.006 does not see it change otherwise.
std::string driving(const Array& x) {
  const int width = x.format.width();
  if (x.bus.lanes == 1) return fmt::format("        {0} = {0}_of[i][{1}:0];\n", x.name, width - 1);
  return fmt::format(
      "        for (int j = 0; j < {1}; ++j) {0}_next[{2}*j +: {2}] = {0}_of[{1}*i + j][{3}:0];\n"
      "        {0} = {0}_next;\n",
      x.name, x.bus.lanes, width, width - 1);
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

std::string all_modes() {
  std::string numbers;
  for (const RoundingCode& rm : rounding_codes)
    if (rm.mode != RoundingMode::sr)
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", rm.number);
  return fmt::format("  localparam int MODES[{}] = '{{{}}};\n", deterministic_modes, numbers);
}

}  // namespace

std::string why_no_dpi_bench(const DesignRtl& rtl) {
  if (rtl.multiply) return "the golden model multiplies exactly";
  for (const Port& port : rtl.ports) {
    if (port.bus.name.starts_with("random"))
      return "the golden model draws its random bits itself, and a port takes those of the RTL";
    if (port.bus.width > widest_word)
      return fmt::format("codes of port {} have more than {} bits", port.bus.name, widest_word);
  }
  return "";
}

std::string dpi_bench(const Design& design, std::string_view name, const DesignRtl& rtl) {
  const std::span<const Port> ports = rtl.ports;
  const std::vector<Argument> all = arguments(dataflow(design, ports), ports);
  const bool rm = find_port(ports, "rm") != nullptr;
  std::string connected, names;
  for (const Port& port : ports)
    connected += fmt::format("{0}.{1}({1})", connected.empty() ? "" : ", ", port.bus.name);
  for (const Argument& x : all)
    names += (names.empty() ? "" : ", ") + (x.array ? x.name + "_of" : std::string("null"));
  return filled(
      "dpi_bench.sv",
      {{"NAME", std::string(name)},
       {"MODES", rm ? all_modes() : ""},
       {"ARRAYS", each(all,
                       [](const Argument& x) {
                         return x.array ? fmt::format("  {};\n", x.array->declared("_of")) : "";
                       })},
       {"ARGUMENTS", each(all, prototype)},
       {"WIRES", wires(ports)},
       {"CLOCKING", std::string(rtl.clocked ? clock_ports : "")},
       {"PORTS", connected},
       {"FILL", each_operand(all, filling)},
       {"LANES", std::to_string(find_port(ports, "a")->bus.lanes)},
       {"ARRAY_NAMES", names},
       {"SET_RM", rm ? "    rm = mode[3:0];\n" : ""},
       {"DRIVE", each_operand(all, driving)},
       {"Y_SLICE", fmt::format("[{}:0]", find_port(ports, "y")->bus.width - 1)},
       {"RM", rm ? fmt::format("MODES[batch % {}]", deterministic_modes) : "int'(RM_DEFAULT)"}});
}

}  // namespace widthwise::hdl
