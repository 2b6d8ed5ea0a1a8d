// Checks @NAME@ against vectors, in any simulator of Verilog-2001. All is well if the last line is
// "N vectors, 0 errors"; else it ends by $stop. vectors/README.txt says what the file holds.
`timescale 1ns / 1ps
module @NAME@_bench;
  parameter VECTORS = "vectors/@NAME@.hex";
  `include "@NAME@.vh"
  localparam CHECK_WIDTH = @CHECK_WIDTH@;  // a line's digits, a blank counting as a 0

  // Fields of a line, each with the blank before it.
@FIELDS@
  wire [CHECK_WIDTH-1:0] fields = {@FIELD_LIST@};

  // What the unit has to deliver LATENCY clocks after its operands.
  reg [@WANTED_WIDTH@-1:0] wanted [0:LATENCY];
  wire [@WANTED_WIDTH@-1:0] want = wanted[(vectors - LATENCY) % (LATENCY + 1)];

@RESULTS@
  @NAME@ dut (@PORTS@);

  integer file, read, vectors, checked, errors, character, said_count;
  reg [63:0] said_hash;
  reg [CHECK_WIDTH-1:0] said_check, check;
  reg clk;

  task give_up(input [8*64-1:0] why);
    begin
      $display("%0s: %0s", VECTORS, why);
      $display("0 vectors, 1 errors");
      $stop;
    end
  endtask
endmodule
