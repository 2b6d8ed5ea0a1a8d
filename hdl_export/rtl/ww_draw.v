// The generator of random words: a round of Philox a clock, ten for each of its calls, one call after
// the other. What a call makes is there at the edge where `drawn` is 1.
`default_nettype none
module ww_draw #(
  parameter integer CALLS = 1,
  parameter [32*CALLS-1:0] SLOTS = 0,  // of each call the rounding's, as class Slot counts them,
  parameter [32*CALLS-1:0] STEPS = 0,  // where it lies along k,
  parameter [CALLS-1:0] MOVES = 0,     // behind the port `step`,
  parameter [4*CALLS-1:0] SHARED = 0   // and log2 of how many steps share it
) (
  input  wire clk, start,
  input  wire [63:0] seed, index,
  input  wire [31:0] step,
  output reg  [15:0] call,
  output wire drawn,
  output wire [127:0] words
);
  reg [3:0] round;
  reg [127:0] counter;
  reg [63:0] key;
  // How many bits an index has depends on CALLS.
  // verilator lint_off WIDTH
  wire runs = call != CALLS;
  wire [31:0] slot = SLOTS[32*call +: 32];
  wire [31:0] place = STEPS[32*call +: 32] + (MOVES[call] ? step : 32'd0);
  wire [3:0] shared = SHARED[4*call +: 4];
  // verilator lint_on WIDTH
  wire begins = round == 4'd0;
  wire [63:0] next_key;
  ww_philox philox (
    .key(begins ? seed : key),
    .counter(begins ? {slot, place >> shared, index} : counter),
    .key_out(next_key),
    .counter_out(words));
  assign drawn = runs && round == 4'd9;
  always @(posedge clk)
    if (start) begin
      call <= 16'd0;
      round <= 4'd0;
    end else if (runs) begin
      counter <= words;
      key <= next_key;
      round <= drawn ? 4'd0 : round + 4'd1;
      call <= call + {15'd0, drawn};
    end
endmodule
`default_nettype wire
