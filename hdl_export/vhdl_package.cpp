#include "printing.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

std::string vector_of(const Pattern& p) {
  return p.width % 4 == 0 ? fmt::format("x\"{}\"", hex_digits(p))
                          : fmt::format("\"{}\"", binary_digits(p));
}

struct Declaration {
  std::string_view name;

  std::string operator()(std::int64_t value) const {
    if (fits_integer(value)) return fmt::format("  constant {} : integer := {};", name, value);
    // VHDL's integers need not have more than 32 bits.
    return (*this)(Pattern{64, {static_cast<std::uint64_t>(value)}});
  }
  std::string operator()(bool value) const {
    return fmt::format("  constant {} : std_logic := '{:d}';", name, value);
  }
  std::string operator()(const Pattern& p) const {
    return fmt::format("  constant {} : std_logic_vector({} downto 0) := {};", name, p.width - 1,
                       vector_of(p));
  }
  std::string operator()(const std::string& text) const {
    return fmt::format("  constant {} : string := {};", name, vhdl_text(text));
  }
};

std::string declared_constant(const Constant& c) {
  const auto* integer = std::get_if<std::int64_t>(&c.value);
  return commented(std::visit(Declaration{c.name}, c.value), "--",
                   integer && !fits_integer(*integer) ? fmt::format("= {}", *integer) : "",
                   c.comment);
}

}  // namespace

std::string vhdl_package(const ConstantTable& table) {
  const std::string package = unit_name(table) + "_pkg";
  return fmt::format(
             "-- Generated. VHDL-93 and later.\n"
             "library ieee;\nuse ieee.std_logic_1164.all;\n\npackage {} is\n",
             package) +
         sections(table, "  --", declared_constant) + fmt::format("end package {};\n", package);
}

}  // namespace widthwise::hdl
