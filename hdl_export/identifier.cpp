#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "widthwise/hdl/constants.hpp"

namespace widthwise::hdl {
namespace {

// IEEE 1800-2017, annex B; all of IEEE 1364-2005's are among them.
constexpr std::string_view reserved =
    " accept_on alias always always_comb always_ff always_latch and assert assign assume "
    "automatic before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex "
    "casez cell chandle checker class clocking cmos config const constraint context continue "
    "cover covergroup coverpoint cross deassign default defparam design disable dist do edge "
    "else end endcase endchecker endclass endclocking endconfig endfunction endgenerate "
    "endgroup endinterface endmodule endpackage endprimitive endprogram endproperty "
    "endsequence endspecify endtable endtask enum event eventually expect export extends "
    "extern final first_match for force foreach forever fork forkjoin function generate "
    "genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies "
    "import incdir include initial inout input inside instance int integer interconnect "
    "interface intersect join join_any join_none large let liblist library local localparam "
    "logic longint macromodule matches medium modport module nand negedge nettype new "
    "nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed "
    "parameter pmos posedge primitive priority program property protected pull0 pull1 "
    "pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase "
    "randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos "
    "rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with "
    "scalared sequence shortint shortreal showcancelled signed small soft solve specify "
    "specparam static string strong strong0 strong1 struct super supply0 supply1 "
    "sync_accept_on sync_reject_on table tagged task this throughout time timeprecision "
    "timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union "
    "unique unique0 unsigned until until_with untyped use uwire var vectored virtual void "
    "wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor ";

// Tools need not take more (IEEE 1364-2005, 3.7).
constexpr std::size_t longest = 1024;

constexpr bool is_letter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}
constexpr bool is_later(char c) { return is_letter(c) || ('0' <= c && c <= '9') || c == '$'; }

// The character where it can be shown, else its number.
std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' || byte > '~' ? fmt::format("the byte {:#04x}", byte) : fmt::format("'{}'", c);
}

std::string fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > longest)
    return fmt::format("it has {} characters, {} are the most", name.size(), longest);
  if (!is_letter(name.front())) return "it begins with " + shown(name.front());
  const auto bad = std::ranges::find_if_not(name, is_later);
  if (bad != name.end())
    return fmt::format("character {} is {}", bad - name.begin() + 1, shown(*bad));
  if (reserved.find(fmt::format(" {} ", name)) != reserved.npos) return "it is a reserved word";
  return "";
}

}  // namespace

void check_identifier(std::string_view name) {
  const std::string wrong = fault(name);
  if (wrong.empty()) return;
  std::string text;
  for (const char c : name.substr(0, 40)) text += ' ' <= c && c <= '~' ? c : '?';
  throw std::invalid_argument(fmt::format(
      "unit name \"{}\" is no Verilog identifier: {}; take a letter or _, then letters, digits, _ "
      "or $, and no reserved word, as mac_unit",
      text, wrong));
}

}  // namespace widthwise::hdl
