// The K random bits of one stochastic rounding, kept from the call of the generator that made them
// (lib/widthwise/random.hpp, random_bits). One call serves the steps whose fields lie side by side.
`default_nettype none
module ww_random #(
  parameter integer K = 8,
  parameter [15:0] CALL = 16'd0,
  parameter [31:0] STEP = 32'd0,
  parameter MOVES = 1'b0
) (
  input  wire clk, drawn,
  input  wire [15:0] call,
  input  wire [127:0] words,
  // verilator lint_off UNUSEDSIGNAL
  input  wire [31:0] step,   // along k
  // verilator lint_on UNUSEDSIGNAL
  output reg  [K-1:0] random
);
  localparam integer FIELD = K <= 16 ? 16 : K <= 32 ? 32 : 64;
  localparam integer STEPS = K <= 16 ? 3 : K <= 32 ? 2 : 1;  // log2 of 128 / FIELD
  // verilator lint_off UNUSEDSIGNAL
  wire [31:0] place = STEP + (MOVES ? step : 32'd0);
  wire [FIELD-1:0] field = words[FIELD * place[STEPS-1:0] +: FIELD];
  // verilator lint_on UNUSEDSIGNAL
  always @(posedge clk) if (drawn && call == CALL) random <= field[FIELD-1 -: K];
endmodule
`default_nettype wire
