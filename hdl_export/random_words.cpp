#include "random_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "clocked_top.hpp"

namespace widthwise::hdl {
namespace {

constexpr int rounds_a_call = 10;

int log2_of_shared(int bits) { return bits <= 16 ? 3 : bits <= 32 ? 2 : 1; }

// A call of the generator.
struct Call {
  int slot, shared;
  std::int64_t step;  // the first of those that it serves
  bool moves;
  bool operator==(const Call&) const = default;
};

// Where steps count from a port, neighbours may lie in two calls: each has its own.
Call call_of(const RandomPort& port, std::int64_t step) {
  const int shared = log2_of_shared(port.bits);
  return {static_cast<int>(port.slot), shared, port.moves ? step : step >> shared << shared,
          port.moves};
}

std::vector<Call> calls_of(std::span<const RandomPort> ports) {
  std::vector<Call> calls;
  for (const RandomPort& port : ports)
    for (const std::int64_t step : port.steps)
      if (const Call call = call_of(port, step); std::ranges::find(calls, call) == calls.end())
        calls.push_back(call);
  return calls;
}

// {last, ..., first}
template <class One>
std::string packed(const std::vector<Call>& calls, const One& one) {
  std::string text;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    text += (text.empty() ? "" : ", ") + one(*call);
  return fmt::format("{{{}}}", text);
}

std::string generator_instance(const std::vector<Call>& calls, const std::string& step) {
  return fmt::format(
      "  wire [15:0] call;\n  wire drawn;\n  wire [127:0] words;\n"
      "  ww_draw #(\n    .CALLS({}),\n    .SLOTS({}),\n    .STEPS({}),\n    .MOVES({}),\n"
      "    .SHARED({})) draw (\n    .clk(clk), .start(take), .seed(seed_held), .index(index_held), "
      ".step({}),\n    .call(call), .drawn(drawn), .words(words));\n",
      calls.size(), packed(calls, [](const Call& c) { return fmt::format("32'd{}", c.slot); }),
      packed(calls, [](const Call& c) { return fmt::format("32'd{}", c.step); }),
      packed(calls, [](const Call& c) { return truth(c.moves); }),
      packed(calls, [](const Call& c) { return fmt::format("4'd{}", c.shared); }), step);
}

std::string word_instances(const RandomPort& port, const std::vector<Call>& calls,
                           const std::string& step) {
  const Bus words{port.name, port.bits, static_cast<int>(port.steps.size())};
  std::string text = fmt::format("  wire {}{};\n", words.range(), words.name);
  for (std::size_t i = 0; i < port.steps.size(); ++i) {
    const auto call = std::ranges::find(calls, call_of(port, port.steps[i])) - calls.begin();
    text += fmt::format(
        "  ww_random #(.K({}), .CALL(16'd{}), .STEP(32'd{}), .MOVES({})) {}_word{} (\n"
        "    .clk(clk), .drawn(drawn), .call(call), .words(words), .step({}), .random({}));\n",
        port.bits, call, port.steps[i], truth(port.moves), port.name, i, step,
        words.lane(std::to_string(i)));
  }
  return text;
}

bool is_input(const Port& port) { return port.direction == "input "; }

// The operands, kept while words are drawn.
std::string held_operands(const TopModule& top) {
  std::string names, held, wires;
  int bits = 0;
  for (const Port& port : top.outer_ports) {
    if (!is_input(port)) continue;
    names += (names.empty() ? "" : ", ") + port.bus.name;
    held += (held.empty() ? "" : ", ") + port.bus.name + "_held";
    wires += fmt::format("  wire {}{}_held;\n", port.bus.range(), port.bus.name);
    bits += port.bus.width * port.bus.lanes;
  }
  return fmt::format(
      "{}  ww_delay #(.N(1), .W({})) operands (\n    .clk(clk), .rst(1'b0), .enable(take), "
      ".d({{{}}}),"
      "\n    .q({{{}}}));\n",
      wires, bits, names, held);
}

std::string datapath_instance(const TopModule& top, const std::vector<std::string>& stages) {
  std::string parameters, ports;
  for (const std::string& stage : stages)
    parameters += fmt::format("{}.{}({})", parameters.empty() ? "" : ", ", pipe_parameter(stage),
                              pipe_parameter(stage));
  for (const Port& port : top.ports) {
    const bool held = is_input(port) && std::ranges::any_of(top.outer_ports, [&](const Port& p) {
                        return p.bus.name == port.bus.name;
                      });
    ports += fmt::format(", .{}({}{})", port.bus.name, port.bus.name, held ? "_held" : "");
  }
  return fmt::format(
      "  {0}_datapath #({1}) datapath (\n    .clk(clk), .rst(rst), .in_valid(full), "
      ".in_ready(datapath_ready),\n    .out_valid(out_valid), .out_ready(out_ready){2});\n",
      top.name, parameters, ports);
}

}  // namespace

std::vector<Port> random_inputs(std::span<const RandomPort> ports, bool generator) {
  std::vector<Port> all;
  if (generator) {
    all = {{"input ", {"seed", 64}}, {"input ", {"index", 64}}};
    if (std::ranges::any_of(ports, &RandomPort::moves)) all.push_back({"input ", {"step", 32}});
    return all;
  }
  for (const RandomPort& port : ports)
    all.push_back({"input ", {port.name, port.bits, static_cast<int>(port.steps.size())}});
  return all;
}

RtlOptions without_generator(RtlOptions options) {
  options.generator = false;
  return options;
}

void draw_words(TopModule& top, std::vector<RandomPort> drawn, const RtlOptions& options,
                std::vector<Port> words) {
  if (!options.generator) return;
  top.drawn = std::move(drawn);
  top.outer_ports = std::exchange(top.ports, std::move(words));
}

int drawing_clocks(std::span<const RandomPort> ports) {
  return rounds_a_call * static_cast<int>(calls_of(ports).size());
}

std::string drawing_module(const TopModule& top, const std::vector<std::string>& stages,
                           const std::string& parameters, int kept) {
  const std::vector<Call> calls = calls_of(top.drawn);
  const bool moves = std::ranges::any_of(top.drawn, &RandomPort::moves);
  const std::string step = moves ? "step_held" : "32'd0";
  std::string latency = std::to_string(kept), words, ports;
  for (const std::string& stage : stages) latency += " + " + pipe_parameter(stage);
  for (const RandomPort& port : top.drawn) words += word_instances(port, calls, step);
  for (const Port& port : top.outer_ports)
    ports += fmt::format(",\n  {} wire {}{}", port.direction, port.bus.range(), port.bus.name);
  const bool waits = top.running == RunningSum::of_codes;
  return fmt::format(
      "module {0}{1} (\n{2}{3}\n);\n"
      "  localparam integer DATAPATH = {4};  // its latency\n"
      "  localparam integer ROUNDS = {5};  // of the generator, one a clock\n"
      "  localparam integer CLOCKS = {6};  // until the words are there\n"
      "  // verilator lint_off UNUSEDPARAM\n"
      "  localparam integer LATENCY = CLOCKS + 1 + DATAPATH;\n"
      "  localparam integer II = CLOCKS + 1;  // clocks from operands to the next ones\n"
      "  // verilator lint_on UNUSEDPARAM\n"
      "  reg drawing, full;  // at work for operands; they and their words wait for the datapath\n"
      "  reg [31:0] clocks;\n"
      "  wire datapath_ready;\n"
      "  assign in_ready = full ? datapath_ready : !drawing;\n"
      "  wire take = in_valid & in_ready;\n"
      "  always @(posedge clk) begin\n"
      "    clocks <= take ? 32'd1 : clocks + 32'd1;\n"
      "    if (rst) {{drawing, full}} <= 2'b00;\n"
      "    else begin\n"
      "      if (take) drawing <= 1'b1;\n"
      "      else if (clocks == CLOCKS) drawing <= 1'b0;\n"
      "      full <= (full & !datapath_ready) | (drawing & clocks == CLOCKS);\n"
      "    end\n"
      "  end\n"
      "{7}{8}{9}{10}endmodule\n",
      top.name, parameters, handshake_ports, ports.substr(2), latency,
      rounds_a_call * static_cast<int>(calls.size()),
      waits ? "ROUNDS > DATAPATH - 1 ? ROUNDS : DATAPATH - 1" : "ROUNDS", held_operands(top),
      generator_instance(calls, step), words, datapath_instance(top, stages));
}

}  // namespace widthwise::hdl
