#pragma once
#include <string>
#include <string_view>

namespace widthwise {

// "; ...": what somebody who wrote `name`, in lower case, for a unit may have meant: a kind or a
// format by itself, a preset misspelt, a product whose chip has presets. Nothing if no one knows.
std::string preset_hint(std::string_view name);

}  // namespace widthwise
