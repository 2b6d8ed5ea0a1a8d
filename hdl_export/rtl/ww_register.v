// start and N integers added in their order in a register of W bits, which saturates or wraps
// (lib/widthwise/datapath/align.hpp, fit), or is a quire (becomes_nar there).
`default_nettype none
module ww_register #(
  parameter integer N = 2,
  parameter integer VW = 8,  // bits of a term
  parameter integer W = 8,   // of the register
  parameter SATURATE = 1'b0,
  parameter QUIRE = 1'b0,  // 10...0 is NaR,
  parameter STRICT = 1'b0  // and so is every sum that does not fit
) (
  input  wire [W-1:0] start,
  input  wire [N*VW-1:0] terms,
  output wire [W-1:0] sum,
  output wire overflowed,  // a term or a sum did not fit
  output wire nar  // some sum was
);
  localparam integer TW = (W > VW ? W : VW) + 1;
  reg [W-1:0] total;
  reg [TW-1:0] term, wide;
  reg past, met;
  integer i;
  function fits(input [TW-1:0] x);
    fits = x[TW-1:W-1] == {(TW-W+1){x[TW-1]}};
  endfunction
  always @* begin
    total = start;
    term = {TW{1'b0}};
    wide = {TW{1'b0}};
    past = 1'b0;
    met = 1'b0;
    for (i = 0; i < N; i = i + 1) begin
      term = {{(TW-VW){terms[i*VW+VW-1]}}, terms[i*VW +: VW]};
      wide = {{(TW-W){total[W-1]}}, total} + term;
      past = past | !fits(term) | !fits(wide);
      total = wide[W-1:0];
      if (SATURATE && !fits(wide)) total = {wide[TW-1], {(W-1){!wide[TW-1]}}};
      met = met | (QUIRE && total == {1'b1, {(W-1){1'b0}}}) | (STRICT && !fits(wide));
    end
  end
  assign sum = total;
  assign overflowed = past;
  assign nar = met;
endmodule
`default_nettype wire
