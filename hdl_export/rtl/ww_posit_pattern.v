// The magnitude of a number as a posit of no end of bits would spell it (lib/widthwise/system/
// tapered.hpp, posit_pattern): those that the posit keeps, and K + 1 more and the OR of the rest.
//
//   | run of equal bits | the other bit | ES exponent bits | fraction |
//
`default_nettype none
module ww_posit_pattern #(
  parameter integer N = 8,
  parameter integer ES = 2,
  parameter integer K = 0,
  parameter integer FD = 5,  // digits of sig below the leading one, the last one jammed
  parameter integer XW = 8
) (
  input  wire signed [XW-1:0] exp,
  // verilator lint_off UNUSEDSIGNAL
  input  wire [FD:0] sig,
  // verilator lint_on UNUSEDSIGNAL
  output wire [N-2:0] kept,
  output wire [K+1:0] rest
);
  localparam integer S = N + 1 + K;
  localparam integer L = 2 + ES + FD;  // S at least
  wire up = !exp[XW-1];
  wire signed [XW-1:0] regime = exp >>> ES;
  wire [XW-1:0] distance = regime ^ {XW{!up}};  // the run's length, less one
  wire [L-1:0] spelt, moved;
  generate
    if (ES > 0) begin : g_exponent
      assign spelt = {up, !up, exp[ES-1:0], sig[FD-1:0]};
    end else begin : g_regime
      assign spelt = {up, !up, sig[FD-1:0]};
    end
  endgenerate
  ww_shift_right #(.W(L), .XW(XW)) shift (.sig(spelt), .distance(distance), .shifted(moved));
  wire [L-1:0] whole = moved | (up ? ~({L{1'b1}} >> distance) : {L{1'b0}});
  ww_jam #(.W(L), .KEPT(S)) jam (.x(whole), .y({kept, rest}));
endmodule
`default_nettype wire
