// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011;
// lib/widthwise/random.hpp, philox). Lower words first.
`default_nettype none
module ww_philox (
  input  wire [63:0] key,
  input  wire [127:0] counter,
  output wire [127:0] words
);
  reg [31:0] c0, c1, c2, c3, low, high;
  reg [63:0] p, r;
  integer i;
  always @* begin
    {c3, c2, c1, c0} = counter;
    {high, low} = key;
    p = 64'd0;
    r = 64'd0;
    for (i = 0; i < 10; i = i + 1) begin
      p = {32'd0, c0} * 64'h00000000d2511f53;
      r = {32'd0, c2} * 64'h00000000cd9e8d57;
      c0 = r[63:32] ^ c1 ^ low;
      c1 = r[31:0];
      c2 = p[63:32] ^ c3 ^ high;
      c3 = p[31:0];
      low = low + 32'h9e3779b9;
      high = high + 32'hbb67ae85;
    end
  end
  assign words = {c3, c2, c1, c0};
endmodule
`default_nettype wire
