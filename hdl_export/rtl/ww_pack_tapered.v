// The code of a rounded posit or takum and its flags, NV DZ OF UF NX (lib/widthwise/system/
// tapered.hpp, deliver_tapered; docs/semantics.md, F8): no number but zero becomes 0 or NaR.
`default_nettype none
module ww_pack_tapered #(
  parameter integer N = 8
) (
  input  wire nan, inf, zero, sign, invalid,
  input  wire below, above, lossy,  // before it was rounded, what the least and the largest miss
  input  wire [N-1:0] rounded,
  output wire [N-1:0] code,
  output wire [4:0] flags
);
  localparam [4:0] NV = 5'd16, OF_NX = 5'd5, UF_NX = 5'd3;
  localparam [N-1:0] MOST = {1'b0, {(N-1){1'b1}}};
  localparam [N-1:0] NAR = {1'b1, {(N-1){1'b0}}};
  localparam [N-1:0] LEAST = {{(N-1){1'b0}}, 1'b1};
  wire past = rounded > MOST;
  wire [N-1:0] magnitude = below ? LEAST : past ? MOST : rounded;
  assign code = nan || inf ? NAR : zero ? {N{1'b0}} : sign ? -magnitude : magnitude;
  assign flags = {invalid, 4'd0} | (nan ? 5'd0 : inf ? NV : zero ? 5'd0 : below ? UF_NX :
                                    above ? OF_NX : {4'd0, lossy});
endmodule
`default_nettype wire
