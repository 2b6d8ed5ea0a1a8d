// A number in units of a fixed last digit (lib/widthwise/system/fixed.hpp, fixed_pattern): the low
// KEPT digits of the integer, and of what lies below it K + 1 digits and the OR of all further ones.
//
//   |     sig     | 0 ... 0 |  >> (DOWN - exp)  =  | far | kept | rest |
//
`default_nettype none
module ww_place #(
  parameter integer W = 8,
  parameter integer KEPT = 9,
  parameter integer K = 0,
  parameter integer XW = 6,
  parameter signed [XW-1:0] DOWN = 0  // how far it goes where exp is 0
) (
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire far,  // digits stand above the kept ones
  output wire [KEPT-1:0] kept,
  output wire [K+1:0] rest
);
  localparam integer Q = KEPT + K + 2;
  wire signed [XW-1:0] distance = DOWN - exp;
  wire [W-1:0] above;
  ww_shift_right #(.W(W + Q), .XW(XW)) shift (
    .sig({sig, {Q{1'b0}}}), .distance(distance[XW-1] ? {XW{1'b0}} : distance),
    .shifted({above, kept, rest}));
  assign far = |above;
endmodule
`default_nettype wire
