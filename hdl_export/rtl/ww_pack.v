// The code of a rounded magnitude and its flags, NV DZ OF UF NX (lib/widthwise/round.hpp, pack and
// deliver; rounder.hpp). What a format lacks is in the parameters (docs/semantics.md, R7 and N2).
`default_nettype none
module ww_pack #(
  parameter integer EXP = 4,
  parameter integer FRAC = 3,
  parameter IS_SIGNED = 1'b1,
  parameter HAS_ZERO = 1'b1,
  parameter HAS_NAN = 1'b1,
  parameter [1:0] ZERO_SIGNS = 2'b10,      // what + and - of zeros become
  parameter FLUSH = 1'b0,           // tiny results become zero
  parameter FLUSH_TO_PLUS = 1'b0,   // and lose their sign
  parameter OVERFLOW_STOPS = 1'b1,  // some modes end at the largest finite number
  parameter [1:0] SUM_ZERO_SIGNS = 2'b10,  // and, before that, of exact ones
  parameter INFINITY_RAISES = 1'b0,  // overflow and inexact, for another code stands for it
  parameter INFINITY_HAS_SIGN = 1'b1,
  parameter PAST_HAS_SIGN = 1'b1,
  parameter [EXP+FRAC-1:0] MAX_FINITE = {{(EXP+FRAC-1){1'b1}}, 1'b0},
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] NAN = 0,
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] INFINITY = 0,  // an exact one, its sign apart
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] PAST = 0       // past the largest finite number
) (
  input  wire [3:0] rm,
  input  wire nan, inf, zero, sign,
  input  wire mixed,  // a zero sum of addends of both signs
  input  wire invalid,
  input  wire [EXP+FRAC-1:0] magnitude,
  input  wire lossy, tiny, over,
  output wire [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] code,
  output wire [4:0] flags
);
  localparam integer W = EXP + FRAC + (IS_SIGNED ? 1 : 0);
  localparam [4:0] NV = 5'd16, OF_NX = 5'd5, UF_NX = 5'd3;
  function [W-1:0] signed_code(input negative, input [W-1:0] plus);
    signed_code = plus | (IS_SIGNED && negative ? {1'b1, {(W-1){1'b0}}} : {W{1'b0}});
  endfunction
  function among(input [1:0] signs, input negative);
    among = negative ? signs[1] : signs[0];
  endfunction
  function [W-1:0] widened(input [EXP+FRAC-1:0] m);
    widened = {{(W-EXP-FRAC){1'b0}}, m};
  endfunction

  // A number.
  wire flushed = FLUSH && tiny && |magnitude;
  wire none = flushed || !(|magnitude);
  wire none_sign = among(ZERO_SIGNS, sign && !(FLUSH_TO_PLUS && flushed));
  wire [W-1:0] finite = signed_code(none ? none_sign : sign,
                                    widened(flushed ? {(EXP+FRAC){1'b0}} : magnitude));
  wire stops = OVERFLOW_STOPS && (rm == 4'd1 || rm == 4'd6 || (rm == 4'd2 && !sign) ||
                                  (rm == 4'd3 && sign));
  wire [W-1:0] overflowed = stops ? signed_code(sign, widened(MAX_FINITE))
                                  : signed_code(sign && PAST_HAS_SIGN, PAST);
  wire lost = !IS_SIGNED && sign && (!none || over || !HAS_ZERO);  // below zero there is no code
  wire [W-1:0] number = lost ? NAN : over ? overflowed : finite;
  wire [4:0] number_flags = lost ? NV : over ? OF_NX :
                            (flushed ? UF_NX : 5'd0) | {3'd0, lossy && tiny, lossy};

  // An exact zero or infinity.
  wire zero_sign = among(SUM_ZERO_SIGNS, mixed ? rm == 4'd2 : sign);
  wire [W-1:0] zero_code = HAS_ZERO ? signed_code(among(ZERO_SIGNS, zero_sign), {W{1'b0}}) :
                           HAS_NAN ? NAN : signed_code(zero_sign, {W{1'b0}});
  wire no_code = !IS_SIGNED && sign;
  wire [W-1:0] infinite = no_code ? NAN : signed_code(sign && INFINITY_HAS_SIGN, INFINITY);
  wire [4:0] infinite_flags = no_code ? NV : INFINITY_RAISES ? OF_NX : 5'd0;

  assign code = nan ? NAN : inf ? infinite : zero ? zero_code : number;
  assign flags = {invalid, 4'd0} | (nan ? (HAS_NAN ? 5'd0 : NV) : inf ? infinite_flags :
                                    zero ? (HAS_ZERO ? 5'd0 : NV) : number_flags);
endmodule
`default_nettype wire
