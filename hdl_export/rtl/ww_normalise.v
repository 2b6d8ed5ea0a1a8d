// A magnitude with its leading one at the top of SW digits, those below jammed into the last one;
// exp becomes the exponent of the leading one (lib/widthwise/unpack.hpp, normalise).
`default_nettype none
module ww_normalise #(
  parameter integer W = 8,   // digits that come in
  parameter integer SW = 6,  // digits that go out
  parameter integer XW = 6,
  parameter signed [XW-1:0] TOP = 1  // exponent of the top digit of sig, above exp
) (
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire zero,
  output wire signed [XW-1:0] exp_out,
  output wire [SW-1:0] sig_out
);
  localparam integer NW = W > SW ? W : SW;
  function integer floor_log2(input integer n);
    for (floor_log2 = 0; n > 1; floor_log2 = floor_log2 + 1) n = n >> 1;
  endfunction

  wire [NW-1:0] padded;
  generate
    if (NW > W) begin : g_pad
      assign padded = {sig, {(NW-W){1'b0}}};
    end else begin : g_whole
      assign padded = sig;
    end
  endgenerate

  reg [NW-1:0] moved;
  reg [XW-1:0] zeros;
  integer k;
  always @* begin
    moved = padded;
    zeros = {XW{1'b0}};
    for (k = floor_log2(NW - 1); k >= 0; k = k - 1)
      if ((moved >> (NW - (1 << k))) == {NW{1'b0}}) begin
        moved = moved << (1 << k);
        zeros[k] = 1'b1;
      end
  end
  assign zero = !moved[NW-1];
  assign exp_out = exp + TOP - $signed(zeros);
  generate
    if (NW > SW) begin : g_jam
      assign sig_out = moved[NW-1:NW-SW] | {{(SW-1){1'b0}}, |moved[NW-SW-1:0]};
    end else begin : g_all
      assign sig_out = moved;
    end
  endgenerate
endmodule
`default_nettype wire
