module @MODULE@@PARAMETERS@;
@BODY@  integer errors;
  task hold(input [8*40-1:0] name, input [@BITS@-1:0] value, input [@BITS@-1:0] due);
    if (value !== due) begin
      errors = errors + 1;
      $display("@HEADER@: %0s is %h instead of %h", name, value, due);
    end
  endtask
  initial begin
    errors = 0;
@HELD@  end
endmodule

