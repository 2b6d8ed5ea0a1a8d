// A code taken apart (lib/widthwise/unpack.hpp): (-1)^sign * sig * 2^(exp - FRAC), unless it is
// infinite or NaN. exp is the field exponent, that of the least normal number for a subnormal.
`default_nettype none
module ww_unpack #(
  parameter integer EXP = 4,   // bits of the exponent field
  parameter integer FRAC = 3,  // bits of the fraction, the hidden one not counted
  parameter integer XW = 6,    // bits of a signed exponent
  parameter IS_SIGNED = 1'b1,
  parameter HAS_SUBNORMAL = 1'b1,        // exponent field 0 has no hidden one
  parameter HAS_ZERO = 1'b1,             // code 0 is zero
  parameter HAS_SIGNALING = 1'b0,        // a NaN whose top fraction bit is 0 signals
  parameter NAN_IS_NEGATIVE_ZERO = 1'b0,
  parameter FLUSH = 1'b0,                // subnormals are read as zero
  parameter ZERO_IS_PLUS = 1'b0,         // zeros lose their sign
  parameter NEGATE = 1'b0,               // the number's sign is turned
  parameter signed [XW-1:0] BIAS = 7,
  // Magnitudes: 0 | ... | INFINITY | FIRST_NAN ...; past the last one where there is none.
  parameter [EXP+FRAC:0] FIRST_NAN = {1'b0, {(EXP+FRAC){1'b1}}},
  parameter [EXP+FRAC:0] INFINITY = {1'b1, {(EXP+FRAC){1'b0}}}
) (
  input  wire [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] code,
  output wire nan, signaling, inf, zero, sign,
  output wire signed [XW-1:0] exp,
  output wire [FRAC:0] sig
);
  wire [EXP+FRAC-1:0] magnitude = code[EXP+FRAC-1:0];
  wire [EXP-1:0] field = magnitude[EXP+FRAC-1:FRAC];
  wire none = magnitude == {(EXP+FRAC){1'b0}};
  wire bottom = HAS_SUBNORMAL && field == {EXP{1'b0}};
  wire negative = IS_SIGNED && code[EXP+FRAC-(IS_SIGNED ? 0 : 1)];

  assign nan = NAN_IS_NEGATIVE_ZERO ? negative && none : {1'b0, magnitude} >= FIRST_NAN;
  assign signaling = nan && HAS_SIGNALING && !code[FRAC > 0 ? FRAC-1 : 0];
  assign inf = {1'b0, magnitude} == INFINITY;
  assign zero = !nan && ((HAS_ZERO && none) || (FLUSH && bottom));
  assign sign = (negative ^ NEGATE) && !(ZERO_IS_PLUS && zero);

  // Subnormals lie at the exponent of field 1.
  wire signed [XW-1:0] counted = $signed({{(XW-EXP){1'b0}}, field}) +
                                 $signed({{(XW-1){1'b0}}, bottom});
  assign exp = counted - BIAS;
  wire [FRAC:0] hidden = {{FRAC{1'b0}}, 1'b1} << FRAC;
  wire [FRAC:0] digits = bottom ? code[FRAC:0] & ~hidden : code[FRAC:0] | hidden;
  assign sig = zero ? {(FRAC+1){1'b0}} : digits;
endmodule
`default_nettype wire
