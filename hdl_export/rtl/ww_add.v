// The sum of N integers modulo 2^W, as a tree.
`default_nettype none
module ww_add #(
  parameter integer N = 2,
  parameter integer W = 8
) (
  input  wire [N*W-1:0] terms,
  output wire [W-1:0] sum
);
  generate
    if (N == 1) begin : g_leaf
      assign sum = terms;
    end else begin : g_node
      wire [W-1:0] low, high;
      ww_add #(.N(N / 2), .W(W)) low_half (.terms(terms[N/2*W-1:0]), .sum(low));
      ww_add #(.N(N - N / 2), .W(W)) high_half (.terms(terms[N*W-1:N/2*W]), .sum(high));
      assign sum = low + high;
    end
  endgenerate
endmodule
`default_nettype wire
