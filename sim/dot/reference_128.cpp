#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_128(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<uint128, std::uint64_t>>(u, k, std::move(m),
                                                            "magnitudes of 128 bits, codes of 64");
}

}  // namespace widthwise
