#include "make.hpp"
#include "reference.hpp"

namespace widthwise {

std::unique_ptr<ReferenceUnit> make_heap(const Unit& u, std::size_t k, Multiplier m) {
  return std::make_unique<UnitOver<Big, Wide<65>>>(u, k, std::move(m),
                                                   "magnitudes on the heap, codes of 4,160 bits");
}

}  // namespace widthwise
