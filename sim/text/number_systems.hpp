#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "reading.hpp"

// The texts of formats that are no floats: fixed8.4, int8, posit16es2, takum16,
// table(nf4).
namespace widthwise {

// Reads what `head`, the text before any option, spells; nothing if it is no such format's.
std::optional<Format> read_number_system(Scanner& in, std::string_view head);

// The rule for what is out of range, of a fixed-point format's option overflow=.
Overflow read_fixed_overflow(Scanner& in);

// How such a format is printed.
std::string number_system_text(const Format& f);

std::optional<Fault> number_system_fault(const Format& f);

}  // namespace widthwise
