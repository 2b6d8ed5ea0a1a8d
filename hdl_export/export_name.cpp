#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "widthwise/hdl/export.hpp"

namespace widthwise::hdl {
namespace {

// What a name may not be, in any case of its letters, for VHDL sees none.
struct Taken {
  std::string_view why, names;
};

constexpr Taken taken_names[] = {
    {"it is a port's",
     " a b c y flags rm running scale scale_a scale_b clk rst in_valid in_ready "
     "out_valid out_ready in_first in_last seed index step random "
     "random_product random_group_sum random_block_sum random_join "
     "random_addend random_difference random_error random_compensation "
     "random_compensated random_promote random_c_round random_final "},
    // IEEE 1076-2008, 15.10, and the libraries that are always there.
    {"VHDL has that word",
     " abs access after alias all and architecture array assert assume assume_guarantee attribute "
     "begin block body buffer bus case component configuration constant context cover default "
     "disconnect downto else elsif end entity exit fairness file for force function generate "
     "generic group guarded if impure in inertial inout is label library linkage literal loop map "
     "mod nand new next nor not null of on open or others out package parameter port postponed "
     "procedure process property protected pure range record register reject release rem report "
     "restrict restrict_guarantee return rol ror select sequence severity shared signal sla sll "
     "sra srl strong subtype then to transport type unaffected units until use variable vmode "
     "vprop vunit wait when while with xnor xor work std ieee "},
    // ISO C23, 6.4.1, and ISO C++20, 5.11.
    {"C or C++ has that word",
     " alignas alignof and_eq asm auto bitand bitor bool break catch char char8_t char16_t "
     "char32_t class co_await co_return co_yield compl concept const const_cast consteval "
     "constexpr constinit continue decltype delete do double dynamic_cast enum explicit export "
     "extern false float friend goto inline int long mutable namespace noexcept not_eq nullptr "
     "operator or_eq private public register reinterpret_cast requires restrict short signed "
     "sizeof static static_assert static_cast struct switch template this thread_local throw true "
     "try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile "
     "wchar_t xor_eq "},
    // Their files would stand before the language's own, for NAME.h lies on the include path.
    {"C or a simulator has a header of that name",
     " assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
     "stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn "
     "string strings memory tgmath threads time uchar wchar wctype unistd features endian alloca "
     "fcntl sched pthread svdpi verilated verilatedos vpi_user sv_vpi_user "},
    {"Python has that word",
     " and as assert async await break class continue def del elif else except false finally for "
     "from global if import in is lambda match none nonlocal not or pass raise return true try "
     "type while with yield "},
    {"CVFPU has its package", " fpnew "},
};

std::string lower(std::string_view name) {
  std::string all(name);
  std::ranges::transform(all, all.begin(), [](unsigned char c) { return std::tolower(c); });
  return all;
}

std::string owner(std::string_view name) {
  const std::string word = lower(name);
  if (word == "ww" || word.starts_with("ww_")) return "modules here begin with ww_";
  if (word.starts_with("widthwise")) return "the golden model's files begin with widthwise";
  for (const Taken& group : taken_names)
    if (group.names.find(fmt::format(" {} ", word)) != group.names.npos)
      return std::string(group.why);
  return "";
}

// VHDL's basic identifiers (IEEE 1076-2008, 15.4.2), of which Verilog's are not all.
std::string fault(std::string_view name) {
  if (name.find('$') != name.npos) return "it has a $";
  if (name.front() == '_') return "it begins with _";
  if (name.back() == '_') return "it ends in _";
  if (name.find("__") != name.npos) return "it has two _ in a row";
  return "";
}

}  // namespace

void check_export_name(std::string_view name) {
  check_identifier(name);
  if (const std::string wrong = fault(name); !wrong.empty())
    throw std::invalid_argument(
        fmt::format("unit name '{}' is no VHDL identifier: {}; take a letter, then letters, digits "
                    "and single _ between them, as mac_unit",
                    name, wrong));
  if (const std::string why = owner(name); !why.empty())
    throw std::invalid_argument(
        fmt::format("unit name '{}' is taken: {}; take another, as my_{}", name, why, name));
}

}  // namespace widthwise::hdl
