#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/multipliers.hpp"
#include "widthwise/sim/dot.hpp"

// What may stand in place of the exact product, beside functions of the user's own. Both kinds here
// are values that an engine finds in a Multiplier by target<...>() and may take along.
namespace widthwise {

// lib's, ready to be called.
Multiplier truncated_array(int columns);
Multiplier mitchell();
Multiplier drum(int width);  // width >= 2
Multiplier truncated_operands(int bits);

// "exact", "truncated_array8", "mitchell", "drum6", "truncated_operands4".
Multiplier parse_multiplier(std::string_view text);
std::vector<std::string> multiplier_names();

// A product given as text: C++ statements that set mp, 128 bits and 0 before, from ma and mb, 64
// bits each.
struct TextProduct {
  using Function = void(std::uint64_t ma, std::uint64_t mb, uint128* mp);

  std::string source;  // product_source of the text, for whoever compiles it for other machines
  Function* compiled;  // for this one
  bool exchanged = false;

  uint128 operator()(std::uint64_t a, std::uint64_t b) const {
    uint128 product;
    exchanged ? compiled(b, a, &product) : compiled(a, b, &product);
    return product;
  }
};

// C++ for this machine's compiler and for NVIDIA's, of one function widthwise_product, which is a
// TextProduct::Function. Lines are counted in the text.
std::string product_source(std::string_view text);

// b's product with a for that of a with b.
Multiplier exchanged(Multiplier multiply);

}  // namespace widthwise
