// One of the unit's sums, group_sum, block_sum or join (lib/widthwise/datapath/sum.hpp, fused_sum):
// the terms are aligned once, below their largest exponent or to a fixed digit, and added.
`default_nettype none
module ww_sum #(
  parameter integer N = 2,
  parameter integer W = 8,   // digits of a term,
  parameter integer FT = 6,  // of which so many below its exponent
  parameter integer F = 6,   // digits of the grid below the largest exponent,
  parameter integer FX = F,  // kept of the terms,
  parameter integer FC = F,  // and of the last one
  parameter integer SW = 10,  // two's complement
  parameter integer MW = 9,   // digits of its magnitude
  parameter integer XW = 6,
  parameter [3:0] RM = 4'd1,
  parameter FIXED = 1'b0,     // align at FLOOR, which no exponent passes, whatever the terms are
  parameter HAS_FLOOR = 1'b0,  // align at FLOOR at least
  parameter BY_VALUE = 1'b0,   // sums that cancelled have no vote
  parameter IN_ORDER = 1'b0,   // term by term, for the register may overflow on the way
  parameter SATURATE = 1'b0,   // else the register wraps
  parameter QUIRE = 1'b0,      // 10...0 in it is NaR, which stays,
  parameter STRICT = 1'b0,     // and so is what it does not hold
  parameter DROPS_C = 1'b0,    // the last term counts as 0 when more than DROP_C below the largest
  parameter signed [XW-1:0] DROP_C = 0,
  parameter signed [XW-1:0] FLOOR = 0,
  parameter integer PIPE_ALIGN = 0,  // registers between aligning and adding
  parameter ACCUMULATE = 1'b0  // the register keeps its sum; what it is read from is the register
) (
  // verilator lint_off UNUSEDSIGNAL
  input  wire clk, enable,  // of PIPE_ALIGN
  input  wire take,         // the register takes the terms
  input  wire first,        // which begin a sum
  // verilator lint_on UNUSEDSIGNAL
  input  wire [N-1:0] t_nan, t_inf, t_zero, t_sign,
  input  wire [N*XW-1:0] t_exp,
  input  wire [N*W-1:0] t_sig,
  output wire nan, inf, zero, sign,
  output wire created,  // a NaN of two infinities
  output wire mixed,    // a zero sum of addends of both signs
  output wire overflowed,
  output wire nar,      // made by the register; nan, too
  output wire signed [XW-1:0] exp,
  output wire [MW-1:0] sig
);
  localparam integer AW = W - FT + F + 1;
  function integer bits(input integer n);
    for (bits = 0; n > 0; bits = bits + 1) n = n >> 1;
  endfunction
  localparam integer NEEDED = AW + 1 + (IN_ORDER ? 0 : bits(N - 1));
  localparam integer VW = SW > NEEDED ? SW : NEEDED;
  wire voted;
  wire [N-1:0] votes;
  wire signed [XW-1:0] voted_largest, exp_now;
  ww_largest #(.N(N), .XW(XW)) vote (
    .votes(votes), .exp(t_exp), .voted(voted), .largest(voted_largest));
  wire floored = FIXED || (HAS_FLOOR && (!voted || voted_largest < FLOOR));
  wire signed [XW-1:0] grid = floored ? FLOOR : voted_largest;

  wire [N*AW-1:0] aligned;
  wire [N*VW-1:0] addends;
  genvar i;
  generate
    for (i = 0; i < N; i = i + 1) begin : term
      assign votes[i] = !t_zero[i] && (!BY_VALUE || |t_sig[i*W +: W]);
      wire [W-FT+(i == N-1 ? FC : FX):0] kept;
      ww_align #(.W(W), .FT(FT), .F(i == N-1 ? FC : FX), .XW(XW), .RM(RM),
                 .DROPS(DROPS_C && i == N-1), .DROP(DROP_C)) align (
        .zero(t_zero[i]), .sign(t_sign[i]), .exp(t_exp[i*XW +: XW]), .largest(grid),
        .sig(t_sig[i*W +: W]), .aligned(kept));
      assign aligned[i*AW +: AW] = {kept, {(F-(i == N-1 ? FC : FX)){1'b0}}};
      wire [VW-1:0] plus = {{(VW-AW){1'b0}}, aligned[i*AW +: AW]};
      assign addends[i*VW +: VW] = t_sign[i] ? -plus : plus;
    end
  endgenerate

  // Beside the sum: whether a term voted, is a NaN, an infinity of either sign, and has either sign.
  wire [5:0] met = {voted, |t_nan, |(t_inf & ~t_sign), |(t_inf & t_sign), |(~t_sign), |t_sign};
  wire [N*VW-1:0] added;
  wire [5:0] met_now;
  // verilator lint_off UNUSEDSIGNAL
  wire first_now;
  // verilator lint_on UNUSEDSIGNAL
  ww_delay #(.N(PIPE_ALIGN), .W(XW + N*VW + 7)) after_align (
    .clk(clk), .rst(1'b0), .enable(enable), .d({grid, addends, met, first}),
    .q({exp_now, added, met_now, first_now}));

  wire [SW-1:0] kept, sum, total;
  wire [5:0] met_kept, met_total;
  wire past, nar_now, nar_kept, nar_met, nar_total;
  assign nar_met = nar_kept | nar_now;
  generate
    if (IN_ORDER) begin : g_in_order
      ww_register #(.N(N), .VW(VW), .W(SW), .SATURATE(SATURATE), .QUIRE(QUIRE),
                    .STRICT(STRICT)) register (
        .start(kept), .terms(added), .sum(sum), .overflowed(past), .nar(nar_now));
    end else begin : g_at_once
      wire [VW-1:0] wide;
      ww_add #(.N(N), .W(VW)) add (.terms(added), .sum(wide));
      ww_register #(.N(1), .VW(VW), .W(SW), .SATURATE(SATURATE)) register (
        .start(kept), .terms(wide), .sum(sum), .overflowed(past), .nar(nar_now));
    end
    if (ACCUMULATE) begin : g_state
      ww_delay #(.N(1), .W(XW + SW + 7)) state (
        .clk(clk), .rst(1'b0), .enable(take),
        .d({exp_now, sum, met_kept | met_now, nar_met}),
        .q({exp, total, met_total, nar_total}));
      assign kept = first_now ? {SW{1'b0}} : total;
      assign met_kept = first_now ? 6'd0 : met_total;
      assign nar_kept = !first_now && nar_total;
    end else begin : g_none
      assign {exp, total, met_total, nar_total} = {exp_now, sum, met_kept | met_now, nar_met};
      assign kept = {SW{1'b0}};
      assign met_kept = 6'd0;
      assign nar_kept = 1'b0;
    end
  endgenerate

  wire negative = total[SW-1];
  assign sig = negative ? -total[MW-1:0] : total[MW-1:0];
  wire none = total == {SW{1'b0}};
  wire met_nan, plus_inf, minus_inf, any_plus, any_minus;
  assign {zero, met_nan, plus_inf, minus_inf, any_plus, any_minus} = {!met_total[5], met_total[4:0]};
  assign created = plus_inf & minus_inf;
  assign nar = nar_total & !met_nan & !plus_inf & !minus_inf;
  assign nan = met_nan | created | nar;
  assign inf = (plus_inf | minus_inf) & !nan;
  assign overflowed = past & !nan & !inf;
  assign mixed = none & any_plus & any_minus;
  assign sign = inf ? minus_inf : none ? !any_plus : negative;
endmodule
`default_nettype wire
