-- Holds each constant of the VHDL packages to its value, and says nothing if all are right.
library ieee;
use ieee.std_logic_1164.all;

entity @NAME@_headers is
end entity @NAME@_headers;

architecture held of @NAME@_headers is
begin
  process
  begin
@HELD@    wait;
  end process;
end architecture held;
