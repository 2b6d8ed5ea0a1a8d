// An integer and a zero point, clamped to a range of codes.
`default_nettype none
module ww_clamp #(
  parameter integer W = 64,
  parameter integer CODE = 8,
  parameter signed [W-1:0] LEAST = -128,
  parameter signed [W-1:0] MOST = 127
) (
  input  wire signed [W-1:0] x, zero,
  output wire [CODE-1:0] code,
  output wire clamped
);
  // Wide enough that no sum wraps: x is more than a digit narrower than W.
  wire signed [W-1:0] moved = x + zero;
  // verilator lint_off UNUSEDSIGNAL
  wire signed [W-1:0] kept = moved < LEAST ? LEAST : moved > MOST ? MOST : moved;
  // verilator lint_on UNUSEDSIGNAL
  assign clamped = moved < LEAST || moved > MOST;
  assign code = kept[CODE-1:0];
endmodule
`default_nettype wire
