#pragma once
#include <iterator>
#include <span>
#include <stdexcept>

#include "widthwise/sim/dot.hpp"

namespace widthwise {

// Listens to nothing, and brings one output's random bits along.
class SuppliedBits {
 public:
  SuppliedBits(std::span<const SuppliedWords> slots, std::size_t output)
      : slots_(slots), output_(output) {}

  template <class... Wire>
  constexpr void operator()(const Wire&...) const {}

  std::uint64_t random(Slot slot, std::int64_t step) const {
    for (const SuppliedWords& x : slots_)
      if (x.slot == slot && step < std::ssize(x.place) && at(x, step) >= 0)
        return x.words[output_ * x.each + static_cast<std::size_t>(at(x, step))];
    throw std::logic_error("a rounding draws random bits and none were supplied for it");
  }

 private:
  static std::int32_t at(const SuppliedWords& x, std::int64_t step) {
    return x.place[static_cast<std::size_t>(step)];
  }

  std::span<const SuppliedWords> slots_;
  std::size_t output_;
};

}  // namespace widthwise
