#pragma once
#include <string>
#include <string_view>

namespace widthwise {

// A text in an error, with the beginning alone of each long table that has no name, and a mark that
// other values hardly share: "mac(table(0,1,2,3,… of 9 values, #3411f910), sum=e5m10)".
std::string said(std::string_view text);

// A format's, a unit's or a design's.
template <class T>
requires requires(const T& x) { to_string(x); }
std::string said(const T& x) { return said(std::string_view(to_string(x))); }

}  // namespace widthwise
