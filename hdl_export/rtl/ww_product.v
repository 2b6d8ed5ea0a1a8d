// The product of two factors as the sums see it (lib/widthwise/datapath/product.hpp): what a
// multiplier made of the significands, and the sum of the field exponents.
`default_nettype none
module ww_product #(
  parameter integer W = 8,
  parameter integer XW = 6
) (
  input  wire a_nan, a_inf, a_zero, a_sign,
  input  wire signed [XW-1:0] a_exp,
  input  wire b_nan, b_inf, b_zero, b_sign,
  input  wire signed [XW-1:0] b_exp,
  input  wire [W-1:0] p,
  output wire nan, inf, zero, sign,
  output wire created,  // a NaN of zero times infinity
  output wire signed [XW-1:0] exp,
  output wire [W-1:0] sig
);
  assign created = (a_inf & b_zero) | (a_zero & b_inf);
  assign nan = a_nan | b_nan | created;
  assign inf = (a_inf | b_inf) & !nan;
  assign sig = a_zero | b_zero ? {W{1'b0}} : p;
  assign zero = sig == {W{1'b0}} && !nan && !inf;  // an approximate multiplier may lose all
  assign sign = a_sign ^ b_sign;
  assign exp = a_exp + b_exp;
endmodule
`default_nettype wire
