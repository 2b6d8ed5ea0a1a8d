// A table's code looked up (lib/widthwise/system/listed.hpp, read_listed): (-1)^sign * sig * 2^exp
// with the point behind the leading digit of sig, unless it is NaN.
//
//   ROM: of each code, the last one first  | nan | zero | sign | exp | sig |
//
`default_nettype none
module ww_unpack_table #(
  parameter integer N = 4,
  parameter integer D = 1,   // digits of sig
  parameter integer XW = 8,
  parameter NEGATE = 1'b0,   // the number's sign is turned
  parameter [(1 << N)*(3 + XW + D)-1:0] ROM = {((1 << N)*(3 + XW + D)){1'b0}}
) (
  input  wire [N-1:0] code,
  output wire nan, signaling, inf, zero, sign,
  output wire signed [XW-1:0] exp,
  output wire [D-1:0] sig
);
  localparam integer ENTRY = 3 + XW + D;
  wire negative;
  assign {nan, zero, negative, exp, sig} = ROM[{{(32-N){1'b0}}, code}*ENTRY +: ENTRY];
  assign {signaling, inf} = 2'd0;
  assign sign = negative ^ NEGATE;
endmodule
`default_nettype wire
