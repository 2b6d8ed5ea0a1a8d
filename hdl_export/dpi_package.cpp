#include "model_ports.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

// A port is `bit`, never `logic`, whose vectors have two words for one. A port that is not there
// is a chandle, for which benches give null.
std::string input(const ConstantTable& table, std::string_view port, std::string_view name) {
  const std::int64_t bits = port_bits(table, port);
  return bits ? fmt::format("input bit [{}:0] {}", bits - 1, name)
              : fmt::format("input chandle {}", name);
}

// Calls whose vectors have the unit's widths, under names of the package's own. C is told how many
// products those have room for, lest it reads past them.
std::string sized_calls(const ConstantTable& table) {
  const std::string ab = input(table, "A", "a") + ", " + input(table, "B", "b");
  const std::string scales =
      input(table, "SCALE", "scale_a") + ", " + input(table, "SCALE", "scale_b");
  // Where C writes nothing they stay what they were.
  const std::string outputs =
      fmt::format("inout bit [{}:0] y, inout int unsigned flags", port_bits(table, "Y") - 1);
  return fmt::format(
      R"(
  // k products of ports that have room for {0}; c of no port is null.
  import "DPI-C" widthwise_model_words_within = function int model_words(
      input chandle model, input int unsigned rm, input longint unsigned seed,
      input longint unsigned index, input longint unsigned k, {1},
      {2}, {3}, {4}, input longint unsigned room = 64'd{0});
  import "DPI-C" widthwise_model_trace_within = function chandle model_trace(
      input chandle model, input int unsigned rm, input longint unsigned seed,
      input longint unsigned index, input longint unsigned k, {1},
      {2}, {3}, input longint unsigned room = 64'd{0});
  import "DPI-C" widthwise_accumulator_step_within = function int accumulator_step(
      input chandle accumulator, input longint unsigned k, {1}, {3},
      input longint unsigned room = 64'd{0});
  import "DPI-C" widthwise_accumulator_reset = function int accumulator_reset(
      input chandle accumulator, {2});
  import "DPI-C" widthwise_accumulator_read = function int accumulator_read(
      input chandle accumulator, {4});
)",
      call_terms(table), ab, input(table, "C", "c"), scales, outputs);
}

// A block's quantiser has one call.
std::string block_call(const ConstantTable& table) {
  const std::int64_t numbers = value_of<std::int64_t>(table, "BLOCK_NUMBERS");
  const auto top = [&](std::string_view width, std::int64_t count) {
    return value_of<std::int64_t>(table, width) * count - 1;
  };
  return fmt::format(
      R"(
  import "DPI-C" widthwise_model_block = function int model_block(
      input chandle model, input int unsigned rm, input bit [{}:0] a, {},
      inout bit [{}:0] y, inout bit [{}:0] scale, inout int unsigned flags);
)",
      top("A_WIDTH", numbers), input(table, "B", "b"), top("Y_WIDTH", numbers),
      top("SCALE_WIDTH", 1));
}

std::string calls_of(const ConstantTable& table) {
  if (fit_vectors(table)) return sized_calls(table);
  const bool block = has(table, "BLOCK_NUMBERS");
  const bool fits = block && value_of<std::int64_t>(table, "BLOCK_NUMBERS") *
                                     value_of<std::int64_t>(table, "A_WIDTH") <=
                                 widest_vector;
  return fits ? block_call(table) : "";
}

// Calls that are the same for every design.
constexpr std::string_view common_calls = R"(
  import "DPI-C" widthwise_model_abi = function int model_abi();
  import "DPI-C" widthwise_model_status = function string model_status(input int status);
  import "DPI-C" widthwise_model_open = function chandle model_open(input string spec);
  import "DPI-C" widthwise_model_error = function string model_error(input chandle model);
  import "DPI-C" widthwise_model_close = function void model_close(input chandle model);
  import "DPI-C" widthwise_model_hash = function longint unsigned model_hash(input chandle model);
  import "DPI-C" widthwise_model_width = function int model_width(
      input chandle model, input int port);
  import "DPI-C" widthwise_model_random = function longint unsigned model_random(
      input longint unsigned seed, input longint unsigned index, input int unsigned bits,
      input int unsigned slot, input longint unsigned step);
  import "DPI-C" widthwise_trace_close = function void trace_close(input chandle trace);
  import "DPI-C" widthwise_trace_rows = function longint trace_rows(input chandle trace);
  import "DPI-C" widthwise_trace_find = function longint trace_find(
      input chandle trace, input string stage, input longint from);
  import "DPI-C" widthwise_trace_significand = function string trace_significand(
      input chandle trace, input longint row);
  import "DPI-C" widthwise_trace_exponent = function longint trace_exponent(
      input chandle trace, input longint row);
  import "DPI-C" widthwise_trace_negative = function int trace_negative(
      input chandle trace, input longint row);
  import "DPI-C" widthwise_accumulator_open = function chandle accumulator_open(
      input chandle model, input int unsigned rm, input longint unsigned seed,
      input longint unsigned index);
  import "DPI-C" widthwise_accumulator_close = function void accumulator_close(
      input chandle accumulator);
)";

}  // namespace

std::string dpi_package(const ConstantTable& table) {
  const std::string package = unit_name(table) + "_dpi_pkg", guard = upper(package) + "_SV";
  return fmt::format(
      "// Generated. The golden model for SystemVerilog: widthwise_model.h says what the calls "
      "do.\n"
      "`ifndef {1}\n`define {1}\n"
      "// verilator lint_off UNUSEDPARAM\n"
      "package {0};\n"
      "  localparam string SPEC = {2};\n"
      "  localparam bit [63:0] MODEL_HASH = 64'h{3};\n"
      "{4}{5}endpackage\n// verilator lint_on UNUSEDPARAM\n`endif\n",
      package, guard, quoted_text(value_of<std::string>(table, "SPEC")),
      hex_digits(value_of<Pattern>(table, "MODEL_HASH")), common_calls, calls_of(table));
}

}  // namespace widthwise::hdl
