// |x| >= |y|; not where one is NaN (lib/widthwise/datapath/compensation.hpp, at_least).
`default_nettype none
module ww_at_least #(
  parameter integer WX = 8,
  parameter integer WY = 8,
  parameter integer XW = 6,
  parameter signed [XW-1:0] TOP_X = 1,  // exponents of the top digits, above the terms' own
  parameter signed [XW-1:0] TOP_Y = 1
) (
  input  wire x_nan, x_inf, y_nan, y_inf,
  input  wire signed [XW-1:0] x_exp, y_exp,
  input  wire [WX-1:0] x_sig,
  input  wire [WY-1:0] y_sig,
  output wire at_least
);
  localparam integer W = WX > WY ? WX : WY;
  wire x_none, y_none;
  wire signed [XW-1:0] x_lead, y_lead;
  wire [W-1:0] x, y;
  ww_normalise #(.W(WX), .SW(W), .XW(XW), .TOP(TOP_X)) normalise_x (
    .exp(x_exp), .sig(x_sig), .zero(x_none), .exp_out(x_lead), .sig_out(x));
  ww_normalise #(.W(WY), .SW(W), .XW(XW), .TOP(TOP_Y)) normalise_y (
    .exp(y_exp), .sig(y_sig), .zero(y_none), .exp_out(y_lead), .sig_out(y));
  wire finite = y_none || (!x_none && (x_lead > y_lead || (x_lead == y_lead && x >= y)));
  assign at_least = !x_nan && !y_nan && (x_inf || y_inf ? x_inf : finite);
endmodule
`default_nettype wire
