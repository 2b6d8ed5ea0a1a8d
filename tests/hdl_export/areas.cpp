#include "areas.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <variant>

#include "tools.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {
namespace {

using widthwise::hdl::rtl;
using widthwise::hdl::RtlFile;

constexpr std::string_view formats[] = {
    "e4m3fn", "e5m2",   "e4m3fnuz", "e2m1fn",   "bfloat16",  "binary16",  "binary32",   "e6m9",
    "e8m15",  "e20m49", "e15m112",  "fixed8.4", "fixed16.8", "posit8es2", "posit16es2", "takum16"};
constexpr std::string_view units[] = {
    "mac(e5m10)",
    "mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)",
    "fma(e5m10)",
    "hopper.e4m3.f32",
    "hopper.f16.f16",
    "ampere.f16.f32",
    "cdna3.f16",
    "kulisch(e4m3fn)",
    "fixedacc(e4m3fn, width=16, frac=8, overflow=saturate, out=e5m10)",
    "blackwell.nvfp4",
    "blackwell.mxfp4",
    "blackwell.e4m3.f32",
    "mac(int8, sum=int32)",
    "fixedacc(int8, width=32, frac=0, out=int32)",
    "kulisch(posit8es2)"};
constexpr std::string_view quantisers[] = {
    "blocks(mxfp8_e4m3, a=bfloat16)", "blocks(nvfp4, a=bfloat16)",
    "requantize(gemmlowp, multiplier=port, zero_point=port)", "requantize(fp32, multiplier=port)"};
constexpr int lanes_at_once = 4;  // of units that take all of K

// "| `fma e5m2` | 371 | 38 | 250 |"
const std::regex table_row(R"(\| `(.*)` \| (\d+) \| (\d+) \| (\d+) \|)");
constexpr std::string_view table_head = "|---|---|---|---|\n";

// The last number behind a name in Yosys' statistics and reports.
long last_of(const std::string& report, const std::string& pattern) {
  long last = -1;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(report.begin(), report.end(), expression), end; i != end; ++i)
    last = std::stol((*i)[1]);
  if (last < 0) throw std::runtime_error("no " + pattern + " in what Yosys said");
  return last;
}

}  // namespace

Area measured(const std::vector<RtlFile>& files, const std::string& top) {
  const Scratch folder;
  for (const RtlFile& file : files) write(folder / file.name, file.text);
  const Ran ran = run(folder.path(),
                      fmt::format("yosys -q -p 'read_verilog *.v; hierarchy -check -top {0}; proc; "
                                  "flatten; opt_clean; check -assert; "
                                  "select -assert-none t:$*latch* t:$*dff*; design -save flat; "
                                  "synth_ice40 -top {0}; check -assert; "
                                  "tee -a areas ltp; tee -a areas stat; "
                                  "design -load flat; synth_xilinx -noiopad -nodsp -top {0}; "
                                  "check -assert; tee -a areas stat'",
                                  top));
  if (ran.status != 0 || !ran.output.empty()) throw std::runtime_error("yosys: " + ran.output);
  const std::string report = read(folder / "areas");
  Area area{last_of(report, "SB_LUT4 +(\\d+)"), last_of(report, "path in .*length=(\\d+)"), 0};
  for (int inputs = 1; inputs <= 6; ++inputs) {
    const std::string name = fmt::format(" LUT{} ", inputs);
    if (report.find(name) != std::string::npos) area.lut6 += last_of(report, name + " *(\\d+)");
  }
  return area;
}

const std::vector<std::string>& area_rows() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> rows;
    for (const char* operation : {"add", "multiply", "fma"})
      for (const auto f : formats) rows.push_back(fmt::format("{} {}", operation, f));
    for (const auto f : formats)
      rows.push_back(fmt::format("convert {} -> {}", f == "binary32" ? "binary16" : "binary32", f));
    rows.insert(rows.end(), std::begin(units), std::end(units));
    rows.insert(rows.end(), std::begin(quantisers), std::end(quantisers));
    return rows;
  }();
  return all;
}

std::vector<RtlFile> row_files(const std::string& row) {
  if (std::ranges::find(units, row) != std::end(units)) {
    const widthwise::Unit unit = widthwise::parse_unit(row);
    return rtl(unit, "dut", {.lanes = unit.lanes == 0 ? lanes_at_once : 0});
  }
  if (std::ranges::find(quantisers, row) != std::end(quantisers))
    return std::visit([](const auto& design) { return rtl(design, "dut"); },
                      widthwise::parse_design(row));
  std::istringstream words(row);
  std::string what, format, arrow, result;
  words >> what >> format >> arrow >> result;
  widthwise::SingleOperation s{widthwise::parse_operation(what), {}, {}};
  s.operands.fill(widthwise::parse_format(format));
  s.to = result.empty() ? s.operands[0] : widthwise::parse_format(result);
  return rtl(s, "dut", {.rounding_port = true});
}

std::map<std::string, Area> areas_of(const std::string& page) {
  std::map<std::string, Area> areas;
  for (std::sregex_iterator i(page.begin(), page.end(), table_row), end; i != end; ++i)
    areas[(*i)[1]] = {std::stol((*i)[2]), std::stol((*i)[3]), std::stol((*i)[4])};
  return areas;
}

std::string with_areas(const std::string& page, const std::map<std::string, Area>& areas) {
  const std::size_t table = page.find(table_head) + table_head.size();
  std::string text = page.substr(0, table);
  for (const std::string& row : area_rows())
    if (const auto a = areas.find(row); a != areas.end())
      text += fmt::format("| `{}` | {} | {} | {} |\n", row, a->second.lut4, a->second.depth,
                          a->second.lut6);
  return text;
}

}  // namespace tests
