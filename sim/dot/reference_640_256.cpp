#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_640_256(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<Wide<10>, Wide<4>>>(u, k, std::move(m),
                                                       "magnitudes of 640 bits, codes of 256");
}

}  // namespace widthwise
