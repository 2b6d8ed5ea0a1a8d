// One place of a unit that rounds: normalise, denormalise, round, pack. Nothing else rounds to a
// format.
`default_nettype none
module ww_deliver #(
  parameter integer W = 8,  // digits that come in: (-1)^sign * sig * 2^(exp + TOP - (W - 1))
  parameter integer XW = 6,
  parameter signed [XW-1:0] TOP = 1,
  parameter integer EXP = 4,
  parameter integer FRAC = 3,
  parameter integer SPARE = 0,
  parameter integer K = 0,
  parameter integer VARIANT = 0,
  parameter ALL_NORMAL = 1'b0,
  parameter TIES_TO_EVEN_CODE = 1'b0,
  parameter TININESS_AFTER = 1'b1,
  parameter TININESS_DELIVERED = 1'b0,
  parameter signed [XW-1:0] EMIN = -6,
  parameter IS_SIGNED = 1'b1,
  parameter HAS_ZERO = 1'b1,
  parameter HAS_NAN = 1'b1,
  parameter [1:0] ZERO_SIGNS = 2'b10,
  parameter FLUSH = 1'b0,
  parameter FLUSH_TO_PLUS = 1'b0,
  parameter OVERFLOW_STOPS = 1'b1,
  parameter [1:0] SUM_ZERO_SIGNS = 2'b10,
  parameter INFINITY_RAISES = 1'b0,
  parameter INFINITY_HAS_SIGN = 1'b1,
  parameter PAST_HAS_SIGN = 1'b1,
  parameter [EXP+FRAC-1:0] MAX_FINITE = {{(EXP+FRAC-1){1'b1}}, 1'b0},
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] NAN = 0,
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] INFINITY = 0,
  parameter [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] PAST = 0,
  parameter integer PIPE_NORMALISE = 0,  // registers behind a stage
  parameter integer PIPE_DENORMALISE = 0,
  parameter integer PIPE_ROUND = 0
) (
  input  wire clk, enable,
  input  wire [3:0] rm,
  input  wire [(K > 0 ? K : 1)-1:0] random,
  input  wire nan, inf, sign, mixed, invalid,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire [EXP+FRAC-(IS_SIGNED ? 0 : 1):0] code,
  output wire [4:0] flags
);
  localparam integer SW = FRAC + 3 - SPARE + K;
  localparam integer KW = K > 0 ? K : 1;
  localparam integer CODE_BITS = EXP + FRAC + (IS_SIGNED ? 1 : 0);
  wire zero;
  wire signed [XW-1:0] normal_exp;
  wire [SW-1:0] normal, placed;
  ww_normalise #(.W(W), .SW(SW), .XW(XW), .TOP(TOP)) normalise (
    .exp(exp), .sig(sig), .zero(zero), .exp_out(normal_exp), .sig_out(normal));

  // What passes by the number: nan, inf, mixed, invalid, zero.
  wire [4:0] beside1, beside2;
  wire sign1, sign2, sign3;
  wire [3:0] rm1, rm2, rm3;
  wire [KW-1:0] random1, random2;
  wire signed [XW-1:0] exp1;
  wire [SW-1:0] normal1;
  ww_delay #(.N(PIPE_NORMALISE), .W(6 + 4 + KW + XW + SW)) after_normalise (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({nan, inf, mixed, invalid, zero, sign, rm, random, normal_exp, normal}),
    .q({beside1, sign1, rm1, random1, exp1, normal1}));

  wire subnormal, by_one;
  wire [XW-1:0] field;
  ww_denormalise #(.SW(SW), .XW(XW), .EMIN(EMIN)) denormalise (
    .exp(exp1), .sig(normal1), .subnormal(subnormal), .by_one(by_one), .field(field),
    .sig_out(placed));

  wire subnormal2, by_one2;
  wire [XW-1:0] field2;
  wire [SW-1:0] normal2, placed2;
  ww_delay #(.N(PIPE_DENORMALISE), .W(6 + 4 + KW + 2 + XW + 2*SW)) after_denormalise (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({beside1, sign1, rm1, random1, subnormal, by_one, field, normal1, placed}),
    .q({beside2, sign2, rm2, random2, subnormal2, by_one2, field2, normal2, placed2}));

  wire [EXP+FRAC-1:0] magnitude;
  wire lossy, tiny, over;
  ww_round #(.EXP(EXP), .FRAC(FRAC), .SPARE(SPARE), .K(K), .VARIANT(VARIANT), .XW(XW),
             .ALL_NORMAL(ALL_NORMAL), .TIES_TO_EVEN_CODE(TIES_TO_EVEN_CODE),
             .TININESS_AFTER(TININESS_AFTER), .TININESS_DELIVERED(TININESS_DELIVERED),
             .MAX_FINITE(MAX_FINITE)) round (
    .rm(rm2), .sign(sign2), .subnormal(subnormal2), .by_one(by_one2), .field(field2),
    .sig(placed2), .normal(normal2), .random(random2), .magnitude(magnitude), .lossy(lossy),
    .tiny(tiny), .over(over));
  wire [EXP+FRAC-1:0] ended;
  wire ended_lossy, ended_tiny, ended_over;
  generate
    if (ALL_NORMAL) begin : g_gap
      ww_gap #(.EXP(EXP), .FRAC(FRAC), .SPARE(SPARE), .K(K), .VARIANT(VARIANT), .XW(XW),
               .HAS_ZERO(HAS_ZERO), .TININESS_AFTER(TININESS_AFTER),
               .TININESS_DELIVERED(TININESS_DELIVERED),
               .MAX_FINITE(MAX_FINITE)) gap (
        .rm(rm2), .sign(sign2), .subnormal(subnormal2), .field(field2), .sig(placed2),
        .rest_unbounded(normal2[K+1:0]), .random(random2), .magnitude(magnitude), .lossy(lossy),
        .tiny(tiny), .over(over), .magnitude_out(ended), .lossy_out(ended_lossy),
        .tiny_out(ended_tiny), .over_out(ended_over));
    end else begin : g_subnormals
      assign {ended, ended_lossy, ended_tiny, ended_over} = {magnitude, lossy, tiny, over};
    end
  endgenerate

  wire [CODE_BITS-1:0] packed_code;
  wire [EXP+FRAC-1:0] magnitude3;
  wire nan3, inf3, mixed3, invalid3, zero3, lossy3, tiny3, over3;
  ww_delay #(.N(PIPE_ROUND), .W(6 + 4 + EXP+FRAC + 3)) after_round (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({beside2, sign2, rm2, ended, ended_lossy, ended_tiny, ended_over}),
    .q({nan3, inf3, mixed3, invalid3, zero3, sign3, rm3, magnitude3, lossy3, tiny3, over3}));

  ww_pack #(.EXP(EXP), .FRAC(FRAC), .IS_SIGNED(IS_SIGNED), .HAS_ZERO(HAS_ZERO), .HAS_NAN(HAS_NAN),
            .ZERO_SIGNS(ZERO_SIGNS), .FLUSH(FLUSH), .FLUSH_TO_PLUS(FLUSH_TO_PLUS),
            .OVERFLOW_STOPS(OVERFLOW_STOPS), .SUM_ZERO_SIGNS(SUM_ZERO_SIGNS),
            .INFINITY_RAISES(INFINITY_RAISES), .INFINITY_HAS_SIGN(INFINITY_HAS_SIGN),
            .PAST_HAS_SIGN(PAST_HAS_SIGN), .MAX_FINITE(MAX_FINITE), .NAN(NAN),
            .INFINITY(INFINITY), .PAST(PAST)) pack (
    .rm(rm3), .nan(nan3), .inf(inf3), .zero(zero3), .sign(sign3), .mixed(mixed3),
    .invalid(invalid3), .magnitude(magnitude3), .lossy(lossy3),
    .tiny(tiny3), .over(over3), .code(packed_code), .flags(flags));

  // In a chain every place that rounds would hand each glitch on, and the next twice as many: in an
  // event-driven simulator a code waits until it stands still.
`ifdef __ICARUS__
  reg [CODE_BITS-1:0] settled;
  always begin
    settled <= packed_code;
    @(packed_code);
  end
  assign code = settled;
`else
  assign code = packed_code;
`endif
endmodule
`default_nettype wire
