// The product of the operands' leading KEEP digits (lib/widthwise/multipliers.hpp; DRUM: Hashemi,
// Bahar, Reda, 2015).
`default_nettype none
module ww_drum #(
  parameter integer WA = 4,
  parameter integer WB = 4,
  parameter integer KEEP = 3
) (
  input  wire [WA-1:0] a,
  input  wire [WB-1:0] b,
  output wire [WA+WB-1:0] p
);
  wire [WA-1:0] lead_a;
  wire [WB-1:0] lead_b;
  ww_leading #(.W(WA), .KEEP(KEEP)) leading_a (.x(a), .leading(lead_a));
  ww_leading #(.W(WB), .KEEP(KEEP)) leading_b (.x(b), .leading(lead_b));
  ww_multiply #(.WA(WA), .WB(WB)) multiply (.a(lead_a), .b(lead_b), .p(p));
endmodule
`default_nettype wire
