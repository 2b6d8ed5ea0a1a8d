// Holds each constant of the Verilog headers to its value, and says nothing if all are right.
@MODULES@module @NAME@_headers;
  @NAME@_localparams localparams ();
  @NAME@_parameters parameters ();
  @NAME@_macros macros ();
@ADAPTER@  wire [31:0] errors = localparams.errors + parameters.errors + macros.errors@ADAPTER_ERRORS@;
endmodule
