#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/elementwise.hpp"

// Operands in codes of another format, for engines that compute in those.
namespace widthwise {

using Codes = std::vector<std::byte>;

inline std::size_t bytes_of(const Format& f) {
  return static_cast<std::size_t>(item_bytes(f.width()));
}

Elementwise conversion(const Format& from, const Format& to, const Rounding& rm, bool flags,
                       std::size_t expected);

// An operand's codes as those of another format, which holds all of its numbers, or as they lie if
// they are that.
class Rewritten {
 public:
  Rewritten(const Format& from, const Format& to, std::size_t expected);

  CodeMatrix read(const CodeMatrix& x, std::size_t rows, std::size_t columns, Codes& held,
                  Codes& to) const;

 private:
  int from_bytes_;
  std::size_t to_bytes_;
  std::optional<Elementwise> convert_;
};

}  // namespace widthwise
