// N registers in a row, none for N = 0. They keep what they hold while enable is low.
`default_nettype none
module ww_delay #(
  parameter integer N = 1,
  parameter integer W = 1
) (
  // verilator lint_off UNUSEDSIGNAL
  input  wire clk, rst, enable,  // unused where there is no register
  // verilator lint_on UNUSEDSIGNAL
  input  wire [W-1:0] d,
  output wire [W-1:0] q
);
  generate
    if (N > 0) begin : g_registers
      reg [N*W-1:0] held;
      wire [(N+1)*W-1:0] line = {held, d};
      always @(posedge clk)
        if (rst) held <= {(N*W){1'b0}};
        else if (enable) held <= line[N*W-1:0];
      assign q = line[N*W +: W];
    end else begin : g_wire
      assign q = d;
    end
  endgenerate
endmodule
`default_nettype wire
