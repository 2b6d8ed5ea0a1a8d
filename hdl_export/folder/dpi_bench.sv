// Checks @NAME@ against the golden model, through DPI-C and batch by batch, on operands at random:
// one code in four has its exponent's bits all zeros or all ones. All is well if the last line is
// "N vectors, 0 errors".
module @NAME@_dpi_bench;
  import @NAME@_pkg::*;
  import @NAME@_dpi_pkg::*;
  parameter int CHECKS = 1000000;
  parameter bit MODEL = 1;  // 0: all but the model's work, to see what that takes
  localparam int MOST_ERRORS = 20;
  localparam int BATCH = 4096;
@MODES@
@ARRAYS@  byte unsigned flags_of[BATCH];
  import "DPI-C" widthwise_model_batch = function int model_batch(
      input chandle model, input int unsigned rm, input longint unsigned seed,
      input longint unsigned first_index, input longint unsigned n, input longint unsigned k,
@ARGUMENTS@      output byte unsigned flags[BATCH]);

@WIRES@  @NAME@ dut (@PORTS@);

  chandle model;
  int vectors = 0, differ = 0;
  longint unsigned state = 64'h9e3779b97f4a7c15;
  bit clk = 0;

  // Marsaglia's xorshift64.
  function longint unsigned random();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  endfunction

  function longint unsigned code(longint unsigned exponent);
    longint unsigned word;
    word = random();
    case (word[63:61])
      0: return word & ~exponent;
      1: return word | exponent;
      default: return word;
    endcase
  endfunction

  task check_batch(int unsigned mode);
@SET_RM@@FILL@    if (MODEL)
      if (model_batch(model, mode, 0, 0, BATCH, @LANES@, @ARRAY_NAMES@, flags_of) != 0)
        $fatal(1, "the model refuses a batch");
    for (int i = 0; i < BATCH + LATENCY; ++i) begin
      if (i < BATCH) begin
@DRIVE@      end
      #1 if (i >= LATENCY &&
             {y, flags} != {y_of[i - LATENCY]@Y_SLICE@, flags_of[i - LATENCY][4:0]}) begin
        differ += 1;
        if (MODEL && differ <= MOST_ERRORS)
          $display("vector %0d: y %h flags %h instead of y %h flags %h", vectors + i - LATENCY, y,
                   flags, y_of[i - LATENCY], flags_of[i - LATENCY]);
      end
      if (LATENCY > 0) begin
        clk = 1;
        #1 clk = 0;
      end
    end
    vectors += BATCH;
  endtask

  initial begin
    model = model_open(SPEC);
    if (model_hash(model) != MODEL_HASH) $fatal(1, "the golden model is another unit's");
    for (int batch = 0; vectors < CHECKS && (!MODEL || differ < MOST_ERRORS); ++batch)
       check_batch(@RM@);
    model_close(model);
    $display("%0d vectors, %0d errors", vectors, MODEL ? differ : 0);
    if (MODEL && differ != 0) $fatal(1, "the unit is not what the model says");
  end
endmodule
