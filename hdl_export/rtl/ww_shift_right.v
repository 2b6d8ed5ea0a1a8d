// sig >> distance; with JAM every lost one is folded into bit 0, so that rounding later still sees
// it. The distance saturates: past the last digit only the folded bit is left.
`default_nettype none
module ww_shift_right #(
  parameter integer W = 8,
  parameter integer XW = 6,  // W < 2^XW
  parameter JAM = 1'b1
) (
  input  wire [W-1:0] sig,
  input  wire [XW-1:0] distance,
  output wire [W-1:0] shifted
);
  localparam [31:0] WIDTH = W;
  wire far = {32'd0, distance} >= {{XW{1'b0}}, WIDTH};
  reg [W-1:0] kept;
  reg lost;
  integer k;
  always @* begin
    kept = sig;
    lost = 1'b0;
    for (k = 0; (1 << k) < W; k = k + 1)
      if (distance[k]) begin
        lost = lost | |(kept & ~({W{1'b1}} << (1 << k)));
        kept = kept >> (1 << k);
      end
    if (far) begin
      kept = {W{1'b0}};
      lost = |sig;
    end
  end
  assign shifted = JAM ? kept | {{(W-1){1'b0}}, lost} : kept;
endmodule
`default_nettype wire
