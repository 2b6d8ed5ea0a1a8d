// Mitchell's logarithmic multiplier (lib/widthwise/multipliers.hpp; 1962). Both operands are
// normalised, for log2 (1 + f) is about f; the product takes their shifts back.
//
//   fractions' sum below 1:  1 + fa + fb      else  2 (fa + fb)
//
`default_nettype none
module ww_mitchell #(
  parameter integer WA = 4,
  parameter integer WB = 4
) (
  input  wire [WA-1:0] a,
  input  wire [WB-1:0] b,
  output wire [WA+WB-1:0] p
);
  function integer bits(input integer n);
    for (bits = 0; n > 0; bits = bits + 1) n = n >> 1;
  endfunction
  localparam integer XW = bits(WA + WB) + 1;
  localparam integer F = WA + WB - 2;  // digits of the fractions
  wire none_a, none_b;
  wire signed [XW-1:0] exp_a, exp_b;
  wire [WA-1:0] lead_a;
  wire [WB-1:0] lead_b;
  ww_normalise #(.W(WA), .SW(WA), .XW(XW), .TOP(0)) normalise_a (
    .exp({XW{1'b0}}), .sig(a), .zero(none_a), .exp_out(exp_a), .sig_out(lead_a));
  ww_normalise #(.W(WB), .SW(WB), .XW(XW), .TOP(0)) normalise_b (
    .exp({XW{1'b0}}), .sig(b), .zero(none_b), .exp_out(exp_b), .sig_out(lead_b));

  // With the hidden ones the fractions add to 2 + fa + fb.
  wire [F+1:0] sum = ({{WB{1'b0}}, lead_a} << (WB - 1)) + ({{WA{1'b0}}, lead_b} << (WA - 1));
  wire [F+1:0] one = {{(F+1){1'b0}}, 1'b1} << F;
  wire [F+1:0] fractions = sum - (one << 1);
  wire [F+1:0] product = fractions < one ? one + fractions : fractions << 1;
  wire [F+1:0] placed;
  wire [XW-1:0] shift = -(exp_a + exp_b);
  ww_shift_right #(.W(F+2), .XW(XW), .JAM(1'b0)) shift_back (
    .sig(product), .distance(shift), .shifted(placed));
  assign p = none_a || none_b ? {(WA+WB){1'b0}} : placed;
endmodule
`default_nettype wire
