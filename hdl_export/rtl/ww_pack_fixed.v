// The code of a rounded integer and its flags, NV DZ OF UF NX (lib/widthwise/system/fixed.hpp,
// deliver_fixed; docs/semantics.md, F6 and F7). Fixed point has neither infinities nor NaN.
`default_nettype none
module ww_pack_fixed #(
  parameter integer W = 8,
  parameter IS_SIGNED = 1'b1,
  parameter [2:0] OVERFLOW = 3'd0  // a code FIXED_... of the headers
) (
  input  wire nan, inf, zero, sign, invalid,
  input  wire far, lossy,
  input  wire [W+1:0] rounded,
  output wire [W-1:0] code,
  output wire [4:0] flags
);
  localparam [4:0] NV = 5'd16, OF_NX = 5'd5;
  localparam [2:0] SYMMETRIC = 3'd1, ZERO = 3'd2, WRAP = 3'd3, WRAP_SM = 3'd4, KEEP_SIGN = 3'd5;
  localparam CLAMPS = OVERFLOW < ZERO;
  // Magnitudes of the ends of the range.
  localparam [W:0] MOST = {1'b0, {W{1'b1}}} >> (IS_SIGNED ? 1 : 0);
  localparam [W:0] LEAST = !IS_SIGNED ? {(W+1){1'b0}} :
                           OVERFLOW == SYMMETRIC ? MOST : MOST + {{W{1'b0}}, 1'b1};
  localparam [W-1:0] TOP = ~({W{1'b1}} >> 1);
  function [W:0] complemented(input negative, input [W:0] magnitude);
    complemented = negative ? -magnitude : magnitude;
  endfunction

  wire [W:0] most = sign ? LEAST : MOST;
  wire over = far || rounded > {1'b0, most};
  wire [W:0] whole = complemented(sign, rounded[W:0]);
  wire [W-1:0] low = whole[W-1:0];
  // verilator lint_off UNUSEDSIGNAL
  wire [W:0] ending = complemented(sign, most);  // the highest digit of it is not delivered
  // verilator lint_on UNUSEDSIGNAL
  wire [W-1:0] turned = whole[W] != whole[W-1] ? ~low : low;  // a triangle wave
  wire [W-1:0] signed_low = IS_SIGNED ? (low & ~TOP) | (sign ? TOP : {W{1'b0}}) : low;
  wire [W-1:0] overflowed = OVERFLOW == ZERO ? {W{1'b0}} : OVERFLOW == WRAP ? low :
                            OVERFLOW == WRAP_SM ? turned :
                            OVERFLOW == KEEP_SIGN ? signed_low : ending[W-1:0];

  wire [W-1:0] infinite = CLAMPS ? ending[W-1:0] : {W{1'b0}};
  assign code = nan || (zero && !inf) ? {W{1'b0}} : inf ? infinite : over ? overflowed : low;
  assign flags = {invalid, 4'd0} | (nan ? NV : inf ? (CLAMPS ? OF_NX : NV) : zero ? 5'd0 :
                                    over ? OF_NX : {4'd0, lossy});
endmodule
`default_nettype wire
