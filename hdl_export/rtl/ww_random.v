// The K random bits of one stochastic rounding (lib/widthwise/random.hpp, random_bits). One call of
// the generator serves the steps whose fields lie side by side in its words.
`default_nettype none
module ww_random #(
  parameter integer K = 8,
  parameter [31:0] SLOT = 32'd2  // the rounding's, as class Slot counts them
) (
  input  wire [63:0] seed,
  input  wire [63:0] index,  // of the output, flat, row-major
  input  wire [31:0] step,   // along k
  output wire [K-1:0] random
);
  localparam integer FIELD = K <= 16 ? 16 : K <= 32 ? 32 : 64;
  localparam integer STEPS = K <= 16 ? 3 : K <= 32 ? 2 : 1;  // log2 of 128 / FIELD
  wire [127:0] words;
  ww_philox philox (.key(seed), .counter({SLOT, step >> STEPS, index}), .words(words));
  // verilator lint_off UNUSEDSIGNAL
  wire [FIELD-1:0] field = words[FIELD * step[STEPS-1:0] +: FIELD];
  // verilator lint_on UNUSEDSIGNAL
  assign random = field[FIELD-1 -: K];
endmodule
`default_nettype wire
