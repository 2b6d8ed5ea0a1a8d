// Holds each constant of the SystemVerilog packages to its value, and says nothing if all are right.
@MODULES@module @NAME@_packages;
  @NAME@_package unit ();
@ADAPTER@  wire [31:0] errors = unit.errors@ADAPTER_ERRORS@;
endmodule
