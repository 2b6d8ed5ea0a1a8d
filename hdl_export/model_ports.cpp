#include "model_ports.hpp"

#include <algorithm>

namespace widthwise::hdl {
namespace {

std::int64_t integer_or(const ConstantTable& table, std::string_view name, std::int64_t otherwise) {
  return has(table, name) ? value_of<std::int64_t>(table, name) : otherwise;
}

std::int64_t elements(const ConstantTable& table, std::string_view port) {
  if (port == "A" || port == "B") return call_terms(table);
  if (port == "SCALE") return (call_terms(table) - 1) / integer_or(table, "SCALE_BLOCK", 1) + 1;
  return 1;
}

}  // namespace

std::int64_t call_terms(const ConstantTable& table) {
  const bool any = has(table, "WHOLE_SUM") && value_of<bool>(table, "WHOLE_SUM");
  return any ? 1 : integer_or(table, "NUM_TERMS", 1);
}

std::int64_t port_bits(const ConstantTable& table, std::string_view port) {
  return integer_or(table, fmt::format("{}_WIDTH", port), 0) * elements(table, port);
}

bool fit_vectors(const ConstantTable& table) {
  if (has(table, "BLOCK_NUMBERS")) return false;  // a block has a call of its own
  const auto ports = {"A", "B", "C", "SCALE", "Y"};
  return std::ranges::all_of(ports,
                             [&](auto port) { return port_bits(table, port) <= widest_vector; });
}

}  // namespace widthwise::hdl
