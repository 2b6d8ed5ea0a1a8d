#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_1280(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<Wide<20>, Wide<4>>>(u, k, std::move(m),
                                                       "magnitudes of 1,280 bits, codes of 256");
}

}  // namespace widthwise
