// A posit taken apart (lib/widthwise/system/tapered.hpp, read_posit): (-1)^sign * sig * 2^exp with
// the point behind the leading one of sig, unless it is NaR.
//
//   | sign | run of equal bits | the other bit | ES exponent bits | fraction |  what is cut off is 0
//
`default_nettype none
module ww_unpack_posit #(
  parameter integer N = 8,
  parameter integer ES = 2,
  parameter integer D = 4,  // digits of sig, N - 2 - ES or 1
  parameter integer XW = 8,
  parameter NEGATE = 1'b0  // the number's sign is turned
) (
  input  wire [N-1:0] code,
  output wire nan, signaling, inf, zero, sign,
  output wire signed [XW-1:0] exp,
  output wire [D-1:0] sig
);
  function integer floor_log2(input integer n);
    for (floor_log2 = 0; n > 1; floor_log2 = floor_log2 + 1) n = n >> 1;
  endfunction
  wire negative = code[N-1];
  wire none = code[N-2:0] == {(N-1){1'b0}};
  wire [N-2:0] body = negative ? -code[N-2:0] : code[N-2:0];
  wire up = body[N-2];

  // The run is shifted out; bits that follow on the last one are like it, 0 once they are turned.
  reg [N-1:0] moved;
  reg [XW-1:0] run;
  integer k;
  always @* begin
    moved = {body ^ {(N-1){up}}, up};
    run = {XW{1'b0}};
    for (k = floor_log2(N - 1); k >= 0; k = k - 1)
      if ((moved >> (N - (1 << k))) == {N{1'b0}}) begin
        moved = (moved << (1 << k)) | (up ? ~({N{1'b1}} << (1 << k)) : {N{1'b0}});
        run[k] = 1'b1;
      end
  end
  // verilator lint_off UNUSEDSIGNAL
  wire [N+ES+D-1:0] tail = {moved[N-2:0] ^ {(N-1){up}}, {(ES+D+1){1'b0}}};
  // verilator lint_on UNUSEDSIGNAL

  wire [XW-1:0] regime = up ? run - {{(XW-1){1'b0}}, 1'b1} : -run;  // of 2^(2^ES)
  generate
    if (ES > 0) begin : g_exponent
      assign exp = $signed((regime << ES) | {{(XW-ES){1'b0}}, tail[N+ES+D-1:N+D]});
    end else begin : g_regime
      assign exp = $signed(regime);
    end
    if (D > 1) begin : g_fraction
      assign sig = none ? {D{1'b0}} : {1'b1, tail[N+D-1:N+1]};
    end else begin : g_power
      assign sig = !none;
    end
  endgenerate
  assign nan = negative && none;
  assign {signaling, inf} = 2'd0;
  assign zero = !negative && none;
  assign sign = negative ^ NEGATE;
endmodule
`default_nettype wire
