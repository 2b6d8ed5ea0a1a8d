#pragma once
#include <limits>

#include "capacity.hpp"
#include "widthwise/sim/dot.hpp"

// One source a pair of carriers, so that they compile side by side: named for the magnitudes' bits,
// and the codes' where there are two.
namespace widthwise {

std::unique_ptr<ReferenceUnit> make_64(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_128(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_256(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_640(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_640_256(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_1280(const Unit& u, std::size_t k, Multiplier m);
std::unique_ptr<ReferenceUnit> make_heap(const Unit& u, std::size_t k, Multiplier m);

// What they hold: of magnitudes two digits less, one that adds up and one that the roundings want
// to spare.
struct Carriers {
  std::int64_t magnitude_bits;
  int code_digits;
  double rate;  // products a second of one core, each rounded: measured
  std::unique_ptr<ReferenceUnit> (*make)(const Unit& u, std::size_t k, Multiplier m);

  constexpr bool hold(const Capacity& need) const {
    return need.magnitude_bits <= magnitude_bits && need.code_digits <= code_digits;
  }
};
inline constexpr Carriers all_carriers[] = {
    {62, 64, 12e6, &make_64},
#ifndef WIDTHWISE_FEW_CARRIERS
    {126, 64, 10e6, &make_128},
#endif
    {254, 128, 6e6, &make_256},
#ifndef WIDTHWISE_FEW_CARRIERS
    {638, 128, 4e6, &make_640},
#endif
    {638, 256, 2e6, &make_640_256},
#ifndef WIDTHWISE_FEW_CARRIERS
    {1278, 256, 1e6, &make_1280},
#endif
    {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<int>::max(), 0.3e6, &make_heap}};

// Throws where the unit's sums have more digits than anything here.
const Carriers& least_carriers(const Unit& unit, std::size_t k, bool multiplier);

}  // namespace widthwise
