// Holds each constant of the SystemVerilog packages to its value, and says nothing if all are right.
@MODULES@module @NAME@_packages;
  @NAME@_package unit ();
  @NAME@_fpnew_package fpnew ();
  wire [31:0] errors = unit.errors + fpnew.errors;
endmodule
