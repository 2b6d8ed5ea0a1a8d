#pragma once
#include <optional>
#include <string>

#include "scanner.hpp"
#include "widthwise/unit.hpp"

// The short forms, mac(e5m10) and its like. docs/semantics.md, T2 to T4 say what they leave unsaid.
namespace widthwise {

Unit read_short_form(Scanner& in);

// A unit of the kind so named, "mac(e5m10)"; nothing where there is none.
std::string_view kind_example(std::string_view name);

// The short form of fewest arguments that is this unit, if there is one.
std::optional<std::string> short_form(const Unit& u);

}  // namespace widthwise
