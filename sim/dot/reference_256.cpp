#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_256(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<Wide<4>, uint128>>(u, k, std::move(m),
                                                      "magnitudes of 256 bits, codes of 128");
}

}  // namespace widthwise
