// Checks @NAME@ against the vectors of a file, in any simulator of Verilog-2001. All is well if the
// last line is "N vectors, 0 errors"; else $stop ends it, for `make` to see.
`timescale 1ns / 1ps
module @NAME@_bench;
  parameter VECTORS = "vectors/@NAME@.hex";
`include "@NAME@.vh"
  localparam integer MOST_ERRORS = 20;

  // A line's fields, each with the blank before it; and those of the vector whose result is there.
@FIELDS@
  reg [@LINE_WIDTH@-1:0] due [0:LATENCY];

@OPERANDS@
@RESULTS@
  wire [@RESULT_WIDTH@-1:0] delivered = {@DELIVERED@};
  reg clk, rst, in_valid;
  wire in_ready@ALWAYS@, out_valid@ALWAYS@;
  @NAME@ dut (@CLOCKING@@PORTS@);
  @NAME@_headers headers ();

  reg [@LINE_WIDTH@-1:0] check, said_check;
  reg [67:0] said_hash;  // a digit more than there is
  integer file, taken, character, said_count, vectors, clocks, errors;

  task fault(input [8*48-1:0] what);
    begin
      errors = errors + 1;
      $display("%0s: %0s", VECTORS, what);
    end
  endtask

  // The file stands at the first vector afterwards.
  task read_comments;
    begin
      taken = $fscanf(file, "// MODEL_HASH %h // COUNT %d // CHECK %h", said_hash, said_count,
                      said_check);
      if (taken != 3) fault("the comments in front are not those of vectors");
      else if (said_hash !== {4'd0, MODEL_HASH}) fault("MODEL_HASH is another unit's");
      character = $fgetc(file);
      while (character == "/" || character == 10) begin
        while (character != 10 && character != -1) character = $fgetc(file);
        character = $fgetc(file);
      end
      taken = $ungetc(character, file);
    end
  endtask

  task reset;
    begin
      {clk, rst, in_valid} = 3'b010;
      #1 clk = 1;
      #1 {clk, rst, in_valid} = 3'b001;
    end
  endtask

  task judge(input integer vector);
    begin
      {@DUE@} = due[vector % (LATENCY + 1)];
      if (out_valid !== @COMES@ || (out_valid && delivered !== {@WANTED@})) begin
        errors = errors + 1;
        if (errors <= MOST_ERRORS)
          $display("vector %0d: @REPORT@%0s", vector, @REPORTED@,
                   out_valid === @COMES@ ? "" : ", and out_valid is wrong");
      end
    end
  endtask

  // @ENTERS@; what it delivers is there LATENCY clocks later.
  task clock;
    begin
      #1 if (in_valid && in_ready !== (clocks % @INTERVAL@ == 0)) fault("in_ready is wrong");
      if (clocks >= LATENCY && (clocks - LATENCY) % @INTERVAL@ == 0)
        judge((clocks - LATENCY) / @INTERVAL@);
      clocks = clocks + 1;
      clk = 1;
      #1 clk = 0;
    end
  endtask

  task run_vectors;
    begin
      taken = $fscanf(file, "@SCAN@", @LINE@);
      while (taken == @FIELD_COUNT@ && errors < MOST_ERRORS) begin
        check = {check[@LINE_WIDTH@-5:0], check[@LINE_WIDTH@-1:@LINE_WIDTH@-4]} ^ {@LINE@};
        @DRIVE@
        due[vectors % (LATENCY + 1)] = {@LINE@};
        vectors = vectors + 1;
        repeat (@INTERVAL@) clock;
        taken = $fscanf(file, "@SCAN@", @LINE@);
      end
      in_valid = 0;
      repeat (LATENCY) clock;
    end
  endtask

  task judge_file;
    begin
      if (taken > 0 || !$feof(file)) fault("a line is no vector");
      if (vectors == 0) fault("there are no vectors");
      if (vectors != said_count) fault("there are not as many vectors as COUNT says");
      if (check !== said_check) fault("CHECK is of other vectors: it is damaged");
    end
  endtask

  initial begin
    vectors = 0;
    clocks = 0;
    errors = 0;
    check = 0;
@WIDTHS@
    file = $fopen(VECTORS, "r");
    if (file == 0) fault("there is no such file");
    else read_comments;
    reset;
    if (errors == 0) run_vectors;
    if (errors == 0) judge_file;
    errors = errors + headers.errors;
    $display("%0d vectors, %0d errors", vectors, errors);
    if (errors != 0) $stop;
  end
endmodule
