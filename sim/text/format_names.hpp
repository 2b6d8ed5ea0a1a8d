#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "widthwise/format.hpp"

namespace widthwise {

// The format that a name or one of its aliases stands for. P3109's names are not among them.
std::optional<Format> find_format(std::string_view name);

// The scale of so many bits, a power of two or NaN: e8m0fnu is that of 8.
Format power_scale(int bits);

// The name under which a format is printed: ml_dtypes' own, without the prefix float8_. Or none.
std::optional<std::string_view> printed_name(const Format& f);

// "; nearest name: 'e4m3fn'", or nothing.
std::string nearest_format(std::string_view name);

// What a text of a later version's formats is, "logarithmic" of lns8.4; empty if it is none.
std::string_view later_kind(std::string_view text);

}  // namespace widthwise
