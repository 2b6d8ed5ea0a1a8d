#include "netlist.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

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

void Netlist::line(std::string_view text) { text_ += fmt::format("{}{}\n", indent_, text); }

void Netlist::section(std::string_view title) { text_ += fmt::format("\n  // --- {}\n", title); }

void Netlist::wire(const Bus& bus, std::string_view value) {
  line(value.empty() ? fmt::format("wire {}{};", bus.range(), bus.name)
                     : fmt::format("wire {}{} = {};", bus.range(), bus.name, value));
}

void Netlist::signed_wire(const Bus& bus) {
  line(fmt::format("wire {}{}{};", bus.lanes == 1 ? "signed " : "", bus.range(), bus.name));
}

void Netlist::assign(const std::string& to, const std::string& value) {
  line(fmt::format("assign {} = {};", to, value));
}

// ".a(x), .b(y)", broken into lines.
std::string Netlist::list(const Connections& all) const {
  const std::string start = "\n" + indent_ + "  ";
  std::string text = start, current;
  for (const auto& [name, value] : all) {
    const std::string item =
        fmt::format(".{}({}){}", name, value, &name == &all.back().first ? "" : ",");
    if (!current.empty() && indent_.size() + 2 + current.size() + 1 + item.size() > longest_line) {
      text += current + start;
      current.clear();
    }
    current += (current.empty() ? "" : " ") + item;
  }
  return text + current;
}

void Netlist::instance(std::string_view module, std::string_view name,
                       const Connections& parameters, const Connections& ports) {
  const std::string values = parameters.empty() ? "" : fmt::format(" #({})", list(parameters));
  line(fmt::format("{}{} {} ({});", module, values, name, list(ports)));
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
