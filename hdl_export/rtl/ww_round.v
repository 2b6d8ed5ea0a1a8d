// A significand cut to P digits and rounded (lib/widthwise/round.hpp, round). One addition packs
// and rounds, so that a carry walks into the exponent and on into overflow:
//
//   magnitude :  | field | 0 ... 0 |  +  | kept | spare zeros |  +  away
//
// The hidden one makes field the exponent's field; without subnormals it is that already.
`default_nettype none
module ww_round #(
  parameter integer EXP = 4,
  parameter integer FRAC = 3,
  parameter integer SPARE = 0,  // fraction bits of the code below the kept digits
  parameter integer K = 0,      // random bits
  parameter integer VARIANT = 0,
  parameter integer XW = 6,     // more than EXP
  parameter ALL_NORMAL = 1'b0,  // no subnormals
  parameter TIES_TO_EVEN_CODE = 1'b0,  // not significand (docs/semantics.md, R4)
  parameter TININESS_AFTER = 1'b1,
  parameter TININESS_DELIVERED = 1'b0,
  parameter [EXP+FRAC-1:0] MAX_FINITE = {{(EXP+FRAC-1){1'b1}}, 1'b0}
) (
  input  wire [3:0] rm,
  input  wire sign, subnormal, by_one,
  input  wire [XW-1:0] field,
  input  wire [FRAC+2-SPARE+K:0] sig,     // denormalised
  input  wire [FRAC+2-SPARE+K:0] normal,  // what it was before
  input  wire [(K > 0 ? K : 1)-1:0] random,
  output wire [EXP+FRAC-1:0] magnitude,
  output wire lossy, tiny, over
);
  localparam integer P = FRAC + 1 - SPARE;
  wire [P-1:0] kept = sig[P+K+1:K+2];
  wire [P-1:0] added = ALL_NORMAL ? kept & ~({{(P-1){1'b0}}, 1'b1} << (P - 1)) : kept;
  wire [XW+FRAC-1:0] cut = {field, {FRAC{1'b0}}} + {{(XW-1){1'b0}}, added, {SPARE{1'b0}}};
  wire away, away_unbounded;
  ww_decide #(.K(K), .VARIANT(VARIANT)) decide (
    .rm(rm), .sign(sign), .odd(TIES_TO_EVEN_CODE ? cut[0] : kept[0]), .rest(sig[K+1:0]),
    .random(random), .away(away));
  wire [XW+FRAC-1:0] rounded = cut + {{(XW+FRAC-SPARE-1){1'b0}}, away, {SPARE{1'b0}}};
  assign magnitude = rounded[EXP+FRAC-1:0];
  assign lossy = |sig[K+1:0];
  assign over = rounded > {{(XW-EXP){1'b0}}, MAX_FINITE};

  // After rounding: whether it stays below the least normal number when rounded as if the exponent
  // had no lower end (IEEE 754-2019, 7.5).
  ww_decide #(.K(K), .VARIANT(VARIANT)) unbounded (
    .rm(rm), .sign(sign), .odd(1'b1), .rest(normal[K+1:0]), .random(random),
    .away(away_unbounded));
  wire carries = &normal[P+K+1:K+2] & away_unbounded;
  wire reaches_normal = |(rounded >> FRAC);  // as delivered
  assign tiny = subnormal & !(TININESS_AFTER && by_one && carries) &
                !(TININESS_DELIVERED && reaches_normal);
endmodule
`default_nettype wire
