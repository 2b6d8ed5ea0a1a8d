#pragma once
#include <vector>

#include "codes.hpp"
#include "slices.hpp"
#include "widthwise/hdl/rtl.hpp"
#include "widthwise/sim/dot.hpp"

// The caller's own random bits, as units take them.
namespace widthwise {

// A slot of a unit that draws random bits, as the exported module's port of them.
struct RandomSlot {
  hdl::RandomPort port;

  SuppliedWords supplied(const py::array& words, std::size_t outputs) const {
    SuppliedWords x{port.slot, {}, port.steps.size(), nullptr};
    x.words = random_source(words, outputs * x.each).given;
    for (std::size_t i = 0; i < x.each; ++i) {
      const auto step = static_cast<std::size_t>(port.steps[i]);
      if (step >= x.place.size()) x.place.resize(step + 1, -1);
      x.place[step] = static_cast<std::int32_t>(i);
    }
    return x;
  }
};

inline std::vector<RandomSlot> random_slots(const Unit& unit, int k) {
  std::vector<RandomSlot> slots;
  for (hdl::RandomPort& port : hdl::random_ports(unit, k)) slots.push_back({std::move(port)});
  return slots;
}

// Words of each random slot of a unit, for so many outputs.
inline std::vector<SuppliedWords> supplied_words(const Unit& unit, std::size_t k,
                                                 const std::vector<py::array>& words,
                                                 std::size_t outputs) {
  const std::vector<RandomSlot> slots = random_slots(unit, static_cast<int>(k));
  std::vector<SuppliedWords> random;
  for (std::size_t i = 0; i < slots.size(); ++i)
    random.push_back(slots[i].supplied(words.at(i), outputs));
  return random;
}

}  // namespace widthwise
