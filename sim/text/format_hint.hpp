#pragma once
#include <string>
#include <string_view>

namespace widthwise {

// Where a text that is no format's leads, as "; here it is posit16es2"; or nothing.
std::string format_hint(std::string_view text);

}  // namespace widthwise
