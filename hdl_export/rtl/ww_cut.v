// The first of two cuts (lib/widthwise/datapath/rounding_slot.hpp, cut_after_normalising): KEEP
// digits stay below the leading one, or below that of the least normal number.
//
//   | 0 1 . x x x x x x | g s |      exp_out is the weight of the digit before the point
//           <-- KEEP -->
//
`default_nettype none
module ww_cut #(
  parameter integer W = 8,  // digits that come in: (-1)^sign * sig * 2^(exp + TOP - (W - 1))
  parameter integer KEEP = 6,
  parameter integer XW = 6,
  parameter signed [XW-1:0] TOP = 1,
  parameter signed [XW-1:0] EMIN = -6,
  parameter [3:0] RM = 4'd1
) (
  input  wire sign,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire zero,  // before the cut
  output wire signed [XW-1:0] exp_out,
  output wire [KEEP+1:0] sig_out
);
  localparam integer SW = KEEP + 3;
  wire signed [XW-1:0] normal_exp;
  wire [SW-1:0] normal, placed;
  ww_normalise #(.W(W), .SW(SW), .XW(XW), .TOP(TOP)) normalise (
    .exp(exp), .sig(sig), .zero(zero), .exp_out(normal_exp), .sig_out(normal));

  // verilator lint_off UNUSEDSIGNAL
  wire subnormal, by_one;
  // verilator lint_on UNUSEDSIGNAL
  wire [XW-1:0] above;
  ww_denormalise #(.SW(SW), .XW(XW), .EMIN(EMIN)) denormalise (
    .exp(normal_exp), .sig(normal), .subnormal(subnormal), .by_one(by_one), .field(above),
    .sig_out(placed));
  assign exp_out = EMIN + $signed(above);

  wire away;
  ww_decide decide (
    .rm(RM), .sign(sign), .odd(placed[2]), .rest(placed[1:0]), .random(1'b0), .away(away));
  assign sig_out = {1'b0, placed[SW-1:2]} + {{(KEEP+1){1'b0}}, away};
endmodule
`default_nettype wire
