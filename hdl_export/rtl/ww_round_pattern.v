// A pattern rounded on its own last bit (lib/widthwise/system/pattern.hpp, rounded_pattern).
`default_nettype none
module ww_round_pattern #(
  parameter integer W = 8,
  parameter integer K = 0,
  parameter integer VARIANT = 0
) (
  input  wire [3:0] rm,
  input  wire sign,
  input  wire [W-1:0] kept,
  input  wire [K+1:0] rest,
  input  wire [(K > 0 ? K : 1)-1:0] random,
  output wire [W:0] rounded,
  output wire lossy
);
  wire away;
  ww_decide #(.K(K), .VARIANT(VARIANT)) decide (
    .rm(rm), .sign(sign), .odd(kept[0]), .rest(rest), .random(random), .away(away));
  assign rounded = {1'b0, kept} + {{W{1'b0}}, away};
  assign lossy = |rest;
endmodule
`default_nettype wire
