// Checks @NAME@ against the golden model, through DPI-C and batch by batch, on operands at random:
// one code in four has its exponent's bits all zeros or all ones. All is well if the last line is
// "N vectors, 0 errors". +checks=N tells how many; +no_model leaves out all but the model's work,
// to see what that takes. With NO_FLAGS defined the module need have none, and they are not compared.
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

@WIRES@  bit clk, rst, in_valid, out_ready;
  wire in_ready@ALWAYS@, out_valid@WHEN_GIVEN@;
`ifdef NO_FLAGS
  localparam bit [4:0] FLAGS = 0;
`else
  localparam bit [4:0] FLAGS = '1;
`endif
  @NAME@ dut (@CLOCKING@@PORTS@
`ifndef NO_FLAGS
    @FLAG_PORT@
`endif
  );
  @NAME@_packages packages ();

  chandle model;
  int checks = 1000000, vectors = 0, errors = 0;
  int blocks = 1, count;  // of a sum, and of vectors in a batch
  bit with_model;
  // So many clocks operands and taker wait for nothing, and when a result comes is looked at. Then
  // both sides stall at random.
  localparam bit CLOCKED = @CLOCKED@;
  localparam int FULL_SPEED = 64 + 2 * LATENCY;
  localparam int MOST_IDLE = 1000 + 16 * (LATENCY + @INTERVAL@);  // clocks without a transaction
  int clocks = 0, idle, entered, left;  // of the batch: vectors that went in, and came out
  bit [LATENCY:0] comes;
  bit enters, stalled;
  bit [$bits(y)-1:0] held_y;
  bit [4:0] held_flags;
  bit [31:0] noise;
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

  // The batch's vectors whose results are wrong, and what those were.
  int wrong = 0, wrong_vector[MOST_ERRORS];
  bit [$bits(y)-1:0] wrong_y[MOST_ERRORS];
  bit [4:0] wrong_flags[MOST_ERRORS];

  task judge(int i);
    if ((y != @Y@ || ((flags ^ flags_of[@RESULT@][4:0]) & FLAGS) != 0) && with_model) begin
      errors += 1;
      if (wrong < MOST_ERRORS) begin
        wrong_vector[wrong] = i;
        wrong_y[wrong] = y;
        wrong_flags[wrong] = flags;
        ++wrong;
      end
    end
  endtask

  // With all blocks of its sum as `make replay` takes them: lines like those of vectors/@NAME@.hex.
  task show(int which);
    int i, first;
    i = wrong_vector[which];
    first = i - i % blocks;
    drive(i);
    $display("vector %0d: @SEEN@: y %h flags %h instead of y %h flags %h", vectors + i, @OPERANDS@,
             wrong_y[which], wrong_flags[which], @Y@, flags_of[@RESULT@][4:0]);
    $write("  make replay VECTOR='");
    for (i = first; i < first + blocks; ++i) begin
      drive(i);
      if (i != first) $write(", ");
      $write("@LINE@", @LINE_VALUES@);
    end
    $display("'");
  endtask

  function void fault(string what);
    $display("clock %0d: %s", clocks, what);
    errors += 1;
  endfunction

  task choose_sides();
    int phase;
    phase = clocks / 64 % 4;
    noise = noise * 32'd1664525 + 32'd1013904223;
    out_ready = !CLOCKED || clocks < FULL_SPEED || phase == 0 || phase == 3 ||
                noise[31:30] == 0 || (phase == 1 && noise[29]);
    if (!in_valid && entered < count && (!CLOCKED || clocks < FULL_SPEED || phase == 0 || phase == 2 ||
        noise[28:27] == 0 || (phase == 1 && noise[26]))) begin
      drive(entered);
      in_valid = 1;
    end
  endtask

  function bit delivers(int i);
    return @COMES@;
  endfunction

  task look();
    if (in_valid && clocks < FULL_SPEED && in_ready != (clocks % @INTERVAL@ == 0))
      fault("in_ready is wrong");
    enters = in_valid && in_ready;
    comes = comes << 1;
    comes[0] = enters && delivers(entered);
    if (CLOCKED && clocks < FULL_SPEED && out_valid != comes[LATENCY]) fault("out_valid is wrong");
    if (stalled && (!out_valid || y != held_y || ((flags ^ held_flags) & FLAGS) != 0))
      fault("a result has changed, or gone, that was not taken");
  endtask

  task leave();
    while (left < count && !delivers(left)) ++left;
    if (left >= entered) fault("there is a result of nothing");
    else judge(left);
    ++left;
  endtask

  task clock();
    choose_sides();
    #1 look();
    ++idle;
    if (enters) begin
      idle = 0;
      ++entered;
    end
    if (out_valid && out_ready) begin
      idle = 0;
      leave();
    end
    stalled = out_valid && !out_ready;
    held_y = y;
    held_flags = flags;
    ++clocks;
    if (CLOCKED) begin
      clk = 1;
      #1 clk = 0;
    end
    if (enters) in_valid = 0;
  endtask

  // A batch's last vector delivers.
  task check_batch();
    {entered, left, idle} = 0;
    while (left < count && errors < MOST_ERRORS && idle < MOST_IDLE) clock();
    if (idle == MOST_IDLE) fault("it stands still, and results are missing");
    for (int which = 0; which < wrong; ++which) show(which);
    vectors += count;
  endtask

  initial begin
    void'($value$plusargs("checks=%d", checks));
    with_model = !$test$plusargs("no_model");
    model = model_open(@NAME@_dpi_pkg::SPEC);
    if (model_hash(model) != @NAME@_dpi_pkg::MODEL_HASH) $fatal(1, "the golden model is another unit's");
    rst = 1;
    #1 clk = CLOCKED;
    #1 {clk, rst} = 0;
    for (int batch = 0; vectors < checks && errors < MOST_ERRORS; ++batch) begin
      blocks = @BLOCKS@;
      count = BATCH / blocks * blocks;
      draw_batch(@RM@);
      check_batch();
    end
    model_close(model);
    errors += packages.errors;
    $display("%0d vectors, %0d errors", vectors, errors);
    if (errors != 0) $fatal(1, "the unit is not what the model says");
  end
endmodule
