// Whether a product has reached 2^(LIMIT - F), from where on it is infinite
// (lib/widthwise/datapath/product.hpp, overflow_to_inf_at).
`default_nettype none
module ww_limit #(
  parameter integer W = 8,
  parameter integer XW = 6,
  parameter signed [XW-1:0] LIMIT = 0  // digits of sig below exp counted in
) (
  input  wire nan, inf,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire inf_out
);
  wire signed [XW-1:0] distance = LIMIT - exp;
  wire [W-1:0] reached;
  ww_shift_right #(.W(W), .XW(XW), .JAM(1'b0)) shift (
    .sig(sig), .distance(distance[XW-1] ? {XW{1'b0}} : distance), .shifted(reached));
  assign inf_out = inf | (|reached & !nan);
endmodule
`default_nettype wire
