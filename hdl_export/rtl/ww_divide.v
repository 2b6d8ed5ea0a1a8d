// A quotient of significands whose leading digits stand at their tops, by long division: DIGITS
// digits of it, the first of weight 1, and behind them one that says whether anything is left. The
// first or the second is its leading one.
`default_nettype none
module ww_divide #(
  parameter integer WN = 24,
  parameter integer WD = 28,
  parameter integer DIGITS = 4,
  parameter integer XW = 10
) (
  input  wire signed [XW-1:0] n_exp, d_exp,
  input  wire [WN-1:0] n,
  input  wire [WD-1:0] d,
  output wire signed [XW-1:0] exp_out,
  output wire [DIGITS:0] q
);
  localparam integer W = (WN > WD ? WN : WD) + 1;  // room for a zero behind either
  wire [W:0] divisor = {1'b0, d, {(W-WD){1'b0}}};
  reg [W:0] left;  // below twice the divisor
  reg [DIGITS-1:0] digits;
  integer i;
  always @* begin
    left = {1'b0, n, {(W-WN){1'b0}}};
    for (i = DIGITS - 1; i >= 0; i = i - 1) begin
      digits[i] = left >= divisor;
      left = (digits[i] ? left - divisor : left) << 1;
    end
  end
  assign exp_out = n_exp - d_exp;
  assign q = {digits, |left};
endmodule
`default_nettype wire
