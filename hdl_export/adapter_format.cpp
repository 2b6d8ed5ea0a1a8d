#include "adapter_format.hpp"

#include "printing.hpp"

namespace widthwise::hdl {
namespace {

// The largest exponent is the bias only where the top exponent field is set aside for infinity and
// NaN.
bool is_ieee(const ConstantTable& t, const std::string& x, std::int64_t exponent) {
  const std::int64_t bias = value_of<std::int64_t>(t, x + "_BIAS");
  for (const char* has : {"_HAS_SIGN", "_HAS_ZERO", "_HAS_INF", "_HAS_NAN", "_HAS_SUBNORMAL"})
    if (!value_of<bool>(t, x + has)) return false;
  return bias == (std::int64_t{1} << (exponent - 1)) - 1 &&
         bias == value_of<std::int64_t>(t, x + "_EMAX");
}

// FLUSH_KEEP is 0.
bool is_flushed(const ConstantTable& t, const std::string& x) {
  return value_of<Pattern>(t, x + "_FLUSH") != value_of<Pattern>(t, "FLUSH_KEEP");
}

}  // namespace

std::vector<AdapterFormat> adapter_formats(const ConstantTable& table) {
  std::vector<AdapterFormat> all;
  for (const std::string x : {"A", "B", "C", "Y"}) {
    if (!has(table, x + "_EXP_WIDTH")) continue;
    const auto integer = [&](const char* name) { return value_of<std::int64_t>(table, x + name); };
    const std::int64_t exponent = integer("_EXP_WIDTH");
    all.push_back({x, exponent, integer("_FRAC_WIDTH"), integer("_SIG_WIDTH"),
                   is_ieee(table, x, exponent), is_flushed(table, x)});
  }
  return all;
}

}  // namespace widthwise::hdl
