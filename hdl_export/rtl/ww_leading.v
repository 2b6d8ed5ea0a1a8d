// The leading KEEP digits of x, the last of them set to one to centre the error, then zeros; x
// itself where it has no more digits.
`default_nettype none
module ww_leading #(
  parameter integer W = 8,
  parameter integer KEEP = 4
) (
  input  wire [W-1:0] x,
  output wire [W-1:0] leading
);
  localparam [W-1:0] ONE = 1;
  reg [W-1:0] y;
  integer i;
  always @* begin
    y = x;
    for (i = KEEP; i < W; i = i + 1)
      if (x[i]) y = ((x >> (i - KEEP + 1)) | ONE) << (i - KEEP + 1);
  end
  assign leading = y;
endmodule
`default_nettype wire
