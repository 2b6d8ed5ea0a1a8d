// A normalised significand shifted into the subnormal range if it has to be, what falls off jammed
// (lib/widthwise/round.hpp, denormalise). field is the exponent above the least one, 0 below it.
`default_nettype none
module ww_denormalise #(
  parameter integer SW = 6,
  parameter integer XW = 6,
  parameter signed [XW-1:0] EMIN = -6
) (
  input  wire signed [XW-1:0] exp,
  input  wire [SW-1:0] sig,
  output wire subnormal,
  output wire by_one,  // short of the least exponent by one binade
  output wire [XW-1:0] field,
  output wire [SW-1:0] sig_out
);
  wire signed [XW-1:0] above = exp - EMIN;
  wire signed [XW-1:0] short_by = EMIN - exp;
  assign subnormal = above[XW-1];
  assign by_one = &above;
  assign field = subnormal ? {XW{1'b0}} : above;
  ww_shift_right #(.W(SW), .XW(XW)) shift (
    .sig(sig), .distance(subnormal ? short_by : {XW{1'b0}}), .shifted(sig_out));
endmodule
`default_nettype wire
