#pragma once
#include <optional>
#include <string>
#include <string_view>

// What other tools call fixed point, its roundings and its overflow rules: for errors, which say
// what that is here. Texts are in lower case, as scanners have them.
namespace widthwise {

// ap_fixed<8,4>, Q7.8: "fixed8.4;overflow=wrap with the rounding rdn", "fixed16.8"; or nothing.
std::optional<std::string> fixed_hint(std::string_view text);

// AP_RND, AC_RND, SC_RND, RND, TIES_POS: "rnp"; or nothing.
std::optional<std::string_view> rounding_hint(std::string_view text);

// JAM: why no rounding here does that, and what comes near; or nothing.
std::optional<std::string_view> why_no_rounding(std::string_view text);

// AP_SAT, SAT: "saturate"; or nothing.
std::optional<std::string_view> overflow_hint(std::string_view text);

}  // namespace widthwise
