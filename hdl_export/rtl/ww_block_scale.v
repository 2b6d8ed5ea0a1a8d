// A block's scale from its largest magnitude, whose leading digit stands at the top of sig and has
// the exponent exp: 2^E, E = exp - EMAX, one more where sig is UP or above, one less where it is
// below DOWN, clamped to +-TOP (sim/containers/block_scale.cpp). All ones are a block's that holds
// NaN or infinity.
`default_nettype none
module ww_block_scale #(
  parameter integer W = 24,
  parameter integer XW = 10,  // bits of a signed exponent
  parameter integer CODE = 8,
  parameter signed [XW-1:0] EMAX = 8,  // exponent of the element's largest number
  parameter signed [XW-1:0] TOP = 127,
  parameter [W:0] UP = {1'b1, {W{1'b0}}},
  parameter [W:0] DOWN = {(W+1){1'b0}},
  parameter FLUSH = 1'b0,  // a block below 2^LEAST is one of zeros
  parameter signed [XW-1:0] LEAST = -126
) (
  input  wire special, zero,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire [CODE-1:0] code,
  output wire signed [XW-1:0] scale,
  output wire flushed
);
  wire signed [XW-1:0] up = $signed({{(XW-1){1'b0}}, {1'b0, sig} >= UP});
  wire signed [XW-1:0] down = $signed({{(XW-1){1'b0}}, {1'b0, sig} < DOWN});
  wire signed [XW-1:0] wanted = exp - EMAX + up - down;
  assign flushed = FLUSH && exp < LEAST;
  assign scale = zero || flushed || wanted < -TOP ? -TOP : wanted > TOP ? TOP : wanted;
  // verilator lint_off UNUSEDSIGNAL
  wire [XW-1:0] biased = scale + TOP;
  // verilator lint_on UNUSEDSIGNAL
  assign code = special ? {CODE{1'b1}} : biased[CODE-1:0];
endmodule
`default_nettype wire
