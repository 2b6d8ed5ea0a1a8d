#pragma once
#include "plan.hpp"
#include "widthwise/sim/engine.hpp"

namespace widthwise::exact {

// Two engines: lanes of doubles, and integers where doubles lose digits; integers alone.
// Why they take the task or do not, and how fast.
Opinion opinion(const ProductTask& task);
Opinion opinion_of_words(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);
std::unique_ptr<ProductEngine> make_words(const ProductTask& task);

}  // namespace widthwise::exact
