// A number without the low DROP digits of its significand (lib/widthwise/datapath/operand.hpp,
// condition). A carry to the next power of two moves the exponent.
`default_nettype none
module ww_condition #(
  parameter integer W = 8,  // digits that come in
  parameter integer DROP = 2,
  parameter integer XW = 6,
  parameter [3:0] RM = 4'd1
) (
  input  wire nan, inf, sign,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire zero,  // or nothing is left
  output wire signed [XW-1:0] exp_out,
  output wire [W-DROP-1:0] sig_out
);
  localparam integer P = W - DROP;
  wire [P-1:0] cut = sig[W-1:DROP];
  wire [DROP:0] rest = {sig[DROP-1:0], 1'b0};
  wire away;
  ww_decide decide (
    .rm(RM), .sign(sign), .odd(cut[0]), .rest({rest[DROP], |rest[DROP-1:0]}), .random(1'b0),
    .away(away));
  wire [P:0] kept = {1'b0, cut} + {{P{1'b0}}, away};
  assign zero = kept == {(P+1){1'b0}} && !nan && !inf;
  assign exp_out = exp + $signed({{(XW-1){1'b0}}, kept[P]});
  assign sig_out = kept[P] ? kept[P:1] : kept[P-1:0];
endmodule
`default_nettype wire
