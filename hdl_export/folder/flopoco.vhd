-- FloPoCo's operator @NAME@_operator in the place of @NAME@: codes go to it as words, and its word
-- comes back as a code. Of a word the two bits in front say what it is: 00 zero, 01 a number,
-- 10 infinity, 11 NaN; then come sign, exponent and fraction. No exponent of a number is set aside.
-- Subnormal numbers, which words do not have, are zeros on either way. There are no flags. Some of
-- FloPoCo's versions give operators without registers a clock, too, or a reset: for those `make
-- flopoco` takes --CLK and --RST away.
library ieee;
use ieee.std_logic_1164.all;

entity @NAME@ is
  port (
    a : in std_logic_vector(@A_TOP@ downto 0);
    b : in std_logic_vector(@B_TOP@ downto 0);
    y : out std_logic_vector(@Y_TOP@ downto 0));
end entity @NAME@;

architecture of_flopoco of @NAME@ is
  component @NAME@_operator is
    port (
      --CLK clk : in std_logic;
      --RST rst : in std_logic;
      X : in std_logic_vector(@A_TOP@ + 2 downto 0);
      Y : in std_logic_vector(@B_TOP@ + 2 downto 0);
      R : out std_logic_vector(@Y_TOP@ + 2 downto 0));
  end component;
  constant WE : positive := @WE@;
  constant QNAN : std_logic_vector(y'range) := "@QNAN@";

  signal x_word : std_logic_vector(a'left + 2 downto 0);
  signal y_word : std_logic_vector(b'left + 2 downto 0);
  signal r_word : std_logic_vector(y'left + 2 downto 0);

  function all_are(bits : std_logic_vector; value : std_logic) return boolean is
  begin
    for i in bits'range loop
      if bits(i) /= value then
        return false;
      end if;
    end loop;
    return true;
  end;

  function word_of(code : std_logic_vector) return std_logic_vector is
    constant BITS : std_logic_vector(code'length - 1 downto 0) := code;
    constant WF : positive := code'length - 1 - WE;
    constant FIELD : std_logic_vector(WE - 1 downto 0) := BITS(WE + WF - 1 downto WF);
  begin
    if all_are(FIELD, '0') then
      return "00" & BITS;
    elsif not all_are(FIELD, '1') then
      return "01" & BITS;
    elsif all_are(BITS(WF - 1 downto 0), '0') then
      return "10" & BITS;
    end if;
    return "11" & BITS;
  end;

  function code_of(word : std_logic_vector) return std_logic_vector is
    constant BITS : std_logic_vector(word'length - 1 downto 0) := word;
    constant WF : positive := word'length - 3 - WE;
    constant SIGN : std_logic := BITS(WE + WF);
    constant FIELD : std_logic_vector(WE - 1 downto 0) := BITS(WE + WF - 1 downto WF);
    constant EXN : std_logic_vector(1 downto 0) := BITS(WE + WF + 2 downto WE + WF + 1);
    variable zero, infinity : std_logic_vector(WE + WF downto 0) := (others => '0');
  begin
    zero(WE + WF) := SIGN;
    infinity(WE + WF) := SIGN;
    infinity(WE + WF - 1 downto WF) := (others => '1');
    if EXN = "11" then
      return QNAN;
    elsif EXN = "10" or (EXN = "01" and all_are(FIELD, '1')) then
      return infinity;
    elsif EXN = "00" or all_are(FIELD, '0') then
      return zero;
    end if;
    return BITS(WE + WF downto 0);
  end;
begin
  x_word <= word_of(a);
  y_word <= word_of(b);
  y <= code_of(r_word);
  operator : @NAME@_operator port map (
    --CLK clk => '0',
    --RST rst => '0',
    X => x_word, Y => y_word, R => r_word);
end architecture of_flopoco;
