// Checks @NAME@ against the golden model, through DPI-C and batch by batch, on operands at random:
// one code in four has its exponent's bits all zeros or all ones. All is well if the last line is
// "N vectors, 0 errors". +checks=N tells how many; +no_model leaves out all but the model's work,
// to see what that takes.
module @NAME@_dpi_bench;
  import @NAME@_pkg::*;
  import @NAME@_dpi_pkg::*;
  localparam int MOST_ERRORS = 20;
  localparam int BATCH = 4096;
@MODES@
@ARRAYS@  byte unsigned flags_of[BATCH];
  import "DPI-C" widthwise_model_batch = function int model_batch(
      input chandle model, input int unsigned rm, input longint unsigned seed,
      input longint unsigned first_index, input longint unsigned n, input longint unsigned k,
@ARGUMENTS@      output byte unsigned flags[BATCH]);

@WIRES@  bit clk, rst, in_valid;
  wire in_ready@ALWAYS@, out_valid@ALWAYS@;
  @NAME@ dut (@CLOCKING@@PORTS@);
  @NAME@_packages packages ();

  chandle model;
  int checks = 1000000, vectors = 0, differ = 0, errors = 0;
  int blocks = 1, count;  // of a sum, and of vectors in a batch
  bit with_model;
  longint unsigned state = 64'h9e3779b97f4a7c15, model_seed, first_index;

  // Marsaglia's xorshift64.
  function longint unsigned draw();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  endfunction

  // 64 bits of a code, and those of them that are its exponent's.
  function longint unsigned limb(bit [2:0] kind, longint unsigned exponent);
    longint unsigned word;
    word = draw();
    case (kind)
      0: return word & ~exponent;
      1: return word | exponent;
      default: return word;
    endcase
  endfunction

  task draw_batch(int unsigned mode);
    bit [2:0] kind;
    model_seed = draw();
    first_index = draw();
@SET_RM@@FILL@    if (with_model)
      if (model_batch(model, mode, model_seed, first_index, count / blocks, blocks * @LANES@,
                      @ARRAY_NAMES@, flags_of) != 0)
        $fatal(1, "the model refuses a batch");
  endtask

  task drive(int i);
@DRIVE@  endtask

  task judge(int i);
    if (out_valid != @COMES@ || (out_valid &&
        {y, flags} != {@Y@, flags_of[@RESULT@][4:0]})) begin
      differ += 1;
      if (with_model && differ <= MOST_ERRORS)
        $display("vector %0d: valid %b y %h flags %h instead of y %h flags %h", vectors + i,
                 out_valid, y, flags, @Y@, flags_of[@RESULT@]);
    end
  endtask

  task clock();
    clk = 1;
    #1 clk = 0;
  endtask

  task check_batch();
    for (int t = 0; t < count * @INTERVAL@ + LATENCY; ++t) begin
      in_valid = t < count * @INTERVAL@;
      if (in_valid && t % @INTERVAL@ == 0) drive(t / @INTERVAL@);
      #1 if (in_valid && in_ready != (t % @INTERVAL@ == 0)) $fatal(1, "in_ready is wrong");
      if (t >= LATENCY && (t - LATENCY) % @INTERVAL@ == 0) judge((t - LATENCY) / @INTERVAL@);
      if (LATENCY > 0) clock();
    end
    vectors += count;
  endtask

  initial begin
    void'($value$plusargs("checks=%d", checks));
    with_model = !$test$plusargs("no_model");
    model = model_open(@NAME@_dpi_pkg::SPEC);
    if (model_hash(model) != @NAME@_dpi_pkg::MODEL_HASH) $fatal(1, "the golden model is another unit's");
    rst = 1;
    #1 clock();
    rst = 0;
    for (int batch = 0; vectors < checks && errors < MOST_ERRORS; ++batch) begin
      blocks = @BLOCKS@;
      count = BATCH / blocks * blocks;
      draw_batch(@RM@);
      check_batch();
      errors = with_model ? differ : 0;
    end
    model_close(model);
    errors += packages.errors;
    $display("%0d vectors, %0d errors", vectors, errors);
    if (errors != 0) $fatal(1, "the unit is not what the model says");
  end
endmodule
