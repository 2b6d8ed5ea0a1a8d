#include "printing.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

// 32-bit words, least significant first, as the golden model takes them.
std::string words_of(const Pattern& p) {
  std::string list;
  for (int low = 0; low < p.width; low += 32)
    list += fmt::format("{}UINT32_C(0x{:08x})", low ? ", " : "",
                        p.limbs[static_cast<std::size_t>(low) / 64] >> low % 64 & 0xffffffff);
  return "{" + list + "}";
}

struct Value {
  std::string operator()(std::int64_t x) const {
    if (fits_integer(x)) return fmt::format("({})", x);
    // There is no literal of -2^63: the minus comes after the number.
    return x == INT64_MIN ? fmt::format("(-INT64_C({}) - 1)", INT64_MAX)
                          : fmt::format("(INT64_C({}))", x);
  }
  std::string operator()(bool x) const { return x ? "(1)" : "(0)"; }
  std::string operator()(const Pattern& p) const {
    if (p.width > 64) return words_of(p);
    const int size = p.width <= 8 ? 8 : p.width <= 16 ? 16 : p.width <= 32 ? 32 : 64;
    return fmt::format("UINT{}_C(0x{})", size, hex_digits(p));
  }
  std::string operator()(const std::string& text) const { return quoted_text(text); }
};

}  // namespace

std::string c_header(const ConstantTable& table) {
  const std::string prefix = upper(unit_name(table)) + "_", guard = prefix + "H";
  return fmt::format(
             "// Generated, for C99 and C++. Codes wider than 64 bits are lists of 32-bit words, "
             "the lowest first.\n"
             "#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n",
             guard) +
         sections(table, "//",
                  [&](const Constant& c) {
                    return commented(fmt::format("#define {}{} {}", prefix, c.name,
                                                 std::visit(Value{}, c.value)),
                                     "//", "", c.comment);
                  }) +
         "\n#endif\n";
}

}  // namespace widthwise::hdl
