// In a chain every place that rounds would hand each glitch on, and the next twice as many: in an
// event-driven simulator a code waits until it stands still.
`default_nettype none
module ww_settle #(
  parameter integer W = 8
) (
  input  wire [W-1:0] x,
  output wire [W-1:0] y
);
`ifdef __ICARUS__
  reg [W-1:0] settled;
  always begin
    settled <= x;
    @(x);
  end
  assign y = settled;
`else
  assign y = x;
`endif
endmodule
`default_nettype wire
