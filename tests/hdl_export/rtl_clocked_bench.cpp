#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "rtl_bench.hpp"

namespace tests {
namespace {

// In turn for 64 clocks, or longer where there are many to a result: all at full speed; both sides
// at random; a slow taker; a slow giver. `since` counts clocks from the first transaction on: the
// first results say what the latency is.
constexpr const char* bench_text = R"(
module bench_@name@ (input clk);
  reg [@top@:0] mem [0:@last@];
  reg rst, in_valid, out_ready, stalled;
  wire in_ready, out_valid;
  reg [31:0] noise;
  integer cycle, sent, taken, done, next, errors, since;
  wire [@top@:0] v = mem[sent > @last@ ? @last@ : sent];
@wires@  reg [@got_top@:0] held;
  @module@ @parameters@ dut (
    .clk(clk), .rst(rst), .in_valid(in_valid), .in_ready(in_ready), .out_valid(out_valid),
    .out_ready(out_ready), @ports@);
  wire [1:0] phase = cycle[@phase@ +: 2];
  wire gives = !phase[0] || noise[31:30] == 0 || (phase == 1 && noise[29]);
  wire takes = phase == 0 || phase == 3 || noise[28:27] == 0 || (phase == 1 && noise[26]);
  task fault(input integer kind);
    begin
      errors = errors + 1;
      if (errors <= 20)
        $display("FAULT @name@ %0d clock %0d %h got %h", kind, cycle, mem[next], {@got@});
      if ($test$plusargs("first")) $finish;
    end
  endtask
  initial begin
    $readmemh("@name@.hex", mem);
    noise = @seed@;
    {rst, in_valid, out_ready, stalled} = 4'b1000;
    cycle = 0; sent = 0; done = 0; errors = 0; since = 0;
  end
  always @(posedge clk) if (done <= @last@) begin
    taken = sent;
    next = done;
    while (next < @last@ && !(@is_last@)) next = next + 1;
    if (rst) begin
      taken = done;
      {in_valid, out_ready, stalled} <= 0;
    end else begin
      if (stalled && (!out_valid || {@got@} !== held)) fault(1);
      if (since == 4 * @interval@ && sent != 4) fault(2);
      if (out_valid && out_ready) begin
        if ({@got@} !== {@want@}) fault(3);
        if (done == 0 && since != @latency@ + next * @interval@) fault(4);
        done = next + 1;
      end
      stalled <= out_valid && !out_ready;
      held <= {@got@};
      if (in_valid && in_ready) taken = sent + 1;
      if (taken > 0) since = since + 1;
      in_valid <= (in_valid && !in_ready) || (gives && taken <= @last@);
      out_ready <= takes;
    end
    sent <= taken;
    rst <= cycle < 2100 && cycle % 509 == 300;  // a long sum must come to its end
    noise <= noise * 32'd1664525 + 32'd1013904223;
    cycle <= cycle + 1;
    if (done > @last@) $display("DONE @name@ %0d %0d", done, errors);
  end
endmodule
)";

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : values) {
    const std::string mark = "@" + key + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

}  // namespace

namespace {

// How many times eight clocks lie between two transactions.
unsigned slowness(const Dut& dut) { return static_cast<unsigned>(dut.timing->interval) / 8; }

}  // namespace

std::string clocked_bench(const Dut& dut) {
  const Wiring w = wiring(dut, "mem[next]");
  const std::vector<int> at = places(dut);
  std::string is_last = "1";
  for (std::size_t i = 0; i < dut.inputs.size(); ++i)
    if (dut.inputs[i].port == "in_last") is_last = fmt::format("mem[next][{}]", at[i]);
  return filled(bench_text, {{"name", dut.name},
                             {"module", dut.module.empty() ? dut.name : dut.module},
                             {"parameters", dut.parameters},
                             {"top", std::to_string(vector_width(dut) - 1)},
                             {"last", std::to_string(dut.vectors.size() - 1)},
                             {"got_top", std::to_string(w.got_width - 1)},
                             {"seed", std::to_string(std::hash<std::string>{}(dut.name) % 65521)},
                             {"latency", std::to_string(dut.timing->latency)},
                             {"interval", std::to_string(std::max(dut.timing->interval, 1))},
                             {"phase", std::to_string(6 + std::bit_width(slowness(dut)))},
                             {"wires", w.wires},
                             {"ports", w.ports},
                             {"got", w.got},
                             {"want", w.want},
                             {"is_last", is_last}});
}

long clocks(const Dut& dut) {
  const long each = 6 * std::max(dut.timing->interval, 1);
  return each * static_cast<long>(dut.vectors.size()) + 2000;
}

}  // namespace tests
