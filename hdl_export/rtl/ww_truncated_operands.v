// The product of operands without their low DROP digits (lib/widthwise/multipliers.hpp).
`default_nettype none
module ww_truncated_operands #(
  parameter integer WA = 4,
  parameter integer WB = 4,
  parameter integer DROP = 2
) (
  input  wire [WA-1:0] a,
  input  wire [WB-1:0] b,
  output wire [WA+WB-1:0] p
);
  wire [WA-1:0] cut_a = a & ({WA{1'b1}} << DROP);
  wire [WB-1:0] cut_b = b & ({WB{1'b1}} << DROP);
  ww_multiply #(.WA(WA), .WB(WB)) multiply (.a(cut_a), .b(cut_b), .p(p));
endmodule
`default_nettype wire
