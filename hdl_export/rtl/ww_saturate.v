// start and N integers, added in their order in a register of W bits that saturates.
`default_nettype none
module ww_saturate #(
  parameter integer N = 2,
  parameter integer VW = 8,  // bits of a term
  parameter integer W = 8    // of the register
) (
  input  wire [W-1:0] start,
  input  wire [N*VW-1:0] terms,
  output wire [W-1:0] sum
);
  localparam integer TW = (W > VW ? W : VW) + 1;
  reg signed [W-1:0] total;
  reg signed [TW-1:0] wide;
  integer i;
  always @* begin
    total = start;
    wide = {TW{1'b0}};
    for (i = 0; i < N; i = i + 1) begin
      wide = {{(TW-W){total[W-1]}}, total} +
             {{(TW-VW){terms[i*VW+VW-1]}}, terms[i*VW +: VW]};
      total = wide[W-1:0];
      if (wide[TW-1:W-1] != {(TW-W+1){wide[TW-1]}})
        total = {wide[TW-1], {(W-1){!wide[TW-1]}}};
    end
  end
  assign sum = total;
endmodule
`default_nettype wire
