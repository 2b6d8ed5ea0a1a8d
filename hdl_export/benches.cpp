#include "benches.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "flopoco_adapter.hpp"
#include "vectors.hpp"

namespace widthwise::hdl {
namespace {

// Its digits and the blank before them.
int read_bits(const Field& f) { return 4 * (hex_width(f.bits) + 1); }

int read_bits(std::span<const Field> fields) {
  int sum = 0;
  for (const Field& f : fields) sum += read_bits(f);
  return sum;
}

// What `one` says of each field, with `between` between them.
template <class One>
std::string each(std::span<const Field> fields, std::string_view between, const One& one) {
  std::string text;
  for (const Field& f : fields) text += (text.empty() ? "" : std::string(between)) + one(f);
  return text;
}

std::span<const Field> results(std::span<const Field> fields) {
  const auto first = std::ranges::find(fields, true, &Field::is_result);
  return fields.subspan(static_cast<std::size_t>(first - fields.begin()));
}
std::span<const Field> operands(std::span<const Field> fields) {
  return fields.first(fields.size() - results(fields).size());
}

std::string slice(const Field& f, std::string_view of) {
  return f.bits == 1 ? fmt::format("{}{}[0]", f.name, of)
                     : fmt::format("{}{}[{}:0]", f.name, of, f.bits - 1);
}

std::string listed(std::span<const Field> fields, std::string_view ending) {
  return each(fields, ", ", [&](const Field& f) { return f.name + std::string(ending); });
}

std::string listed_names(std::span<const Field> fields) {
  return each(fields, " ", [](const Field& f) { return f.name; });
}

// Connections of a module: all but that of its flags, which follows where there are some.
std::string listed_ports(std::span<const Field> fields, bool flags) {
  std::string text;
  for (const Field& f : fields) {
    if ((f.name == "flags") != flags) continue;
    text += flags || text.empty() ? "" : ", ";
    text += fmt::format("{1}.{0}({0})", f.name, flags ? ", " : "");
  }
  return text;
}

// The bits of all results but the flags, of which there may be none: flags are the last.
std::string without_flags(std::span<const Field> results) {
  std::string ones;
  for (const Field& f : results)
    ones += fmt::format("{}{{{}{{1'b{}}}}}", ones.empty() ? "" : ", ", read_bits(f),
                        f.name == "flags" ? 0 : 1);
  return "{" + ones + "}";
}

// That a port is as wide as the header says.
std::string width_checks(std::span<const Port> ports) {
  std::string text;
  for (const Port& port : ports) {
    const std::string& x = port.bus.name;
    if (x != "a" && x != "b" && x != "y") continue;
    const char constant = static_cast<char>(std::toupper(static_cast<unsigned char>(x[0])));
    text +=
        fmt::format("{}    if ({}_WIDTH != {}) fault(\"{}_WIDTH of the header is not port {}'s\");",
                    text.empty() ? "" : "\n", constant, port.bus.width, constant, x);
  }
  return text;
}

Values verilog_values(std::string_view name, std::span<const Field> fields, const DesignRtl& rtl) {
  const auto in = operands(fields), out = results(fields);
  const auto shown = [](const Field& f) { return f.name + " %h"; };
  const auto due = [](const Field& f) { return slice(f, "_due"); };
  const bool sums = rtl.running != RunningSum::none;
  Values values{
      {"NAME", std::string(name)},
      {"FIELDS", each(fields, "\n",
                      [](const Field& f) {
                        return fmt::format("  reg [{0}:0] {1}_read, {1}_due;", read_bits(f) - 1,
                                           f.name);
                      })},
      {"LINE", listed(fields, "_read")},
      {"DUE", listed(fields, "_due")},
      {"WANTED", listed(out, "_due")},
      {"LINE_WIDTH", std::to_string(read_bits(fields))},
      {"RESULT_WIDTH", std::to_string(read_bits(out))},
      {"OPERANDS",
       each(in, "\n",
            [](const Field& f) { return fmt::format("  reg [{}:0] {};", f.bits - 1, f.name); })},
      {"DRIVE",
       each(in, "\n        ",
            [](const Field& f) { return fmt::format("{} = {};", f.name, slice(f, "_read")); })},
      {"RESULTS",
       each(out, "\n",
            [](const Field& f) { return fmt::format("  wire [{}:0] {};", f.bits - 1, f.name); })},
      {"DELIVERED", each(out, ", ",
                         [](const Field& f) {
                           return fmt::format("{}'d0, {}", read_bits(f) - f.bits, f.name);
                         })},
      {"COMES", sums ? "in_last_read[0]" : "1'b1"},
      {"ENTERS", sums ? "A vector enters at each II-th clock" : "One enters at each clock"},
      {"PORTS", listed_ports(fields, false)},
      {"FLAG_PORT", listed_ports(fields, true)},
      {"COMPARED_WITHOUT_FLAGS", without_flags(out)},
      {"SPOIL", each(in, " ", [](const Field& f) { return fmt::format("{0} = ~{0};", f.name); })},
      {"SEEN", each(in, " ", shown) + ": " + each(out, " ", shown)},
      {"OPERANDS_SEEN", fmt::format("{}, {}", each(in, ", ", due), listed(out, ""))},
      {"REPORT", fmt::format("{}: {} instead of {}", each(in, " ", shown), each(out, " ", shown),
                             each(out, " ", shown))},
      {"REPORTED",
       fmt::format("{}, {}, {}", each(in, ", ", due), listed(out, ""), each(out, ", ", due))},
      {"WIDTHS", width_checks(rtl.ports)},
      {"SCAN", each(fields, " ", [](const Field&) { return std::string("%h"); })},
      {"FIELD_COUNT", std::to_string(fields.size())},
  };
  for (auto& value : clock_values(rtl)) values.push_back(std::move(value));
  return values;
}

}  // namespace

Values clock_values(const DesignRtl& rtl) {
  constexpr std::string_view ports =
      ".clk(clk), .rst(rst), .in_valid(in_valid), .in_ready(in_ready), .out_valid(out_valid), "
      ".out_ready(out_ready), ";
  return {{"CLOCKING", std::string(rtl.clocked ? ports : "")},
          {"CLOCKED", rtl.clocked ? "1" : "0"},
          {"ALWAYS", rtl.clocked ? "" : " = 1'b1"},
          {"WHEN_GIVEN", rtl.clocked ? "" : " = in_valid"},
          {"INTERVAL", rtl.timing.interval == 0 ? "1" : "II"}};
}

std::vector<File> bench_files(const Design& design, std::string_view name, const DesignRtl& rtl) {
  const std::vector<Field> fields = vector_fields(rtl.ports);
  const auto file = [&](std::string_view ending) {
    return fmt::format("bench/{}_{}", name, ending);
  };
  std::vector<File> files{
      {file("bench.v"), filled("bench.v", verilog_values(name, fields, rtl))},
      {file("cocotb.py"), filled("cocotb_bench.py", {{"NAME", std::string(name)},
                                                     {"RESULTS", listed_names(results(fields))}})},
      {file("bench.vhd"), vhdl_bench(name, rtl)},
      {file("replay.awk"), filled("replay.awk", {})}};
  if (why_no_flopoco_adapter(design, rtl).empty())
    files.push_back(
        {file("flopoco.vhd"), flopoco_adapter(std::get<SingleOperation>(design), name)});
  if (why_no_dpi_bench(rtl).empty())
    files.push_back({file("dpi_bench.sv"), dpi_bench(design, name, rtl)});
  return files;
}

}  // namespace widthwise::hdl
