#pragma once
#include <random>

#include "widthwise/unit.hpp"

// Formats, modes and units of every kind that check() lets pass, each field exercised.
namespace random_units {

using Random = std::mt19937_64;

widthwise::Format format(Random& random, int most_exp_bits = 62, int most_frac_bits = 4095);
widthwise::Rounding deterministic_rounding(Random& random);
widthwise::Rounding rounding(Random& random);

// Formats of at most this size, lanes of at most 12 but for 0.
widthwise::Unit unit(Random& random, int most_exp_bits = 11, int most_frac_bits = 52);

// Whether check() lets it pass.
bool passes(const widthwise::Unit& u);

}  // namespace random_units
