#include "netlist.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "printing.hpp"
#include "verilog_literal.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::size_t longest_line = 100;

// Bits of a two's-complement number that holds x.
int bits_of(Exponent x) {
  int bits = 1;
  for (Exponent rest = x < 0 ? ~x : x; rest != 0; rest >>= 1) ++bits;
  return bits;
}

// "x, y, z", broken into lines.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent) {
  const std::string start = "\n" + indent;
  std::string text = start, current;
  for (const std::string& one : items) {
    const std::string item = one + (&one == &items.back() ? "" : ",");
    if (!current.empty() && indent.size() + current.size() + 1 + item.size() > longest_line) {
      text += current + start;
      current.clear();
    }
    current += (current.empty() ? "" : " ") + item;
  }
  return text + current;
}

}  // namespace

std::string Bus::range() const {
  return width * lanes == 1 ? "" : fmt::format("[{}:0] ", width * lanes - 1);
}

std::string Bus::lane(const std::string& index) const {
  if (lanes == 1) return name;
  if (width == 1) return fmt::format("{}[{}]", name, index);
  return fmt::format("{}[{}*{} +: {}]", name, index, width, width);
}

Bus Bus::part(std::string_view field, int bits) const {
  return {fmt::format("{}_{}", name, field), bits, lanes};
}

void Netlist::reach(Exponent x) { needed_ = std::max(needed_, bits_of(x)); }

std::string Netlist::exponent(Exponent x) const {
  Pattern p{exponent_bits_, {static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64)}};
  const int top = exponent_bits_ % 64;
  auto& last = p.limbs[static_cast<std::size_t>((exponent_bits_ - 1) / 64)];
  if (top != 0) last &= (std::uint64_t{1} << top) - 1;
  return verilog_literal(p);
}

void Netlist::line(std::string_view text) {
  std::string& here = texts_.empty() ? start_ : texts_[pipeline_.reading()];
  here += fmt::format("{}{}\n", indent_, text);
}

void Netlist::input(const Bus& bus) {
  pipeline_.make(bus.name, fmt::format("wire {}", bus.range()), bus.width * bus.lanes);
}

void Netlist::stage(std::string_view name) {
  if (!texts_.empty() && stages().back().stage == name) return;
  pipeline_.open(name);
  texts_.emplace_back();
}

void Netlist::across(const std::vector<std::string_view>& further,
                     const std::function<void()>& write) {
  pipeline_.reach_over(further);
  texts_.resize(texts_.size() + further.size());
  write();
  pipeline_.arrive();
}

std::string pipe_parameter(std::string_view stage) { return fmt::format("PIPE_{}", upper(stage)); }

std::string Netlist::depth(std::string_view stage) const {
  return !clocked_ ? "0" : stage == kept_ ? "1" : pipe_parameter(stage);
}

std::string Netlist::enable(std::string_view stage) const {
  return !clocked_ ? "1'b0" : stage == kept_ ? fmt::format("advance & {}_valid", stage) : "advance";
}

std::string Netlist::seen(const std::string& value) {
  return clocked_ ? pipeline_.read(value) : value;
}

void Netlist::section(std::string_view title) { line(fmt::format("// {}", title)); }

void Netlist::wire(const Bus& bus, std::string_view value) {
  const std::string declaration = fmt::format("wire {}", bus.range());
  line(value.empty() ? fmt::format("{}{};", declaration, bus.name)
                     : fmt::format("{}{} = {};", declaration, bus.name, seen(std::string(value))));
  const bool constant = !value.empty() && !pipeline_.has_signals(std::string(value));
  if (!constant) pipeline_.make(bus.name, declaration, bus.width * bus.lanes);
}

void Netlist::signed_wire(const Bus& bus) {
  const std::string declaration =
      fmt::format("wire {}{}", bus.lanes == 1 ? "signed " : "", bus.range());
  line(fmt::format("{}{};", declaration, bus.name));
  pipeline_.make(bus.name, declaration, bus.width * bus.lanes);
}

void Netlist::assign(const std::string& to, const std::string& value) {
  line(fmt::format("assign {} = {};", to, seen(value)));
}

std::string Netlist::list(const Connections& all) const {
  std::vector<std::string> items;
  for (const auto& [name, value] : all) items.push_back(fmt::format(".{}({})", name, value));
  return wrapped(items, indent_ + "  ");
}

void Netlist::instance(std::string_view module, std::string_view name,
                       const Connections& parameters, const Connections& ports) {
  const std::string values = parameters.empty() ? "" : fmt::format(" #({})", list(parameters));
  Connections read = ports;
  for (auto& [port, value] : read) value = seen(value);
  line(fmt::format("{}{} {} ({});", module, values, name, list(read)));
}

// The register behind a stage: one, of all signals that pass.
std::string Netlist::registers(std::size_t stage) const {
  const auto& [name, signals] = pipeline_.stages()[stage];
  if (!clocked_ || signals.empty()) return "";
  std::string text;
  std::vector<std::string> in, out;
  for (const std::string& signal : signals) {
    in.push_back(pipeline_.before(signal, stage));
    out.push_back(pipeline_.after(signal, stage));
    text += fmt::format("  {}{};\n", pipeline_.declaration(signal), out.back());
  }
  return text + fmt::format(
                    "  ww_delay #(.N({}), .W({})) after_{} (\n"
                    "    .clk(clk), .rst(1'b0), .enable({}),\n"
                    "    .d({{{}}}),\n    .q({{{}}}));\n",
                    depth(name), pipeline_.width(stage), name, enable(name), wrapped(in, "      "),
                    wrapped(out, "      "));
}

// Stages inside one module have their titles together where no register lies between them.
std::string Netlist::text() const {
  std::string all = start_;
  for (std::size_t i = 0, next; i < texts_.size(); i = next) {
    std::string title = stages()[i].stage;
    for (next = i + 1; !clocked_ && next < texts_.size() && texts_[next].empty(); ++next)
      title += ", " + stages()[next].stage;
    all += fmt::format("\n  // --- {}\n{}{}", title, i == 0 ? "" : registers(i - 1), texts_[i]);
  }
  return all;
}

void Netlist::lanes(int count, std::string_view label,
                    const std::function<void(const std::string& index)>& one) {
  if (count == 1) return one("0");
  line("generate");
  line(fmt::format("  for (i = 0; i < {}; i = i + 1) begin : {}", count, label));
  indent_ += "    ";
  one("i");
  indent_.resize(indent_.size() - 4);
  line("  end");
  line("endgenerate");
}

std::string literal(int width, const Code& code) {
  const auto limbs = static_cast<std::ptrdiff_t>(width + 63) / 64;
  return verilog_literal({width, {code.limb, code.limb + limbs}});
}

std::string truth(bool x) { return x ? "1'b1" : "1'b0"; }

std::string decimal(int x) { return std::to_string(x); }

}  // namespace widthwise::hdl
