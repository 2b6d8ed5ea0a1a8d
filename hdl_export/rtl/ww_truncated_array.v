// A product without its rightmost columns: partial-product bits of a weight below 2^COLUMNS are
// never added (lib/widthwise/multipliers.hpp; Schulte and Swartzlander, 1993).
`default_nettype none
module ww_truncated_array #(
  parameter integer WA = 4,
  parameter integer WB = 4,
  parameter integer COLUMNS = 4
) (
  input  wire [WA-1:0] a,
  input  wire [WB-1:0] b,
  output wire [WA+WB-1:0] p
);
  localparam [WA+WB-1:0] KEPT = {(WA+WB){1'b1}} << COLUMNS;
  reg [WA+WB-1:0] sum;
  integer i;
  always @* begin
    sum = {(WA+WB){1'b0}};
    for (i = 0; i < WB; i = i + 1)
      if (b[i]) sum = sum + (({{WB{1'b0}}, a} << i) & KEPT);
  end
  assign p = sum;
endmodule
`default_nettype wire
