// A sum of 32 bits, shifted left in these, times an unsigned constant.
`default_nettype none
module ww_scale_sum #(
  parameter integer LEFT = 0,  // digits past the sum's own 32 are lost
  parameter [31:0] M = 1
) (
  input  wire [31:0] sum,
  output wire signed [64:0] p
);
  wire [31:0] moved = LEFT >= 32 ? 32'd0 : sum << LEFT;
  wire signed [64:0] wide = {{33{moved[31]}}, moved};
  wire signed [64:0] by = {33'd0, M};
  assign p = wide * by;
endmodule
`default_nettype wire
