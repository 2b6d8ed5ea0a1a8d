// A number over a power of two, or zero of its sign where there is none.
`default_nettype none
module ww_rescale #(
  parameter integer W = 24,
  parameter integer XW = 10
) (
  input  wire none,
  input  wire signed [XW-1:0] exp, scale,
  input  wire [W-1:0] sig,
  output wire signed [XW-1:0] exp_out,
  output wire [W-1:0] sig_out
);
  assign exp_out = exp - scale;
  assign sig_out = none ? {W{1'b0}} : sig;
endmodule
`default_nettype wire
