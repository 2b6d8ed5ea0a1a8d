#include <fmt/core.h>

#include "benches.hpp"
#include "vectors.hpp"

namespace widthwise::hdl {
namespace {

// A line has a digit for each character, and a blank before it.
int digits(const Field& f) { return hex_width(f.bits) + 1; }

// Where fields lie in a line's bits: the last one lowest.
std::vector<int> places(const std::vector<Field>& fields) {
  std::vector<int> lows(fields.size());
  int low = 0;
  for (std::size_t i = fields.size(); i-- > 0;) {
    lows[i] = low;
    low += 4 * digits(fields[i]);
  }
  return lows;
}

std::string range(const Field& f, int low) {
  return fmt::format("{} downto {}", low + f.bits - 1, low);
}

constexpr std::string_view clock_ports =
    "        clk, rst, in_valid : in std_logic;\n        in_ready, out_valid : out std_logic;\n"
    "        out_ready : in std_logic";
constexpr std::string_view clock_connections =
    "clk => clk, rst => rst, in_valid => in_valid, in_ready => in_ready,\n      out_valid => "
    "out_valid, out_ready => out_ready";

}  // namespace

std::string vhdl_bench(std::string_view name, const DesignRtl& rtl) {
  const std::vector<Field> fields = vector_fields(rtl.ports);
  const std::vector<int> lows = places(fields);
  const bool sums = rtl.running != RunningSum::none;
  std::string ports(rtl.clocked ? clock_ports : ""), connections, drive, signals, seen;
  connections = rtl.clocked ? clock_connections : "";
  std::string results, due, flag_bits, comes = "true";
  int width = 0, result_bits = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& f = fields[i];
    const std::string at = range(f, lows[i]);
    width += 4 * digits(f);
    signals += fmt::format("  signal {} : std_logic_vector({} downto 0){};\n", f.name, f.bits - 1,
                           f.is_result ? "" : " := (others => '0')");
    if (f.name == "flags") {
      flag_bits = at;
    } else if (f.is_result) {
      results += (results.empty() ? "" : " & ") + f.name;
      due += fmt::format("{}line_due({})", due.empty() ? "" : " & ", at);
      result_bits += f.bits;
    }
    if (f.name == "in_last" && sums) comes = fmt::format("now_line({}) = '1'", lows[i]);
    if (!f.is_result) {
      drive += fmt::format("{}        {} <= now_line({});", drive.empty() ? "" : "\n", f.name, at);
      seen += fmt::format(" {} \" & digits_of(line_due({})) & \"", f.name, at);
    }
    if (f.name == "flags") continue;
    ports +=
        fmt::format("{}        {} : {} std_logic_vector({} downto 0)", ports.empty() ? "" : ";\n",
                    f.name, f.is_result ? "out" : "in", f.bits - 1);
    connections += fmt::format("{}{} => {}", connections.empty() ? "" : ", ", f.name, f.name);
  }
  return filled("bench.vhd", {{"NAME", std::string(name)},
                              {"CLOCKED", rtl.clocked ? "true" : "false"},
                              {"INTERVAL", sums ? fmt::format("work.{}_pkg.II", name) : "1"},
                              {"LINE_TOP", std::to_string(width - 1)},
                              {"SIGNALS", signals},
                              {"PORTS", ports},
                              {"CONNECTIONS", connections},
                              {"Y", "(" + results + ")"},
                              {"Y_DUE", "(" + due + ")"},
                              {"Y_TOP", std::to_string(result_bits - 1)},
                              {"FLAG_BITS", flag_bits},
                              {"COMES", comes},
                              {"DRIVE", drive},
                              {"SEEN", seen}});
}

}  // namespace widthwise::hdl
