// The magnitude of a number as a takum of no end of bits would spell it (lib/widthwise/system/
// tapered.hpp, takum_pattern): those that the takum keeps, and K + 1 more and the OR of the rest.
//
//   | direction | how long: 3 bits | exponent, so many bits | fraction |
//
`default_nettype none
module ww_takum_pattern #(
  parameter integer N = 16,
  parameter integer K = 0,
  parameter integer FD = 13,  // digits of sig below the leading one, the last one jammed
  parameter integer XW = 10
) (
  input  wire signed [XW-1:0] exp,
  // verilator lint_off UNUSEDSIGNAL
  input  wire [FD:0] sig,
  // verilator lint_on UNUSEDSIGNAL
  output wire [N-2:0] kept,
  output wire [K+1:0] rest
);
  localparam integer S = N + 1 + K;
  localparam integer TW = FD > 8 ? FD : 8;
  // verilator lint_off WIDTH
  wire above = exp > 254;
  wire below = exp < -255;
  // verilator lint_on WIDTH
  wire [8:0] c = above ? 9'd254 : below ? 9'd257 : exp[8:0];
  wire up = !c[8];
  wire [7:0] v = up ? c[7:0] + 8'd1 : -c[7:0];  // its leading one is not spelt
  reg [2:0] bits;
  integer k;
  always @* begin
    bits = 3'd0;
    for (k = 1; k < 8; k = k + 1) if (v[k]) bits = k[2:0];
  end
  // verilator lint_off UNUSEDSIGNAL
  wire [7:0] low = (up ? v : ~v) << ~bits;
  // verilator lint_on UNUSEDSIGNAL
  wire [FD-1:0] fraction = above ? {FD{1'b1}} : below ? {{(FD-1){1'b0}}, 1'b1} : sig[FD-1:0];
  wire [TW-1:0] padded, moved;
  generate
    if (TW > FD) begin : g_pad
      assign padded = {fraction, {(TW-FD){1'b0}}};
    end else begin : g_whole
      assign padded = fraction;
    end
  endgenerate
  ww_shift_right #(.W(TW), .XW(8)) shift (
    .sig(padded), .distance({5'd0, bits}), .shifted(moved));
  wire [TW+3:0] whole = {up, up ? bits : ~bits, moved | {low[6:0], {(TW-7){1'b0}}}};
  ww_jam #(.W(TW + 4), .KEPT(S)) jam (.x(whole), .y({kept, rest}));
endmodule
`default_nettype wire
