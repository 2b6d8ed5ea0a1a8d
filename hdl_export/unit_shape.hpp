#pragma once
#include <string>

#include "rtl_files.hpp"

namespace widthwise::hdl {

// What a unit's top module takes in: blocks of so many lanes in a row.
struct UnitShape {
  int lanes, blocks;
  bool whole;  // a dot product from C to its result, not one block of a chain
  RunningSum running = RunningSum::none;
  int products() const { return lanes * blocks; }
};

// Refuses what is not built.
UnitShape shape_of(const Unit& unit, const RtlOptions& options);

[[noreturn]] void refuse(const std::string& what, const std::string& instead);

// A top module of one block takes C where a chain begins, and later the result of the block before.
bool two_kinds_of_c(const Unit& unit, const UnitShape& shape);

bool scales(const Unit& unit, ScaleApply how);
int scale_words(const Unit& unit, const UnitShape& shape);
bool may_flag(const Sum& sum);

}  // namespace widthwise::hdl
