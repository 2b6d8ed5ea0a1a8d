#include "readme.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "adapter_format.hpp"
#include "benches.hpp"
#include "flopoco_adapter.hpp"
#include "folder_templates.hpp"
#include "netlist.hpp"
#include "printing.hpp"
#include "random_words.hpp"
#include "vectors.hpp"
#include "widthwise/hdl/adapters.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {
namespace {

std::int64_t number(const ConstantTable& table, std::string_view name) {
  return value_of<std::int64_t>(table, name);
}

// Options by the names that the command has for them.
std::string in_words_of_the_command(std::string text) {
  constexpr std::string_view option = "options.";
  for (std::size_t at; (at = text.find(option)) != text.npos;) {
    text.replace(at, option.size(), "--");
    for (at += 2; at < text.size() && (std::isalpha(text[at]) || text[at] == '_'); ++at)
      if (text[at] == '_') text[at] = '-';
  }
  return text;
}

std::string indented(const std::string& text) {
  std::string all;
  for (const char c : text) all += c == '\n' ? std::string("\n    ") : std::string(1, c);
  while (!all.empty() && (all.back() == ' ' || all.back() == '\n')) all.pop_back();
  return all;
}

std::string long_text(const Design& design) {
  const Unit* unit = std::get_if<Unit>(&design);
  return indented(unit ? to_toml(*unit) : to_string(design));
}

std::string bus_list(std::span<const Port> ports, std::string_view direction) {
  std::string text;
  for (const Port& port : ports)
    if (port.direction == direction)
      text += fmt::format("{}{}[{}]", text.empty() ? "" : "  ", port.bus.name,
                          port.bus.width * port.bus.lanes);
  return text;
}

// A step of a value's way and what widths it has there.
struct Step {
  std::string stage, widths;
};

std::string operand_widths(const ConstantTable& table) {
  std::string text;
  for (const std::string letter : {"A", "B", "C"})
    if (has(table, letter + "_SIG_WIDTH"))
      text += fmt::format("{}{} {}", text.empty() ? "significands: " : ", ", letter,
                          number(table, letter + "_SIG_WIDTH"));
  return text + " bits";
}

Step sum_step(const ConstantTable& table, const std::string& stage, const std::string& prefix) {
  return {stage,
          fmt::format("{} terms, {} bits, {} below the point", number(table, prefix + "TERMS"),
                      number(table, prefix + "WIDTH"), number(table, prefix + "FRAC_WIDTH"))};
}

bool is_set(const ConstantTable& table, std::string_view flag) {
  return has(table, flag) && value_of<bool>(table, flag);
}

// From an exact number to what is packed, in the result's number system.
std::vector<Step> rounding_steps(const ConstantTable& table) {
  const Step to_the_top{"normalise", "the first one to the top"};
  if (is_set(table, "Y_IS_FIXED"))
    return {{"normalise", fmt::format("in units of 2^{}", number(table, "Y_LSB_EXP"))},
            {"round", "to an integer"}};
  if (!has(table, "Y_EXP_WIDTH"))
    return {to_the_top,
            {"pattern", "exponent and fraction as a code spells them"},
            {"round", fmt::format("{} bits of these", number(table, "Y_WIDTH") - 1)}};
  return {to_the_top,
          {"denormalise", fmt::format("exponents from {} on", number(table, "Y_EMIN"))},
          {"round", fmt::format("{} bits", number(table, "Y_SIG_WIDTH"))}};
}

// From numbers to their quotients by their scale.
std::vector<Step> block_steps(const ConstantTable& table) {
  const Step largest{"largest",
                     fmt::format("magnitude of {} numbers", number(table, "BLOCK_NUMBERS"))};
  if (has(table, "ELEMENT_EMAX"))
    return {largest,
            {"scale", fmt::format("its exponent less {}, compared with two constants",
                                  number(table, "ELEMENT_EMAX"))},
            {"align", "every exponent less the scale's"}};
  std::vector<Step> all{largest,
                        {"scale", "it over the largest element, rounded"},
                        {"divide", "every number, with a digit that says what is left"}};
  if (number(table, "SCALE_WIDTH") == binary32.width())
    all.push_back({"divide_round", "to binary32"});
  return all;
}

std::vector<Step> sum_steps(const ConstantTable& table) {
  const std::string& variant = value_of<std::string>(table, "VARIANT");
  const bool floats = variant == "fp32";
  const std::string zero_point = has(table, "ZERO_POINT")
                                     ? fmt::format("{}", number(table, "ZERO_POINT"))
                                     : std::string("the zero point");
  return {{"product", floats ? "of the sum in binary32, and rounded to it" : "exact, of integers"},
          {"round", variant},
          {"pack", fmt::format("plus {}, from {} to {}", zero_point, number(table, "QMIN"),
                               number(table, "QMAX"))}};
}

std::vector<Step> steps(const Design& design, const ConstantTable& table) {
  if (has(table, "VARIANT")) return sum_steps(table);
  std::vector<Step> all{{"unpack", operand_widths(table)}};
  if (has(table, "BLOCK_NUMBERS"))
    for (Step& step : block_steps(table)) all.push_back(std::move(step));
  if (has(table, "PROD_SIG_WIDTH"))
    all.push_back(
        {"product", fmt::format("{} bits, {} below the point; exponent: {} bits",
                                number(table, "PROD_SIG_WIDTH"), number(table, "PROD_FRAC_WIDTH"),
                                number(table, "PROD_EXP_WIDTH"))});
  if (has(table, "PROD_ROUND_SIG_WIDTH"))
    all.push_back({"product_round", fmt::format("{} bits", number(table, "PROD_ROUND_SIG_WIDTH"))});
  if (has(table, "SCALE_BLOCK"))
    all.push_back({"scale", fmt::format("one every {} elements", number(table, "SCALE_BLOCK"))});
  if (has(table, "GROUP_SUM_WIDTH")) all.push_back(sum_step(table, "group_sum", "GROUP_SUM_"));
  if (has(table, "BLOCK_SUM_WIDTH")) all.push_back(sum_step(table, "block_sum", "BLOCK_SUM_"));
  if (has(table, "ACC_WIDTH")) all.push_back(sum_step(table, "sum", "ACC_"));
  if (std::holds_alternative<SingleOperation>(design)) all.push_back({"exact", "no digit is lost"});
  for (Step& step : rounding_steps(table)) all.push_back(std::move(step));
  all.push_back({"pack", fmt::format("a code of {} bits", number(table, "Y_WIDTH"))});
  return all;
}

std::string picture(const Design& design, const ConstantTable& table, std::span<const Port> ports) {
  std::string text;
  if (!ports.empty()) text += fmt::format("    {}\n", bus_list(ports, "input "));
  for (const Step& step : steps(design, table))
    text += fmt::format("       |\n    {:<14}{}\n", step.stage, step.widths);
  if (!ports.empty()) text += fmt::format("       |\n    {}\n", bus_list(ports, "output"));
  return text;
}

std::string row(std::string_view file, std::string_view what) {
  return fmt::format("| `{}` | {} |\n", file, what);
}

std::string files(const ConstantTable& table, bool rtl, bool floats) {
  const std::string& name = unit_name(table);
  std::string text =
      row(fmt::format("{0}.vh {0}_params.vh {0}_defs.vh", name),
          "Verilog: localparams for a module's body, parameters for `#( … )`, macros") +
      row(fmt::format("{0}_pkg.sv {0}_pkg.vhd {0}.h {0}.json", name),
          "the same in SystemVerilog, VHDL-93, C and C++, JSON");
  if (floats)
    text += row(fmt::format("{0}_hardfloat.vh {0}_fpnew_pkg.sv {0}_flopoco_pkg.vhd", name),
                "the same in the terms of HardFloat, CVFPU and FloPoCo") +
            row(fmt::format("{0}_ap_float.h {0}_vivado.tcl {0}.smt2", name),
                "of Vitis HLS, Vivado's operator and SMT-LIB");
  if (has_fixed_point(table))
    text += row(fmt::format("{}_ap_fixed.h", name), "types of HLS: ap_fixed<W, I, Q, O>");
  text +=
      row(fmt::format("{0}_dpi_pkg.sv {0}_vhpi_pkg.vhd widthwise_vpi.c widthwise_model.h", name),
          "the calls through DPI-C, VHPIDIRECT, VPI and C of the golden model, "
          "libwidthwise_model.so, which an export has in it with `model=True` (`--model`)");
  if (rtl)
    text += row(fmt::format("{}_taps.json", name),
                "which wires have what a trace has: `widthwise trace --vcd` reads it") +
            row("rtl/", fmt::format("synthesizable Verilog-2001; the top is `{}`", name)) +
            row(fmt::format("vectors/{}.hex", name),
                "operands, directed and random, and what comes of them");
  return text + row("bench/ Makefile",
                    rtl ? "what checks the RTL and the headers" : "what checks the headers");
}

bool all_floats(const Design& design) {
  if (const Unit* unit = std::get_if<Unit>(&design)) return !other_than_float(*unit);
  if (const auto* q = std::get_if<BlockQuantisation>(&design)) return q->to.element.is_float();
  if (std::holds_alternative<SumRequantisation>(design)) return false;
  const auto& s = std::get<SingleOperation>(design);
  return s.to.is_float() && std::ranges::all_of(s.read(), &Format::is_float);
}

// How a block's scale comes about.
std::string scale_text(const BlockQuantisation& q) {
  if (q.to.power_of_two())
    return "The constants of the comparison: `ELEMENT_EMAX`, `SCALE_UP`, `SCALE_DOWN`.\n\n";
  if (q.to.takes_tensor_scale())
    return fmt::format(
        "The scale is the largest magnitude over `ELEMENT_MOST` times `{0}`, rounded once, to "
        "nearest;\nwhat rounds to 0 takes the least code above it. Its code is E4M3's without the "
        "sign: a byte of\nmemory has a 0 above the 7 bits. Elements are numbers over the scale "
        "times `{0}`, exact,\nrounded once. {1}\n\n",
        q.tensor_scale_port ? "b" : "TENSOR_SCALE",
        q.tensor_scale_port
            ? "`b` is the tensor's scale, a code of binary32. One that is no finite number\nabove "
              "zero makes a block as one that holds NaN."
            : "The tensor's scale is a constant: `tensor_scale=` in the text; or\n"
              "`tensor_scale=port`.");
  return "The scale is the largest magnitude over `ELEMENT_MOST`, rounded to binary32, to nearest; "
         "what rounds to\n0 is 1. Numbers over it are rounded so, too, and these to elements: "
         "`flags` are those of both.\n\n";
}

// The call that does it in Python.
std::string block_call(const BlockQuantisation& q) {
  std::string text = fmt::format("ww.blocks(x, \"{}\"", to_string(q.to));
  if (q.rounding != Rounding{}) text += fmt::format(", rounding=\"{}\"", to_string(q.rounding));
  if (q.to.takes_tensor_scale())
    text += q.tensor_scale_port
                ? ", tensor_scale=b"
                : fmt::format(", tensor_scale={}", static_cast<double>(q.tensor_scale));
  return text + ")";
}

// What a block's quantiser does with what it is given.
std::string block_text(const BlockQuantisation& q) {
  const std::string zero_sign = q.to.element.is_fixed() ? "" : " Zeros keep their sign.";
  return fmt::format(
      "A quantiser of one block: what `{0}` does to {1} numbers that share a "
      "scale\n(docs/semantics.md, B). The numbers are in `a`, number i in lane i; `y` has their "
      "elements, in\nthe same lanes, and `scale` the code of the {4} that each is times. "
      "What is past the\nlargest element saturates.{2} `flags` are those of all elements' "
      "roundings together.\n\n"
      "A block that holds NaN or infinity has the scale `SCALE_OF_SPECIALS`, elements that are 0, "
      "and\nthe flag NV{3}. A short last block is filled up with zeros, which change no "
      "scale.\n\n{5}",
      block_call(q), q.numbers(), zero_sign,
      q.to.refuses_specials() ? ", where `ww.blocks` refuses it" : "",
      q.to.power_of_two() ? "power of two" : "number", scale_text(q));
}

// What stands at the ports, where there are any.
std::string sum_ports_text(const SumRequantisation& s) {
  std::string text;
  if (s.multiplier_port)
    text += s.takes_shift()
                ? "`b` is the multiplier, q 2^(h - 31): q in its lower 32 bits, as an unsigned "
                  "integer, and h in the\n6 above, in two's complement: what the runtime keeps as "
                  "a multiplier and a shift to the left. Any\nvalue of either is taken.\n"
                : "`b` is the multiplier, binary32 without its sign; an exponent field of all ones "
                  "is that of numbers,\ntoo.\n";
  if (s.zero_point_port)
    text += "`c` is the zero point, a code as `y` is; any code of that width is taken.\n";
  return text.empty() ? text : text + "\n";
}

std::string sum_text(const SumRequantisation& s) {
  const std::string multiplier = s.multiplier_port ? "b" : fmt::format("{}", s.multiplier),
                    zero_point = s.zero_point_port ? "c" : fmt::format("{}", s.zero_point);
  return fmt::format(
      "Requantisation: what `ww.requantize(a, {0}, {1}, {2}, {3}, \"{4}\")` makes of a sum of 32 "
      "bits\n(docs/semantics.md, A5): `y` is the code of a times the multiplier, rounded as {4} "
      "does, plus the\nzero point, clamped. `flags` are OF and NX where it was clamped, else "
      "0.\n\n{5}",
      multiplier, zero_point, s.qmin, s.qmax, s.variant, sum_ports_text(s));
}

// What a reader may take it for (docs/semantics.md, T7 and D9).
std::string kind_text(const Design& design) {
  if (const auto* q = std::get_if<BlockQuantisation>(&design)) return block_text(*q);
  if (const auto* s = std::get_if<SumRequantisation>(&design)) return sum_text(*s);
  const Unit* unit = std::get_if<Unit>(&design);
  if (!unit && !all_floats(design))
    return "A single operation, whose exact result is rounded once, with IEEE 754's flags as far "
           "as\nthe formats raise them: fixed point has no NaN, and posits no infinity.\n\n";
  if (!unit)
    return "A single operation as IEEE 754 has it, with all its flags: signalling NaNs, and "
           "operands\n"
           "without a result as inf - inf, raise invalid (NV).\n\n";
  std::string text =
      "A multiply-accumulate unit, whose flags are those of its roundings: where y has a NaN, "
      "neither\n"
      "NaN operands nor a NaN made of infinities raise invalid (NV).";
  if (to_string(design).starts_with("fma(") && all_floats(design))
    text += fmt::format(" The operation that does is\n`fma({})`, IEEE 754's fusedMultiplyAdd.",
                        to_string(unit->a.fmt));
  return text + "\n\n";
}

bool adds(const Design& design) {
  if (std::holds_alternative<BlockQuantisation>(design)) return false;
  if (std::holds_alternative<SumRequantisation>(design)) return false;
  const SingleOperation* s = std::get_if<SingleOperation>(&design);
  return !s || s->op == Operation::add || s->op == Operation::subtract;
}

// HardFloat's AddRawFN counts how far it shifts in clog2(sigWidth) bits, and takes what is further
// away as that far. Two digits below the significand have to lie clear of the smaller operand.
std::string hardfloat_fault(const Design& design, const ConstantTable& table) {
  if (!has(table, "Y_EXP_WIDTH")) return "";
  const auto digits = static_cast<std::uint64_t>(number(table, "Y_SIG_WIDTH"));
  const std::uint64_t furthest = std::bit_ceil(digits) - 1;
  if (!adds(design) || digits < 2 || furthest >= digits + 2) return "";
  return fmt::format(
      "\n**HardFloat's `addRecFN` is wrong at this sigWidth, {0}**: it shifts the smaller operand "
      "by\n"
      "at most {1} places, where {2} are needed, so numbers {3} or more binades apart are added as "
      "if\n"
      "they were {1} apart. Of 4.8 million sums of e8m7, whose sigWidth is 8, 2,294,507 are "
      "wrong:\n"
      "0x3f80 + 0x3bff is 0x3f82 there, and 0x3f81 here. Its `mulAddRecFN` has no such fault.\n",
      digits, furthest, digits + 2, furthest + 1);
}

std::string port_note(const Port& port, const DesignRtl& rtl) {
  const std::string& name = port.bus.name;
  const bool sums = rtl.running != RunningSum::none;
  if (name == "flags") return "NV DZ OF UF NX, NX in bit 0";
  if (name == "rm") return "a code `RM_…` of the headers";
  if (name == "running") return "1: c is a result of this unit";
  if (name == "in_first") return "1: a sum begins with this block, whatever was there before";
  if (name == "in_last") return "1: the sum's result comes out, with the flags of all its blocks";
  if (name == "c" && sums)
    return fmt::format("read with the {} block of a sum",
                       begins_with_c(rtl.running) ? "first" : "last");
  if (name == "seed") return "of the simulator's random generator, which is in the module";
  if (name == "index") return "the result's number: another one for each";
  if (name == "step") return "where the block's first lane lies along k: 0 for the first block";
  if (name.starts_with("random")) return "random bits, new ones each time";
  if (name == "scale") return "of the block";
  if (port.bus.lanes == 1) return "";
  return fmt::format("{} lanes, lane i in bits [i*{} +: {}]", port.bus.lanes, port.bus.width,
                     port.bus.width);
}

std::string port_table(const DesignRtl& rtl) {
  std::string text = "| port | bits | |\n|---|---|---|\n";
  if (rtl.clocked)
    text +=
        "| input `clk`, `rst` | 1 | rst is synchronous |\n"
        "| `in_valid`, `in_ready` | 1 | operands are taken at a clock edge where both are 1 |\n"
        "| `out_valid`, `out_ready` | 1 | so is a result, LATENCY clocks later |\n";
  for (const Port& port : rtl.ports)
    text += fmt::format("| {} `{}` | {} | {} |\n", port.direction == "output" ? "output" : "input",
                        port.bus.name, port.bus.width * port.bus.lanes, port_note(port, rtl));
  return text;
}

// What random words of its own cost it. The LUTs are those of two units with and without them.
std::string drawing(const DesignRtl& rtl) {
  if (!rtl.generator()) return "";
  return fmt::format(
      "\nOne generator draws all random words, the simulator's to the bit, before the operands "
      "enter\n"
      "the datapath: a round of Philox-4x32-10 a clock, {} clocks in all, so operands are taken\n"
      "every II clocks. It costs about 3,200 LUT4 (iCE40), two multipliers of 32 bits by a "
      "constant,\n"
      "and registers for the words and the operands. Without `--generator` the words are ports.\n",
      drawing_clocks(rtl.random));
}

// How deep the pipeline is, and what changes that.
std::string registers(const DesignRtl& rtl) {
  if (!rtl.clocked) return "";
  std::string parameters;
  for (const std::string& stage : rtl.stages)
    parameters += (parameters.empty() ? "" : " ") + pipe_parameter(stage);
  return fmt::format(
             "\nLATENCY is {}{}. Parameters of the top module say how many registers stand behind "
             "each\n"
             "stage; what an instance changes there changes LATENCY, and the headers have the "
             "defaults':\n\n"
             "    {}\n",
             rtl.timing.latency,
             rtl.timing.interval == 0 ? "" : fmt::format(", II {}", rtl.timing.interval),
             parameters) +
         drawing(rtl);
}

constexpr std::string_view header_targets =
    R"(| `ghdl` | the VHDL packages, as VHDL-93 and VHDL-2008, and each constant in them |
| `headers` | each constant of the other headers, read by Icarus Verilog, a C and a C++ compiler and Python |
)";

constexpr std::string_view how_to_check = R"(
`make` checks it with those of these that are installed, and says which are not. It takes a minute
at most, and says what it did not get to; `make everything` takes as long as it takes. Each is a
target, too:

| target | what it does |
|---|---|
| `icarus`, `verilator` | the RTL against the vectors, in bench/{0}_bench.v; Verilator's lint has nothing to say (`LINT=0` leaves it out, for RTL of your own) |
| `wave` | build/{0}.vcd, the waveform of all vectors in Icarus Verilog (not by `make` alone) |
| `cocotb` | the same from Python (cocotb 2), in Icarus Verilog |
| `dpi` | the RTL against the golden model on a million operands at random (`CHECKS=…`), in Verilator{1} |
| `replay` | one vector alone, with all wires in build/replay.vcd: `VECTOR=17`, or a line that a bench has shown |
| `vhdl` | an entity `{0}` of your own, in rtl/*.vhd, against the same vectors in bench/{0}_bench.vhd, in GHDL |
| `yosys` | synthesis for iCE40: no latch, no loop; the count of LUTs and the depth in cells, from one register to the next |
{2}
Area: not known yet; `make yosys` writes it here.

`make clean` takes away all that `make` has made.

Each constant of each header is held to its value, by `bench/{0}_headers.*`, of which the benches
for Verilog and DPI-C have theirs in them: a number that was changed fails them by its name.

A module with a clock is met at full speed first, where LATENCY is looked at; then both sides stall at
random. `FLAGS=0` checks a module that has no flags, and the verdict says so.

A bench stops after 20 errors, and its last line is `N vectors, 0 errors` if there is none. It fails
on a missing or short file, on one without vectors, on another unit's (`MODEL_HASH`), and where
`COUNT` or `CHECK` are those of other vectors. A line of vectors has the fields that a comment names,
in hexadecimal, with blanks between: TestFloat's form, and `$readmemh` reads it as a flat memory.

The taps are the stages' wires, read by their hierarchical names (`dut.out.normalise.sig_out`).

Known limits: checked with Icarus Verilog 11, Verilator 5.006, Yosys 0.23 and GHDL 2.0; never tried
with Vivado or Quartus. Verilator before version 5 cannot run the benches.
)";

std::string rtl_text(std::string_view name, const std::optional<DesignRtl>& rtl,
                     const std::string& reason) {
  if (!rtl)
    return fmt::format(
        "There is none: {}.\n\n`make` checks the headers:\n\n| target | what it does "
        "|\n|---|---|\n{}",
        in_words_of_the_command(reason), header_targets);
  const std::string no_dpi = why_no_dpi_bench(*rtl);
  const std::string dpi = no_dpi.empty() ? "" : fmt::format("; there is none here: {}", no_dpi);
  const std::string product =
      rtl->multiply ? fmt::format("\nSignificands are multiplied by `{}_multiplier`.\n", name) : "";
  const std::string sums =
      rtl->running == RunningSum::none
          ? ""
          : "\nA running sum: its blocks come one after the other, every II clocks. In the vectors "
            "a line\nis a block, and the result of one that is not a sum's last is 0.\n";
  return port_table(*rtl) + product + registers(*rtl) + sums +
         fmt::format(fmt::runtime(how_to_check), name, dpi, header_targets);
}

// How the files for other libraries are to be used.
std::string libraries(const Design& design, const ConstantTable& table, bool floats) {
  if (!floats) return "";
  return filled("libraries.md", {{"HARDFLOAT_FAULT", hardfloat_fault(design, table)}});
}

std::string flopoco(const Design& design, std::string_view name,
                    const std::optional<DesignRtl>& rtl) {
  return rtl ? fmt::format("## FloPoCo\n\n{}\n", flopoco_text(design, name, *rtl)) : "";
}

}  // namespace

std::string readme(const Design& design, const ConstantTable& table,
                   const std::optional<DesignRtl>& rtl, const std::string& reason) {
  const std::string& name = unit_name(table);
  const std::span<const Port> ports =
      rtl ? std::span<const Port>(rtl->ports) : std::span<const Port>();
  const bool floats = !adapter_formats(table).empty();
  return filled("README.md", {{"NAME", name},
                              {"DESCRIPTION", value_of<std::string>(table, "DESCRIPTION")},
                              {"SPEC", value_of<std::string>(table, "SPEC")},
                              {"KIND", kind_text(design)},
                              {"PICTURE", picture(design, table, ports)},
                              {"FILES", files(table, rtl.has_value(), floats)},
                              {"RTL", rtl_text(name, rtl, reason)},
                              {"FLOPOCO", floats ? flopoco(design, name, rtl) : ""},
                              {"LIBRARIES", libraries(design, table, floats)},
                              {"LONG_TEXT", long_text(design)}});
}

}  // namespace widthwise::hdl
