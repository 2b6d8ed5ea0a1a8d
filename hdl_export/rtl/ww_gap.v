// Formats without subnormals (lib/widthwise/round.hpp, round_in_gap; docs/semantics.md, R5). Between
// 0 and the least number, one step above 2^EMIN, lies one gap: a number in there takes one of its
// ends, 0 as the even one. Where 0 has no code, 2^EMIN is the least number and takes them all.
`default_nettype none
module ww_gap #(
  parameter integer EXP = 4,
  parameter integer FRAC = 3,
  parameter integer SPARE = 0,
  parameter integer K = 0,
  parameter integer VARIANT = 0,
  parameter integer XW = 6,
  parameter HAS_ZERO = 1'b1,
  parameter TININESS_AFTER = 1'b1,
  parameter TININESS_DELIVERED = 1'b0,
  parameter [EXP+FRAC-1:0] MAX_FINITE = {{(EXP+FRAC-1){1'b1}}, 1'b0}
) (
  input  wire [3:0] rm,
  input  wire sign, subnormal,
  input  wire [XW-1:0] field,
  input  wire [FRAC+2-SPARE+K:0] sig,  // denormalised
  input  wire [K+1:0] rest_unbounded,  // what rounding drops before that
  input  wire [(K > 0 ? K : 1)-1:0] random,
  // As it was rounded, gap or not.
  input  wire [EXP+FRAC-1:0] magnitude,
  input  wire lossy, tiny, over,
  output wire [EXP+FRAC-1:0] magnitude_out,
  output wire lossy_out, tiny_out, over_out
);
  localparam integer SW = FRAC + 3 - SPARE + K;
  localparam [EXP+FRAC-1:0] NONE = {(EXP+FRAC){1'b0}};
  localparam [EXP+FRAC-1:0] STEP = {{(EXP+FRAC-1){1'b0}}, 1'b1} << SPARE;
  localparam [SW:0] ONE = {{SW{1'b0}}, 1'b1};
  localparam [SW:0] LEAST = (ONE << (SW - 1)) + (HAS_ZERO ? ONE << (K + 2) : {(SW+1){1'b0}});
  wire bottom = field == {XW{1'b0}};
  wire below = (subnormal || bottom) && {1'b0, sig} < LEAST;

  // The first K + 1 digits of sig / LEAST, and the OR of all below them.
  reg [SW:0] left;
  reg [K+1:0] rest;
  integer k;
  always @* begin
    left = {1'b0, sig};
    rest = {(K+2){1'b0}};
    for (k = K + 1; k > 0; k = k - 1) begin
      left = left << 1;
      if (left >= LEAST) begin
        left = left - LEAST;
        rest[k] = 1'b1;
      end
    end
    rest[0] = |left;
  end
  wire away;
  ww_decide #(.K(K), .VARIANT(VARIANT)) decide (
    .rm(rm), .sign(sign), .odd(1'b0), .rest(rest), .random(random), .away(away));
  wire up = away || !HAS_ZERO;

  // After rounding: whether it comes to the least number when rounded as if the exponent had no
  // lower end.
  wire reaches;
  ww_decide #(.K(K), .VARIANT(VARIANT)) unbounded (
    .rm(rm), .sign(sign), .odd(FRAC == SPARE), .rest(rest_unbounded), .random(random),
    .away(reaches));
  wire stays = TININESS_DELIVERED ? !up :
               !HAS_ZERO ? tiny : !(TININESS_AFTER && !subnormal && reaches);

  assign magnitude_out = !below ? magnitude : up && HAS_ZERO ? STEP : NONE;
  assign lossy_out = lossy | below;
  assign tiny_out = below ? stays : tiny;
  assign over_out = below ? up && HAS_ZERO && STEP > MAX_FINITE : over;
endmodule
`default_nettype wire
