// The product of two significands, hidden ones included. An approximate multiplier is another
// module of these ports and parameters.
`default_nettype none
module ww_multiply #(
  parameter integer WA = 4,
  parameter integer WB = 4
) (
  input  wire [WA-1:0] a,
  input  wire [WB-1:0] b,
  output wire [WA+WB-1:0] p
);
  assign p = {{WB{1'b0}}, a} * {{WA{1'b0}}, b};
endmodule
`default_nettype wire
