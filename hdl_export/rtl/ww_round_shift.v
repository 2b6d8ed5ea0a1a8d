// An integer over 2^K, to nearest: ties to even, up, or away from zero.
`default_nettype none
module ww_round_shift #(
  parameter integer W = 64,
  parameter integer K = 1,    // below W
  parameter integer TIES = 0  // 0 to even, 1 up, 2 away
) (
  input  wire signed [W-1:0] x,
  output wire signed [W-1:0] y
);
  generate
    if (K == 0) begin : g_whole
      assign y = x;
    end else begin : g_cut
      wire signed [W-1:0] down = x >>> K;
      wire [W-1:0] below = x & ~({W{1'b1}} << (K - 1));
      wire tie_up = TIES == 1 || (TIES == 0 ? down[0] : !x[W-1]);
      wire up = x[K-1] && (|below || tie_up);
      assign y = down + $signed({{(W-1){1'b0}}, up});
    end
  endgenerate
endmodule
`default_nettype wire
