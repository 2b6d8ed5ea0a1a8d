// A linear takum taken apart (lib/widthwise/system/tapered.hpp, read_takum): (-1)^sign * sig * 2^exp
// with the point behind the leading one of sig, unless it is NaR.
//
//   | sign | direction | how long: 3 bits | exponent, so many bits | fraction |
//
`default_nettype none
module ww_unpack_takum #(
  parameter integer N = 16,
  parameter integer D = 12,  // digits of sig, N - 4 or 1
  parameter integer XW = 10,
  parameter NEGATE = 1'b0  // the number's sign is turned
) (
  input  wire [N-1:0] code,
  output wire nan, signaling, inf, zero, sign,
  output wire signed [XW-1:0] exp,
  output wire [D-1:0] sig
);
  wire negative = code[N-1];
  wire none = code[N-2:0] == {(N-1){1'b0}};
  wire [N-2:0] body = negative ? -code[N-2:0] : code[N-2:0];

  // Bits that are cut off are 0.
  wire up;
  wire [2:0] length;
  wire [N+5:0] tail;
  assign {up, length, tail} = {body, 11'd0};
  wire [2:0] bits = up ? length : ~length;
  wire [7:0] power = 8'd1 << bits;
  // verilator lint_off UNUSEDSIGNAL
  wire [6:0] low = tail[N+5:N-1] >> ~bits;
  wire [N+5:0] fraction = tail << bits;  // the digits of sig and no others
  // verilator lint_on UNUSEDSIGNAL
  wire [9:0] least = up ? {2'd0, power} - 10'd1 : 10'd1 - {1'b0, power, 1'b0};
  wire [9:0] c = least + {3'd0, low};
  assign exp = {{(XW-9){c[9]}}, c[8:0]};
  generate
    if (D > 1) begin : g_fraction
      assign sig = none ? {D{1'b0}} : {1'b1, fraction[N+5:N+7-D]};
    end else begin : g_power
      assign sig = !none;
    end
  endgenerate
  assign nan = negative && none;
  assign {signaling, inf} = 2'd0;
  assign zero = !negative && none;
  assign sign = negative ^ NEGATE;
endmodule
`default_nettype wire
