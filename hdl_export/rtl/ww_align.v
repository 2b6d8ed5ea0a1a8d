// A term as a multiple of 2^(largest - F) (lib/widthwise/datapath/sum.hpp, aligned). Rounding acts
// on the magnitude: rtz is sign-magnitude truncation, rdn the arithmetic shift of two's complement.
//
//   |     sig     | 0 ... 0 |  >> (largest - exp)  =  |  kept  | tail |
//                                               2^(largest - F) ^
`default_nettype none
module ww_align #(
  parameter integer W = 8,   // digits of sig,
  parameter integer FT = 6,  // of which so many below exp
  parameter integer F = 6,   // digits kept below the largest exponent
  parameter integer XW = 6,
  parameter [3:0] RM = 4'd1,
  parameter DROPS = 1'b0,  // a term more than DROP below the largest exponent counts as 0
  parameter signed [XW-1:0] DROP = 0
) (
  input  wire zero, sign,
  input  wire signed [XW-1:0] exp, largest,
  input  wire [W-1:0] sig,
  output wire [W-FT+F:0] aligned
);
  localparam integer KEPT = W - FT + F;
  localparam integer LEAST = RM == 4'd1 ? 0 : 2;  // digits that rounding looks at
  localparam integer SW = W > KEPT + LEAST ? W : KEPT + LEAST;
  wire [SW-1:0] padded;
  // verilator lint_off UNUSEDSIGNAL
  wire [SW-1:0] shifted;  // truncation does not look at the tail
  // verilator lint_on UNUSEDSIGNAL
  generate
    if (SW > W) begin : g_pad
      assign padded = {sig, {(SW-W){1'b0}}};
    end else begin : g_whole
      assign padded = sig;
    end
  endgenerate
  wire signed [XW-1:0] distance = largest - exp;
  wire none = zero || (DROPS && distance > DROP);
  ww_shift_right #(.W(SW), .XW(XW), .JAM(RM != 4'd1)) shift (
    .sig(none ? {SW{1'b0}} : padded), .distance(distance), .shifted(shifted));
  generate
    if (RM == 4'd1) begin : g_cut
      assign aligned = {sign & 1'b0, shifted[SW-1:SW-KEPT]};
    end else begin : g_round
      wire away;
      ww_decide decide (
        .rm(RM), .sign(sign), .odd(shifted[SW-KEPT]),
        .rest({shifted[SW-KEPT-1], |shifted[SW-KEPT-2:0]}), .random(1'b0), .away(away));
      assign aligned = {1'b0, shifted[SW-1:SW-KEPT]} + {{KEPT{1'b0}}, away};
    end
  endgenerate
endmodule
`default_nettype wire
