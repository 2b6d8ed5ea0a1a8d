// Whether a truncated magnitude moves one step away from zero (lib/widthwise/decide.hpp). rest is
// the dropped part: its first K + 1 digits and the OR of all below them.
`default_nettype none
module ww_decide #(
  parameter integer K = 0,  // random bits, 0 where no rounding is stochastic
  parameter integer VARIANT = 0  // of stochastic rounding: 0 plain, 1 half, 2 even
) (
  input  wire [3:0] rm,
  input  wire sign, odd,
  input  wire [K+1:0] rest,
  input  wire [(K > 0 ? K : 1)-1:0] random,
  output reg  away
);
  wire guard = rest[K+1];
  wire sticky = |rest[K:0];
  wire chance;
  generate
    if (K == 0) begin : g_none
      assign chance = random[0] & 1'b0;
    end else begin : g_random
      // The digits after the first K count half a unit, or to the nearest, ties to even.
      wire up = rest[1] & (rest[0] | rest[2]);
      wire [K+1:0] sum =
        VARIANT == 1 ? {1'b0, rest[K+1:1]} + {1'b0, random, 1'b1}
                     : {1'b0, rest[K+1:2], 1'b0} + {1'b0, random, 1'b0} +
                       {{K{1'b0}}, VARIANT == 2 && up, 1'b0};
      assign chance = sum[K+1];
    end
  endgenerate
  always @*
    case (rm)
      4'd0: away = guard & (sticky | odd);     // rne
      4'd2: away = sign & (guard | sticky);    // rdn
      4'd3: away = !sign & (guard | sticky);   // rup
      4'd4: away = guard;                      // rna
      4'd6: away = !odd & (guard | sticky);    // odd
      4'd8: away = guard | sticky;             // raz
      4'd9: away = guard & sticky;             // rnz
      4'd10: away = guard & (sticky | !sign);  // rnp
      4'd11: away = guard & (sticky | sign);   // rnm
      4'd12: away = chance;                    // sr
      4'd13: away = guard & (sticky | !odd);   // rno
      default: away = 1'b0;                    // rtz
    endcase
endmodule
`default_nettype wire
