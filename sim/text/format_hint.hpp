#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace widthwise {

// Where a text that is no format's leads, as "; here it is posit16es2"; or nothing.
std::string format_hint(std::string_view text);

// The format whose kind and numbers a text has, in other signs or another order: "posit16es2" of
// posit16,2; or nothing.
std::optional<std::string> spelled_hint(std::string_view text);

}  // namespace widthwise
