// An integer over 2^k, to nearest: ties to even, up, or away from zero.
`default_nettype none
module ww_round_shift #(
  parameter integer W = 64,
  parameter integer TIES = 0  // 0 to even, 1 up, 2 away
) (
  input  wire signed [W-1:0] x,
  input  wire [6:0] k,  // below W
  output wire signed [W-1:0] y
);
  wire signed [W-1:0] down = x >>> k;
  wire [W-1:0] lost = x & ~({W{1'b1}} << k);
  wire [W-1:0] half = ({{(W-1){1'b0}}, 1'b1} << k) >> 1;  // 0 where none is lost
  wire tie_up = TIES == 1 || (TIES == 0 ? down[0] : !x[W-1]);
  wire up = |(lost & half) && (|(lost & ~half) || tie_up);
  assign y = down + $signed({{(W-1){1'b0}}, up});
endmodule
`default_nettype wire
