// One place of a unit that rounds to fixed point: what ww_deliver is for floats. The number is put
// in units of the last digit and rounded there; nothing has to be normalised.
`default_nettype none
module ww_deliver_fixed #(
  parameter integer W = 8,  // digits that come in: (-1)^sign * sig * 2^(exp + TOP - (W - 1))
  parameter integer XW = 6,
  parameter integer CODE = 8,  // bits of a code
  parameter IS_SIGNED = 1'b1,
  parameter [2:0] OVERFLOW = 3'd0,
  parameter integer K = 0,
  parameter integer VARIANT = 0,
  parameter signed [XW-1:0] DOWN = 0,  // from exp to the last digit, as ww_place counts it
  parameter integer PIPE_NORMALISE = 0,  // registers behind a stage
  parameter integer PIPE_ROUND = 0
) (
  // verilator lint_off UNUSEDSIGNAL
  input  wire clk, enable,  // unused where there is no register
  input  wire mixed,        // there is no -0
  // verilator lint_on UNUSEDSIGNAL
  input  wire [3:0] rm,
  input  wire [(K > 0 ? K : 1)-1:0] random,
  input  wire nan, inf, sign, invalid,
  input  wire signed [XW-1:0] exp,
  input  wire [W-1:0] sig,
  output wire [CODE-1:0] code,
  output wire [4:0] flags
);
  localparam integer KW = K > 0 ? K : 1;
  localparam integer KEPT = CODE + 1;
  wire far;
  wire [KEPT-1:0] kept;
  wire [K+1:0] rest;
  ww_place #(.W(W), .KEPT(KEPT), .K(K), .XW(XW), .DOWN(DOWN)) place (
    .exp(exp), .sig(sig), .far(far), .kept(kept), .rest(rest));

  // What passes by the number: nan, inf, invalid, zero, sign, far.
  wire [5:0] beside1, beside2;
  wire [3:0] rm1;
  wire [KW-1:0] random1;
  wire [KEPT-1:0] kept1;
  wire [K+1:0] rest1;
  ww_delay #(.N(PIPE_NORMALISE), .W(6 + 4 + KW + KEPT + K + 2)) after_normalise (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({nan, inf, invalid, sig == {W{1'b0}}, sign, far, rm, random, kept, rest}),
    .q({beside1, rm1, random1, kept1, rest1}));

  wire [KEPT:0] rounded, rounded2;
  wire lossy, lossy2;
  ww_round_pattern #(.W(KEPT), .K(K), .VARIANT(VARIANT)) round (
    .rm(rm1), .sign(beside1[1]), .kept(kept1), .rest(rest1), .random(random1), .rounded(rounded),
    .lossy(lossy));
  ww_delay #(.N(PIPE_ROUND), .W(6 + 1 + KEPT + 1)) after_round (
    .clk(clk), .rst(1'b0), .enable(enable), .d({beside1, lossy, rounded}),
    .q({beside2, lossy2, rounded2}));

  wire nan2, inf2, invalid2, zero2, sign2, far2;
  assign {nan2, inf2, invalid2, zero2, sign2, far2} = beside2;
  wire [CODE-1:0] packed_code;
  ww_pack_fixed #(.W(CODE), .IS_SIGNED(IS_SIGNED), .OVERFLOW(OVERFLOW)) pack (
    .nan(nan2), .inf(inf2), .zero(zero2), .sign(sign2), .invalid(invalid2), .far(far2),
    .lossy(lossy2), .rounded(rounded2), .code(packed_code), .flags(flags));
  ww_settle #(.W(CODE)) settle (.x(packed_code), .y(code));
endmodule
`default_nettype wire
