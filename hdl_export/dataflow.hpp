#pragma once
#include <optional>
#include <span>

#include "rtl_files.hpp"
#include "widthwise/hdl/design.hpp"

namespace widthwise::hdl {

// What a design does to its operands, as far as the choice of operands has to know.
struct Dataflow {
  enum class Kind { conversion, sum, difference, product };  // a, a + b, a - b, a * b
  Kind kind;
  Format a, b, y;
  std::optional<Format> c{};      // is added to the products
  std::optional<Format> scale{};  // of blocks of lanes
  int lanes = 1, scale_block = 1;
  bool running = false;  // c may be a result, too

  int scales() const { return scale ? (lanes + scale_block - 1) / scale_block : 0; }
};

Dataflow dataflow(const Design& design, std::span<const Port> ports);

// A port, or null where there is none.
const Port* find_port(std::span<const Port> ports, std::string_view name);

}  // namespace widthwise::hdl
