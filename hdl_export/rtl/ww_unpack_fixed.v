// A code of fixed point as sign and magnitude (lib/widthwise/system/fixed.hpp, read_fixed):
// (-1)^sign * sig * 2^(exp - FRAC), where exp is one for all codes.
`default_nettype none
module ww_unpack_fixed #(
  parameter integer W = 8,
  parameter integer XW = 6,
  parameter IS_SIGNED = 1'b1,  // two's complement
  parameter NEGATE = 1'b0,     // the number's sign is turned
  parameter signed [XW-1:0] EXP = 3
) (
  input  wire [W-1:0] code,
  output wire nan, signaling, inf, zero, sign,
  output wire signed [XW-1:0] exp,
  output wire [W-1:0] sig
);
  wire negative = IS_SIGNED && code[W-1];
  assign sig = negative ? -code : code;
  assign {nan, signaling, inf} = 3'd0;
  assign zero = code == {W{1'b0}};
  assign sign = negative ^ NEGATE;
  assign exp = EXP;
endmodule
`default_nettype wire
