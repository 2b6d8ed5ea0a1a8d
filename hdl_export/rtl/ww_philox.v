// One of the ten rounds of Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", 2011; lib/widthwise/random.hpp, philox). Lower words first.
`default_nettype none
module ww_philox (
  input  wire [63:0] key,
  input  wire [127:0] counter,
  output wire [63:0] key_out,
  output wire [127:0] counter_out
);
  wire [31:0] c0, c1, c2, c3, low, high;
  assign {c3, c2, c1, c0} = counter;
  assign {high, low} = key;
  wire [63:0] p = {32'd0, c0} * 64'h00000000d2511f53;
  wire [63:0] r = {32'd0, c2} * 64'h00000000cd9e8d57;
  assign counter_out = {p[31:0], p[63:32] ^ c3 ^ high, r[31:0], r[63:32] ^ c1 ^ low};
  assign key_out = {high + 32'hbb67ae85, low + 32'h9e3779b9};
endmodule
`default_nettype wire
