// Checks @NAME@ against the vectors of a file, in any simulator of Verilog-2001. All is well if the
// last line is "N vectors, 0 errors"; else $stop ends it, for `make` to see. With NO_FLAGS defined
// the module need have none, and they are not compared. +replay prints each vector, takes a file
// without COUNT and CHECK, and keeps all wires in build/replay.vcd.
`timescale 1ns / 1ps
module @NAME@_bench;
  parameter VECTORS = "vectors/@NAME@.hex";
`include "@NAME@.vh"
  localparam integer MOST_ERRORS = 20;
  localparam integer CLOCKED = @CLOCKED@;
  // So many clocks operands and taker wait for nothing, and when a result comes is looked at. Then
  // both sides stall, and results have to come in their order, once each, and stay until taken.
  localparam integer FULL_SPEED = 64 + 2 * LATENCY;
  localparam integer MOST_INSIDE = LATENCY + 16;
  localparam integer MOST_IDLE = 1000 + 16 * (LATENCY + @INTERVAL@);  // clocks without a transaction

  // A line's fields, each with the blank before it; and those of the vector whose result is there.
@FIELDS@
  reg [@LINE_WIDTH@-1:0] due [0:MOST_INSIDE-1];  // of the vectors that are inside
  integer due_vector [0:MOST_INSIDE-1];

@OPERANDS@
@RESULTS@
  wire [@RESULT_WIDTH@-1:0] delivered = {@DELIVERED@};
`ifdef NO_FLAGS
  localparam [@RESULT_WIDTH@-1:0] COMPARED = @COMPARED_WITHOUT_FLAGS@;
`else
  localparam [@RESULT_WIDTH@-1:0] COMPARED = {@RESULT_WIDTH@{1'b1}};
`endif
  reg clk, rst, in_valid, out_ready;
  wire in_ready@ALWAYS@, out_valid@WHEN_GIVEN@;
  @NAME@ dut (@CLOCKING@@PORTS@
`ifndef NO_FLAGS
    @FLAG_PORT@
`endif
  );
  @NAME@_headers headers ();

  reg [@LINE_WIDTH@-1:0] check, said_check;
  reg [67:0] said_hash;  // a digit more than there is
  reg [LATENCY:0] comes;  // at full speed: whether a result does, now and in the clocks to come
  reg [@RESULT_WIDTH@-1:0] held;
  reg waits, enters, stalled, replays;
  reg [31:0] noise;
  integer file, taken, character, said_count, vectors, clocks, idle, entered, left, errors;

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
      {clk, rst, in_valid, out_ready} = 4'b0101;
      #1 clk = CLOCKED;
      #1 {clk, rst} = 2'b00;
    end
  endtask

  // What is next in the file waits to enter.
  task read_vector;
    begin
      taken = $fscanf(file, "@SCAN@", @LINE@);
      waits = taken == @FIELD_COUNT@;
      if (waits) begin
        check = {check[@LINE_WIDTH@-5:0], check[@LINE_WIDTH@-1:@LINE_WIDTH@-4]} ^ {@LINE@};
        vectors = vectors + 1;
      end
    end
  endtask

  // In turn for 64 clocks: nothing stalls; both sides do; the taker does; the giver does. An operand
  // that is offered stays; where there is none the ports have other bits.
  task choose_sides;
    begin
      noise = noise * 32'd1664525 + 32'd1013904223;
      out_ready = !CLOCKED || clocks < FULL_SPEED || clocks / 64 % 4 == 0 || clocks / 64 % 4 == 3 ||
                  noise[31:30] == 0 || (clocks / 64 % 4 == 1 && noise[29]);
      if (!in_valid && waits && (!CLOCKED || clocks < FULL_SPEED || clocks / 64 % 4 == 0 ||
          clocks / 64 % 4 == 2 || noise[28:27] == 0 || (clocks / 64 % 4 == 1 && noise[26]))) begin
        @DRIVE@
        in_valid = 1;
      end
    end
  endtask

  task enter;
    begin
      if (entered - left == MOST_INSIDE) fault("more has entered than there is room for");
      due[entered % MOST_INSIDE] = {@LINE@};
      due_vector[entered % MOST_INSIDE] = vectors - 1;
      entered = entered + 1;
    end
  endtask

  task leave;
    begin
      if (left == entered) fault("there is a result of nothing");
      else begin
        {@DUE@} = due[left % MOST_INSIDE];
        if ((delivered & COMPARED) !== ({@WANTED@} & COMPARED)) begin
          errors = errors + 1;
          if (errors <= MOST_ERRORS)
            $display("vector %0d: @REPORT@", due_vector[left % MOST_INSIDE], @REPORTED@);
        end else if (replays)
          $display("vector %0d: @SEEN@", due_vector[left % MOST_INSIDE], @OPERANDS_SEEN@);
        left = left + 1;
      end
    end
  endtask

  // @ENTERS@ while nothing stalls; what it delivers is there LATENCY clocks later.
  task look;
    begin
      if (in_valid && in_ready !== 1'b0 && in_ready !== 1'b1) fault("in_ready is neither 0 nor 1");
      if (out_valid !== 1'b0 && out_valid !== 1'b1) fault("out_valid is neither 0 nor 1");
      if (in_valid && clocks < FULL_SPEED && in_ready !== (clocks % @INTERVAL@ == 0))
        fault("in_ready is wrong");
      enters = in_valid && in_ready === 1'b1;
      comes = comes << 1;
      comes[0] = enters && @COMES@;
      if (CLOCKED && clocks < FULL_SPEED && out_valid !== comes[LATENCY]) fault("out_valid is wrong");
      if (stalled && out_valid !== 1'b1) fault("a result has gone that was not taken");
      if (stalled && ((delivered ^ held) & COMPARED) !== 0) fault("a result has changed that was not taken");
    end
  endtask

  task clock;
    begin
      choose_sides;
      #1 look;
      idle = idle + 1;
      if (enters) idle = 0;
      if (enters && @COMES@) enter;
      if (out_valid === 1'b1 && out_ready) begin
        idle = 0;
        leave;
      end
      stalled = out_valid === 1'b1 && !out_ready;
      held = delivered;
      clocks = clocks + 1;
      clk = CLOCKED;
      #1 clk = 0;
      if (enters) begin
        in_valid = 0;
        if (CLOCKED) begin
          @SPOIL@
        end
        read_vector;
      end
    end
  endtask

  task run_vectors;
    begin
      read_vector;
      while (errors < MOST_ERRORS && idle < MOST_IDLE && (waits || in_valid || left != entered)) clock;
      if (idle == MOST_IDLE) fault("it stands still, and results are missing");
      if (errors == 0) repeat (LATENCY + 4) clock;
    end
  endtask

  task judge_file;
    begin
      if (taken > 0 || !$feof(file)) fault("a line is no vector");
      if (vectors == 0) fault("there are no vectors");
      if (!replays && vectors != said_count) fault("there are not as many vectors as COUNT says");
      if (!replays && check !== said_check) fault("CHECK is of other vectors: it is damaged");
    end
  endtask

  initial begin
    {vectors, clocks, idle, entered, left, errors} = 0;
    {check, comes, stalled, waits, noise} = 0;
    replays = $test$plusargs("replay") != 0;
    if (replays) begin
      $dumpfile("build/replay.vcd");
      $dumpvars;
    end
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
