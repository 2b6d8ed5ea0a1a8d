// The first KEPT digits of x, all that follow ORed into the last one.
`default_nettype none
module ww_jam #(
  parameter integer W = 8,
  parameter integer KEPT = 6
) (
  input  wire [W-1:0] x,
  output wire [KEPT-1:0] y
);
  generate
    if (W > KEPT) begin : g_jam
      assign y = x[W-1:W-KEPT] | {{(KEPT-1){1'b0}}, |x[W-KEPT-1:0]};
    end else begin : g_all
      assign y = x;
    end
  endgenerate
endmodule
`default_nettype wire
