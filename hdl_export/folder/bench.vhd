-- Checks an entity @NAME@ of VHDL, with the ports that README.md lists, against the vectors of a
-- file: VHDL-93 and later. All is well if the last line is "N vectors, 0 errors". Where the generic
-- COMPARES_FLAGS is false flags are not compared; `make vhdl FLAGS=0` does not connect them, either.
-- At first neither side of a clocked one waits, and when a result comes is looked at; then both stall
-- at random.
library ieee;
use ieee.math_real.all;
use ieee.std_logic_1164.all;
use std.textio.all;

entity @NAME@_bench is
  generic (
    VECTORS : string := "vectors/@NAME@.hex";
    COMPARES_FLAGS : boolean := true);
end entity @NAME@_bench;

architecture checks of @NAME@_bench is
  constant CLOCKED : boolean := @CLOCKED@;
  constant LATENCY : natural := work.@NAME@_pkg.LATENCY;
  constant INTERVAL : positive := @INTERVAL@;
  constant MOST_ERRORS : positive := 20;
  constant FULL_SPEED : positive := 64 + 2 * LATENCY;
  constant MOST_INSIDE : positive := LATENCY + 16;
  constant MOST_IDLE : positive := 1000 + 16 * (LATENCY + INTERVAL);
  subtype line_bits is std_logic_vector(@LINE_TOP@ downto 0);  -- a digit a character
  type due_lines is array (0 to MOST_INSIDE - 1) of line_bits;
  type numbers is array (0 to MOST_INSIDE - 1) of natural;

  signal clk, rst, in_valid, out_ready : std_logic := '0';
  signal in_ready, out_valid : std_logic;
@SIGNALS@
  function nibble(letter : character) return std_logic_vector is
    constant DIGITS : string := "0123456789abcdef";
    variable bits : std_logic_vector(3 downto 0) := "0000";
  begin
    for i in DIGITS'range loop
      if DIGITS(i) = letter then
        for place in 0 to 3 loop
          if ((i - 1) / 2 ** place) mod 2 = 1 then
            bits(place) := '1';
          end if;
        end loop;
      end if;
    end loop;
    return bits;
  end;

  -- Its last digits, as many as it takes.
  procedure read_bits(text : in string; bits : out std_logic_vector) is
    variable all_bits : std_logic_vector(4 * text'length - 1 downto 0);
    variable at : natural := 4 * text'length;
  begin
    for i in text'range loop
      all_bits(at - 1 downto at - 4) := nibble(text(i));
      at := at - 4;
    end loop;
    bits := all_bits(bits'length - 1 downto 0);
  end;

  function begins(text, with_text : string) return boolean is
  begin
    return text'length >= with_text'length and
      text(text'left to text'left + with_text'length - 1) = with_text;
  end;

  function digits_of(bits : std_logic_vector) return string is
    constant DIGITS : string := "0123456789abcdef";
    constant PADDED : std_logic_vector(bits'length + 2 downto 0) := "000" & bits;
    constant LENGTH : natural := (bits'length + 3) / 4;
    variable text : string(1 to LENGTH);
    variable value : natural;
  begin
    for i in 1 to LENGTH loop
      value := 0;
      for place in 3 downto 0 loop
        value := 2 * value;
        if PADDED(4 * (LENGTH - i) + place) = '1' then
          value := value + 1;
        end if;
      end loop;
      text(i) := DIGITS(value + 1);
    end loop;
    return text;
  end;
begin
  with_flags : if COMPARES_FLAGS generate
    component @NAME@ is
      port (
@PORTS@;
        flags : out std_logic_vector(4 downto 0));
    end component;
  begin
    dut : @NAME@ port map (@CONNECTIONS@, flags => flags);
  end generate;
  without_flags : if not COMPARES_FLAGS generate
    component @NAME@ is
      port (
@PORTS@);
    end component;
  begin
    dut : @NAME@ port map (@CONNECTIONS@);
  end generate;
  always_ready : if not CLOCKED generate
    in_ready <= '1';
    out_valid <= in_valid;
  end generate;

  process
    file vectors_file : text;
    variable opened : file_open_status;
    variable row, told : line;
    variable now_line, check, said_check : line_bits := (others => '0');
    variable due : due_lines;
    variable due_vector : numbers;
    variable said_hash : std_logic_vector(63 downto 0) := (others => '0');
    variable said_count, vectors_read, errors, clocks, idle, entered, left_count : natural := 0;
    variable phase : natural;
    variable comes : std_logic_vector(0 to LATENCY) := (others => '0');
    variable waits, enters, delivers, stalled : boolean := false;
    variable held_y : std_logic_vector(@Y_TOP@ downto 0);
    variable held_flags : std_logic_vector(flags'range);
    variable seed1, seed2 : positive := 1;
    variable noise : real;

    procedure fault(what : in string) is
    begin
      errors := errors + 1;
      write(told, VECTORS & ": " & what);
      writeline(output, told);
    end;

    procedure read_comment(text : in string) is
    begin
      if begins(text, "// MODEL_HASH ") and text'length = 14 + 16 then
        read_bits(text(text'left + 14 to text'right), said_hash);
      elsif begins(text, "// CHECK ") and text'length = 9 + check'length / 4 then
        read_bits(text(text'left + 9 to text'right), said_check);
      elsif begins(text, "// COUNT ") then
        said_count := natural'value(text(text'left + 9 to text'right));
      end if;
    end;

    -- What is next in the file waits to enter.
    procedure read_vector is
    begin
      waits := false;
      while not waits and not endfile(vectors_file) loop
        readline(vectors_file, row);
        if row'length > 1 and row(row'left) = '/' then
          read_comment(row.all);
        elsif row'length + 1 = line_bits'length / 4 then
          read_bits(' ' & row.all, now_line);
          check := (check(check'left - 4 downto 0) & check(check'left downto check'left - 3))
            xor now_line;
          vectors_read := vectors_read + 1;
          waits := true;
        elsif row'length > 0 then
          fault("a line is no vector");
        end if;
      end loop;
    end;

    impure function stalls(kind : natural) return boolean is
    begin
      uniform(seed1, seed2, noise);
      if not CLOCKED or clocks < FULL_SPEED or phase = 0 or phase = kind then
        return false;
      elsif phase = 1 then
        return noise < 0.5;
      end if;
      return noise < 0.75;
    end;

    procedure leave is
      variable line_due : line_bits;
    begin
      if left_count = entered then
        fault("there is a result of nothing");
        return;
      end if;
      line_due := due(left_count mod MOST_INSIDE);
      if @Y@ /= @Y_DUE@ or (COMPARES_FLAGS and flags /= line_due(@FLAG_BITS@)) then
        errors := errors + 1;
        write(told, "vector " & natural'image(due_vector(left_count mod MOST_INSIDE)) & ":@SEEN@"
          & ": y " & digits_of(@Y@) & " flags " & digits_of(flags) & " instead of y "
          & digits_of(@Y_DUE@) & " flags " & digits_of(line_due(@FLAG_BITS@)));
        writeline(output, told);
      end if;
      left_count := left_count + 1;
    end;

    procedure look is
    begin
      if in_valid = '1' and clocks < FULL_SPEED and (in_ready = '1') /= (clocks mod INTERVAL = 0) then
        fault("in_ready is wrong");
      end if;
      enters := in_valid = '1' and in_ready = '1';
      delivers := enters and @COMES@;
      for i in LATENCY downto 1 loop
        comes(i) := comes(i - 1);
      end loop;
      comes(0) := '0';
      if delivers then
        comes(0) := '1';
      end if;
      if CLOCKED and clocks < FULL_SPEED and out_valid /= comes(LATENCY) then
        fault("out_valid is wrong");
      end if;
      if stalled and (out_valid /= '1' or held_y /= @Y@ or (COMPARES_FLAGS and held_flags /= flags)) then
        fault("a result has changed, or gone, that was not taken");
      end if;
    end;
  begin
    file_open(opened, vectors_file, VECTORS, read_mode);
    if opened /= open_ok then
      fault("there is no such file");
    else
      read_vector;
      if said_hash /= work.@NAME@_pkg.MODEL_HASH then
        fault("MODEL_HASH is another unit's");
      end if;
    end if;
    rst <= '1';
    wait for 1 ns;
    clk <= '1';
    wait for 1 ns;
    clk <= '0';
    rst <= '0';
    while errors < MOST_ERRORS and idle < MOST_IDLE
      and (waits or in_valid = '1' or left_count /= entered or idle < LATENCY + 4) loop
      phase := (clocks / 64) mod 4;
      out_ready <= '1';
      if stalls(3) then
        out_ready <= '0';
      end if;
      if waits and in_valid = '0' and not stalls(2) then
@DRIVE@
        in_valid <= '1';
      end if;
      wait for 1 ns;
      look;
      idle := idle + 1;
      if enters then
        idle := 0;
      end if;
      if delivers then
        due(entered mod MOST_INSIDE) := now_line;
        due_vector(entered mod MOST_INSIDE) := vectors_read - 1;
        entered := entered + 1;
      end if;
      if out_valid = '1' and out_ready = '1' then
        idle := 0;
        leave;
      end if;
      stalled := out_valid = '1' and out_ready = '0';
      held_y := @Y@;
      held_flags := flags;
      clocks := clocks + 1;
      clk <= '1';
      wait for 1 ns;
      clk <= '0';
      if enters then
        in_valid <= '0';
        read_vector;
      end if;
      wait for 0 ns;
    end loop;
    if left_count /= entered then
      fault("it stands still, and results are missing");
    end if;
    if errors = 0 and vectors_read = 0 then
      fault("there are no vectors");
    elsif errors = 0 and vectors_read /= said_count then
      fault("there are not as many vectors as COUNT says");
    elsif errors = 0 and check /= said_check then
      fault("CHECK is of other vectors: it is damaged");
    end if;
    write(told, natural'image(vectors_read) & " vectors, " & natural'image(errors) & " errors");
    writeline(output, told);
    assert errors = 0 severity failure;
    wait;
  end process;
end architecture checks;
