// A sum of 32 bits, shifted left in these, times an unsigned number.
`default_nettype none
module ww_scale_sum (
  input  wire [31:0] sum,
  input  wire [5:0] left,  // digits past the sum's own 32 are lost
  input  wire [31:0] m,
  output wire signed [64:0] p
);
  wire [31:0] moved = sum << left;
  wire signed [64:0] wide = {{33{moved[31]}}, moved};
  wire signed [64:0] by = {33'd0, m};
  assign p = wide * by;
endmodule
`default_nettype wire
