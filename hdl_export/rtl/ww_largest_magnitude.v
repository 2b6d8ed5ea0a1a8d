// The largest of unsigned numbers, as a tree: magnitudes of floats are in the order of their codes.
`default_nettype none
module ww_largest_magnitude #(
  parameter integer N = 2,
  parameter integer W = 8
) (
  input  wire [N*W-1:0] x,
  output wire [W-1:0] largest
);
  generate
    if (N == 1) begin : g_leaf
      assign largest = x;
    end else begin : g_node
      wire [W-1:0] low, high;
      ww_largest_magnitude #(.N(N / 2), .W(W)) low_half (.x(x[N/2*W-1:0]), .largest(low));
      ww_largest_magnitude #(.N(N - N / 2), .W(W)) high_half (
        .x(x[N*W-1:N/2*W]), .largest(high));
      assign largest = high > low ? high : low;
    end
  endgenerate
endmodule
`default_nettype wire
