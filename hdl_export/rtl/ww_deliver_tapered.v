// One place of a unit that rounds to posits or takums: what ww_deliver is for floats. The number is
// spelt without end and rounded on what is cut off.
`default_nettype none
module ww_deliver_tapered #(
  parameter integer W = 8,  // digits that come in: (-1)^sign * sig * 2^(exp + TOP - (W - 1))
  parameter integer XW = 8,
  parameter signed [XW-1:0] TOP = 1,
  parameter integer N = 8,  // bits of a code
  parameter TAKUM = 1'b0,
  parameter integer ES = 2,
  parameter integer K = 0,
  parameter integer VARIANT = 0,
  parameter integer PIPE_NORMALISE = 0,  // registers behind a stage
  parameter integer PIPE_PATTERN = 0,
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
  output wire [N-1:0] code,
  output wire [4:0] flags
);
  localparam integer KW = K > 0 ? K : 1;
  localparam integer SHORT = N + 1 + K - (TAKUM ? 4 : 2 + ES);  // fraction digits that are spelt
  localparam integer FD = SHORT > 2 ? SHORT : 2;
  wire zero;
  wire signed [XW-1:0] normal_exp;
  wire [FD:0] normal;
  ww_normalise #(.W(W), .SW(FD + 1), .XW(XW), .TOP(TOP)) normalise (
    .exp(exp), .sig(sig), .zero(zero), .exp_out(normal_exp), .sig_out(normal));

  // What passes by the number: nan, inf, invalid, zero, sign.
  wire [4:0] beside1, beside2, beside3;
  wire [3:0] rm1, rm2;
  wire [KW-1:0] random1, random2;
  wire signed [XW-1:0] exp1;
  wire [FD:0] normal1;
  ww_delay #(.N(PIPE_NORMALISE), .W(5 + 4 + KW + XW + FD + 1)) after_normalise (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({nan, inf, invalid, zero, sign, rm, random, normal_exp, normal}),
    .q({beside1, rm1, random1, exp1, normal1}));

  wire [N-2:0] kept, kept2;
  wire [K+1:0] rest, rest2;
  generate
    if (TAKUM) begin : g_takum
      ww_takum_pattern #(.N(N), .K(K), .FD(FD), .XW(XW)) pattern (
        .exp(exp1), .sig(normal1), .kept(kept), .rest(rest));
    end else begin : g_posit
      ww_posit_pattern #(.N(N), .ES(ES), .K(K), .FD(FD), .XW(XW)) pattern (
        .exp(exp1), .sig(normal1), .kept(kept), .rest(rest));
    end
  endgenerate
  ww_delay #(.N(PIPE_PATTERN), .W(5 + 4 + KW + N - 1 + K + 2)) after_pattern (
    .clk(clk), .rst(1'b0), .enable(enable), .d({beside1, rm1, random1, kept, rest}),
    .q({beside2, rm2, random2, kept2, rest2}));

  wire [N-1:0] rounded, rounded3;
  wire lossy, below3, above3, lossy3;
  ww_round_pattern #(.W(N - 1), .K(K), .VARIANT(VARIANT)) round (
    .rm(rm2), .sign(beside2[0]), .kept(kept2), .rest(rest2), .random(random2), .rounded(rounded),
    .lossy(lossy));
  ww_delay #(.N(PIPE_ROUND), .W(5 + 3 + N)) after_round (
    .clk(clk), .rst(1'b0), .enable(enable),
    .d({beside2, kept2 == {(N-1){1'b0}}, lossy && &kept2, lossy, rounded}),
    .q({beside3, below3, above3, lossy3, rounded3}));

  wire nan3, inf3, invalid3, zero3, sign3;
  assign {nan3, inf3, invalid3, zero3, sign3} = beside3;
  wire [N-1:0] packed_code;
  ww_pack_tapered #(.N(N)) pack (
    .nan(nan3), .inf(inf3), .zero(zero3), .sign(sign3), .invalid(invalid3), .below(below3),
    .above(above3), .lossy(lossy3), .rounded(rounded3), .code(packed_code), .flags(flags));
  ww_settle #(.W(N)) settle (.x(packed_code), .y(code));
endmodule
`default_nettype wire
