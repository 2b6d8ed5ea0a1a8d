// The largest exponent of those terms that vote, as a tree.
`default_nettype none
module ww_largest #(
  parameter integer N = 2,
  parameter integer XW = 6
) (
  input  wire [N-1:0] votes,
  input  wire [N*XW-1:0] exp,
  output wire voted,
  output wire signed [XW-1:0] largest
);
  generate
    if (N == 1) begin : g_leaf
      assign voted = votes;
      assign largest = exp;
    end else begin : g_node
      wire low_voted, high_voted;
      wire signed [XW-1:0] low, high;
      ww_largest #(.N(N / 2), .XW(XW)) low_half (
        .votes(votes[N/2-1:0]), .exp(exp[N/2*XW-1:0]), .voted(low_voted), .largest(low));
      ww_largest #(.N(N - N / 2), .XW(XW)) high_half (
        .votes(votes[N-1:N/2]), .exp(exp[N*XW-1:N/2*XW]), .voted(high_voted), .largest(high));
      assign voted = low_voted | high_voted;
      assign largest = high_voted && (!low_voted || high > low) ? high : low;
    end
  endgenerate
endmodule
`default_nettype wire
