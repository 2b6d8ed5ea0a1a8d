#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_broad(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<Big, Wide<10>>>(u, k, std::move(m),
                                                   "magnitudes on the heap, codes of 640");
}

}  // namespace widthwise
